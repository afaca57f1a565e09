package fit

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"modeldex/dataset"
)

// naiveGuess is guess by the words of its description: it looks at every sample of the class.
func naiveGuess(l *learnt, p *point) (g guess, ok bool) {
	var near []neighbour
	nearest := tooFar
	for i := range l.samples[p.class] {
		s := &l.samples[p.class][i]
		if d := distance(p, s); d <= tooFar {
			near = append(near, neighbour{int32(i), s.logShare + l.trend.parts(p) - s.trend, 0, d})
			nearest = min(nearest, d)
		}
	}
	near = slices.DeleteFunc(near, func(n neighbour) bool { return math.Exp(nearest-n.far) < lightest })
	if len(near) == 0 {
		return g, false
	}
	for i := range near {
		near[i].weight = math.Exp(nearest - near[i].far)
	}
	slices.SortFunc(near, func(a, b neighbour) int {
		return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(l.samples[p.class][a.at].id, l.samples[p.class][b.at].id))
	})
	g.neighbours, g.nearest, g.middle = near, nearest, min(quantile(near, 0.5), 0)
	g.reach()
	return g, true
}

// distance is how far a sample is from a configuration, added up from what differs.
func distance(p *point, s *sample) float64 {
	d := placeDistance(&p.setup, &s.setup) + s.wayDistance(&p.form)
	if s.model != p.model {
		d += otherModel
	}
	return d + perBytes*math.Abs(p.logBytes-s.logBytes) + perTime*math.Abs(p.logTime()-s.logTime()) + perActive*math.Abs(p.logActive()-s.logActive())
}

func seeded(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// Estimates by views equal those that look at every sample, and no estimate of at least a speed is left out.
func TestGuessIsThatOfEverySample(t *testing.T) {
	e, r := shippedEngine(t), seeded(t)
	guesses := 0
	for range 40 {
		q := Query{Hardware: e.hwBySlug[r.IntN(len(e.hwBySlug))], Context: 512}
		if r.IntN(2) == 0 { // one that was measured
			c := r.IntN(int(classes))
			s := &e.learnt.samples[c][r.IntN(len(e.learnt.samples[c]))]
			for slug, number := range e.learnt.names[hardwareName] {
				if number == s.hardware {
					q.Hardware = dataset.Slug(slug)
				}
			}
		}
		at := site{near: newNearby(use(r.IntN(int(oneModel) + 1)))}
		for range 60 {
			q.Model = e.bySlug[r.IntN(len(e.bySlug))]
			q, target, m, fault := e.normal(q)
			if fault != nil || len(target.order) == 0 {
				continue
			}
			a := e.ask(&q, target, m, &at)
			p, ok := a.configuration(r.IntN(len(target.order)))
			if !ok {
				continue
			}
			at.near.gather(&e.learnt, p)
			want, wanted := naiveGuess(&e.learnt, p)
			for _, least := range []float64{math.Inf(-1), want.middle - 1e-6, want.middle + 1e-6, want.middle + 0.3} {
				got, ok := at.near.guess(p, a.here(), least, nil)
				same := ok == wanted && (!ok || math.Abs(got.middle-want.middle) < 1e-9 && math.Abs(got.up-want.up) < 1e-9 &&
					math.Abs(got.down-want.down) < 1e-9 && math.Abs(got.nearest-want.nearest) < 1e-9 && len(got.neighbours) == len(want.neighbours))
				if !same && (ok || want.middle >= least) {
					got.samples, want.samples = nil, nil // too long to print
					t.Fatalf("%s on %s, at least %v: %+v %v, by every sample %+v %v", q.Model, q.Hardware, least, got, ok, want, wanted)
				}
				guesses++
			}
		}
		at.near.free()
	}
	if guesses < 1000 {
		t.Errorf("%d guesses were compared, want most of 9,600", guesses)
	}
}

// A list with a least speed names the first size, in the order of lists, whose answer is fast enough.
func TestLeastSpeedOfLists(t *testing.T) {
	e, r := shippedEngine(t), seeded(t)
	for range 6 {
		q := Query{Hardware: e.hwBySlug[r.IntN(len(e.hwBySlug))], Count: 1 + r.IntN(3)}
		if r.IntN(2) == 0 {
			q.Hardware = "nvidia-rtx-4090"
		}
		if r.IntN(2) == 0 {
			q.Context = 2048
		}
		least := math.Exp(6 * r.Float64())
		runs, fault := e.Models(q, least)
		if fault != nil {
			t.Fatal(fault)
		}
		found := runs.Found
		at := site{near: newNearby(oneMachine)}
		for range 80 {
			one := q
			one.Model = e.bySlug[r.IntN(len(e.bySlug))]
			one, target, m, fault := e.normal(one)
			if fault != nil {
				continue // the context is too long
			}
			a := e.ask(&one, target, m, &at)
			want := Best{}
			for _, verdict := range []Verdict{Fits, Tight} {
				for _, size := range target.order {
					v := a.need.verdict(size.bytes, m)
					if len(e.evidence(&one, target, m, &target.Quantizations[size.at])) > 0 {
						v = Fits
					}
					s := a.speed(size.at, true)
					tps := s.TPS
					if q.Context > 0 && s.Filled != nil {
						tps = &s.Filled.TPS
					}
					if want.TPS == nil && a.lists(size.at) && v == verdict && tps != nil && *tps >= least {
						want = Best{Model: one.Model, Quantization: target.Quantizations[size.at].Name, TPS: tps}
					}
				}
			}
			i := slices.IndexFunc(found, func(b Best) bool { return b.Model == one.Model })
			switch {
			case (i < 0) != (want.TPS == nil):
				t.Fatalf("%s on %s with at least %v: in the list %v, its sizes say %+v", one.Model, q.Hardware, least, i >= 0, want)
			case i >= 0 && (found[i].Quantization != want.Quantization || *found[i].TPS != *want.TPS):
				t.Fatalf("%s on %s with at least %v: %s at %v, its sizes say %s at %v", one.Model, q.Hardware, least,
					found[i].Quantization, *found[i].TPS, want.Quantization, *want.TPS)
			}
		}
		at.near.free()
	}
}

// weightOn is the part of an estimate that rests on measurements of the hardware that is as it should be.
func weightOn(t *testing.T, e *Estimate, is func(*dataset.Hardware) bool) (weight float64) {
	t.Helper()
	set := shippedSet(t)
	on, hardware := map[dataset.Slug]dataset.Slug{}, map[dataset.Slug]bool{}
	for _, b := range set.Benchmarks.All() {
		on[b.ID] = b.Hardware
	}
	for i := range set.Hardware {
		hardware[set.Hardware[i].Slug] = is(&set.Hardware[i])
	}
	for _, w := range e.Evidence {
		if hardware[on[w.ID]] {
			weight += w.Weight
		}
	}
	return weight
}

// Cards with stacked memory reach half of their bandwidth where others reach four fifths, so an RTX 5090 is not estimated from an
// A100, although the two have about the same bandwidth.
func TestStackedMemoryIsFar(t *testing.T) {
	e := shippedEngine(t)
	stacked := func(h *dataset.Hardware) bool { return strings.HasPrefix(text(h.MemoryType), "HBM") }
	for _, hardware := range []dataset.Slug{"nvidia-rtx-5090", "nvidia-h200-sxm-141gb"} {
		for _, size := range []string{"Q8_0", "Q4_K_M", "F16"} {
			a, fault := e.Fit(Query{Model: "llama-3.1-8b-instruct", Hardware: hardware, Quantization: size})
			if fault != nil || a.Sizes[0].Speed.Estimate == nil {
				t.Fatalf("%s on %s: no estimate, %v", size, hardware, fault)
			}
			own := stacked(e.hardware[hardware].Hardware)
			if other := weightOn(t, a.Sizes[0].Speed.Estimate, func(h *dataset.Hardware) bool { return stacked(h) != own }); other > 0.1 {
				t.Errorf("%s on %s: %.2f of the estimate is from cards with another kind of memory", size, hardware, other)
			}
		}
	}
}

// The memory of an M2 Max is as wide as its graphics need it, and its processor reaches a third of the bandwidth at most. It says little
// about a processor with memory of its own.
func TestSharedMemoryIsFar(t *testing.T) {
	e, estimated := shippedEngine(t), 0
	for _, h := range e.hwBySlug {
		if r := e.hardware[h]; r.Type != "cpu" || r.UnifiedMemory {
			continue
		}
		a, fault := e.Fit(Query{Model: "llama-3.1-8b-instruct", Hardware: h, MemoryGB: 64, Quantization: "Q4_K_M"})
		if fault != nil {
			t.Fatal(fault)
		}
		if a.Sizes[0].Speed.Estimate == nil {
			continue
		}
		estimated++
		if other := weightOn(t, a.Sizes[0].Speed.Estimate, func(h *dataset.Hardware) bool { return h.UnifiedMemory }); other > 0.1 {
			t.Errorf("%s: %.2f of the estimate is from processors that share their memory with graphics", h, other)
		}
	}
	if estimated == 0 {
		t.Error("no processor has an estimate")
	}
}

// Hardware of more than eight times the bandwidth of any that was measured near it has no estimate: a processor of a supercomputer was
// estimated at 965 tokens per second from desktops of a twentieth of its bandwidth, and led every list by speed.
func TestNoEstimateFarBeyondWhatWasMeasured(t *testing.T) {
	e := shippedEngine(t)
	for _, hardware := range e.hwBySlug {
		a, fault := e.Fit(Query{Model: "gpt-oss-20b", Hardware: hardware, Quantization: "MXFP4"})
		if fault != nil || a.Sizes[0].Speed == nil || a.Sizes[0].Speed.Estimate == nil {
			continue
		}
		if est := a.Sizes[0].Speed.Estimate; est.Median > 600 {
			t.Errorf("%s: %v tokens per second, from %s at a distance of %v", hardware, est.Median, est.Evidence[0].ID, est.Nearest)
		}
	}
}
