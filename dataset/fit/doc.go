// Package fit answers which model runs on what machine, and how fast, from the facts and the
// measurements of a dataset.
//
// The nouns:
//
//   - An Engine is made of one dataset and answers queries.
//   - A Query is a model, a machine and settings; an Answer has a Size for each quantized form.
//   - Memory is what a size takes: weights, key-value cache, compute buffer, reserve, each with its
//     basis and the id of its formula (Formulas). A missing fact is named, never guessed.
//   - A Verdict compares that with the memory of the machine. A run that was resident in less
//     outranks the formula (Evidence).
//   - A Speed is measured, or an Estimate: the share of the memory bandwidth that the nearest
//     measurements reached, as a weighted median, with the measurements and their weights.
//   - An Evaluation compares estimates with measurements that were hidden from them. Its results
//     for the shipped data are part of the build (validated.json) and of every estimate.
//
// The files, lowest first: words.go, query.go, answer.go and rules.go (what goes in and comes out),
// memory.go (formulas of bytes), sample.go, stats.go and trend.go (one measurement, and many),
// engine.go, learnt.go and lookup.go (what an engine keeps), points.go, place.go, estimate.go and slowdown.go (speed),
// sizes.go, evidence.go, ask.go, speed.go, cost.go and verdict.go (one answer), runs.go, backends.go and lists.go (many), learn.go and
// new.go (making an engine), evaluate.go and validated.go (how good estimates are).
//
// Which rows compare is decided by dataset.Benchmark.SingleStream. Memory is counted in bytes,
// bandwidth in 10^9 bytes per second, speed in tokens per second.
//
// An Engine is immutable and safe for concurrent use. Making one reads the newest 250,000
// measurements once. A verdict costs less than a microsecond; an estimate in a list costs about 0.5 microseconds
// on one machine and 3 on many machines, because it searches the measurements of the class of hardware,
// at most 2,000, for the near ones. Answers depend on the dataset and the query alone.
package fit
