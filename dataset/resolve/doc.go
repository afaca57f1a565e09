// Package resolve finds the record a name means: what a driver, a hub or a file prints, in place
// of the slug.
//
// # Words
//
//   - name: the text a caller has;
//   - words: the words of a name that say which record it is. What says nothing about that (a vendor, a driver, the
//     machine around a card) is left out;
//   - mark: a word that says how a model is stored ("Q4_K_M", "GGUF", "4bit"). Marks are reported and are not words;
//   - reading: what was understood of a name, with the records it may be;
//   - answer: the record, or that the name fits several, or that no record has it.
//
// # Steps
//
// A lexicon (lexicon.go) has the words of every name of the records of one kind. It finds the records that have all words
// of a text, whatever their order, and says what each name has beside them and what it costs to leave that out.
//
//   - Read (question.go) reads a question: facts such as memory and context (facts.go), then the words that name a tool,
//     models and hardware, the longest names first, and what each of them is (roles.go).
//   - Strict (strict.go, model.go, tool.go) reads one name: whole names, PCI ids and strings of drivers first, then what the
//     name has beside it is cut off, and every word of the rest must be understood.
//   - Resolve is Strict, and where that leaves something open the likeliest record, or what Read makes of the name.
//
// The lists of words are in the folder vocabulary and in tables.go.
//
// # Rules
//
// Every word of a name must be either in the key of the record or known to say nothing about which record it is. A
// word the package does not know makes the name unknown: a Ti is never the plain card, a laptop chip never the desktop
// card, and "-abliterated" never the model it was made from. Where a name leaves out what distinguishes two records,
// the answer is Ambiguous and lists them. Guesses by likeness are made last, are marked Near, and never have a slug.
//
// Review (printed.go) is the other way round: it says of measurements whether a name as printed plainly means another
// record than the one they name.
//
// New reads models, hardware and tools only, never benchmarks. A Resolver is immutable and safe for concurrent use. The
// length of a name is limited by MaxName.
package resolve
