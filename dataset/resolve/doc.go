// Package resolve finds the record a name means: what a driver, a hub or a file prints, in place of the slug.
//
// A lexicon (lexicon.go) has the words of every name of the records of one kind. It finds the records that have all words
// of a text, whatever their order, and says what each name has beside them and what it costs to leave that out.
//
//   - Read (question.go) reads a question: facts such as memory and context (facts.go), then the words that name a tool,
//     models and hardware, the longest names first, and what each of them is.
//   - Strict (model.go, hardware.go, tool.go) reads one name: whole names, PCI ids and strings of drivers first, then what
//     the name has beside it is cut off, and every word of the rest must be understood.
//   - Resolve is Strict, and where that leaves something open the likeliest record, or what Read makes of the name.
//   - Review (printed.go) says of measurements whether a name as printed plainly means another record than the one they name.
//
// Lists of words, expressions, and the forms that programs print are in the folder vocabulary, with what they are for.
//
// Every word of a name must be in a name of the record or known to say nothing about which record it is: a Ti is never
// the plain card, a laptop chip never the desktop card, and "-abliterated" never the model it was made from. Where a
// name leaves out what distinguishes two records, the answer is Ambiguous and lists them. Guesses by likeness are marked
// Near, and never have a slug.
package resolve
