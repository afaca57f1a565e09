// Package llamabench turns what llama-bench prints into benchmarks of the directory.
//
// It reads -o json, jsonl, csv and md, and Markdown tables pasted from terminals of several versions, with the
// device lines and build lines around them. A row is one test of a run; rows that differ only in their test are
// one run, whose prompt and generation speeds are merged. Models and hardware are found by slug, name and
// alias; what is not found is skipped with the reason, never guessed. What can be read in two ways is skipped
// too. Examples are a comma that may be decimal, and a program with two backends that does not say which one it
// used. Another is a table after a text, which may be of another machine. Columns people add for the device and
// the storage type are read, others are noted.
//
// An Importer does not change after New and may be used by several goroutines at once. It has one
// file in memory at a time, and neither fetches nor writes anything.
package llamabench
