package index

import (
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestPairs: a pair of filters gives the same page each time it is asked for, alone and from many
// goroutines, whichever pair had its slot before; from the second time on it is kept.
func TestPairs(t *testing.T) {
	table := mustBuild(t, benchSet(20_000)).Benchmarks
	queries := make([]Query, 0, 200)
	for i := range cap(queries) {
		queries = append(queries, Query{Sets: []Set{gpus(4*i, 4*i+1), cuda}, Limit: 20}, Query{Sets: []Set{cuda, q8, llama}, Limit: 20})
	}
	want := make([]Page, len(queries))
	for i, q := range queries {
		want[i] = table.answer(q, &work{}) // a counted query shares nothing
	}
	var askers sync.WaitGroup
	for range 4 {
		askers.Go(func() {
			for range 3 {
				for i, q := range queries {
					if diff := gocmp.Diff(want[i], table.Select(q)); diff != "" {
						t.Errorf("%v: -want +got\n%s", q, diff)
						return
					}
				}
			}
		})
	}
	askers.Wait()
	a, b := table.postings[Backend].byValue["cuda"], table.postings[Quantization].byValue["Q8_0"]
	if a == nil || b == nil {
		t.Fatal("the filters have no sets: this test asks for the wrong values")
	}
	table.pairs.both(a, b, nil)
	if first, second := table.pairs.both(a, b, nil), table.pairs.both(a, b, nil); first == nil || first != second {
		t.Errorf("both twice in a row = %p, %p, want one set", first, second)
	}
}
