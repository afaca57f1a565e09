// Package dataset has the records of the directory, and reads and checks their files.
//
// The nouns:
//
//   - A record is one decoded, checked thing: a Model, Hardware, Tool or Benchmark. Their types and
//     the rules of a single record are in package record; this package has aliases of the types.
//   - A slug is a record's stable public key; a benchmark's slug is its id.
//   - A Set is all records of one load, in default order, with a digest of the bytes read.
//   - A Pack is the benchmarks of a Set in default order.
//   - A Finding is one thing wrong in the files: path, line, column, field and a sentence. It rejects
//     the dataset, unless it is marked as a warning, which asks a person to look.
//   - A ratio is how near a measured speed comes to the memory bandwidth, see Roofline.
//
// Load reads a directory (or an embedded copy of one) strictly. An unknown field, a wrong type,
// a value outside its set, a duplicate slug and a reference to nothing are findings. All of them
// are reported at once. A directory with one finding gives no Set. Check reports the warnings
// too, without those that accepted.json lists; Format writes the files in canonical format.
//
// Reading is bounded: Dir opens regular files inside the directory only, a file and a line have a largest size, and a
// report has at most 10,000 findings. What cannot be read is a finding at its path.
//
// To follow a load, start at load.go. A new rule of one field is a tag in record. A new rule of a record or across records is an
// entry in one of the tables of rules (modelRules and others) and a fixture in testdata/lint.
//
// Unknown is nil: a field that may be null is a pointer, and nil matches no range. Sizes
// that are unpublished are computed at load (see Quantizations) and say so.
//
// The package knows files and records. It does not know indexes, HTTP or quotas, never logs and never reads the
// environment. Records of a Set must not be changed after Load returns; reading them from many goroutines is safe.
package dataset
