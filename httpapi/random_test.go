package httpapi

import (
	"flag"
	"maps"
	"math"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"modeldex/dataset/datasettest"
	"modeldex/dataset/resolve"

	"modeldex/index"
)

var questionsFlag = flag.Int("questions", datasettest.Rounds(40, 120), "questions the test of random queries asks")

// TestRandomQueries asks random questions of the shipped records, or of a sample of them, over HTTP and answers them
// again with a loop over the files: same records, same order, same totals, same notices of what a range left out.
func TestRandomQueries(t *testing.T) {
	of := mustCompared(t)
	s, dir := newService(t, of.live), of.records
	addRatios(t, s, dir)
	rnd := rand.New(rand.NewPCG(seedOf(t), 0))
	questions := *questionsFlag
	if raceEnabled {
		questions = min(questions, 40)
	}
	for range questions {
		r := resources[rnd.IntN(len(resources))]
		compareAnswer(t, s, dir, r, randomQuestion(rnd, dir, r))
		if t.Failed() {
			return
		}
	}
}

// TestEveryValue filters a list by every value that its records have, and benchmarks by every name of a
// record that decides: the total is that of the files, and no value is called unknown.
func TestEveryValue(t *testing.T) {
	t.Parallel()
	c := mustCompared(t)
	s, dir := newService(t, c.live), c.records
	check := func(list, name, value string, want, unknown int) {
		t.Helper()
		path := "/api/v1/" + list + "?limit=1&" + name + "=" + url.QueryEscape(value)
		if list == "benchmarks" {
			path += "&include_variants=false"
		}
		got := s.list(t, path).Meta
		if *got.Total != want {
			t.Errorf("GET %s: %d records, want %d", path, *got.Total, want)
		}
		for _, n := range got.Notices {
			switch {
			case n.Code == "mixed_settings", n.Code == throughputExcluded: // the model tests of index count them
			case n.Code == nameResolved, n.Code == readAs:
			case n.Code == nullExcluded && n.Parameter == name && *n.Count == unknown:
				unknown = 0
			default:
				t.Errorf("GET %s: notice %+v", path, n)
			}
		}
		if unknown > 0 {
			t.Errorf("GET %s: no notice of %d records whose %s is unknown", path, unknown, name)
		}
	}
	for _, set := range sets {
		totals := map[string]int{}
		for _, rec := range dir.records[set.list] {
			value := set.value(rec, dir)
			if set.open {
				value = strings.ToLower(value) // W4A16 and w4a16 are both in records
			}
			totals[value]++
		}
		unknown := totals[""]
		delete(totals, "")
		for value, want := range totals {
			check(set.list, set.name, value, want, unknown)
		}
	}
	for field, kind := range map[string]string{"model": "models", "hardware": "hardware", "tool": "tools"} {
		totals := map[string]int{}
		for _, rec := range dir.records["benchmarks"] {
			totals[rec.text(field)]++
		}
		for i, name := range slices.Sorted(maps.Keys(dir.names[kind])) {
			if i%datasettest.Rounds(8, 1) == 0 {
				check("benchmarks", field, name, totals[dir.names[kind][name]], 0)
			}
		}
	}
}

// leaveOutAmbiguous takes those names from a directory that mean several records by the rules of
// dataset/resolve, as "P100" of the card with 16 GB, of which there is one with 12. Its tests hold
// every name of every shipped record to these rules.
func leaveOutAmbiguous(dir *directory, names *resolve.Resolver) {
	for kind, one := range map[string]resolve.Kind{"models": resolve.Model, "hardware": resolve.Hardware, "tools": resolve.Tool} {
		maps.DeleteFunc(dir.names[kind], func(name, _ string) bool {
			return names.Resolve(one, name).Confidence != resolve.Exact
		})
	}
}

// question is a query as a caller writes it and what it means to a single record.
type question struct {
	params []string
	sort   string
	limit  int
	match  []func(plain) bool // all but the ranges
	ranges []plainRange
}

// plainRange is one range of values, or one filter by values, with the parameter its notice names.
type plainRange struct {
	name     string
	value    func(plain) float64
	min, max float64
}

func (q *question) address(r *resource) string {
	if len(q.params) == 0 {
		return "/api/v1/" + r.name
	}
	return "/api/v1/" + r.name + "?" + strings.Join(q.params, "&")
}

func compareAnswer(t *testing.T, s *service, dir *directory, r *resource, q *question) {
	t.Helper()
	path := q.address(r)
	want := dir.ordered(r.name, q.sort, func(rec plain) bool {
		return q.matches(rec) && !slices.ContainsFunc(q.ranges, func(pr plainRange) bool {
			v := pr.value(rec)
			return !(v >= pr.min && v <= pr.max) // NaN is in no range
		})
	})
	if got := s.walk(t, path).names; !slices.Equal(got, want) {
		t.Errorf("GET %s: -want +got\n%s", path, cmp.Diff(want, got))
	}
	excluded := map[string]int{}
	for i, pr := range q.ranges {
		if n := q.excluded(dir.records[r.name], i); n > 0 {
			excluded[pr.name] = n
		}
	}
	got := map[string]int{}
	for _, n := range s.list(t, path).Meta.Notices {
		if n.Code == "mixed_settings" || n.Code == throughputExcluded { // as above
			continue
		}
		if n.Code != "null_excluded" {
			t.Errorf("GET %s: notice %+v", path, n)
			continue
		}
		got[n.Parameter] = *n.Count
	}
	if diff := cmp.Diff(excluded, got); diff != "" {
		t.Errorf("GET %s: records left out: -want +got\n%s", path, diff)
	}
}

func (q *question) matches(rec plain) bool {
	return !slices.ContainsFunc(q.match, func(match func(plain) bool) bool { return !match(rec) })
}

// excluded counts the records that match all else and have no value for one range.
func (q *question) excluded(recs []plain, i int) (n int) {
	for _, rec := range recs {
		if !q.matches(rec) || !math.IsNaN(q.ranges[i].value(rec)) {
			continue
		}
		others := slices.ContainsFunc(q.ranges, func(pr plainRange) bool {
			v := pr.value(rec)
			return pr.name != q.ranges[i].name && !(v >= pr.min && v <= pr.max)
		})
		if !others {
			n++
		}
	}
	return n
}

// randomQuestion draws parameters; each takes part in about a third of the questions.
func randomQuestion(rnd *rand.Rand, dir *directory, r *resource) *question {
	q := &question{limit: defaultLimit}
	recs := dir.records[r.name]
	some := func() plain { return recs[rnd.IntN(len(recs))] }
	if r == benchmarks { // links between records are covered by the model tests of index
		q.params = append(q.params, "include_variants=false")
		q.match = append(q.match, func(rec plain) bool { return rec.text("scenario") == "" })
	}
	for _, draw := range drawers[r.name] {
		if rnd.IntN(3) == 0 {
			draw(rnd, q, dir, some)
		}
	}
	if rnd.IntN(2) == 0 {
		q.sort = pick(rnd, slices.DeleteFunc(r.sortNames(), func(s string) bool {
			// Computed from several fields: the model tests of index cover them.
			name := strings.TrimPrefix(s, "-")
			return slices.Contains([]string{"intelligence", "capability", "active_params_b", "generation_tps_per_stream", "change"}, name) || r.runOrders()[index.Field(name)] != nil
		}))
		q.params = append(q.params, "sort="+q.sort)
	}
	if rnd.IntN(4) == 0 {
		drawWords(rnd, q, dir, r, some())
	}
	if rnd.IntN(2) == 0 {
		q.limit = 1 + rnd.IntN(r.maxLimit)
		q.limit = max(q.limit, len(recs)/20) // pages enough, but not hundreds
		q.params = append(q.params, "limit="+strconv.Itoa(min(q.limit, r.maxLimit)))
	}
	rnd.Shuffle(len(q.params), func(i, j int) { q.params[i], q.params[j] = q.params[j], q.params[i] })
	return q
}

func pick[T any](rnd *rand.Rand, list []T) T { return list[rnd.IntN(len(list))] }

// drawer adds a parameter of one kind to a question, its values taken from records.
type drawer func(rnd *rand.Rand, q *question, dir *directory, some func() plain)

// sets are the filters by texts of a record. Open sets take any letter case.
var sets = []struct {
	list, name string
	value      func(plain, *directory) string
	open       bool
}{
	{"models", "family", func(rec plain, _ *directory) string { return rec.text("family") }, true},
	{"hardware", "vendor", func(rec plain, _ *directory) string { return rec.text("vendor") }, false},
	{"hardware", "type", func(rec plain, _ *directory) string { return rec.text("type") }, false},
	{"tools", "category", func(rec plain, _ *directory) string { return rec.text("category") }, false},
	{"benchmarks", "family", func(rec plain, d *directory) string { return d.bySlug["models"][rec.text("model")].text("family") }, true},
	{"benchmarks", "quantization", func(rec plain, _ *directory) string { return rec.text("quantization") }, true},
	{"benchmarks", "backend", func(rec plain, _ *directory) string { return rec.text("backend") }, true},
	{"quality", "quantization", func(rec plain, _ *directory) string { return rec.text("quantization") }, true},
	{"quality", "metric", func(rec plain, _ *directory) string { return rec.text("metric") }, false},
	{"quality", "task", func(rec plain, _ *directory) string { return rec.text("task") }, true},
	{"quality", "corpus", func(rec plain, _ *directory) string { return rec.text("corpus") }, true},
	{"benchmarks", "source", func(rec plain, _ *directory) string { return rec.text("source") }, false},
}

var drawers = func() map[string][]drawer {
	out := map[string][]drawer{
		"models":   {drawRange("min_params_b", "max_params_b", "params_b")},
		"hardware": {drawRange("min_vram_gb", "", "vram_gb")},
		"quality":  {drawAlias("model", "models")},
		"benchmarks": {
			drawAlias("model", "models"), drawAlias("hardware", "hardware"), drawAlias("tool", "tools"),
			drawOwner("verified"), drawOwner("owner_only"),
			drawRange("min_tps", "", "generation_tps"),
			drawRange("min_roofline_ratio", "max_roofline_ratio", "roofline_ratio"),
			drawDates,
		},
	}
	for _, set := range sets {
		out[set.list] = append(out[set.list], drawSet(set.name, set.value, set.open))
	}
	return out
}()

// spelt writes the values of one parameter: repeated, or separated by commas. A value with a comma
// is one value only where it is alone.
func spelt(rnd *rand.Rand, name string, values []string) (params []string) {
	comma := func(v string) bool { return strings.Contains(v, ",") }
	for i, v := range values {
		if i > 0 && !comma(v) && !comma(values[i-1]) && rnd.IntN(2) == 0 {
			params[len(params)-1] += "," + url.QueryEscape(v)
			continue
		}
		params = append(params, name+"="+url.QueryEscape(v))
	}
	return params
}

// drawSet filters by one to three values some records have.
func drawSet(name string, value func(plain, *directory) string, open bool) drawer {
	return func(rnd *rand.Rand, q *question, dir *directory, some func() plain) {
		var values []string
		for range 1 + rnd.IntN(3) {
			if v := value(some(), dir); v != "" {
				if open && rnd.IntN(3) == 0 {
					v = strings.ToUpper(v)
				}
				values = append(values, v)
			}
		}
		if values == nil {
			return
		}
		q.params = append(q.params, spelt(rnd, name, values)...)
		q.ranges = append(q.ranges, plainRange{name, func(rec plain) float64 { // 1 for a record that has one of the values
			have := value(rec, dir)
			switch {
			case have == "":
				return math.NaN()
			case slices.ContainsFunc(values, func(v string) bool { return v == have || open && strings.EqualFold(v, have) }):
				return 1
			}
			return 0
		}, 1, 1})
	}
}

// drawAlias filters by records of another list, named by any of their names.
func drawAlias(field, kind string) drawer {
	return func(rnd *rand.Rand, q *question, dir *directory, some func() plain) {
		var values []string
		slugs := map[string]bool{}
		for range 1 + rnd.IntN(3) {
			slug := some().text(field)
			name := pick(rnd, dir.bySlug[kind][slug].names())
			if dir.names[kind][name] != slug || strings.Contains(name, ",") {
				name = slug // the name stands for several records, or would be cut
			}
			values, slugs[slug] = append(values, name), true
		}
		q.params = append(q.params, spelt(rnd, field, values)...)
		q.match = append(q.match, func(rec plain) bool { return slugs[rec.text(field)] })
	}
}

func drawOwner(name string) drawer {
	return func(rnd *rand.Rand, q *question, _ *directory, _ func() plain) {
		if rnd.IntN(2) == 0 {
			q.params = append(q.params, name+"=false")
			return
		}
		q.params = append(q.params, name+"=true")
		q.match = append(q.match, func(rec plain) bool { return rec.text("source") == "owner" })
	}
}

// drawRange sets one or both ends at or near the values of records. The notice of a range names
// its lower end where there is one.
func drawRange(low, high, field string) drawer {
	return func(rnd *rand.Rand, q *question, _ *directory, some func() plain) {
		a, b := near(rnd, some().number(field)), near(rnd, some().number(field))
		pr := plainRange{low, func(rec plain) float64 { return rec.number(field) }, math.Inf(-1), math.Inf(1)}
		both := high != "" && rnd.IntN(2) == 0
		if both || high == "" || rnd.IntN(2) == 0 {
			pr.min = min(a, b)
			q.params = append(q.params, low+"="+strconv.FormatFloat(pr.min, 'f', -1, 64))
		} else {
			pr.name = high
		}
		if both || pr.name == high {
			pr.max = max(a, b)
			q.params = append(q.params, high+"="+strconv.FormatFloat(pr.max, 'f', -1, 64))
		}
		q.ranges = append(q.ranges, pr)
	}
}

func near(rnd *rand.Rand, v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return []float64{v, v, math.Floor(v), v + 0.001}[rnd.IntN(4)]
}

func drawDates(rnd *rand.Rand, q *question, _ *directory, some func() plain) {
	a, b := some().text("run_date"), some().text("run_date")
	if len(a) != len("2006-01-02") || len(b) != len(a) {
		return
	}
	pr := plainRange{"since", func(rec plain) float64 { return rec.date("run_date") }, math.Inf(-1), math.Inf(1)}
	first, last := min(a, b), max(a, b)
	switch rnd.IntN(3) {
	case 0:
		last = ""
	case 1:
		first, pr.name = "", "until"
	}
	if first != "" {
		pr.min = plain{"d": first}.date("d")
		q.params = append(q.params, "since="+first)
	}
	if last != "" {
		pr.max = plain{"d": last}.date("d")
		q.params = append(q.params, "until="+last)
	}
	q.ranges = append(q.ranges, pr)
}

// drawWords searches for pieces of a record's names; of a benchmark's, those of what it refers to.
func drawWords(rnd *rand.Rand, q *question, dir *directory, r *resource, rec plain) {
	texts := func(rec plain) [][]string {
		if r == quality {
			return [][]string{dir.bySlug["models"][rec.text("model")].names()}
		} else if r != benchmarks {
			return [][]string{rec.names()}
		}
		return [][]string{
			dir.bySlug["models"][rec.text("model")].names(), dir.bySlug["hardware"][rec.text("hardware")].names(),
			dir.bySlug["tools"][rec.text("tool")].names(),
		}
	}
	var words []string
	for range 1 + rnd.IntN(2) {
		found := strings.Fields(pick(rnd, pick(rnd, texts(rec))))
		word := []rune(pick(rnd, found))
		from := rnd.IntN(len(word))
		words = append(words, string(word[from:from+1+rnd.IntN(len(word)-from)]))
	}
	first := words[0]
	if upper := strings.ToUpper(first); strings.ToLower(upper) == first {
		first = upper
	}
	q.params = append(q.params, "q="+url.QueryEscape(strings.Join(append([]string{first}, words[1:]...), " ")))
	q.match = append(q.match, func(rec plain) bool {
		all := texts(rec)
		return !slices.ContainsFunc(words, func(w string) bool {
			return rec.name() != w && !slices.ContainsFunc(all, func(names []string) bool {
				return slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, w) })
			})
		})
	})
}
