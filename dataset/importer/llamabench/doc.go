// Package llamabench turns what llama-bench prints into benchmarks of the directory.
//
// It reads -o json, jsonl, csv and md, and Markdown tables pasted from terminals with the log lines around them. It
// knows the columns and lines that llama-bench prints; a table with any other column is skipped, because it is that of
// another program. A row is one test of a run. Rows that differ only in their test are one run, whose prompt and
// generation speeds are merged. Models and hardware are found by name, never guessed: the type that llama-bench prints
// ("qwen2 7B") is an architecture, and a chip family ("Orin") is no hardware. What can be read in two ways is skipped
// with the reason.
//
// An Importer does not change after New and may be used by several goroutines at once. It has one file in memory at a
// time, and neither fetches nor writes anything.
package llamabench
