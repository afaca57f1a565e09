// Package contribute turns a measurement that a reader fills in, or what llama-bench printed, into
// benchmark lines of the dataset.
//
// The nouns:
//
//   - A Form is the fields of the page, in groups, with what each may be (Groups, Pasted).
//   - A Desk is the records that values are compared with: a set, and the resolver of its names.
//   - A Result is what came of one form: finished lines, or faults and warnings, each at its field,
//     and how names were read.
//
// A line is checked by dataset.Propose, which has the rules of modeldex check, so that a line which is
// accepted here is accepted there. Nothing is written or fetched. Work is bounded: a value has at most
// maxValue bytes, a pasted text at most maxPasted, and a result at most maxLines lines.
//
// The package knows neither HTTP nor HTML. A Desk is immutable and safe for concurrent use.
package contribute
