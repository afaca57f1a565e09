// Package best says which model to choose, and why.
//
// A Capability is what a model can do, in points of 100: what published evaluations say of it, drawn to what its size, age,
// kind and maker predict. A model without evaluations has the prediction alone, and says so. Capabilities are compared
// between chat models; others have none if nothing was predicted of their kind.
//
// A Rule gives points to a model in a quantization on a machine: its capability, less what is lost to few bits, to slow
// answers and to doubt. The points sum, and an answer can print each of them. All constants are of classes of models and
// machines, none of one.
package best
