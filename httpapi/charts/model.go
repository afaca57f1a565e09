package charts

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"modeldex/dataset/text"
	"modeldex/index"
)

// ModelSpeeds draws the measured speed of a model by hardware.
func (m Maker) ModelSpeeds(slug string) *Figure {
	runs, total := m.runsOf(is(index.Model, slug))
	f := &Figure{
		Title: m.modelName(slug) + ": measured speed by hardware", Address: address("model-speeds", "model", slug),
		Source: m.source(), Missing: "No comparable benchmarks yet.",
	}
	byHardware, quantizations := map[string][]run{}, map[string]int{}
	for _, r := range runs {
		byHardware[m.of(index.Hardware, r)] = append(byHardware[m.of(index.Hardware, r)], r)
		quantizations[m.of(index.Quantization, r)]++
	}
	main := most(quantizations)
	if 4*quantizations[main] < len(runs) {
		main = "" // what fewer used is not the usual one
	}
	names := slices.SortedFunc(maps.Keys(byHardware), func(a, b string) int {
		return cmp.Or(-cmp.Compare(len(byHardware[a]), len(byHardware[b])), cmp.Compare(a, b))
	})
	names = names[:min(len(names), mostRows)]
	for _, name := range names {
		byHardware[name] = every(m.fastestFirst(byHardware[name]), mostDots)
	}
	slices.SortStableFunc(names, func(a, b string) int { return -cmp.Compare(middle(byHardware[a]), middle(byHardware[b])) })
	out, shown := &rows{axis: "Generation speed (tok/s)"}, 0
	low, high := math.Inf(1), 0.0
	for _, name := range names {
		of, r := byHardware[name], row{name: m.hardwareName(name)}
		for _, one := range of {
			mark := rowMark{at: one.tps, low: one.tps, high: one.tps, class: markClass(0), tip: r.name + ": " + m.described(one)}
			if main != "" && m.of(index.Quantization, one) != main {
				mark.class = "open"
			}
			r.marks = append(r.marks, mark)
		}
		shown += len(of)
		low, high = min(low, of[len(of)-1].tps), max(high, of[0].tps)
		out.rows = append(out.rows, r)
	}
	if f.drawn(out); f.Empty() {
		return f
	}
	f.Note = "Each dot is a benchmark with one request at a time on one device. Rows are sorted by median speed; the axis is logarithmic."
	if main != "" {
		f.Note += " Filled dots are " + main + ", hollow dots other quantizations."
	}
	if len(names) < len(byHardware) || shown < total {
		f.Note += fmt.Sprintf(" Showing %s of %s rows and %s of %s benchmarks.", text.Whole(len(names)), text.Whole(len(byHardware)), text.Whole(shown), text.Whole(total))
	}
	f.Summary = fmt.Sprintf("%s, from %s to %s tok/s. Fastest by median: %s, %s.", text.Count(shown, "benchmark", "benchmarks"), text.Rounded(low), text.Rounded(high), out.rows[0].name, text.Rounded(middle(byHardware[names[0]])))
	return f
}
