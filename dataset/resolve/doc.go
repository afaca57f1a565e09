// Package resolve finds the record a name means: what a driver, a hub or a file prints, in place
// of the slug.
//
// # Words
//
//   - name: the text a caller has;
//   - words: the words of a name that say which record it is. What says nothing about that (a vendor, a driver, the
//     machine around a card) is left out;
//   - key: the words in one spelling. Two names are equal where their keys are equal; there is no measure of likeness on
//     the way to an answer;
//   - mark: a word that says how a model is stored ("Q4_K_M", "GGUF", "4bit"). Marks are reported and are not words;
//   - reading: what was understood of a name, with the records it may be;
//   - answer: the record, or that the name fits several, or that no record has it.
//
// # Steps
//
// Hardware (hardware.go) and models (model.go) go the same way, as "NVIDIA GeForce RTX 4090 Laptop GPU 16GB x2" becomes
// nvidia-rtx-4090-laptop, and "unsloth/Qwen3-30B-A3B-Instruct-2507-GGUF:Q4_K_M" becomes qwen3-30b-a3b-instruct-2507:
//
//  1. clean the spelling (fold.go), and ask for names that need no rules;
//  2. cut off what is beside the name: counts, brackets, owners, tags, folders (the _parts files);
//  3. keep the words that say which record it is (the _words files), and read the rest: memory, marks;
//  4. look up the key, then what people write instead (the other files of the kind);
//  5. judge what was beside the name, and answer (hardware_beside.go, hardware_answer.go, model_judge.go).
//
// The lists of words are in tables.go. Tools are simpler: tool.go.
//
// # Rules
//
// Every word of a name must be either in the key of the record or known to say nothing about which record it is. A
// word the package does not know makes the name unknown: a Ti is never the plain card, a laptop chip never the desktop
// card, and "-abliterated" never the model it was made from. Where a name leaves out what distinguishes two records,
// the answer is Ambiguous and lists them. Guesses by likeness (near.go) are made last, are marked Near, and never have
// a slug.
//
// Review (printed.go) is the other way round: it says of measurements whether a name as printed plainly means another
// record than the one they name.
//
// New reads models, hardware and tools only, never benchmarks. A Resolver is immutable and safe for concurrent use. The
// length of a name is limited by MaxName.
package resolve
