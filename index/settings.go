package index

import (
	"slices"
	"strconv"

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

type setting struct {
	field   Field
	value   string
	records bits
}

// newOtherSettings are the settings, other than those of a single stream, of a table of benchmarks. A record with two
// of them is in both; one whose settings are not decided is in the unknown ones.
func newOtherSettings(t *Table) (out []setting) {
	having := func(f Field, value string) bits { return bitsOf(t.postings[f].any([]string{value}), t.n) }
	single := having(Settings, SingleStream)
	add := func(f Field, value string, records bits) {
		if rest := records.without(single); rest.count() > 0 {
			out = append(out, setting{f, value, rest})
		}
	}
	is := func(f Field, value string) { add(f, value, having(f, value)) }
	above := func(f Field, limit int) {
		add(f, ">"+strconv.Itoa(limit), t.columns[f].within(Range{Min: float64(limit + 1), Max: 1e18}))
	}
	is("rate_basis", "end_to_end")
	is("rate_basis", "total")
	above(Concurrency, 1)
	above("hardware_count", 1)
	is("speculative_decoding", "true")
	is("partial_offload", "true")
	is("compute_unit", "mixed")
	above("context_depth", dataset.Shallow)
	add("n_prompt", ">"+strconv.Itoa(dataset.ShortPrompt), having(Settings, longPrompt))
	add(Settings, "unknown", t.postings[Settings].unknown)
	return out
}

func (c *Conditions) mixed() (out []SettingCount) {
	if !slices.Contains(speeds, c.q.Sort.Field) ||
		slices.ContainsFunc(c.q.Sets, func(s Set) bool { return s.Field == Settings || s.Field == Scenario }) {
		return nil
	}
	for _, s := range c.t.otherSettings {
		if n := c.countIn(s.records); n > 0 {
			out = append(out, SettingCount{s.field, s.value, n})
		}
	}
	return out
}
