// Package index answers questions about the records of one load from memory.
//
// The nouns:
//
//   - A Table is one kind of record, frozen: its rows (finished JSON bytes), its slugs, one
//     posting per filter, one column per range or sort.
//   - An ordinal is a record's place in its table's default order, dense, from 0 up. It is
//     valid in one generation only and never leaves the process.
//   - A posting maps each value of a filter to the bitmap of ordinals that have it.
//   - A column holds one number or text a record, and the ordinals in order of it.
//   - A Query is a filter, an order and a place in it, as a value; String is its canonical form.
//   - A Page is the ordinals of one answer, the exact total, and the place it ends at.
//   - A Generation is all tables of one load, immutable, numbered from 1.
//   - Live holds the generation being served, behind one atomic pointer.
//
// Build makes a generation; nothing of it changes afterwards, so everything here but Build is
// safe for concurrent use without locks. Old generations are left to the garbage collector.
//
// Cost: a page without filters is a copy of ordinals. With filters, the sets of all but the
// largest are intersected, the last is counted and tested record by record as the page needs
// it. In another order than the default the few matches are ranked, many are met by walking the
// order, and where they lie far along it, sets kept at every 64th part of the order tell by
// counting between which values the page lies. So a page of 100 costs microseconds with one
// filter or one range and tens of them with three, at ten thousand rows as at a million; a
// third of a millisecond is about the worst of filters and orders at a million. Many values of
// one filter, and words that fit many names, cost what joining their sets does: a nanosecond or
// two a match. Records themselves are not kept, only their rows: beside the bytes it serves a
// table of benchmarks takes about 130 bytes a record.
// All set algebra of answering goes through work, which a test has count it.
//
// The package does not know HTTP, JSON field names, callers, quotas or files.
package index
