package pages

import (
	"net/url"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/index"
)

// shownExamples is how many speeds an answer names.
const shownExamples = 3

// hardwareAnswer is how many models run on a piece of hardware, and how fast the best of them are. found is the models
// that run, the best first.
func hardwareAnswer(gen *index.Generation, h *hardwareRecord, found []fit.Best, undecided int) []Cell {
	machine := "/fit?hardware=" + url.QueryEscape(string(h.Slug))
	switch {
	case len(gen.Fit.Unpublished(h.Slug)) > 0:
		return []Cell{{Text: "What runs on it depends on its memory, which is not published or differs between variants: "}, {Text: "enter yours", Href: machine, NoFollow: true}, {Text: "."}}
	case len(found) == 0:
		return []Cell{{Text: "No model listed here is known to run on it."}}
	}
	out := []Cell{{Text: "It runs "}, {Text: grouped(int64(len(found))) + " of the " + plural(gen.Models.Len(), "model", "models"), Href: machine, NoFollow: true}, {Text: " listed here. "}}
	if undecided > 0 {
		out = append(out, Cell{Text: "Of " + grouped(int64(undecided)) + " it cannot be said, for a fact about their memory is not published. "})
	}
	return append(out, bestSpeeds(gen, found)...)
}

// bestSpeeds names the first models of a list with their speeds: measured ones, or else estimates.
func bestSpeeds(gen *index.Generation, best []fit.Best) (out []Cell) {
	examples := examplesOf(best, func(b *fit.Best) bool { return b.TPS != nil && b.Use != nil && *b.Use == fit.UseMeasured })
	words, mark := "The best with a measured speed: ", ""
	if len(examples) == 0 {
		examples = examplesOf(best, func(b *fit.Best) bool { return b.TPS != nil })
		words, mark = "Estimated speeds of the best: ", "~"
	}
	n := newNames(gen)
	for i, b := range examples {
		out = append(out, Cell{Text: words}, n.cell("models", b.Model), Cell{Text: " (" + b.Quantization + ") " + mark + rounded(*b.TPS) + "\u00a0tok/s"})
		words = ", "
		if i == len(examples)-1 {
			out[len(out)-1].Text += "."
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
func modelAnswer(gen *index.Generation, speeds *index.Stats, memory *Table) (out []Cell) {
	if len(memory.Rows) > 0 {
		row, at := memory.Rows[0], len(memory.Rows[0])-1
		for i := range memory.Columns {
			if memory.Columns[i].Text == tokens(answerContext) {
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
		out = append(out, Cell{Text: words}, n.cell("hardware", dataset.Slug(key[0])), Cell{Text: size + " " + rounded(groups[i].Median) + "\u00a0tok/s"})
		words = ", "
	}
	if len(seen) > 0 {
		out[len(out)-1].Text += "."
	}
	return out
}

// answerContext is the length of context the memory in an answer is for.
const answerContext = 8192
