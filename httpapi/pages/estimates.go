package pages

import (
	"strings"

	"modeldex/dataset/fit"
	"modeldex/dataset/text"
	"modeldex/index"
)

// Estimates is the page on how speeds are estimated, and how near they come.
func (s *Site) Estimates(gen *index.Generation, at Place) *Sheet {
	of := fit.ValidatedData()
	return &Sheet{
		Frame: Frame{
			site: s, Place: at, Title: "How speeds are estimated", Section: "/about", Canonical: "/about/estimates", Dataset: stampOf(gen), Scripts: []string{"app.js"},
			Description: "The method of the speed estimates, their errors against measurements of hidden sources by class of hardware, and where they are weak.",
		},
		Heading: "How speeds are estimated",
		Lead:    "Each token reads the weights once, so a speed is a share of the memory bandwidth over the bytes of the weights. A regression says which share.",
		Groups: []Group{{"Method", []Fact{
			{Label: "Terms", Value: Cell{Text: "launching the work of each layer, the cache at the asked depth, the year of the run, bits per weight, bandwidth, mixtures of experts; for each class of hardware"}},
			{Label: "Effects", Value: Cell{Text: "silicon, architecture, kernels, program, shape of the model and kind of quantization, and a few of their pairs; each is pulled to zero as strongly as the spread of its group says"}},
			{Label: "Band", Value: Cell{Text: "nine of ten measurements of hidden sources of the class; wider where effects are unknown or rest on few runs"}},
			{Label: "Main memory", Value: Cell{Text: "times add up: the part on the card, and the part in main memory at 0.56 of its bandwidth and 20 microseconds for each layer"}},
			{Label: "Several cards", Value: Cell{Text: "split by layers the times add up; split by tensors n cards are n to the power of 0.55 as fast as one"}},
			{Label: "Prompts", Value: Cell{Text: "the same on operations per second in place of bandwidth"}},
			{Label: "Several requests", Value: Cell{Text: "with engine=vllm and parallel: a step reads the weights once and the cache of each request, and the regression corrects that"}},
			{Label: "Test", Value: Cell{Text: "each measurement is estimated without any measurement of its source; estimates state the error found so, on dataset " + of.DatasetVersion}},
			{Label: "Weak", Value: Cell{Text: "prompts; Intel cards; processors of many channels; several requests at once; main memory whose speed is not given"}},
		}}},
		Tables: []Table{
			errorsTable("generation", "Generation of one stream", &of.Generation),
			errorsTable("split", "With a part of the weights in main memory", &of.Split),
			errorsTable("prompt", "Reading prompts", &of.Prompt),
			errorsTable("load", "Several requests at once", &of.Load),
		},
	}
}

func errorsTable(id, title string, of *fit.Quality) Table {
	t := Table{
		ID: id, Title: title, Intro: text.Count(of.Rows, "measurement", "measurements") + " of " + text.Count(of.Sources, "source", "sources") + ".",
		Columns: columns("Class", "#Runs", "#Median error", "#Within 25 %", "#Within 1.5 times", "#Within 2 times", "#Band covers", "#Band width", "#Rule of thumb: median error"),
	}
	simple := id == "generation" || id == "split"
	for i := range of.Scores {
		s := &of.Scores[i]
		if strings.Contains(s.Class, ",") || s.Rows < 10 {
			continue
		}
		thumb := text.Percent(s.Simple)
		if !simple {
			thumb = ""
		}
		t.Rows = append(t.Rows, []Cell{
			{Text: strings.ReplaceAll(s.Class, "_", " ")},
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
		t.Source = "The rule of thumb is 0.65 of the bandwidth over the bytes of the weights that a token reads. Usual are programs that people run, as opposed to research code."
	}
	return t
}
