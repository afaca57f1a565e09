package fit

import (
	"math"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
)

// Lists of an engine that remembers are those of one that remembers nothing, whatever was asked before and by how
// many at a time.
func TestRememberedEstimates(t *testing.T) {
	e, r := shippedEngine(t), seeded(t)
	forgetful := New(shippedSet(t))
	machines, models := r.Perm(len(e.hwBySlug))[:4], r.Perm(len(e.bySlug))[:4]
	var work sync.WaitGroup
	for range 2 {
		r := rand.New(rand.NewPCG(r.Uint64(), 0))
		work.Go(func() {
			for range 12 {
				q := Query{Count: 1 + r.IntN(3), MeasuredFirst: r.IntN(2) == 0, Rules: []Rules{"", VLLM, MLX}[r.IntN(3)]}
				if r.IntN(2) == 0 {
					q.Context = 2048
				}
				least := []float64{0, math.Exp(6 * r.Float64()), 300.0004}[r.IntN(3)]
				list := (*Engine).Models
				if q.Hardware = e.hwBySlug[machines[r.IntN(4)]]; r.IntN(2) == 0 {
					q.Hardware, q.Model, list = "", e.bySlug[models[r.IntN(4)]], (*Engine).Hardware
				}
				got, fault := list(e, q, least)
				forgetful.remembered.forget()
				want, wanted := list(forgetful, q, least)
				if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(fault, wanted) {
					t.Errorf("%+v with at least %v: %d found, %v; without memory %d, %v", q, least, len(got), fault, len(want), wanted)
				}
			}
		})
	}
	work.Wait()
}

func (r *remembered) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now, r.before, r.sizes = nil, nil, 0
}

// A memory is bounded, and keeps what was asked for last.
func TestRememberedIsBounded(t *testing.T) {
	var r remembered
	key := func(i int) rememberedKey { return rememberedKey{setup{hardware: int32(i)}, NVIDIA, "model"} }
	for i := range 3 * mostRemembered / 1000 {
		r.of(key(i), 1000)[5].Store(uint32(i + 1))
		if i >= 100 && r.of(key(i-100), 1000)[5].Load() != uint32(i-99) {
			t.Fatalf("what was remembered 100 machines before number %d is forgotten", i)
		}
		if n := (len(r.now) + len(r.before)) * 1000; n > 2*mostRemembered {
			t.Fatalf("%d sizes are remembered", n)
		}
	}
	if r.of(key(0), 1000)[5].Load() != 0 {
		t.Error("the first machine is remembered still")
	}
}

// What is kept of an estimate answers for the least speeds it was worked out for, and for no others.
func TestKeptEstimates(t *testing.T) {
	for _, c := range []struct {
		tps          float64
		known        bool
		least, again float64
		done         bool
	}{
		{tps: 12.345, known: true, least: 20, again: 0, done: true},
		{tps: 0.001, known: true, again: 50, done: true},
		{tps: 0, known: true, again: 0},     // rounded to nothing
		{tps: 3e6, known: true, again: 0},   // too large to keep
		{least: 0, again: 0, done: true},    // nothing is near
		{least: 0, again: 7, done: true},    // nor with a least speed
		{least: 20, again: 0},               // slower ones were not looked for
		{least: 20, again: 19.999},          // nor these
		{least: 20, again: 20, done: true},  // as before
		{least: 20, again: 900, done: true}, // and more
		{least: 20.0004, again: 20.0003},
		{least: 3e6, again: 3e6},
	} {
		tps, known, done := recall(keep(c.tps, c.known, c.least), c.again)
		if done != c.done || done && (known != c.known || tps != c.tps) {
			t.Errorf("%+v: %v %v %v", c, tps, known, done)
		}
	}
}

// A size that was too slow for one least speed is worked out whole for the next lower one, so that falling least
// speeds do not cost an estimate each.
func TestFallingLeastSpeeds(t *testing.T) {
	e := New(shippedSet(t))
	q, model, m, fault := e.normal(Query{Model: "llama-3.1-8b-instruct", Hardware: "nvidia-rtx-4090"})
	if fault != nil {
		t.Fatal(fault)
	}
	at := site{near: newNearby(oneMachine)}
	defer at.near.free()
	tooSlow := 0
	for size := range model.sizes {
		for _, least := range []float64{400, 399} {
			a := e.ask(&q, model, m, &at)
			a.wants(least, false)
			_, known := a.estimated(size)
			switch kept := a.kept[size].Load(); {
			case kept == 0:
				t.Errorf("size %d: nothing is kept", size)
			case least == 400 && kept > below:
				tooSlow++
			case kept > below:
				t.Errorf("size %d: kept as slower than %v tokens/s, want its speed (known %v)", size, float64(kept-below)/1e3, known)
			}
		}
	}
	if tooSlow == 0 {
		t.Error("no size was too slow for 400 tokens/s")
	}
}
