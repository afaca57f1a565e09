// Package generate makes datasets of any number of benchmarks, to measure with.
//
// A made dataset has the models, hardware, tools and quantizations of the one it is made from,
// file by file, and new benchmarks: each takes its machine from one real measurement and its
// model from another, so that what is popular, what is unknown and what goes together stay as
// they are (most benchmarks are of few models and machines, and most models have few). Some go
// to models and hardware without measurements. Speeds are moved by the sizes of the two models
// and some chance, below what the memory bandwidth allows.
//
// The same seed, options and source give the same bytes. A benchmark depends on its number and
// the seed alone, so files are written side by side, and memory holds some ten bytes a
// benchmark.
package generate
