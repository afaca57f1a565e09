package index

import (
	"math"
	"slices"
	"sort"
	"strconv"

	"modeldex/dataset/record"
)

// Page is the result of a query. It shares no memory with the table and may be kept, but its
// ordinals are valid only in the generation it came from.
type Page struct {
	Ords []uint32
	// Total is how many records match, on all pages.
	Total int
	// Excluded is, for each range of the query in its order, how many records match all other
	// conditions but have no known value. ExcludedBySets is the same for each set.
	Excluded, ExcludedBySets []int
	// Unlisted is how many throughput results match all conditions. They are on no page of a query that asks neither for
	// a Scenario nor for an ID; of one that does it is 0.
	Unlisted int
	// Mixed counts, in the order of a speed, the settings of the matches that a single stream does not have. A
	// record with two of them is counted in both; one whose settings are not decided is counted as unknown. Nil
	// with a filter by Settings or Scenario.
	Mixed []SettingCount
	// Next is where the next page begins; nil on the last.
	Next *Position
}

// Select returns at most q.Limit ordinals in the order of q.Sort, after q.After; a slug that no longer exists resumes
// at its place. A field the table has no posting or column for is the programmer's mistake and panics.
func (t *Table) Select(q Query) Page { return t.Conditions(q).Page() }

// Page is Select of the query.
func (c *Conditions) Page() Page {
	sets := len(c.q.Sets)
	page := Page{
		Total: int(c.matching().Count()), Excluded: c.excluded(sets, sets+len(c.q.Ranges)), ExcludedBySets: c.excluded(0, sets), Unlisted: c.unlisted(),
	}
	if c.q.Limit <= 0 {
		return page
	}
	o := c.t.ordering(&c.q)
	page.Ords = o.pick(c.matching(), c.q.Limit+1)
	if len(page.Ords) > c.q.Limit {
		page.Ords = page.Ords[:c.q.Limit]
		page.Next = o.position(page.Ords[c.q.Limit-1])
	}
	page.Mixed = c.mixed()
	return page
}

// First is the ordinals of Select and how many records match, on all pages. It leaves out what else a page counts.
func (t *Table) First(q Query) (ords []uint32, total int) {
	c := t.Conditions(q)
	if q.Limit > 0 {
		o := t.ordering(&q)
		ords = o.pick(c.matching(), q.Limit)
	}
	return ords, int(c.matching().Count())
}

// Among returns those of ords that match the filters of a query, in their order. Sort, place and
// limit of the query do not matter.
func (t *Table) Among(q Query, ords []uint32) []uint32 {
	c := t.Conditions(q)
	return slices.DeleteFunc(slices.Clone(ords), func(ord uint32) bool { return !c.Has(ord) })
}

type ordering struct {
	t     *Table
	col   *column
	desc  bool
	home  bool // it is the default order
	start int  // the first place of the page
}

func (t *Table) ordering(q *Query) ordering {
	by := q.Sort
	if by.Field == None {
		by = t.home
	}
	o := ordering{t: t, col: t.columns[by.Field], desc: by.Desc, home: by == t.home}
	if q.Computed != nil {
		o.col, o.home = newColumn(q.Computed), false
	}
	o.start = o.place(q.After)
	return o
}

func (o *ordering) ordinals() []uint32 {
	if o.desc {
		return o.col.desc
	}
	return o.col.asc
}

// place is the first place after p: by value, and among equal values by default order.
func (o *ordering) place(p *Position) int {
	if p == nil {
		return 0
	}
	bound, ords := o.t.bound(p), o.ordinals()
	return sort.Search(o.t.n, func(i int) bool {
		c := o.col.compare(ords[i], *p, o.desc)
		return c > 0 || c == 0 && ords[i] >= bound
	})
}

// bound is the first ordinal after a place in default order. It does not look up the slug, whose record may have moved.
func (t *Table) bound(p *Position) uint32 {
	home := t.columns[t.home.Field]
	was := Position{Known: true, Text: p.Slug}
	if home.texts == nil {
		was = Position{Known: p.Home != 0, Num: p.Home}
	}
	return uint32(sort.Search(t.n, func(i int) bool {
		c := home.compare(uint32(i), was, t.home.Desc)
		return c > 0 || c == 0 && t.slugs[i] > p.Slug
	}))
}

func (o *ordering) position(ord uint32) *Position {
	p := &Position{Slug: o.t.Slug(ord)}
	if v := o.col.nums[ord]; !math.IsNaN(v) {
		p.Known = true
		if o.col.texts != nil {
			p.Text = o.col.texts[ord]
		} else {
			p.Num = v
		}
	}
	if home := o.t.columns[o.t.home.Field]; home.texts == nil && !math.IsNaN(home.nums[ord]) {
		p.Home = home.nums[ord]
	}
	return p
}

func (o *ordering) pick(set bits, k int) []uint32 {
	ords := o.ordinals()[o.start:]
	out := make([]uint32, 0, min(k, int(set.Count())))
	if o.home { // the set is in this order
		return ordinals(set, out, o.start, k)
	}
	for i := 0; i < len(ords) && len(out) < k; i++ {
		if set.Test(uint(ords[i])) {
			out = append(out, ords[i])
		}
	}
	return out
}

// SettingCount is a value of a setting and the number of records that have it.
type SettingCount struct {
	// Name of the field.
	Field Field `json:"setting" jsonschema:"example=concurrency"`
	// The value; unknown if a deciding value is null.
	Value string `json:"value" jsonschema:"example=>1"`
	// Number of records with this value.
	Count int `json:"count" jsonschema:"minimum=1,example=120"`
}

var speeds = []Field{GenerationTPS, PerStream, PromptTPS, Roofline}

type setting struct {
	field   Field
	value   string
	records bits
}

// newNonDefaultSettings are the settings that a single stream does not have. A record may be in several.
func newNonDefaultSettings(t *Table) (out []setting) {
	having := func(f Field, value string) bits { return bitsOf(t.postings[f].any([]string{value}), t.n) }
	single := having(Settings, SingleStream)
	add := func(f Field, value string, records bits) {
		if rest := records.Difference(single); rest.Any() {
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
	above("context_depth", record.Shallow)
	add("n_prompt", ">"+strconv.Itoa(record.ShortPrompt), having(Settings, longPrompt))
	add(Settings, "unknown", t.postings[Settings].unknown)
	return out
}

func (c *Conditions) mixed() (out []SettingCount) {
	if !slices.Contains(speeds, c.q.Sort.Field) ||
		slices.ContainsFunc(c.q.Sets, func(s Set) bool { return s.Field == Settings || s.Field == Scenario }) {
		return nil
	}
	for _, s := range c.t.nonDefaultSettings {
		if n := countBoth(c.matching(), s.records); n > 0 {
			out = append(out, SettingCount{s.field, s.value, n})
		}
	}
	return out
}

// Query asks a table for one page. Limit must be set: zero asks for the total only. Values are
// spelled as the table has them (slugs, not aliases).
type Query struct {
	// Sets must all match; a record matches one if it has any of its values.
	Sets []Set
	// Ranges must all match. A record whose value is unknown matches none.
	Ranges []Range
	// Words must all occur in the record's slug, name or aliases (for benchmarks: in those of
	// its model, hardware or tool). Lower case.
	Words []string
	// Sort is the order; the zero value is the table's default order.
	Sort Sort
	// Computed is what the order is by where the table has no column of Sort.Field: a number for each record, by
	// ordinal, NaN where it is unknown. It follows from what the caller was asked, and is not in the canonical form.
	Computed []float64
	// After is the place after which the page begins; nil is the start.
	After *Position
	// Limit is the maximum number of records on the page.
	Limit int
}

// Set is one set filter. A value of a field with variants (Model, Hardware) also matches the variants of that record,
// unless OnlySelf is set. In a field with the use Prefix, a value that ends with * matches all values with that prefix.
type Set struct {
	Field    Field
	Values   []string
	OnlySelf bool
}

// Range is one range filter, both ends inclusive; infinities leave an end open.
type Range struct {
	Field    Field
	Min, Max float64
}

// Sort is an order by one column, ties in default order, unknown values last.
type Sort struct {
	Field Field
	Desc  bool
}

// Position is a place in an order: the value of the sort column and the slug of the last
// record before it. It outlives the generation it was made in, and the record.
type Position struct {
	Known bool    // the sort value is known
	Num   float64 // of a column of numbers
	Text  string  // of a column of texts
	Slug  string
	// Home is the record's run date as yyyymmdd, 0 if unknown, in a table whose default
	// order is by it; it places a slug that has gone.
	Home float64
}
