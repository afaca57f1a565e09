// Package generate makes datasets of any number of benchmarks, to measure with.
//
// The result has the models, hardware, tools and quantizations of the dataset it is made from, file
// by file, and new benchmarks. Each takes its machine from one real measurement and its model from
// another, so that the same models and machines are popular, and the same fields are unknown. Some are of models and hardware without measurements. A speed is scaled by the sizes of the two
// models and varied at random, below what the memory bandwidth allows.
//
// The same seed, options and source give the same bytes. A benchmark depends on its number and
// the seed alone, so files are written in parallel, and about ten bytes of memory are used per
// benchmark.
package generate
