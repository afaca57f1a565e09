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
// # Hardware, step by step
//
// "NVIDIA GeForce RTX 4090 Laptop GPU 16GB x2" becomes nvidia-rtx-4090-laptop:
//
//  1. clean (fold.go) writes it in lower case, in one Unicode form and without trademark signs.
//  2. hardwareNames.resolve (hardware.go) takes the name out of a line of a log (hardware_lines.go), and asks for names
//     that need no rules: of records, of drivers, and PCI ids (hardware_pci.go). None fits here.
//  3. cutTimes (hardware_parts.go) finds " x2", two devices. cutHardware divides the rest into an hwName: what names the
//     part, and what is beside it in brackets or behind commas. Labels of tools and a count in front are cut.
//  4. hwWords (hardware_words.go) leaves out "nvidia", "geforce" and "gpu", reads 16 GB as the memory, and keeps "rtx",
//     "4090", "laptop".
//  5. hardwareNames.look (hardware_look.go) finds the records with the key "rtx4090laptop", and lets the memory choose
//     among them. Where none has the key, readWords (hardware_read.go) tries what people write instead: a machine of Apple
//     with its chip (hardware_mac.go), a number without its line (hardware_short.go), words in another order.
//  6. withExtras (hardware_beside.go) judges what was beside the name: nothing here. A part it cannot read may make
//     another product of the name, so that there is no record then.
//  7. hardwareNames.answer (hardware_answer.go) writes the answer: one record, or several and what tells them apart.
//
// # Models, step by step
//
// "unsloth/Qwen3-30B-A3B-Instruct-2507-GGUF:Q4_K_M" becomes qwen3-30b-a3b-instruct-2507:
//
//  1. clean, as above. modelNames.resolve (model.go) asks for names of records first, and for types as llama-bench prints
//     them (model_type.go).
//  2. cutModel (model_parts.go) divides the name into a modelName: owner "unsloth", name
//     "qwen3-30b-a3b-instruct-2507-gguf", tag "q4_k_m". Commands, addresses of hubs, folders and numbers of parts are cut.
//  3. allMarks (model_parts.go) reads the tag as a mark. A tag that is more is one of Ollama (model_ollama.go).
//  4. byMarks (model.go) looks up the name with fewer and fewer marks: with "-gguf" no record has it, without it one has.
//  5. modelWords (model_words.go) are "qwen", "3", "30b", "a3b", "instruct", "2507", and known (model_names.go) finds the
//     record with this key.
//  6. judge (model_judge.go) decides whether the record may answer: unsloth converts the models of others and keeps their
//     names. From an account nobody knows the name alone is not enough, unless a mark says that it is a conversion. Names
//     that no record has, but with which names of records begin, are ambiguous.
//
// The lists of words are in tables.go. Tools are simpler: tool.go.
//
// # Rules
//
// Every word of a name must be either in the key of the record or known to say nothing about which record it
// is. A word the package does not know makes the name unknown. So a Ti is never the plain card, a laptop chip
// is never the desktop card, and "-abliterated" is never the model it was made from. Where a name leaves out
// what distinguishes two records, the answer is Ambiguous and lists them. A name may leave out the line before
// the number of a part ("7900xtx", "13900k"). The number then has to be that of one product. A 4090 that may be
// the one for laptops is Ambiguous, unless there are two of them. In the name of a laptop ("Razer Blade 16 with
// RTX 4090") the card is the one for laptops. A processor and a card side by side are Ambiguous. Guesses by
// likeness (near.go) are made last, are marked Near, and never have a slug; so is what a name that was cut
// short ("RTX 4070 ...") begins with.
//
// Review (printed.go) is the other way round: it says of measurements whether a name as printed plainly means another
// record than the one they name.
//
// New costs a few milliseconds for the shipped records and reads models, hardware and tools only,
// never benchmarks. A Resolver is immutable and safe for concurrent use. A name costs about
// 10 microseconds; its length is limited by MaxName.
package resolve
