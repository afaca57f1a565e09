package index

// Page is the answer to a query. It shares no memory with the table and may be kept, but its
// ordinals mean something only in the generation it came from.
type Page struct {
	Ords []uint32
	// Total is how many records match, on all pages.
	Total int
	// Excluded says, for each range of the query in its order, how many records match all
	// else but have no known value.
	Excluded []int
	// Next is where the next page begins; nil on the last.
	Next *Position
}

// Select answers a query: at most q.Limit ordinals in the order of q.Sort, behind q.After; a
// slug that has gone resumes at its place. Fields the table has no posting or column for are
// the programmer's mistake and panic.
func (t *Table) Select(q Query) Page { return t.answer(q, nil) }

// answer is Select, and counts what it takes.
func (t *Table) answer(q Query, w *work) Page {
	m, excluded := t.matching(q, w)
	page := Page{Total: m.total, Excluded: excluded}
	if q.Limit <= 0 {
		return page
	}
	o := t.ordering(q.Sort, q.After)
	o.work = w
	o.skip(q.Ranges)
	page.Ords = o.pick(&m, q.Limit+1)
	if len(page.Ords) > q.Limit {
		page.Ords = page.Ords[:q.Limit]
		page.Next = o.position(page.Ords[q.Limit-1])
	}
	return page
}
