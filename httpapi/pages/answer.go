package pages

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strings"

	"modeldex/dataset/fit"
	"modeldex/dataset/text"
	"modeldex/index"
)

// shownExamples is how many speeds an answer names.
const shownExamples = 3

// example is a speed in an answer: of a model or on hardware, which the cell names.
type example struct {
	of           Cell
	quantization string // empty: it is not known
	tps          float64
}

// sayExamples is a sentence of the first examples, none without any. mark is before each speed.
func sayExamples(words, mark string, examples []example) (out []Cell) {
	for _, e := range examples[:min(len(examples), shownExamples)] {
		size := ""
		if e.quantization != "" {
			size = " (" + e.quantization + ")"
		}
		out = append(out, Cell{Text: words}, e.of, Cell{Text: size + " " + mark + text.Tenths(e.tps) + "\u00a0tok/s"})
		words = ", "
	}
	if len(out) > 0 {
		out[len(out)-1].Text += "."
	}
	return out
}

// farBelow is by how many points of 100 the best measured model is below the best estimated one where an answer names both.
const farBelow = 5

// bestSpeeds names the first models of a list, the best first, with their speeds: measured ones, and estimates where
// there are none, or where the measured ones are far below. Only a model with a score is called one of the best.
func bestSpeeds(gen *index.Generation, best []fit.Best) []Cell {
	n := newNames(gen)
	score := func(b *fit.Best) float64 { return knownOrLess(numberOf(gen.Models, string(b.Model), "intelligence")) }
	some := func(is func(b *fit.Best, measured bool) bool) (out []example, top float64) {
		top = math.Inf(-1)
		for i := 0; i < len(best) && len(out) < shownExamples; i++ {
			b := &best[i]
			if b.TPS == nil || b.BelowLeastBits() || !is(b, b.Use != nil && *b.Use == fit.UseMeasured) {
				continue
			}
			if out == nil {
				top = score(b)
			}
			out = append(out, example{n.cell("models", b.Model), b.Quantization, *b.TPS})
		}
		return out, top
	}
	scored := func(b *fit.Best) bool { return !math.IsInf(score(b), -1) }
	measured, _ := some(func(_ *fit.Best, measured bool) bool { return measured })
	estimated, _ := some(func(_ *fit.Best, measured bool) bool { return !measured })
	bestMeasured, top := some(func(b *fit.Best, measured bool) bool { return measured && scored(b) })
	better, higher := some(func(b *fit.Best, measured bool) bool { return !measured && scored(b) && score(b) > top })
	switch {
	case len(better) > 0 && higher-top > farBelow:
		out := sayExamples("Measured, for example: ", "", measured)
		if len(out) > 0 {
			out[len(out)-1].Text += " "
		}
		return append(out, sayExamples("Estimated speeds of the best: ", "~", better)...)
	case len(bestMeasured) > 0:
		return sayExamples("The best with a measured speed: ", "", bestMeasured)
	case len(measured) > 0:
		return sayExamples("Measured, for example: ", "", measured)
	}
	return sayExamples("Estimated, for example: ", "~", estimated)
}

// numberOf is a number of a record, NaN where it is unknown.
func numberOf(t *index.Table, slug string, field index.Field) float64 {
	if ord, ok := t.Find(slug); ok {
		return t.Number(field, ord)
	}
	return math.NaN()
}

// knownOrLess is a value, or less than any where it is unknown.
func knownOrLess(v float64) float64 {
	if math.IsNaN(v) {
		return math.Inf(-1)
	}
	return v
}

// BestFirst orders models that run by score, unknown last, then by parameters. Those that fit only with fewer than
// four bits per weight come after all others: their scores are of the full model.
func BestFirst(gen *index.Generation, found []fit.Best) []fit.Best {
	type ranked struct {
		*fit.Best
		below         int // 1 with fewer than four bits
		score, params float64
	}
	rows := make([]ranked, len(found))
	for i := range found {
		b := &found[i]
		rows[i] = ranked{b, 0, knownOrLess(numberOf(gen.Models, string(b.Model), "intelligence")), knownOrLess(numberOf(gen.Models, string(b.Model), "params_b"))}
		if b.BelowLeastBits() {
			rows[i].below = 1
		}
	}
	slices.SortStableFunc(rows, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.below, b.below), cmp.Compare(b.score, a.score), cmp.Compare(b.params, a.params))
	})
	out := make([]fit.Best, len(rows))
	for i, r := range rows {
		out[i] = *r.Best
	}
	return out
}

// fitColumns are the columns of models that run; memory names that of their memory.
func fitColumns(memory string) []Column {
	return columns("Model", "#Intelligence|Composite of published evaluations, 0 to 100", "~Size", "#"+memory, "#Tok/s", "Speed is")
}

// fitRows are the rows of models that run on a machine, which the parameters describe.
func fitRows(gen *index.Generation, found []fit.Best, machine url.Values) [][]Cell {
	n := newNames(gen)
	rows := make([][]Cell, len(found))
	for i := range found {
		b := &found[i]
		score := numberOf(gen.Models, string(b.Model), "intelligence")
		rows[i] = append([]Cell{n.cell("models", b.Model), {Text: text.Tenths(score)}}, fitCells(b, machine)...)
	}
	return rows
}

// belowFour is the remark on quantizations of less than fit.LeastBits.
const belowFour = "With fewer than four bits per weight the answers of most models become clearly worse: look for a smaller model, or more memory."

// fitCells are quantization, memory and speed of what runs, each speed with the way to what it rests on.
func fitCells(b *fit.Best, machine url.Values) []Cell {
	size := Cell{Text: b.Quantization}
	if b.BelowLeastBits() {
		size.Note, size.Title = "below 4 bits", belowFour
	}
	if b.Verdict == fit.Tight {
		size.Note, size.Title = strings.TrimPrefix(size.Note+", tight", ", "), joined("It fits only by using memory that should stay free.", size.Title)
	}
	if b.TPS == nil {
		return []Cell{size, {Text: text.GiB(b.Total)}, cell(""), {Text: "unknown", Class: "none"}}
	}
	rests := speedOf(string(b.Model), string(b.Hardware), b.Quantization, machine)
	basis := Cell{Text: "estimate", Class: "estimate", Href: rests}
	if b.Use != nil && *b.Use == fit.UseMeasured {
		basis = Cell{Text: "measured", Class: "measured", Href: benchmarksOf(string(b.Model), string(b.Hardware), b.Quantization)}
	}
	if b.Use != nil && *b.Use == fit.UseSibling {
		basis.Text, basis.Class = "sibling", "measured"
	}
	if b.Depth > 0 || b.Count > 1 {
		basis.Href = rests // no list has these runs: they are scaled, or of several devices
	}
	switch {
	case b.Depth > 0 && basis.Class == "measured":
		basis.Note = "scaled to " + text.Tokens(b.Depth)
	case b.Depth > 0:
		basis.Note = "at " + text.Tokens(b.Depth)
	}
	return []Cell{size, {Text: text.GiB(b.Total)}, {Text: text.Tenths(*b.TPS)}, basis}
}
