package pages

import (
	"math"
	"net/url"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/text"
	"modeldex/index"
)

// shownExamples is how many speeds an answer names.
const shownExamples = 3

// hardwareAnswer is how many models run on a piece of hardware, and how fast the best of them are. found is the models
// that run, the best first.
func hardwareAnswer(gen *index.Generation, h *hardwareRecord, found []fit.Best, undecided int) []Cell {
	machine := "/fit?hardware=" + url.QueryEscape(string(h.Slug))
	switch {
	case len(gen.Fit.Unpublished(h.Slug)) > 0 && h.Type == "cpu":
		return []Cell{{Text: "What runs on it depends on the "}, {Text: "memory of the machine", Href: "#fits"}, {Text: "."}}
	case len(gen.Fit.Unpublished(h.Slug)) > 0:
		return []Cell{{Text: "What runs on it depends on its memory, which is not published or differs between variants: "}, {Text: "enter yours", Href: machine, NoFollow: true}, {Text: "."}}
	case len(found) == 0:
		return []Cell{{Text: "No model listed here is known to run on it."}}
	}
	begin, size := memoryOf(gen, &FitQuery{Query: fit.Query{Hardware: h.Slug}})
	if begin += "It runs "; h.VRAMGB == nil && size != "" { // which the lead does not say
		begin = "With " + size + ", it runs "
	}
	out := []Cell{{Text: begin}, {Text: text.Whole(len(found)) + " of the " + text.Count(gen.Models.Len(), "model", "models"), Href: machine, NoFollow: true}, {Text: " listed here. "}}
	if undecided > 0 {
		out = append(out, Cell{Text: "Of " + text.Whole(undecided) + " it cannot be said, for a fact about their memory is not published. "})
	}
	return append(out, bestSpeeds(gen, found)...)
}

// farBelow is by how many points of 100 the best measured model is below the best estimated one where an answer names both.
const farBelow = 5

// bestSpeeds names the first models of a list, the best first, with their speeds: measured ones, and estimates where
// there are none, or where the measured ones are far below. Only a model with a score is called one of the best.
func bestSpeeds(gen *index.Generation, best []fit.Best) []Cell {
	score := func(b *fit.Best) float64 {
		if ord, ok := gen.Models.Find(string(b.Model)); ok {
			return knownOrLess(gen.Models.Number("intelligence", ord))
		}
		return math.Inf(-1)
	}
	scored := func(b *fit.Best) bool { return !math.IsInf(score(b), -1) }
	measured := func(b *fit.Best) bool { return b.TPS != nil && b.Use != nil && *b.Use == fit.UseMeasured }
	estimated := func(b *fit.Best) bool { return b.TPS != nil && !measured(b) }

	examples := examplesOf(best, func(b *fit.Best) bool { return measured(b) && scored(b) })
	top := math.Inf(-1)
	if len(examples) > 0 {
		top = score(examples[0])
	}
	better := examplesOf(best, func(b *fit.Best) bool { return estimated(b) && scored(b) && score(b) > top })
	var out []Cell
	switch {
	case len(better) > 0 && score(better[0])-top > farBelow:
		out = append(speedsOf(gen, "Measured, for example: ", "", examplesOf(best, measured)), speedsOf(gen, "Estimated speeds of the best: ", "~", better)...)
	case len(examples) > 0:
		out = speedsOf(gen, "The best with a measured speed: ", "", examples)
	default:
		if out = speedsOf(gen, "Measured, for example: ", "", examplesOf(best, measured)); len(out) == 0 {
			out = speedsOf(gen, "Estimated, for example: ", "~", examplesOf(best, estimated))
		}
	}
	if last := len(out) - 1; last >= 0 {
		out[last].Text = strings.TrimSuffix(out[last].Text, " ")
	}
	return out
}

// speedsOf is a sentence of the speeds of models, none without any.
func speedsOf(gen *index.Generation, words, mark string, examples []*fit.Best) (out []Cell) {
	n := newNames(gen)
	for i, b := range examples {
		out = append(out, Cell{Text: words}, n.cell("models", b.Model), Cell{Text: " (" + b.Quantization + ") " + mark + text.Tenths(*b.TPS) + "\u00a0tok/s"})
		words = ", "
		if i == len(examples)-1 {
			out[len(out)-1].Text += ". "
		}
	}
	return out
}

func examplesOf(best []fit.Best, is func(*fit.Best) bool) (out []*fit.Best) {
	for i := range best {
		if len(out) < shownExamples && !best[i].BelowLeastBits() && is(&best[i]) {
			out = append(out, &best[i])
		}
	}
	return out
}

// modelAnswer is how much memory a model takes, and how fast it is on the hardware it was measured on most. speeds are by
// hardware and quantization, memory is the table of memory by context.
func modelAnswer(gen *index.Generation, m *modelRecord, speeds *index.Stats, memory *Table) (out []Cell) {
	if len(memory.Rows) > 0 {
		row, at := memory.Rows[0], len(memory.Rows[0])-1
		for i := range memory.Columns {
			if memory.Columns[i].Text == text.Tokens(answerContext) {
				at = i
			}
		}
		if at > 1 && row[at].Known() {
			out = append(out, Cell{Text: "In " + row[0].Text + " it takes "}, Cell{Text: row[at].Text, Href: "#memory"}, Cell{Text: " of memory with " + memory.Columns[at].Text + " tokens of context. "})
		}
	}
	groups := mostRun(speeds)
	n, words := newNames(gen), "Measured, for example: "
	seen := map[string]bool{}
	for i := range groups {
		key := groups[i].Key()
		if len(seen) == shownExamples || seen[key[0]] {
			continue
		}
		seen[key[0]] = true
		size := ""
		if key[1] != "" {
			size = " (" + key[1] + ")"
		}
		out = append(out, Cell{Text: words}, n.cell("hardware", dataset.Slug(key[0])), Cell{Text: size + " " + text.Tenths(groups[i].Median) + "\u00a0tok/s"})
		words = ", "
	}
	if len(seen) > 0 {
		out[len(out)-1].Text += "."
		return out
	}
	return append(out, estimatesOf(gen, m)...)
}

// estimatesOf are the estimated speeds of a model on hardware people have at home.
func estimatesOf(gen *index.Generation, m *modelRecord) []Cell {
	var found []fit.Best
	for _, l := range quick(gen) {
		q := fit.Query{Model: m.Slug, Hardware: dataset.Slug(strings.TrimPrefix(l.Href, "/hardware/")), MeasuredFirst: true, BestOnly: true}
		a, fault := gen.Fit.Fit(q)
		if fault != nil || len(a.Sizes) == 0 || len(found) == shownExamples {
			continue
		}
		if z := &a.Sizes[0]; z.Verdict == fit.Fits && z.Speed != nil && z.Speed.TPS != nil && (z.BitsPerWeight == nil || *z.BitsPerWeight >= fit.LeastBits) {
			found = append(found, fit.Best{Hardware: q.Hardware, Quantization: z.Quantization, TPS: z.Speed.TPS})
		}
	}
	n, words := newNames(gen), "No run is known. Estimated: "
	var out []Cell
	for i := range found {
		b := &found[i]
		out = append(out, Cell{Text: words}, n.cell("hardware", b.Hardware), Cell{Text: " (" + b.Quantization + ") ~" + text.Tenths(*b.TPS) + "\u00a0tok/s"})
		words = ", "
	}
	if len(out) > 0 {
		out[len(out)-1].Text += "."
	}
	return out
}

// answerContext is the length of context the memory in an answer is for.
const answerContext = 8192
