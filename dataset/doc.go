// Package dataset has the records of the directory, and reads and checks their files.
//
// A record is a Model, Hardware, Tool, Benchmark or another kind of package record; this package has aliases of the types.
// A Set is all records of one load, in default order, with a digest of the bytes read. A Finding is one thing wrong in the
// files: path, line, column, field and a sentence. It rejects the dataset, unless it is a warning, which asks a person to
// look.
//
// Load reads a directory (or an embedded copy of one) strictly, and reports all findings at once. Check reports the
// warnings too, without those that accepted.json lists; Format writes the files in canonical format. Reading is bounded:
// Dir opens regular files inside the directory only, a file and a line have a largest size, and a report has at most
// 10,000 findings. To follow a load, start at load.go. A new rule of one field is a tag in record. A new rule of a record
// or across records is an entry in one of the tables of rules (modelRules and others) and a fixture in testdata/lint.
//
// Unknown is nil: a field that may be null is a pointer, and nil matches no range. The package does not know indexes, HTTP
// or quotas, never logs and never reads the environment. Records of a Set must not be changed after Load returns; reading
// them from many goroutines is safe.
package dataset
