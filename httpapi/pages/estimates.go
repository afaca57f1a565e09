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
			"The method of the speed estimates, their errors against measurements of hidden sources by class of hardware, and where they are weak."),
		Heading: "How speeds are estimated",
		Lead:    "To write a token, the machine reads all active weights once. So the top speed is the memory bandwidth divided by the size of those weights; a regression estimates how much of it is reached.",
		Groups: []Group{{"Method", []Fact{
			{Label: "Terms", Value: Cell{Text: "a fixed cost per layer, the cache at the requested context, the year of the run, bits per weight, bandwidth, the compute of a processor and mixtures of experts; for each class of hardware"}},
			{Label: "Effects", Value: Cell{Text: "silicon, architecture, kernels, program, shape of the model and kind of quantization, and a few of their pairs; each is shrunk towards zero, more strongly the less its group varies"}},
			{Label: "Band", Value: Cell{Text: "wide enough to hold nine of ten measurements from hidden sources of the class; wider if effects are unknown or rest on few runs"}},
			{Label: "Main memory", Value: Cell{Text: "the time for the part on the card plus the time for the part in main memory, read at 0.56 of its bandwidth, plus 20 microseconds per layer"}},
			{Label: "Several cards", Value: Cell{Text: "split by layer, the times add up; split by tensor, n cards are n to the power of 0.55 times as fast as one"}},
			{Label: "Prompts", Value: Cell{Text: "the same method, with operations per second instead of bandwidth: those without matrix units. A processor has 100 billion per thread, twice that with AVX-512, limited by 10 billion per watt. The regression adds the effects of matrix units, attention to long contexts and the experts that a batch reads"}},
			{Label: "Several requests", Value: Cell{Text: "with engine=vllm and parallel: each step reads the weights once and the cache of every request; the regression adjusts the result"}},
			{Label: "Test", Value: Cell{Text: "each measurement is estimated without any data from its own source; estimates state the errors found this way, on dataset " + of.DatasetVersion + ". A run does not count if the same source was over 1.5 times as fast with otherwise the same configuration: a setting held it back"}},
			{Label: "Weak", Value: Cell{Text: "prompts; Intel cards; processors with many memory channels; several requests at once; main memory whose speed is not given"}},
		}}},
		Tables: []Table{
			errorsTable("generation", "Generation of one stream", &of.Generation),
			errorsTable("split", "With some of the weights in main memory", &of.Split),
			errorsTable("prompt", "Reading prompts", &of.Prompt),
			errorsTable("load", "Several requests at once", &of.Load),
		},
	}
}

// classNames are the classes of scores in the order of the page.
var classNames = [][2]string{
	{"all", "All"},
	{"usual", "Programs people run"},
	{"dense", "Dense models"},
	{"mixture", "Mixtures of experts"},
	{"deep", "Long contexts"},
	{"apple", "Apple"},
	{"cpu", "Processors"},
	{"discrete_amd", "AMD cards"},
	{"discrete_intel", "Intel cards"},
	{"discrete_nvidia", "NVIDIA cards"},
	{"other_unified", "Other unified memory"},
}

func errorsTable(id, title string, of *fit.Quality) Table {
	t := Table{
		ID: id, Title: title, Intro: text.Count(of.Rows, "measurement", "measurements") + " of " + text.Count(of.Sources, "source", "sources") + ".",
		Columns: columns("Class", "#Runs", "#Median error", "#Within 25 %", "#Within 1.5 times", "#Within 2 times", "#Band covers", "#Band width", "#Rule of thumb: median error"),
	}
	simple := id == "generation" || id == "split"
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
		thumb := text.Percent(s.Simple)
		if !simple {
			thumb = ""
		}
		name := classNames[place(s.Class)][1]
		if _, kind, both := strings.Cut(s.Class, " "); both {
			name += ": " + strings.ToLower(classNames[place(kind)][1])
		}
		t.Rows = append(t.Rows, []Cell{
			{Text: name},
			{Text: text.Whole(s.Rows)},
			{Text: text.Percent(s.MedianError)},
			{Text: text.Percent(s.Within25)},
			{Text: text.Percent(s.Within50)},
			{Text: text.Percent(s.Within100)},
			{Text: text.Percent(s.Coverage)},
			{Text: text.Tenths(s.Width) + " times"},
			{Text: thumb},
		})
	}
	if simple {
		t.Source = "The rule of thumb is 0.65 × bandwidth / bytes of the weights read per token."
	}
	return t
}
