package index

import (
	"math"
	"slices"
	"testing"
)

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
