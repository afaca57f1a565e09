// Package resolve finds the record for a name as printed by a driver, a hub or a file.
//
// A lexicon (lexicon.go) has the words of all names of one kind of record. It finds the records that have all words of
// a text, in any order, and the cost of the words that the text leaves out.
//
//   - Read (question.go) reads a question: facts such as memory and context (facts.go), then the names of a tool,
//     models and hardware, longest first.
//   - Strict (model.go, hardware.go, tool.go) reads one name: whole names, PCI ids and strings of drivers first, then what
//     the name has beside it is cut off, and every word of the rest must be understood.
//   - Resolve is Strict, or if that is ambiguous, the likeliest record or the result of Read.
//   - Review (printed.go) finds measurements whose printed name clearly means another record.
//
// Lists of words, expressions and printed forms are in the folder vocabulary, with comments.
//
// Every word of a name must be in a name of the record or known to be irrelevant: a Ti is never the plain card, a
// laptop chip never the desktop card, and "-abliterated" never the original model. If a name leaves out what
// distinguishes two records, the answer is Ambiguous and lists them. Guesses by similarity are marked Near and have no
// slug.
package resolve
