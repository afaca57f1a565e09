package index

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"modeldex/dataset"
)

// marked renders rows that name the build they belong to.
func marked(build int) Renderers {
	r := renderers
	r.Benchmark = func(dst []byte, b *dataset.Benchmark, _ Computed) ([]byte, error) {
		return fmt.Appendf(dst, "%d %s", build, b.ID), nil
	}
	return r
}

func TestLive(t *testing.T) {
	var live Live
	if gen := live.Current(); gen != nil {
		t.Fatalf("Current() = %v before the first Publish, want nil", gen)
	}
	for want := uint64(1); want <= 3; want++ {
		gen := mustBuild(t, &dataset.Set{})
		if gen.Number != 0 {
			t.Errorf("Number = %d before Publish, want 0", gen.Number)
		}
		if live.Publish(gen); live.Current() != gen || gen.Number != want {
			t.Errorf("Current() has number %d, want %d", live.Current().Number, want)
		}
	}
}

// TestSwap publishes generations of different sizes while readers ask: every answer must be
// whole and of one generation.
func TestSwap(t *testing.T) {
	const builds = 8
	var live Live
	publish := func(build int) {
		set := newRandom(uint64(build), 10, 0.1).set(500+100*build, 20)
		gen, err := Build(context.Background(), set, marked(build))
		if err != nil {
			t.Errorf("Build: %v", err)
			return
		}
		live.Publish(gen)
	}
	publish(1)
	var readers sync.WaitGroup
	var done atomic.Bool
	for i := range 4 {
		readers.Go(func() {
			r := newRandom(uint64(i), 10, 0)
			for last := uint64(0); !done.Load(); {
				gen := live.Current()
				if gen.Number < last {
					t.Errorf("generation %d served after %d", gen.Number, last)
				}
				last = gen.Number
				readOnce(t, gen, r)
			}
		})
	}
	for build := 2; build <= builds; build++ {
		publish(build)
	}
	done.Store(true)
	readers.Wait()
	if got := live.Current().Number; got != builds {
		t.Errorf("Number = %d at the end, want %d", got, builds)
	}
}

func readOnce(t *testing.T, gen *Generation, r *random) {
	q := Query{Sets: []Set{{Field: Source, Values: []string{pick(r, dataset.Source("").Values())}}}, Ranges: []Range{{GenerationTPS, 1, 10}}, Limit: 50}
	q.Sort = Sort{PromptTPS, r.IntN(2) == 0}
	page := gen.Benchmarks.Select(q)
	mark := fmt.Sprintf("%d ", gen.Number) // builds are published in order
	for _, ord := range page.Ords {
		if row := string(gen.Benchmarks.Row(ord)); !strings.HasPrefix(row, mark) {
			t.Errorf("row %q in an answer of generation %d", row, gen.Number)
		}
	}
	if page.Next != nil {
		q.After = page.Next
		gen.Benchmarks.Select(q)
	}
}

// TestGenerationsAreFreed: nothing holds a generation once another is served, neither the
// tables of the next nor a page kept from it.
func TestGenerationsAreFreed(t *testing.T) {
	var live Live
	var page Page
	freed := make(chan struct{})
	set := newRandom(1, 10, 0.1).set(500, 20)
	func() {
		gen := mustBuild(t, set)
		runtime.AddCleanup(gen.Benchmarks, func(struct{}) { close(freed) }, struct{}{})
		live.Publish(gen)
		page = gen.Benchmarks.Select(Query{Limit: 10})
	}()
	live.Publish(mustBuild(t, set))
	deadline := time.After(time.Minute)
	for {
		runtime.GC()
		select {
		case <-freed:
			runtime.KeepAlive(page)
			runtime.KeepAlive(live.Current())
			return
		case <-deadline:
			t.Fatal("the first generation is still held after the second was published")
		case <-time.After(time.Millisecond):
		}
	}
}
