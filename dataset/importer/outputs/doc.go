// Package outputs reads what programs other than llama-bench print about a run into benchmark lines: one adapter for
// each, and one frame that adds what the caller knows, finds the records, and checks the line.
//
// An adapter reads a text into runs: values by the names of the fields of a benchmark, each with where it was
// printed. It takes nothing that it does not understand; a run with a wrong value is skipped, with the reason. What is
// printed nowhere stays unknown.
package outputs
