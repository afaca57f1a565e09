package pages

import (
	"cmp"
	"slices"
	"strings"

	"modeldex/dataset/fit"
	"modeldex/dataset/text"
	"modeldex/index"
)

// Estimates is the page on how speeds are estimated, and how near they come.
func (s *Site) Estimates(gen *index.Generation, at Place) *Sheet {
	of := fit.ValidatedData()
	return &Sheet{
		Frame: s.frame(gen, at, "/about/estimates", "How speeds are estimated",
			"How we estimate speeds, how far the estimates are off for each type of hardware, and where they are weak."),
		Heading: "How speeds are estimated",
		Lead:    "To write a token, the hardware reads all active weights once, so the maximum speed is the memory bandwidth divided by the size of those weights. A regression on published benchmarks estimates how much of that maximum is reached.",
		Groups: []Group{{"Method", []Fact{
			{Label: "Inputs", Value: Cell{Text: "For each class of hardware: a fixed cost per layer, the size of the KV cache, the year of the benchmark, bits per weight, bandwidth, the compute of a CPU, and whether the model is a mixture of experts."}},
			{Label: "Effects", Value: Cell{Text: "Chip, chip architecture, compute kernels, tool, model shape and type of quantization, and some of their combinations. Effects with little evidence are shrunk towards zero."}},
			{Label: "90% range", Value: Cell{Text: "Wide enough to contain nine of ten benchmarks from sources held out of the fit. It is wider if effects are unknown or based on few benchmarks."}},
			{Label: "Offloading", Value: Cell{Text: "The time for the part on the card plus the time for the part in main memory, read at 56% of its bandwidth, plus 20 microseconds per layer."}},
			{Label: "Several cards", Value: Cell{Text: "If the model is split by layer, the times of the cards add up. If it is split by tensor, n cards are n to the power of 0.55 times as fast as one."}},
			{Label: "Prompts", Value: Cell{Text: "The same method with operations per second instead of bandwidth. GPUs count without their matrix units; CPUs count 100 billion per thread, or twice that with AVX-512, up to 10 billion per watt. The regression accounts for matrix units, long contexts and mixtures of experts."}},
			{Label: "Parallel requests", Value: Cell{Text: "With engine=vllm and parallel: each step reads the weights once and the cache of every request. The regression adjusts the result."}},
			{Label: "Validation", Value: Cell{Text: "The tables compare each benchmark with an estimate made without any data from the same source (dataset " + of.DatasetVersion + "). Benchmarks are left out if the same source was over 1.5 times as fast with otherwise the same configuration, as some setting held them back."}},
			{Label: "Weak points", Value: Cell{Text: "Prompts, Intel cards, CPUs with many memory channels, parallel requests, and offloading if the speed of main memory is unknown."}},
		}}},
		Tables: []Table{
			errorsTable("generation", "Generation, one request at a time", &of.Generation),
			errorsTable("split", "Generation with offloading to main memory", &of.Split),
			errorsTable("prompt", "Prompt processing", &of.Prompt),
			errorsTable("load", "Generation, parallel requests", &of.Load),
		},
	}
}

// classNames are the classes of scores in the order of the page.
var classNames = [][2]string{
	{"all", "All"},
	{"usual", "Popular tools"},
	{"dense", "Dense models"},
	{"mixture", "Mixtures of experts"},
	{"deep", "Long contexts"},
	{"apple", "Apple"},
	{"cpu", "CPUs"},
	{"discrete_amd", "AMD cards"},
	{"discrete_intel", "Intel cards"},
	{"discrete_nvidia", "NVIDIA cards"},
	{"other_unified", "Other unified memory"},
}

func errorsTable(id, title string, of *fit.Quality) Table {
	t := Table{
		ID: id, Title: title, Intro: text.Count(of.Rows, "benchmark", "benchmarks") + " from " + text.Count(of.Sources, "source", "sources") + ".",
		Columns: columns("Group", "#Benchmarks", "#Median error", "#Within 25%", "#Within 1.5×", "#Within 2×", "#In 90% range", "#Width of range|Upper end divided by lower end"),
	}
	simple := id == "generation" || id == "split"
	if simple {
		t.Columns = append(t.Columns, columns("#Rule of thumb: median error")...)
		t.Source = "Rule of thumb: 0.65 × bandwidth ÷ bytes of weights read per token."
	}
	place := func(class string) int {
		first, _, _ := strings.Cut(class, " ")
		return slices.IndexFunc(classNames, func(c [2]string) bool { return c[0] == first })
	}
	scores := slices.Clone(of.Scores)
	slices.SortStableFunc(scores, func(a, b fit.Score) int { return cmp.Compare(place(a.Class), place(b.Class)) })
	for i := range scores {
		s := &scores[i]
		if strings.Contains(s.Class, ",") || s.Rows < 10 {
			continue
		}
		name := classNames[place(s.Class)][1]
		if _, kind, both := strings.Cut(s.Class, " "); both {
			name += ": " + strings.ToLower(classNames[place(kind)][1])
		}
		row := []Cell{
			{Text: name},
			{Text: text.Whole(s.Rows)},
			{Text: text.Percent(s.MedianError)},
			{Text: text.Percent(s.Within25)},
			{Text: text.Percent(s.Within50)},
			{Text: text.Percent(s.Within100)},
			{Text: text.Percent(s.Coverage)},
			{Text: text.Tenths(s.Width) + "×"},
		}
		if simple {
			row = append(row, Cell{Text: text.Percent(s.Simple)})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
