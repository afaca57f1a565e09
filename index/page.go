package index

// Page is the result of a query. It shares no memory with the table and may be kept, but its
// ordinals are valid only in the generation it came from.
type Page struct {
	Ords []uint32
	// Total is how many records match, on all pages.
	Total int
	// Excluded is, for each range of the query in its order, how many records match all other
	// conditions but have no known value. ExcludedBySets is the same for each set; it is counted for
	// fields with the use Nulls only and nil if no set has one.
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

// Select returns at most q.Limit ordinals in the order of q.Sort, after q.After; a slug that no
// longer exists resumes at its place. A field the table has no posting or column for is the
// programmer's mistake and panics.
func (t *Table) Select(q Query) Page { return t.Conditions(q).Page() }

// Page is Select of the query.
func (c *Conditions) Page() Page {
	t, q := c.t, c.q
	m, excluded := c.matching()
	page := Page{Total: m.total, Excluded: excluded, ExcludedBySets: c.excludedBySets(), Unlisted: c.unlisted()}
	if q.Limit <= 0 {
		return page
	}
	o := c.order()
	page.Ords = o.pick(&m, q.Limit+1)
	if len(page.Ords) > q.Limit {
		page.Ords = page.Ords[:q.Limit]
		page.Next = o.position(page.Ords[q.Limit-1])
	}
	page.Mixed = t.mixed(q, &m)
	return page
}

// order is that of the query, from its place on.
func (c *Conditions) order() ordering {
	o := c.t.ordering(&c.q)
	o.skip(c.q.Ranges)
	return o
}

// First is the ordinals of Select and how many records match, on all pages. What else a page counts costs as much again.
func (t *Table) First(q Query) (ords []uint32, total int) {
	c := t.Conditions(q)
	m, _ := c.matching()
	if q.Limit > 0 {
		o := c.order()
		ords = o.pick(&m, q.Limit)
	}
	return ords, m.total
}

// Among returns those of ords that match the filters of a query, in their order. Sort, place and
// limit of the query do not matter.
func (t *Table) Among(q Query, ords []uint32) []uint32 {
	c := t.Conditions(q)
	var out []uint32
	for _, ord := range ords {
		if c.Has(ord) {
			out = append(out, ord)
		}
	}
	return out
}
