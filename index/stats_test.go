package index

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"modeldex/dataset"
	"modeldex/dataset/datasettest"
	"modeldex/dataset/record"
)

// TestStatsModel compares statistics of random queries with a loop over the records, quantiles to
// 1e-9.
func TestStatsModel(t *testing.T) {
	seed := seedOf(t)
	for i, rows := range []int{0, 1, 60, 4000} {
		t.Run(fmt.Sprintf("rows=%d", rows), func(t *testing.T) {
			t.Parallel()
			r := newRandom(seed+uint64(i), 40, 0.2)
			set := r.set(rows, max(12, rows/100))
			table, want := mustBuild(t, set).Benchmarks, plains(set)[3]
			for range datasettest.Rounds(20, 120) {
				compareStats(t, table, want, r.statsQuery(want))
			}
		})
	}
}

var statsMetrics = []Field{GenerationTPS, PerStream, PromptTPS, Roofline, "ttft_ms", "tokens_per_joule"}

func (r *random) statsQuery(p *plain) StatsQuery {
	by := []Field{Hardware, Model, Tool, Quantization, Backend, Family, Source, "depth_band", Month}
	r.Shuffle(len(by), func(i, j int) { by[i], by[j] = by[j], by[i] })
	return StatsQuery{
		Query: r.query(p), By: by[:1+r.IntN(2)], Metric: statsMetrics[r.IntN(len(statsMetrics))], Weight: []Weight{EachRecord, OncePerRepeat, OncePerPage}[r.IntN(3)], MaxGroups: 10_000,
	}
}

func compareStats(t *testing.T, table *Table, want *plain, q StatsQuery) {
	t.Helper()
	got, err := table.Stats(q)
	if err != nil {
		t.Fatal(err)
	}
	groups, unknown, withdrawn, unlisted := want.stats(q)
	if got.Unknown != unknown || got.Withdrawn != withdrawn || got.Unlisted != unlisted || len(got.Groups) != len(groups) {
		t.Fatalf("Stats(%+v): %d groups, %d unknown, %d withdrawn, %d unlisted; want %d, %d, %d and %d", q, len(got.Groups), got.Unknown, got.Withdrawn, got.Unlisted, len(groups), unknown, withdrawn, unlisted)
	}
	for i := range groups {
		compareGroup(t, &got.Groups[i], &groups[i], q)
	}
}

func compareGroup(t *testing.T, got *Group, want *plainGroup, q StatsQuery) {
	t.Helper()
	if !slices.Equal(got.Key(), want.key) || got.N != len(want.values) || got.Pages != want.pages || !sameNumber(got.Newest(), want.newest) {
		t.Fatalf("Stats(%+v): group %q of %d values, %d pages, newest %v; want %q, %d, %d, %v", q, got.Key(), got.N, got.Pages, got.Newest(), want.key, len(want.values), want.pages, want.newest)
	}
	for _, c := range []struct{ got, p float64 }{{got.Min, 0}, {got.P10, .1}, {got.P25, .25}, {got.Median, .5}, {got.P75, .75}, {got.P90, .9}, {got.Max, 1}} {
		if w := plainQuantile(want.values, c.p); math.Abs(c.got-w) > 1e-9*max(1, math.Abs(w)) {
			t.Fatalf("Stats(%+v): quantile %v of %q = %v, want %v of %v", q, c.p, got.Key(), c.got, w, want.values)
		}
	}
	if diff := gocmp.Diff(want.shared, sharedOf(got)); diff != "" {
		t.Fatalf("Stats(%+v): shared settings of %q (-want +got):\n%s", q, got.Key(), diff)
	}
	if got.Comparable != want.comparable {
		t.Fatalf("Stats(%+v): comparable of %q = %v, want %v", q, got.Key(), got.Comparable, want.comparable)
	}
}

// A sharedSetting is a setting that is equal in all records of a group.
type sharedSetting struct {
	Field Field
	Value string // empty if it is unknown in all of them
}

func sharedOf(g *Group) (out []sharedSetting) {
	for _, f := range settings {
		if value, shared := g.Setting(f); shared {
			out = append(out, sharedSetting{f, value})
		}
	}
	return out
}

type plainGroup struct {
	key        []string
	values     []float64
	pages      int
	newest     float64
	shared     []sharedSetting
	comparable bool
}

// stats computes statistics the slow way.
func (p *plain) stats(q StatsQuery) (out []plainGroup, unknown, withdrawn, unlisted int) {
	groups := map[string][]*plainRecord{}
	scenario := slices.ContainsFunc(q.Sets, func(s Set) bool { return s.Field == Scenario })
	for i := range p.recs {
		rec := &p.recs[i]
		if !p.matches(rec, q.Query, -1, -1) {
			continue
		}
		if !scenario && !p.listed(rec) {
			unlisted++
			continue
		}
		if rec.withdrawn {
			withdrawn++
			continue
		}
		if _, ok := rec.nums[q.Metric]; !ok {
			unknown++
			continue
		}
		key := ""
		for _, f := range q.By {
			key += "\x00" + first(rec.sets[f], "\xff")
		}
		groups[key] = append(groups[key], rec)
	}
	keys := make([]string, 0, len(groups))
	for key := range groups {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		out = append(out, plainGroupOf(groups[key], q))
	}
	return out, unknown, withdrawn, unlisted
}

func first(values []string, otherwise string) string {
	if len(values) == 0 {
		return otherwise
	}
	return values[0]
}

func plainGroupOf(recs []*plainRecord, q StatsQuery) plainGroup {
	g := plainGroup{newest: math.NaN()}
	for _, f := range q.By {
		g.key = append(g.key, first(recs[0].sets[f], ""))
	}
	pages, runs := map[string]bool{}, map[string][]float64{}
	for i, rec := range recs {
		pages[rec.page] = true
		if date, ok := rec.nums[RunDate]; ok && !(date <= g.newest) {
			g.newest = date
		}
		key := fmt.Sprint(i)
		switch q.Weight {
		case OncePerPage:
			key = rec.page
		case OncePerRepeat:
			key = fmt.Sprint(rec.page, rec.sets[Model], rec.sets[Hardware], rec.sets[Settings])
			for _, f := range settingFields {
				key += fmt.Sprintf("|%q", rec.sets[f])
			}
		}
		runs[key] = append(runs[key], rec.nums[q.Metric])
	}
	for _, values := range runs {
		g.values = append(g.values, plainQuantile(values, 0.5))
	}
	g.pages = len(pages)
	same := func(f Field) bool {
		return !slices.ContainsFunc(recs, func(rec *plainRecord) bool { return first(rec.sets[f], "") != first(recs[0].sets[f], "") })
	}
	for _, f := range BenchmarkFields {
		if slices.Contains(settingFields, f.Name) && same(f.Name) {
			g.shared = append(g.shared, sharedSetting{f.Name, first(recs[0].sets[f.Name], "")})
		}
	}
	shares := func(fields ...Field) bool {
		return !slices.ContainsFunc(fields, func(f Field) bool { return !same(f) || len(recs[0].sets[f]) == 0 })
	}
	single := same(Settings) && first(recs[0].sets[Settings], "") == "single_stream"
	g.comparable = shares(Model, Hardware, Quantization) &&
		(single || shares("rate_basis", Concurrency, "hardware_count", "context_depth", "speculative_decoding", "partial_offload")) &&
		(q.Metric != PromptTPS && q.Metric != "ttft_ms" || shares("n_prompt")) &&
		(q.Metric != "tokens_per_joule" || shares("power_basis"))
	return g
}

// plainQuantile is type 7 as R documents it: with g = (n-1)p + 1 counted from 1.
func plainQuantile(values []float64, p float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	g := float64(len(sorted)-1)*p + 1
	j := int(math.Floor(g))
	gamma := g - float64(j)
	if gamma == 0 {
		return sorted[j-1]
	}
	return (1-gamma)*sorted[j-1] + gamma*sorted[j]
}

// TestStatsOfManyGroups: the bound is exact, and no statistics are returned above it.
func TestStatsOfManyGroups(t *testing.T) {
	set := newRandom(seedOf(t), 40, 0).set(3000, 60)
	table := mustBuild(t, set).Benchmarks
	q := StatsQuery{By: []Field{Hardware, Model}, Metric: GenerationTPS, MaxGroups: 10_000}
	all, err := table.Stats(q)
	if err != nil {
		t.Fatal(err)
	}
	q.MaxGroups = len(all.Groups)
	if _, err := table.Stats(q); err != nil {
		t.Errorf("%d groups of at most as many: %v", q.MaxGroups, err)
	}
	q.MaxGroups--
	var tooMany TooManyGroupsError
	if got, err := table.Stats(q); !errors.As(err, &tooMany) || got != nil {
		t.Errorf("more groups than %d = %v, %v, want a TooManyGroupsError", q.MaxGroups, got, err)
	}
}

// groupValues are what groups are in order of.
var groupValues = map[string]func(g *Group) float64{
	"key": func(g *Group) float64 { return 0 }, "n": func(g *Group) float64 { return float64(g.N) }, "sources": func(g *Group) float64 { return float64(g.Pages) },
	"min": func(g *Group) float64 { return g.Min }, "p10": func(g *Group) float64 { return g.P10 }, "p25": func(g *Group) float64 { return g.P25 },
	"median": func(g *Group) float64 { return g.Median }, "p75": func(g *Group) float64 { return g.P75 }, "p90": func(g *Group) float64 { return g.P90 },
	"max": func(g *Group) float64 { return g.Max }, "newest_run_date": (*Group).Newest,
}

// inOrder sorts groups, which are in the order of their keys, the slow way.
func inOrder(groups []Group, by string, desc bool) (keys [][]string) {
	groups = slices.Clone(groups)
	if by == "key" && desc {
		slices.Reverse(groups)
	}
	slices.SortStableFunc(groups, func(a, b Group) int {
		x, y := groupValues[by](&a), groupValues[by](&b)
		switch {
		case math.IsNaN(x) || math.IsNaN(y):
			return cmp.Compare(fmt.Sprint(math.IsNaN(x)), fmt.Sprint(math.IsNaN(y))) // true is last
		case desc:
			return cmp.Compare(y, x)
		}
		return cmp.Compare(x, y)
	})
	for _, g := range groups {
		keys = append(keys, g.Key())
	}
	return keys
}

// TestStatsPages reads groups page by page in every order: together they are all groups once, in order. A group that
// has gone in between is where it was.
func TestStatsPages(t *testing.T) {
	t.Parallel()
	r := newRandom(seedOf(t), 5, 0.3)
	table := mustBuild(t, r.set(2000, 40)).Benchmarks
	stats, err := table.Stats(StatsQuery{By: []Field{Hardware, Backend}, Metric: GenerationTPS, MaxGroups: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range GroupOrders {
		for _, desc := range []bool{false, true} {
			want := inOrder(stats.Groups, by, desc)
			var got [][]string
			for after, more := (*Position)(nil), true; more; more = after != nil {
				var page []Group
				page, after = stats.Page(by, desc, after, 7)
				for _, g := range page {
					got = append(got, g.Key())
				}
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Fatalf("pages by %s, descending %v (-want +got):\n%s", by, desc, diff)
			}
			last := 1 + r.IntN(len(want)-2)
			_, after := stats.Page(by, desc, nil, last)
			less := *stats
			less.Groups = slices.DeleteFunc(slices.Clone(stats.Groups), func(g Group) bool { return slices.Equal(g.Key(), want[last-1]) })
			if next, _ := less.Page(by, desc, after, 1); len(next) != 1 || !slices.Equal(next[0].Key(), want[last]) {
				t.Errorf("by %s, descending %v, behind %q, which has gone, is %v, want %q", by, desc, want[last-1], next, want[last])
			}
		}
	}
}

// TestFacetsModel compares facets of random queries with a loop over the records.
func TestFacetsModel(t *testing.T) {
	t.Parallel()
	seed := seedOf(t)
	r := newRandom(seed, []int{60, 200}[seed%2], 0.2)
	set := r.set(2500, 50)
	got, want := tables(mustBuild(t, set)), plains(set)
	for kind, p := range want {
		fields := [][]FieldInfo{ModelFields, HardwareFields, ToolFields, BenchmarkFields}[kind]
		for round := range datasettest.Rounds(8, 16) {
			q := r.query(p)
			if kind == 3 && round%8 == 0 { // what is not listed without it, and a filter that its facet leaves out
				q = Query{Sets: []Set{{Field: Scenario, Values: record.Scenario("").Values()}, {Field: Source, Values: []string{dataset.Source("").Values()[round%3]}}}}
			}
			for _, f := range fields {
				if f.Is(Facets) {
					compareFacet(t, got[kind].Facets(q, []Field{f.Name})[0], p, q, f)
				}
			}
		}
	}
}

func compareFacet(t *testing.T, got Facet, p *plain, q Query, f FieldInfo) {
	t.Helper()
	q.Sets = slices.DeleteFunc(slices.Clone(q.Sets), func(s Set) bool { return s.Field == f.Name })
	q.Ranges = slices.DeleteFunc(slices.Clone(q.Ranges), func(r Range) bool { return r.Field == f.Name })
	values, unknown, known := map[string]int{}, 0, 0
	var nums []float64
	for i := range p.recs {
		rec := &p.recs[i]
		if !p.holds(rec, q, -1, -1) && !(f.Name == Scenario && p.matches(rec, q, -1, -1)) { // its own condition is left out
			continue
		}
		num, isNumber := rec.nums[f.Name]
		switch {
		case !isNumber && rec.sets[f.Name] == nil:
			unknown++
			continue
		case isNumber:
			nums = append(nums, num)
		}
		known++
		for _, v := range rec.sets[f.Name] {
			values[v]++
		}
	}
	if got.Known != known || got.Unknown != unknown {
		t.Fatalf("Facets(%v, %s): %d known, %d unknown, want %d and %d", q, f.Name, got.Known, got.Unknown, known, unknown)
	}
	if f.Kind == Text || f.Kind == Flag {
		have := map[string]int{}
		for i, v := range got.Values {
			have[v.Value] = v.Count
			if i > 0 && v.Count > got.Values[i-1].Count {
				t.Fatalf("Facets(%v, %s): %v is not in order", q, f.Name, got.Values)
			}
		}
		if diff := gocmp.Diff(values, have); diff != "" {
			t.Fatalf("Facets(%v, %s) (-want +got):\n%s", q, f.Name, diff)
		}
		return
	}
	compareBins(t, got, nums)
}

func compareBins(t *testing.T, got Facet, nums []float64) {
	t.Helper()
	if len(nums) == 0 {
		if len(got.Bins) != 0 {
			t.Fatalf("no values have %d bins", len(got.Bins))
		}
		return
	}
	if len(got.Bins) > maxBins || got.Min != slices.Min(nums) || got.Max != slices.Max(nums) {
		t.Fatalf("facet of %s: %d bins from %v to %v, want at most %d from %v to %v", got.Field, len(got.Bins), got.Min, got.Max, maxBins, slices.Min(nums), slices.Max(nums))
	}
	for i, bin := range got.Bins {
		n := 0
		for _, v := range nums {
			if v >= bin.From && (v < bin.To || i == len(got.Bins)-1 && v == bin.To) {
				n++
			}
		}
		if n != bin.Count || i > 0 && bin.From != got.Bins[i-1].To {
			t.Fatalf("facet of %s: bin %d is %v with %d values, want %d", got.Field, i, bin, bin.Count, n)
		}
	}
}

// TestSupplementary: measurements of a supplementary source count only in groups without others.
func TestSupplementary(t *testing.T) {
	set := newRandom(1, 40, 0).set(400, 12)
	yes := true
	set.Origins = []dataset.Origin{{Key: "a", Supplementary: &yes}, {Key: "b"}}
	table := mustBuild(t, set).Benchmarks
	q := StatsQuery{By: []Field{Hardware, Model}, Metric: GenerationTPS, MaxGroups: 10_000}
	stats, err := table.Stats(q)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[dataset.Slug]string{}
	for _, b := range set.Benchmarks {
		keys[b.ID] = *b.SourceKey
	}
	mixed, alone := 0, 0
	for _, g := range stats.Groups {
		a := 0
		for _, ord := range g.ords {
			if keys[dataset.Slug(table.Slug(ord))] == "a" {
				a++
			}
		}
		switch a {
		case 0:
		case len(g.ords):
			alone++
		default:
			mixed++
		}
	}
	if mixed > 0 || alone == 0 || stats.Supplementary == 0 {
		t.Errorf("%d groups mix sources, %d have only the supplementary one, %d records are left out", mixed, alone, stats.Supplementary)
	}
}
