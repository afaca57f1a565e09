// Package resolve finds the record a name means: what a driver, a hub or a file prints, in place
// of the slug.
//
// A Resolver reads names of three kinds: models, hardware and tools. Its words are
//
//   - name: the text a caller has, such as "NVIDIA Corporation AD102 [GeForce RTX 4090] (rev a1)"
//     or "unsloth/Qwen3-8B-GGUF:Q4_K_M";
//   - key: the significant words of a name in one spelling. Two names are equal where their keys
//     are equal; there is no measure of likeness on the way to an answer;
//   - mark: a word of a name that says how a model is stored ("Q4_K_M", "GGUF", "4bit"). Marks are
//     reported and are not part of the key;
//   - answer: the record, or that the name fits several, or that no record has it.
//
// The rules are strict. Every word of a name must be either in the key of the record or known to
// say nothing about which record it is (a vendor, a storage type, a driver, the machine around a
// card). A word the package does not know makes the name unknown: a Ti is never the plain card, a
// laptop chip never the desktop card, and "-abliterated" never the model it was made of. Where a
// name leaves out what distinguishes two records, the answer is Ambiguous and lists them. What a
// name may leave out is the line before the number of a part ("7900xtx", "13900k"): the number then
// has to be that of one product, and a 4090 that may be the one for laptops is Ambiguous, unless there
// are two of them. In the name of a laptop ("Razer Blade 16 with RTX 4090") the card is the one for
// laptops. A processor and a card side by side are Ambiguous. Guesses by likeness are made last, are
// marked Near, and never have a slug.
//
// Review is the other way round: it says of measurements whether a name as printed plainly means another
// record than the one they name.
//
// New costs a few milliseconds for the shipped records and reads models, hardware and tools only,
// never benchmarks. A Resolver is immutable and safe for concurrent use. A name costs about
// 10 microseconds; its length is limited by MaxName.
package resolve
