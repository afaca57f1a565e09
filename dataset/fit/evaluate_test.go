package fit

import (
	"context"
	"slices"
	"testing"

	"modeldex/dataset"

	"github.com/google/go-cmp/cmp"
)

// What estimates must reach on the shipped data with sources hidden, a little less than they did when this was written
// (bench/results/fit.md), and that what they state of themselves is what they reach.
func TestEvaluation(t *testing.T) {
	v := Evaluate(shippedSet(t))
	if v.Generation.Rows < 3500 || v.Generation.Sources < 60 || v.Prompt.Rows < 2500 {
		t.Fatalf("%d rows of %d sources and %d prompts, want 3500 of 60 and 2500", v.Generation.Rows, v.Generation.Sources, v.Prompt.Rows)
	}
	for _, c := range []struct {
		of                            *Quality
		stated                        *Quality
		class                         string
		median                        float64 // at most
		within25, within50, within100 float64 // at least
		leastCovered, mostCovered     float64
		width                         float64 // at most
	}{
		{&v.Generation, &validated.Generation, "all", 0.115, 0.78, 0.9, 0.96, 0.87, 0.93, 2.05},
		{&v.Generation, &validated.Generation, "usual", 0.105, 0.8, 0.915, 0.97, 0.87, 0.93, 2.05},
		{&v.Generation, &validated.Generation, "mixture", 0.11, 0.8, 0.925, 0.97, 0.87, 0.95, 1.95},
		{&v.Generation, &validated.Generation, "deep", 0.14, 0.71, 0.885, 0.94, 0.85, 0.95, 2.1},
		{&v.Split, &validated.Split, "all", 0.15, 0.72, 0.83, 0.91, 0.85, 0.93, 3},
		{&v.Prompt, &validated.Prompt, "all", 0.29, 0.44, 0.625, 0.815, 0.85, 0.93, 5.8},
		{&v.Load, &validated.Load, "all", 0.27, 0.47, 0.63, 0.77, 0.78, 0.93, 10.5},
	} {
		s, kept := c.of.Of(c.class), c.stated.Of(c.class)
		if s == nil || kept == nil {
			t.Fatalf("%s: no score", c.class)
		}
		if s.MedianError > c.median || s.Within25 < c.within25 || s.Within50 < c.within50 || s.Within100 < c.within100 || s.Width > c.width {
			t.Errorf("%s: %+v, want %+v", c.class, *s, c)
		}
		if s.Coverage < c.leastCovered || s.Coverage > c.mostCovered {
			t.Errorf("%s: the band holds %.3f of the measurements, want %v to %v", c.class, s.Coverage, c.leastCovered, c.mostCovered)
		}
		if s.MedianError >= s.Simple {
			t.Errorf("%s: median error %.3f, the rule of thumb has %.3f", c.class, s.MedianError, s.Simple)
		}
		if kept.MedianError < s.MedianError-0.02 || kept.Coverage > s.Coverage+0.03 {
			t.Errorf("%s: validated.json promises %.3f and %.3f, the data give %.3f and %.3f; run modeldex fit evaluate data --write dataset/fit/validated.json --report bench/results/fit.md",
				c.class, kept.MedianError, kept.Coverage, s.MedianError, s.Coverage)
		}
	}
}

// A regression that is given up before its first round does not panic.
func TestRegressEnded(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	end()
	regress(ctx, make([]observation, 1))
}

// The file is in the form that EncodeValidated gives, and nothing of it is lost on reading.
func TestEncodeValidated(t *testing.T) {
	got, err := EncodeValidated(&validated)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(validatedJSON), string(got)); diff != "" {
		t.Errorf("validated.json: -file +encoded\n%s", diff)
	}
}

// Models of one shape have one speed in one quantization on one machine, whatever of them was measured.
func TestOneSpeedForOneShape(t *testing.T) {
	e := shippedEngine(t)
	shapes := map[string][]dataset.Slug{}
	for _, slug := range e.bySlug {
		shapes[e.models[slug].network] = append(shapes[e.models[slug].network], slug)
	}
	pairs, eights := 0, 0
	for _, hardware := range []dataset.Slug{"nvidia-rtx-4090", "amd-rx-7900-xtx", "apple-m4-max-40gpu", "amd-ryzen-ai-max-395", "intel-core-i9-14900k"} {
		for _, models := range shapes {
			first := map[string]*Speed{}
			for _, model := range models {
				a, fault := e.Fit(Query{Model: model, Hardware: hardware, MemoryGB: 512})
				if fault != nil {
					t.Fatal(fault)
				}
				for i := range a.Sizes {
					z := &a.Sizes[i]
					was := first[folded(z.Quantization)]
					if z.Speed.TPS == nil || z.Verdict != Fits && z.Verdict != Tight {
						continue
					}
					if was == nil {
						first[folded(z.Quantization)] = z.Speed
						continue
					}
					pairs++
					if slices.Contains(models, "llama-3.1-8b-instruct") && hardware == "nvidia-rtx-4090" && z.Quantization == "Q4_K_M" {
						eights++
					}
					if r := *z.Speed.TPS / *was.TPS; r > 1.03 || r < 1/1.03 {
						t.Errorf("%s %s on %s: %v tokens per second (%s), another model of the shape %v (%s)", model, z.Quantization, hardware, *z.Speed.TPS, *z.Speed.Use, *was.TPS, *was.Use)
					}
				}
			}
		}
	}
	if pairs < 10_000 || eights < 5 {
		t.Errorf("%d pairs, %d of Llama 8B on one card, want 10,000 and 5", pairs, eights)
	}
}

// Every machine with a bandwidth answers.
func TestEveryMachineAnswers(t *testing.T) {
	e := shippedEngine(t)
	for _, hardware := range e.hwBySlug {
		if e.hardware[hardware].bandwidth == 0 {
			continue
		}
		a, fault := e.Fit(Query{Model: "llama-3.1-8b-instruct", Hardware: hardware, Quantization: "Q4_K_M", MemoryGB: 64})
		if fault != nil || a.Sizes[0].Speed.TPS == nil {
			t.Errorf("%s: no speed, %v", hardware, fault)
		}
	}
}

// More requests at once are more tokens per second in all, and no more for each; one request is not a load.
func TestUnderLoad(t *testing.T) {
	e := shippedEngine(t)
	for _, hardware := range []dataset.Slug{"nvidia-h100-sxm5-80gb", "nvidia-rtx-4090", "amd-instinct-mi300x"} {
		var was *Load
		for _, requests := range []int{1, 2, 8, 32, 64} {
			a, fault := e.Fit(Query{Model: "llama-3.1-8b-instruct", Hardware: hardware, Quantization: "FP8", Rules: VLLM, Parallel: requests, Context: 1024})
			if fault != nil {
				t.Fatal(fault)
			}
			load := a.Sizes[0].Speed.Load
			if (load == nil) != (requests == 1) {
				t.Fatalf("%s, %d requests: %+v", hardware, requests, load)
			}
			if load != nil && was != nil && (load.Total.Median <= was.Total.Median || load.Each > was.Each) {
				t.Errorf("%s: %+v, with fewer requests %+v", hardware, load, was)
			}
			was = load
		}
	}
}
