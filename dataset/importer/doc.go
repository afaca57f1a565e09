// Package importer turns what programs print about a run into benchmarks of the directory.
//
// An adapter reads the output of one program into runs: values by the names of the fields of a benchmark, each with where
// it was printed. One frame adds what the caller knows, finds the records, and checks the line. What can be read in two
// ways, or is not what the program prints, is skipped with the reason; names are never guessed; what is printed nowhere
// stays unknown.
//
// The output of llama-bench is read in every form (-o json, jsonl, csv, md, and tables pasted with the log lines around
// them). Its rows that differ only in their test are one run. Others are in adapters.go.
//
// An Importer does not change after New and may be used by several goroutines at once. It neither fetches nor writes.
package importer
