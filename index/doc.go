// Package index answers questions about the records of one load from memory.
//
// The nouns:
//
//   - A Table is one kind of record, frozen: its rows (finished JSON bytes), its slugs, one
//     posting per set filter, one column per range or sort.
//   - An ordinal is a record's place in its table's default order, dense, from 0 up. It is
//     valid in one generation only and never leaves the process.
//   - A posting maps each value of a filter to the bitmap of ordinals that have it.
//   - A column has one number or text per record, and the ordinals in order of it.
//   - A Query is a filter, an order and a place in it, as a value; String is its canonical form.
//   - Conditions are the filters of one Query as sets of ordinals, for all answers about it.
//   - A Page is the ordinals of one response, the exact total, and the place where it ends.
//   - A Generation is all tables of one load, immutable, numbered from 1.
//   - Live has the generation being served, behind one atomic pointer.
//
// Build makes a generation. Nothing in it changes afterwards and nothing in it is a cache, so
// everything here except Build and Rebuild is safe for concurrent use without locks. The garbage
// collector frees old generations.
//
// Cost: a page without filters copies ordinals. With filters, all sets except the largest are intersected; of the
// largest only the matches are counted, and it is tested record by record for the page. In another order than the
// default, a few matches are sorted, and many are found by walking along the order. If they are far along it, the
// bitmaps of the column's bins are counted to find the bins of the page. So a page of 100 costs microseconds with one
// filter or one range and tens of them with three, at ten thousand rows as at a million. The worst combinations of
// filters and order cost about a third of a millisecond at a million. Many values of one filter cost the union of
// their sets: one or two nanoseconds per match. Words that all match many names cost one look at every record, however
// many words there are. Counting what each filter excludes, and facets, leave out one condition after the other: the
// sets are made once (Conditions), and each condition costs two intersections. Records are not kept, only their rows:
// beside these bytes a table of benchmarks takes about 350 bytes per record, a third of them for statistics.
//
// The package does not know HTTP, callers, quotas or files.
package index
