// Package fit tells which models run on which machines, and how fast, from the facts and measurements of a dataset.
//
//   - An Engine is made of one dataset and answers queries. It is immutable and safe for concurrent use.
//   - A Query is a model, a machine and the settings of a program; an Answer has a Size for each quantization.
//   - Memory is what a size takes: weights, key-value cache, compute buffer, companions, reserve, each with its
//     basis and the id of its formula (Formulas). A missing fact is named, and makes the part a range.
//   - A Verdict compares that with the memory of the machine, and is unknown only if a range decides it. A run that was
//     resident in less outranks the formula (Evidence).
//   - A Placement is where weights and cache lie: on devices, which may differ, and in main memory. A Remedy is a change
//     that makes a model fit.
//   - A Speed is measured, or an Estimate by a regression, with the measurements that carry it. Which rows compare is
//     decided by dataset.Benchmark.SingleStream; runs timed with a short prompt (WholeRequest) only inform estimates.
//   - An Evaluation compares estimates with measurements whose source was hidden from them. Its results for the shipped
//     data are part of the build (validated.json) and of every estimate.
//
// Memory is counted in bytes, bandwidth in 10^9 bytes per second, speed in tokens per second.
package fit
