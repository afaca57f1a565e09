package index

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"modeldex/dataset"
	"modeldex/dataset/best"
)

// TestTables holds rows, slugs, names and postings to the records they were made of.
func TestTables(t *testing.T) {
	t.Parallel()
	r := newRandom(seedOf(t), 20, 0.2)
	set := r.set(5000, 70)
	want := plains(set)
	for kind, table := range tables(mustBuild(t, set)) {
		checkRows(t, table, want[kind])
		checkPostings(t, table, want[kind])
	}
}

func checkRows(t *testing.T, table *Table, p *plain) {
	t.Helper()
	if table.Len() != len(p.recs) {
		t.Fatalf("Len() = %d, want %d", table.Len(), len(p.recs))
	}
	size := 0
	for i, rec := range p.recs {
		ord := uint32(i)
		if got := table.Slug(ord); got != rec.slug {
			t.Fatalf("Slug(%d) = %q, want %q", i, got, rec.slug)
		}
		if got, ok := table.Find(rec.slug); !ok || got != ord {
			t.Fatalf("Find(%q) = %d, %v, want %d", rec.slug, got, ok, i)
		}
		row, detail := rec.row, rec.row
		if _, ok := rec.sets[Family]; ok && rec.id == "" { // a model
			detail = "detail " + row
		}
		size += len(row) + len(",")
		if got := string(table.Row(ord)); got != row {
			t.Fatalf("Row(%d) = %q, want %q", i, got, row)
		}
		if got := string(table.Detail(ord)); got != detail {
			t.Fatalf("Detail(%d) = %q, want %q", i, got, detail)
		}
	}
	if table.Bytes() != size {
		t.Errorf("Bytes() = %d, want %d", table.Bytes(), size)
	}
	for _, slug := range []string{"", "none", "bm-", strings.Repeat("x", 300)} {
		if ord, ok := table.Find(slug); ok {
			t.Errorf("Find(%q) = %d, want none", slug, ord)
		}
	}
}

// TestAppendRows: the pieces, put together, are the rows with commas between them.
func TestAppendRows(t *testing.T) {
	table := mustBuild(t, newRandom(seedOf(t), 20, 0.2).set(50, 7)).Benchmarks
	for _, ords := range [][]uint32{nil, {7}, {7, 8, 9}, {3, 5, 7}, {7, 6, 5}, {7, 7, 49}} {
		want := make([]string, len(ords))
		for i, ord := range ords {
			want[i] = string(table.Row(ord))
		}
		if got := string(bytes.Join(table.AppendRows(nil, ords), nil)); got != strings.Join(want, ",") {
			t.Errorf("AppendRows(%v) = %q, want %q", ords, got, strings.Join(want, ","))
		}
	}
}

func checkPostings(t *testing.T, table *Table, p *plain) {
	t.Helper()
	for _, f := range p.sets {
		want := map[string][]uint32{}
		for i, rec := range p.recs {
			for _, v := range rec.sets[f] {
				want[v] = append(want[v], uint32(i))
			}
		}
		got := map[string][]uint32{}
		for _, v := range table.Values(f) {
			got[v] = table.postings[f].any([]string{v}).ToArray()
			if n := table.Count(f, v); n != len(want[v]) {
				t.Errorf("Count(%v, %q) = %d, want %d", f, v, n, len(want[v]))
			}
		}
		// Comparing lists of thousands of ordinals is fast, describing how they differ is not.
		if !maps.EqualFunc(want, got, slices.Equal) {
			t.Errorf("posting of %v (-want +got):\n%s", f, gocmp.Diff(want, got))
		}
		if values := table.Values(f); !slices.IsSorted(values) {
			t.Errorf("Values(%v) = %q, want them sorted", f, values)
		}
		if n := table.Count(f, "unheard-of"); n != 0 {
			t.Errorf("Count(%v, unheard-of) = %d, want 0", f, n)
		}
	}
}

func TestResolve(t *testing.T) {
	repo := "Meta/Llama-3"
	m := dataset.Model{}
	m.Slug, m.Name, m.HFRepo, m.Aliases = "llama-3", "Llama 3 (8B)", &repo, []string{"llama3:8b"}
	other := dataset.Model{}
	other.Slug, other.Name = "phi-2", "Phi 2"
	gen := mustBuild(t, &dataset.Set{Models: []dataset.Model{m, other}})
	tests := []struct{ name, want string }{
		{"llama-3", "llama-3"},
		{"LLAMA-3", "llama-3"},
		{"llama 3 (8b)", "llama-3"},
		{"meta/llama-3", "llama-3"},
		{"Llama3:8B", "llama-3"},
		{"phi 2", "phi-2"},
		{"llama", ""},
		{"", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := gen.Models.Resolve(tt.name)
			if got != tt.want || ok != (tt.want != "") {
				t.Errorf("Resolve(%q) = %q, %v, want %q", tt.name, got, ok, tt.want)
			}
		})
	}
	want := []string{"llama 3 (8b)", "llama-3", "llama3:8b", "meta/llama-3", "phi 2", "phi-2"}
	if diff := gocmp.Diff(want, gen.Models.Names()); diff != "" {
		t.Errorf("Names() (-want +got):\n%s", diff)
	}
	if got, ok := gen.Benchmarks.Resolve("llama-3"); ok {
		t.Errorf("Benchmarks.Resolve(llama-3) = %q, want none: a benchmark has no names", got)
	}
}

// TestBuildError: a record that cannot be rendered stops the build, whichever table it is in.
func TestBuildError(t *testing.T) {
	bad := errors.New("bad record")
	set := newRandom(1, 3, 0).set(3000, 20)
	tests := []struct {
		name string
		edit func(*Renderers)
	}{
		{"model", func(r *Renderers) {
			r.Model = func(dst []byte, _ *dataset.Model, _ BenchmarkCounts, _ *best.Capability) ([]byte, error) {
				return dst, bad
			}
		}},
		{"hardware", func(r *Renderers) {
			r.Hardware = func(dst []byte, _ *dataset.Hardware, _ BenchmarkCounts) ([]byte, error) { return dst, bad }
		}},
		{"tool", func(r *Renderers) {
			r.Tool = func(dst []byte, _ *dataset.Tool, _ BenchmarkCounts) ([]byte, error) { return dst, bad }
		}},
		{"last benchmark", func(r *Renderers) {
			r.Benchmark = func(dst []byte, b *dataset.Benchmark, _ Computed) ([]byte, error) {
				if b.ID == set.Benchmarks[len(set.Benchmarks)-1].ID {
					return dst, bad
				}
				return dst, nil
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := renderers
			tt.edit(&r)
			if gen, err := Build(context.Background(), set, r); !errors.Is(err, bad) || gen != nil {
				t.Errorf("Build = %v, %v, want no generation and %v", gen, err, bad)
			}
		})
	}
}

// TestBuildEnds: a build whose context ends, before it begins or while rows are rendered, gives the error of the
// context and no generation.
func TestBuildEnds(t *testing.T) {
	set := newRandom(seedOf(t), 50, 0.2).set(3000, 50)
	for _, begun := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		r := renderers
		if begun {
			r.Benchmark = func(dst []byte, b *dataset.Benchmark, c Computed) ([]byte, error) {
				cancel()
				return renderers.Benchmark(dst, b, c)
			}
		} else {
			cancel()
		}
		if gen, err := Build(ctx, set, r); gen != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("begun %v: Build = %v, %v, want the error of the context", begun, gen != nil, err)
		}
		cancel()
	}
}

// Words that no record has are those that a look at every name does not find, and come with words of names that are near.
func TestUnknownWords(t *testing.T) {
	_, gen := shippedGeneration(t)
	for _, tt := range []struct {
		table *Table
		words string
		near  []string // the nearest word of each unknown one; empty for none
	}{
		{gen.Hardware, "nvida", []string{"nvidia"}},
		{gen.Hardware, "nvidia geforce", nil},
		{gen.Models, "lama", nil}, // a part of llama
		{gen.Models, "gema mistrall", []string{"gemma", "mistral"}},
		{gen.Benchmarks, "qwenn gefroce", []string{"qwen", "geforce"}},
		{gen.Tools, "xx zzzzzzzzzzzzz", []string{"", ""}},
	} {
		words := strings.Fields(tt.words)
		for _, word := range append(tt.table.search.words[:200:200], words...) {
			if unknown := len(tt.table.UnknownWords([]string{word}, 0)) > 0; unknown != tt.table.search.match(word).IsEmpty() {
				t.Errorf("%q: unknown is %v, a search says the opposite", word, unknown)
			}
		}
		got := tt.table.UnknownWords(words, 3)
		var near []string
		for _, u := range got {
			if !slices.Contains(words, u.Word) {
				t.Errorf("%q: %q was not asked for", tt.words, u.Word)
			}
			if len(u.Near) == 0 {
				near = append(near, "")
				continue
			}
			near = append(near, u.Near[0])
			if len(u.Near) > 3 {
				t.Errorf("%q: %d words near %q", tt.words, len(u.Near), u.Word)
			}
			for _, n := range u.Near {
				if tt.table.search.match(n).IsEmpty() {
					t.Errorf("%q: no record has %q either", tt.words, n)
				}
			}
		}
		if !slices.Equal(near, tt.near) {
			t.Errorf("%q: near words %q, want %q", tt.words, near, tt.near)
		}
	}
}

// TestFieldsAgree holds filters, ranges, notices, facets and orders of every field of the shipped records to each
// other: what one of them says of a value, all say.
func TestFieldsAgree(t *testing.T) {
	t.Parallel()
	_, gen := shippedGeneration(t)
	all := tables(gen)
	for kind, table := range append(all[:], gen.Quality) {
		for _, f := range [][]FieldInfo{ModelFields, HardwareFields, ToolFields, BenchmarkFields, QualityFields}[kind] {
			t.Run(string(f.Name), func(t *testing.T) {
				var facet Facet
				if f.Is(Facets) {
					facet = table.Facets(Query{}, []Field{f.Name})[0]
					facetAgrees(t, table, f, facet)
				}
				if f.Is(Sorts) && !f.Is(Key) {
					orderAgrees(t, table, f)
				}
			})
		}
	}
}

// facetAgrees compares a facet of all records with lists that are filtered by its values, and by a range.
func facetAgrees(t *testing.T, table *Table, f FieldInfo, facet Facet) {
	t.Helper()
	all := table.Select(Query{})
	if f.Name == Scenario { // its facet leaves out what hides throughput results
		all.Total, all.Unlisted = all.Total+all.Unlisted, 0
	}
	if facet.Known+facet.Unknown != all.Total || facet.Known == 0 {
		t.Errorf("the facet has %d known and %d unknown of %d", facet.Known, facet.Unknown, all.Total)
	}
	for _, v := range facet.Values {
		page := table.Select(Query{Sets: []Set{{Field: f.Name, Values: []string{v.Value}, OnlySelf: true}}})
		if page.Total != v.Count {
			t.Errorf("%q: the facet has %d, a list %d", v.Value, v.Count, page.Total)
		}
		if excluded := page.ExcludedBySets[0]; excluded != facet.Unknown && f.Name != Scenario {
			t.Errorf("%q: the facet has %d unknown, a list excludes %d", v.Value, facet.Unknown, excluded)
		}
	}
	if len(facet.Bins) == 0 {
		return
	}
	sum := 0
	for _, bin := range facet.Bins {
		sum += bin.Count
	}
	page := table.Select(Query{Ranges: []Range{{f.Name, facet.Min, facet.Max}}})
	if page.Total != facet.Known || sum != facet.Known || page.Excluded[0] != facet.Unknown {
		t.Errorf("the facet has %d in bins, %d known and %d unknown; a range lists %d and excludes %d", sum, facet.Known, facet.Unknown, page.Total, page.Excluded[0])
	}
}

// orderAgrees reads a list in both orders of a field: values ascend, then come the unknown ones; equal ones are in
// default order; and a range that ends at a value has what comes before it in the order.
func orderAgrees(t *testing.T, table *Table, f FieldInfo) {
	t.Helper()
	all := table.Select(Query{Sort: Sort{Field: f.Name}, Limit: table.Len()}).Ords
	value := func(i int) float64 { return table.columns[f.Name].nums[all[i]] }
	known := len(all)
	for known > 0 && math.IsNaN(value(known-1)) {
		known--
	}
	for i := 1; i < known; i++ {
		if a, b := value(i-1), value(i); math.IsNaN(a) || a > b || a == b && all[i-1] > all[i] {
			t.Fatalf("place %d: %v of record %d is before %v of record %d", i, a, all[i-1], b, all[i])
		}
	}
	if !slices.IsSorted(all[known:]) {
		t.Errorf("records without a value are not in default order")
	}
	down := table.Select(Query{Sort: Sort{f.Name, true}, Limit: table.Len()}).Ords
	if !slices.Equal(down[known:], all[known:]) || known > 0 && table.columns[f.Name].nums[down[0]] != value(known-1) {
		t.Errorf("in descending order records without a value are not last, or the highest value is not first")
	}
	if f.Kind == Text {
		return
	}
	for i := 0; i < known; i += 1 + known/20 {
		last := i
		for last+1 < known && value(last+1) == value(i) {
			last++
		}
		if n := table.Select(Query{Ranges: []Range{{f.Name, math.Inf(-1), value(i)}}}).Total; n != last+1 {
			t.Errorf("up to %v are %d records, but %d in the order", value(i), n, last+1)
		}
	}
}
