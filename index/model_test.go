package index

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"modeldex/dataset"
	"modeldex/dataset/datasettest"
)

func TestMain(m *testing.M) { datasettest.Main(m) }

var seedFlag = flag.Uint64("seed", 0, "seed of the model tests; 0 picks one")

// seedOf returns the seed of a test and says it where the test fails.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("repeat with -seed %d", seed)
	return seed
}

// The sizes cross what the answers depend on: nothing, one record, less than a cut, several
// cuts, more than one bitmap container and more than is ranked one by one.
var modelSizes = []struct {
	benchmarks, others, queries int
	distinct                    int
	unknown                     float64
}{
	{benchmarks: 0, others: 0, queries: 50, distinct: 1},
	{benchmarks: 1, others: 1, queries: 200, distinct: 3, unknown: 0.5},
	{benchmarks: 50, others: 10, queries: 1500, distinct: 4, unknown: 0.3},
	{benchmarks: 3000, others: 60, queries: 150, distinct: 1, unknown: 0.1},
	{benchmarks: 3000, others: 400, queries: 100, distinct: 500, unknown: 0.3},
	{benchmarks: 3000, others: 60, queries: 100, distinct: 50, unknown: 1},
	{benchmarks: 66_000, others: 60, queries: 8, distinct: 5000, unknown: 0.2},
}

// TestModel compares random queries with a loop over the records.
func TestModel(t *testing.T) {
	seed := seedOf(t)
	for i, size := range modelSizes {
		t.Run(fmt.Sprintf("rows=%d/distinct=%d/unknown=%v", size.benchmarks, size.distinct, size.unknown), func(t *testing.T) {
			if size.benchmarks > 1<<16 {
				datasettest.NeedLong(t, "more records than a bitmap container has")
			}
			t.Parallel()
			r := newRandom(seed+uint64(i), size.distinct, size.unknown)
			set := r.set(size.benchmarks, size.others)
			got, want := tables(mustBuild(t, set)), plains(set)
			for range size.queries / datasettest.Rounds(2, 1) {
				kind := max(0, r.IntN(6)-2) // half of the questions go to benchmarks
				compare(t, got[kind], want[kind], r.query(want[kind]))
			}
		})
	}
}

// shippedSet is the dataset of this repository.
func shippedSet(t testing.TB) *dataset.Set {
	t.Helper()
	set, err := dataset.Load(context.Background(), os.DirFS("../data"), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

type built struct {
	set *dataset.Set
	gen *Generation
}

// builtOnce is the dataset of this repository and its generation, made once for the tests that only read
// them.
var builtOnce = sync.OnceValues(func() (built, error) {
	set, err := dataset.Load(context.Background(), os.DirFS("../data"), dataset.Options{})
	if err != nil {
		return built{}, err
	}
	gen, err := Build(context.Background(), set, renderers)
	return built{set, gen}, err
})

func shippedGeneration(t testing.TB) (*dataset.Set, *Generation) {
	t.Helper()
	b, err := builtOnce()
	if err != nil {
		t.Fatal(err)
	}
	return b.set, b.gen
}

// TestModelShipped asks the same of the real records.
func TestModelShipped(t *testing.T) {
	t.Parallel()
	r := newRandom(seedOf(t), 1, 0)
	set, gen := shippedGeneration(t)
	got, want := tables(gen), plains(set)
	for range datasettest.Rounds(15, 100) {
		kind := max(0, r.IntN(6)-2)
		compare(t, got[kind], want[kind], r.query(want[kind]))
	}
}

// compare answers a query in both ways.
func compare(t *testing.T, got *Table, want *plain, q Query) {
	t.Helper()
	if expected, answered := want.answer(q), answerOf(got, q); !reflect.DeepEqual(expected, answered) {
		if diff := gocmp.Diff(expected, answered); diff != "" {
			t.Fatalf("Select(%v) of %d records (-want +got):\n%s", q, got.Len(), diff)
		}
	}
	page := got.Select(q)
	if ords, total := got.First(q); !slices.Equal(ords, page.Ords) || total != page.Total {
		t.Fatalf("First(%v) of %d records: %v of %d, Select has %v of %d", q, got.Len(), ords, total, page.Ords, page.Total)
	}
}

// TestComputedOrder: numbers given with a query are an order as those of a column are.
func TestComputedOrder(t *testing.T) {
	t.Parallel()
	r := newRandom(seedOf(t), 30, 0.2)
	set := r.set(2000, 50)
	got, want := tables(mustBuild(t, set)), plains(set)
	for range datasettest.Rounds(100, 500) {
		kind := r.IntN(3)
		q := r.query(want[kind])
		by := want[kind].nums[r.IntN(len(want[kind].nums))]
		q.Sort = Sort{by, r.IntN(2) == 0}
		if q.After = nil; r.IntN(2) == 0 {
			q.After = r.somewhere(want[kind], &want[kind].recs[r.IntN(len(want[kind].recs))], q.Sort)
		}
		computed := q
		computed.Sort.Field, computed.Computed = "computed", got[kind].columns[by].nums
		if diff := gocmp.Diff(answerOf(got[kind], q), answerOf(got[kind], computed)); diff != "" {
			t.Fatalf("Select(%v) by a column and by its numbers (-want +got):\n%s", q, diff)
		}
	}
}

// query asks for values records have, and now and then for ones none has.
func (r *random) query(p *plain) Query {
	q := Query{Limit: []int{0, 1, 2, 7, 100, 500}[r.IntN(6)]}
	if r.IntN(8) == 0 && p.home.Field == RunDate {
		// The slow end of the hardware asked for its fastest: nothing near the start matches.
		var slow []string
		for i := r.IntN(100); len(slow) < 60; i++ {
			slow = append(slow, fmt.Sprintf("gpu-%d", i))
		}
		return Query{Sets: []Set{{Field: Hardware, Values: slow}}, Sort: Sort{GenerationTPS, true}, Limit: 500}
	}
	some := func() *plainRecord {
		if len(p.recs) == 0 {
			return &plainRecord{slug: "none", names: []string{"none"}}
		}
		return &p.recs[r.IntN(len(p.recs))]
	}
	value := func(f Field) []string { // of a record that has one, though few do
		rec := some()
		for try := 0; try < 9 && len(rec.sets[f]) == 0; try++ {
			rec = some()
		}
		return rec.sets[f]
	}
	sets, ranges := r.IntN(3), max(0, r.IntN(5)-2)
	if r.IntN(10) == 0 { // every condition has others to be left out beside
		sets, ranges = sets+4, ranges+4
	}
	for range sets {
		f := p.sets[r.IntN(len(p.sets))]
		values := []string{"unheard-of"}
		for range r.IntN(4) {
			values = append(values, value(f)...)
		}
		if f == "tool_version" && r.IntN(2) == 0 {
			values = append(values, []string{"*", "b1*", "b10*", "c*"}[r.IntN(4)])
		}
		q.Sets = append(q.Sets, Set{Field: f, Values: values, OnlySelf: r.IntN(3) == 0})
	}
	if p.home.Field == RunDate && r.IntN(8) == 0 { // what is not listed without it
		q.Sets = append(q.Sets, Set{Field: Scenario, Values: value(Scenario)})
	}
	if hardware := p.home.Field == RunDate || slices.Contains(p.sets, "vendor"); hardware && r.IntN(6) == 0 {
		q.Sets = append(q.Sets, Set{Field: Silicon, Values: slices.Concat([]string{"none"}, some().sets[Silicon])})
	}
	if r.IntN(10) == 0 { // a batch of records
		key := Set{Field: Slug, Values: []string{some().slug, some().slug, "none"}}
		if p.home.Field == RunDate {
			key.Field = "id"
		}
		q.Sets = append(q.Sets, key)
	}
	for range ranges {
		q.Ranges = append(q.Ranges, r.someRange(slices.Concat(p.nums, p.ranged)[r.IntN(len(p.nums)+len(p.ranged))], some))
	}
	if r.IntN(4) == 0 {
		names := append([]string{"", "a"}, some().names...)
		word := names[r.IntN(len(names))]
		q.Words = append(q.Words, word[r.IntN(len(word)+1):])
		if r.IntN(3) == 0 {
			q.Words = append(q.Words, some().slug)
		}
		for range max(0, r.IntN(8)-5) {
			q.Words = append(q.Words, []string{"a", "l", "0", "u", "-", "gpu"}[r.IntN(6)])
		}
	}
	sorts := append(append([]Field{None}, p.nums...), p.texts...)
	if by := sorts[r.IntN(len(sorts))]; by != None {
		q.Sort = Sort{by, r.IntN(2) == 0}
	}
	if r.IntN(2) == 0 {
		q.After = r.somewhere(p, some(), q.Sort)
	}
	return q
}

func (r *random) someRange(f Field, some func() *plainRecord) Range {
	rg := Range{f, math.Inf(-1), math.Inf(1)}
	if v, ok := some().nums[f]; ok && r.IntN(4) > 0 {
		rg.Min = v
	}
	if v, ok := some().nums[f]; ok && r.IntN(3) > 0 {
		rg.Max = v + float64(r.IntN(2))/8 // often a value none has; now and then below Min
	}
	return rg
}

// somewhere is the position of a record, of one that has gone, or of one whose value was
// another.
func (r *random) somewhere(p *plain, rec *plainRecord, by Sort) *Position {
	at := p.position(rec, by)
	switch r.IntN(4) {
	case 0:
		at.Slug += "0"
	case 1:
		at.Home = max(0, at.Home-float64(r.IntN(3)))
		if by.Field == RunDate || by.Field == None && p.home.Field == RunDate {
			at.Num, at.Known = at.Home, at.Home != 0
		}
	case 2:
		if at.Known && at.Text == "" && by.Field != RunDate && by.Field != None {
			at.Num += 0.125
		}
	}
	return &at
}

// TestWalk reads whole lists page by page, in every order.
func TestWalk(t *testing.T) {
	t.Parallel()
	r := newRandom(seedOf(t), 40, 0.2)
	set := r.set(5000, 100)
	got, want := tables(mustBuild(t, set)), plains(set)
	for kind, p := range want {
		for _, f := range append(append([]Field{None}, p.nums...), p.texts...) {
			for _, desc := range []bool{false, true} {
				q := r.query(p)
				q.After, q.Sort, q.Words = nil, Sort{f, desc && f != None}, nil
				q.Limit = 1 + r.IntN(150)
				walk(t, got[kind], p, q)
				walk(t, got[kind], p, Query{Sort: q.Sort, Limit: 500})
			}
		}
	}
}

func walk(t *testing.T, table *Table, p *plain, q Query) {
	t.Helper()
	first := q
	all := q
	all.Limit = len(p.recs) + 1
	want := p.answer(all)
	var got []string
	for {
		page := answerOf(table, q)
		got = append(got, page.Slugs...)
		if page.Total != want.Total {
			t.Fatalf("Select(%v).Total = %d, want %d as on the first page", q, page.Total, want.Total)
		}
		if page.Next == nil {
			break
		}
		if len(page.Slugs) != q.Limit {
			t.Fatalf("Select(%v) has %d records and a next page, want %d", q, len(page.Slugs), q.Limit)
		}
		q.After = page.Next
	}
	if diff := gocmp.Diff(want.Slugs, got); diff != "" {
		t.Fatalf("pages of %v together (-want +got):\n%s", first, diff)
	}
}

// TestWalkAcrossRebuild goes on in a table with records removed, added and changed: nothing
// that stayed as it was is met twice or missed, and the position of one that has gone resumes
// at its place.
func TestWalkAcrossRebuild(t *testing.T) {
	t.Parallel()
	r := newRandom(seedOf(t), 30, 0.2)
	old := r.set(4000, 50)
	next := r.rebuilt(old)
	was, is := tables(mustBuild(t, old)), tables(mustBuild(t, next))
	before, after := plains(old), plains(next)
	for range 150 {
		kind := max(0, r.IntN(6)-2)
		q := r.query(before[kind])
		q.Words = nil
		q.Limit = 1 + r.IntN(200)
		page := was[kind].Select(q)
		if page.Next == nil {
			continue
		}
		q.After = page.Next
		compare(t, is[kind], after[kind], q)
	}
}

// rebuilt drops a third of the benchmarks, adds as many, and gives a few another date or speed.
func (r *random) rebuilt(old *dataset.Set) *dataset.Set {
	next := *old
	var runs []dataset.Benchmark
	for _, was := range old.Benchmarks {
		b := *was
		switch r.IntN(9) {
		case 0, 1, 2:
			b = r.benchmark(len(old.Benchmarks)+len(runs), old)
		case 3:
			b.RunDate = maybe(r, r.date())
		case 4:
			b.GenerationTPS = maybe(r, r.num(5))
		}
		runs = append(runs, b)
	}
	next.Models = append([]dataset.Model{}, old.Models...)
	next.Models = append(next.Models[:10], next.Models[20:]...)
	keep := map[dataset.Slug]bool{}
	for _, m := range next.Models {
		keep[m.Slug] = true
	}
	next.Benchmarks = sorted(slices.DeleteFunc(runs, func(b dataset.Benchmark) bool { return !keep[b.Model] }))
	return &next
}

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
