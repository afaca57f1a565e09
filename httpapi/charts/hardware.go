package charts

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/text"
)

// HardwareFrontier draws the capability of models against their speed on a piece of hardware, with a line through
// those that no other beats in both.
func (m Maker) HardwareFrontier(slug string) *Figure {
	runs, _ := m.gen.Best.Models(fit.Query{Hardware: dataset.Slug(slug)}) // none if its memory is unknown
	return m.FrontierOf(slug, runs.Found)
}

type scored struct {
	*fit.Best
	score    float64 // capability, 0 to 100
	measured bool
}

// FrontierOf is HardwareFrontier of what is recommended on the hardware alone.
func (m Maker) FrontierOf(slug string, found []fit.Best) *Figure {
	f := &Figure{
		Title: m.hardwareName(slug) + ": capability and speed", Address: address("hardware-frontier", "hardware", slug),
		Source:  m.source(),
		Note:    "The " + text.Whole(mostPoints) + " best models, each with its best quantization of at least four bits per weight, for a context of 8k tokens. Filled marks are measured speeds, hollow marks estimates. No other model is both faster and more capable than a model on the line. The speed axis is logarithmic.",
		Missing: "No model with a known speed and capability runs on this hardware with four or more bits per weight.",
	}
	var models []scored
	for i := range found[:min(len(found), mostPoints)] {
		b := &found[i]
		ord, ok := m.gen.Models.Find(string(b.Model))
		if ok && !b.BelowLeastBits() && b.TPS != nil && !math.IsNaN(m.gen.Models.Number("capability", ord)) {
			models = append(models, scored{b, m.gen.Models.Number("capability", ord), b.Use != nil && *b.Use == fit.UseMeasured})
		}
	}
	slices.SortStableFunc(models, func(a, b scored) int { return cmp.Or(cmp.Compare(*a.TPS, *b.TPS), cmp.Compare(a.Model, b.Model)) })
	best := slices.DeleteFunc(slices.Clone(models), func(a scored) bool {
		return slices.ContainsFunc(models, func(b scored) bool {
			return *b.TPS >= *a.TPS && b.score >= a.score && (*b.TPS > *a.TPS || b.score > a.score)
		})
	})
	out := &scatter{x: axis{"Generation speed (tok/s)", true}, y: axis{"Capability (0 to 100)", false}}
	for i, b := range best {
		if i > 0 { // a step: between two models only the slower one's speed is reached with its score
			out.line = append(out.line, [2]float64{out.line[len(out.line)-1][0], b.score})
		}
		out.line = append(out.line, [2]float64{*b.TPS, b.score})
	}
	for _, s := range slices.Backward(models) {
		p := point{x: *s.TPS, y: s.score, class: "open"}
		speed := "~" + text.Rounded(*s.TPS) + " tok/s estimated"
		if s.measured {
			p.class, speed = markClass(0), text.Rounded(*s.TPS)+" tok/s measured"
		}
		name := m.modelName(string(s.Model))
		if slices.ContainsFunc(best, func(b scored) bool { return b.Best == s.Best }) {
			p.label = name
		}
		p.tip = fmt.Sprintf("%s: %s of 100, %s, %s", name, text.Tenths(s.score), s.Quantization, speed)
		out.points = append(out.points, p)
	}
	if f.drawn(out); !f.Empty() {
		say := func(s scored) string {
			return fmt.Sprintf("%s (%s tok/s, %s of 100)", m.modelName(string(s.Model)), text.Rounded(*s.TPS), text.Tenths(s.score))
		}
		f.Summary = fmt.Sprintf("%s; %d are on the line, from %s to %s.", text.Count(len(models), "model", "models"), len(best), say(best[0]), say(best[len(best)-1]))
	}
	return f
}
