package fit

import (
	"modeldex/dataset"
)

// An Engine answers which model runs on what, and how fast, from one dataset. It is immutable
// and safe for concurrent use.
type Engine struct {
	models     map[dataset.Slug]*target
	hardware   map[dataset.Slug]*piece
	bySlug     []dataset.Slug // models in order of slug
	hwBySlug   []dataset.Slug
	line       *dataset.Roofline
	benchmarks []*dataset.Benchmark // of the set
	runs       map[pair][]timed     // of what answers may name, each from the newest
	relations  *dataset.Relations
	cards      map[float64][]float64    // see cardBandwidths
	silicon    map[dataset.Slug]string  // by slug of a variant, of graphics inside a chip, or of a machine: the record they share
	proofs     map[dataset.Slug][]proof // by model
	shown      map[string]Share         // by silicon: parts of unified memory above the usual share that runs took
	numbers    numbers                  // of texts, each with the kind of text before it
	year       float64                  // of the dataset, see yearOf
	kinds      map[string]kind          // of quantizations, by name in upper case
	learnt     learnt
}

// A piece is one hardware record with values that do not depend on the query.
type piece struct {
	*dataset.Hardware
	memoryGB, bandwidth float64 // of one device, in GB and bytes per second; 0 where unknown
	silicon, arch       int32   // numbers of its silicon and its architecture
	related             []int32 // numbers of the related records on which something was measured
}

// A target is one model and what its memory depends on.
type target struct {
	*dataset.Model
	network     string // see networkOf
	least, most shape
	missing     []string // facts that are not known, by field
	limit       int64    // context length, 0 where unknown
	layout      layout
	formula     string // of the only size, where it is none of the record
	body        *body
	weights     map[string]float64 // see weightsByFormat
	order       []int              // the numbers of the sizes in the record, the most precise first
	listed      []int              // those of them that lists may name, on some hardware
	sizes       []stored           // by number in the record
	ran         map[int32]bool     // numbers of quantizations in which it was measured
	fourBits    bool               // whether its weights were trained in four bits
}

// A proof is evidence with what it applies to.
type proof struct {
	Evidence
	quantization string
	unified      bool
}
