// Package contribute turns a measurement that somebody fills in, or what llama-bench printed, into benchmark lines.
//
// Groups are the fields of the form, which the page /contribute and the issues of a repository share. A Desk checks what
// was filled in by dataset.Propose, which has the rules of modeldex check, and answers with a Result. Nothing is written or
// fetched. Work is bounded by maxValue, maxPasted and maxLines. A Desk is immutable and safe for concurrent use.
package contribute
