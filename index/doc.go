// Package index answers questions about the records of one load from memory.
//
// The nouns:
//
//   - A Table is one kind of record, frozen: its rows (finished JSON bytes), its slugs, a
//     posting for each field with values to filter by, a column for each field with an order.
//   - An ordinal is a record's place in its table's default order, dense, from 0 up. It is
//     valid in one generation only and never leaves the process.
//   - A posting maps each value of a field to the roaring bitmap of ordinals that have it.
//   - A column has one number or text per record, and the ordinals in order of it.
//   - A Query is a filter, an order and a place in it, as a value; String is its canonical form.
//   - Conditions are the filters of one Query, one bit for each record, for all answers about it.
//   - A Page is the ordinals of one response, the exact total, and the place where it ends.
//   - A Generation is all tables of one load, immutable, numbered from 1.
//   - Live has the generation being served, behind one atomic pointer.
//
// A list is made in this order: Table.Conditions (conditions.go) finds the records of each filter, from postings
// (posting.go) and ranges of columns (column.go). Conditions.Page (page.go) intersects them and walks along the order
// of a column until the page is full. Facets (facets.go) leave out one condition after the other. Statistics
// (stats.go) sort the matches by the codes of their keys.
//
// Build makes a generation. Nothing in it changes afterwards and nothing in it is a cache, so everything here except
// Build is safe for concurrent use without locks. The garbage collector frees old generations.
//
// The package does not know HTTP, callers, quotas or files.
package index
