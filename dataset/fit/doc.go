// Package fit answers which model runs on what machine, and how fast, from the facts and the
// measurements of a dataset.
//
// The nouns:
//
//   - An Engine is made of one dataset and answers queries.
//   - A Query is a model, a machine and settings; an Answer has a Size for each quantized form.
//   - Memory is what a size takes: weights, key-value cache, compute buffer, companions, reserve, each with its
//     basis and the id of its formula (Formulas). A missing fact is named, and makes the part a range.
//   - A Verdict compares that with the memory of the machine, and is unknown only if a range decides it. A run that was
//     resident in less outranks the formula (Evidence).
//   - A Placement is where weights and cache lie: on devices, which may differ, and in main memory. A Remedy is a change
//     that makes a model fit.
//   - A Speed is measured, or an Estimate: the share of the memory bandwidth that the nearest
//     measurements reached, as a weighted median, with the measurements and their weights.
//   - An Evaluation compares estimates with measurements that were hidden from them. Its results
//     for the shipped data are part of the build (validated.json) and of every estimate.
//
// The files, lowest first:
//
//   - what goes in and comes out: words.go, query.go, answer.go, rules.go
//   - formulas of bytes: memory.go, named.go, companions.go
//   - where they lie: machine.go, placement.go, remedies.go
//   - one measurement, and many: sample.go, stats.go, trend.go, heldback.go
//   - what an engine keeps: engine.go, learnt.go, lookup.go
//   - speed: points.go, place.go, estimate.go, slowdown.go
//   - one answer: sizes.go, evidence.go, ask.go, speed.go, cost.go, verdict.go
//   - many answers: runs.go, backends.go, lists.go
//   - making an engine: learn.go, new.go
//   - how good estimates are: evaluate.go, validated.go
//
// Which rows compare is decided by dataset.Benchmark.SingleStream. Runs that were timed with a short prompt (WholeRequest) are not answers and are
// not estimated, but estimates rest on them, too: much hardware has no others. Memory is counted in bytes,
// bandwidth in 10^9 bytes per second, speed in tokens per second.
//
// An Engine is immutable and safe for concurrent use. Making one reads the newest 250,000 measurements once. A
// verdict costs less than a microsecond. An estimate in a list costs about 0.5 microseconds on one machine and
// 2 on many machines. It searches at most 1,000 measurements of the class of hardware for the near ones.
// Answers depend on the dataset and the query alone.
package fit
