package index

import (
	"slices"
	"strconv"

	"github.com/RoaringBitmap/roaring/v2"

	"modeldex/dataset"
)

// SettingCount is a value of a setting, or a comparison, and how many records have it.
type SettingCount struct {
	Field Field
	Value string
	Count int
}

// speeds are the orders in which settings matter.
var speeds = []Field{GenerationTPS, PerStream, PromptTPS, Roofline}

// A setting is one of those that a single stream does not have, and the records that have it. They are made
// once for a table: every page in the order of a speed counts them.
type setting struct {
	field   Field
	value   string
	records *roaring.Bitmap
}

// otherSettings are the settings, other than those of a single stream, of a table of benchmarks. A record with two of
// them is in both; one whose settings are not decided is in the unknown ones.
func otherSettings(t *Table) []setting {
	var out []setting
	single := t.postings[Settings].any([]string{SingleStream})
	add := func(f Field, value string, records *roaring.Bitmap) {
		if rest := roaring.AndNot(records, single); !rest.IsEmpty() {
			out = append(out, setting{f, value, compact(rest)})
		}
	}
	above := func(f Field, limit float64) *roaring.Bitmap {
		return t.postings[f].within(Range{Min: limit + 1, Max: 1e18})
	}
	for _, v := range []string{"end_to_end", "total"} {
		add("rate_basis", v, t.postings["rate_basis"].any([]string{v}))
	}
	add(Concurrency, ">1", above(Concurrency, 1))
	add("hardware_count", ">1", above("hardware_count", 1))
	add("speculative_decoding", "true", t.postings["speculative_decoding"].any([]string{"true"}))
	add("partial_offload", "true", t.postings["partial_offload"].any([]string{"true"}))
	add("compute_unit", "mixed", t.postings["compute_unit"].any([]string{"mixed"}))
	add("context_depth", ">"+strconv.Itoa(dataset.Shallow), above("context_depth", dataset.Shallow))
	add("n_prompt", ">"+strconv.Itoa(dataset.ShortPrompt), t.postings[Settings].any([]string{longPrompt}))
	add(Settings, "unknown", t.postings[Settings].unknown)
	return out
}

// mixed counts the settings, other than those of a single stream, of what matches a query in the order of a
// speed. It is nil where they do not matter, or the query has a filter by Settings or Scenario.
func (t *Table) mixed(q Query, m *matches) []SettingCount {
	if len(t.otherSettings) == 0 || !slices.Contains(speeds, q.Sort.Field) ||
		slices.ContainsFunc(q.Sets, func(s Set) bool { return s.Field == Settings || s.Field == Scenario }) {
		return nil
	}
	if t.small != nil && m.bits == nil && m.all() != nil {
		m.bits = t.small.of(m.candidates)
	}
	var out []SettingCount
	for _, s := range t.otherSettings {
		if n := t.countIn(m, s.records); n > 0 {
			if out == nil {
				out = make([]SettingCount, 0, len(t.otherSettings))
			}
			out = append(out, SettingCount{s.field, s.value, n})
		}
	}
	return out
}
