// Command bench measures the whole program: against other servers that send the same bytes or
// have the same rows, against itself on larger data, and from files to a generation.
//
//	go run ./bench                                     everything, into bench/results
//	go run ./bench -parts warm -cases first-page       one case
//	go run ./bench generate -rows 1000000 -out DIR     make a dataset of that many benchmarks
//	go run ./bench start -data DIR                     time and memory from files to a generation
//
// Packages below: generate makes the datasets, load sends the requests, fleet tests several servers on
// etcd. rivals is a module of its own, so that what its servers need stays out of this one.
// Small benchmarks live beside the code they measure. README.md says how each server is set up
// and what the figures do not show.
package main
