package fit

import "modeldex/dataset"

// learnt is what estimates rest on.
type learnt struct {
	names   numbers
	silicon map[dataset.Slug]string // variant, graphics inside a chip, or machine -> the record that stands for it
	usual   map[place][]string      // backends, the usual one first
	samples [classes][]sample       // by the bytes one token reads
	lookups [classes]lookup         // of the samples
	ways    int                     // of storing weights, of all sizes
	trend   trend
	slow    []slowdown
	costs   map[slowKey]slowCost // of groups of slowdowns
}

// A reader gathers what an engine keeps of the measurements.
type reader struct {
	*Engine
	rows     []row
	deep     []deepRow
	whole    []row  // timed with their prompt, see dataset.Benchmark.WholeRequest
	thin     uint32 // rows whose hash has one of these bits are left out
	runs     []runKey
	backends backendCounts
}

// A deepRow is a measurement with a filled cache that would compare if it were empty.
type deepRow struct {
	row
	depth int64
}

// A slowdown is how much a filled cache cost in one configuration. cost is the time lost for each byte of
// cache, as a multiple of the time for a byte of weights. It is 1 if the cache is read as fast as the weights,
// and more if attention is slower than the memory.
type slowdown struct {
	class    Class
	toolKind int32
	backend  int32
	page     int32
	cost     float64
	part     float64 // the cache, in parts of the weights
	left     float64 // the part of the speed that was left
}

// A slowKey is a group of slowdowns; what the group does not share is 0.
type slowKey struct {
	group             int
	class             Class
	toolKind, backend int32
}

type slowCost struct {
	cost float64
	n    int
}
