package charts

import (
	"fmt"
	"slices"

	"modeldex/dataset/text"
	"modeldex/index"
	"modeldex/snapshot/svg"
)

// BadgeData is one measured speed.
type BadgeData struct {
	Model, Hardware string // names
	Quantization    string // the runs are of; empty: it is not known
	Runs            int    // 0: none is known
	TPS             float64
}

// words is what the badge says, such as "131 tok/s, 4 runs, Q4_K_M".
func (d *BadgeData) words() string {
	quantization := ""
	if d.Quantization != "" {
		quantization = ", " + d.Quantization
	}
	switch d.Runs {
	case 0:
		return "not measured" + quantization
	case 1:
		return text.Rounded(d.TPS) + " tok/s, single run" + quantization
	}
	return fmt.Sprintf("%s tok/s, %s%s", text.Rounded(d.TPS), text.Count(d.Runs, "run", "runs"), quantization)
}

const badgeCSS = `text{font:11px Verdana,"DejaVu Sans",Geneva,sans-serif;fill:#fff}.left{fill:#444c54}.right{fill:#0b6b53}.none{fill:#6b7178}`

// badgeSize is the size of its text, and badgeRoom what is left beside each half.
const (
	badgeSize = 11.0
	badgeRoom = 8.0
	badgeName = 300.0 // width of the longest name that is not cut
)

// Badge draws a badge, 20 pixels high: what was measured on the left, the speed on the right. Its
// colours have enough contrast on pages of either scheme.
func Badge(d BadgeData) []byte {
	name := svg.Clip(d.Model+" on "+d.Hardware, badgeSize, badgeName)
	speed := svg.Clip(d.words(), badgeSize, badgeName)
	left := svg.TextWidth(name, badgeSize)*1.06 + 2*badgeRoom // Verdana is wide
	right := svg.TextWidth(speed, badgeSize)*1.06 + 2*badgeRoom
	b := &svg.Drawing{Width: int(left+right) + 1, Height: 20, Title: svg.Plain(d.Model + " on " + d.Hardware + ": " + d.words()), CSS: badgeCSS, Class: "badge"}
	class := "right"
	if d.Runs == 0 {
		class = "none"
	}
	b.Rect(0, 0, left, 20, svg.Style{Class: "left"})
	b.Rect(left, 0, float64(b.Width)-left, 20, svg.Style{Class: class})
	b.Text(left/2, 14, name, svg.Style{Anchor: "middle"})
	b.Text(left+(float64(b.Width)-left)/2, 14, speed, svg.Style{Anchor: "middle"})
	return []byte(b.String())
}

// BadgeOf reads what a badge shows: the median of the runs of one stream of a model on a piece of
// hardware. The quantization is the one named or, if that is empty, the one with the most runs.
func (m Maker) BadgeOf(model, hardware, quantization string) BadgeData {
	d := BadgeData{Model: m.modelName(model), Hardware: m.hardwareName(hardware), Quantization: quantization}
	found, _ := m.runsOf(is(index.Model, model), is(index.Hardware, hardware))
	if quantization == "" {
		counts := map[string]int{}
		for _, r := range found {
			counts[m.of(index.Quantization, r)]++
		}
		quantization = most(counts)
	}
	runs := slices.DeleteFunc(found, func(r run) bool { return m.of(index.Quantization, r) != quantization })
	if len(runs) > 0 {
		d.Quantization, d.Runs, d.TPS = quantization, len(runs), middle(m.fastestFirst(runs))
	}
	return d
}
