package index

// Field is one thing a table can be asked about: a set filter, a range or an order.
type Field uint8

// The fields: first the set filters, of which a record has zero, one or several values, then
// the columns, of which a record has one value, or none where it is unknown.
const (
	None Field = iota // no field; as an order, the table's default order

	Family
	Vendor
	Type
	Category
	Source
	Model
	Hardware
	Tool
	Quantization
	Backend

	Slug // the text default order of models, hardware and tools
	Name
	Params         // billions of parameters
	ContextLength  // tokens
	Released       // date as yyyymmdd, zeros where the source gives no day or month
	VRAM           // GB
	Bandwidth      // GB/s
	FP16           // TFLOPS
	TDP            // watts
	LaunchPrice    // US dollars
	StreetPrice    // US dollars
	RunDate        // date as yyyymmdd; descending, it is the default order of benchmarks
	GenerationTPS  // tokens per second
	PromptTPS      // tokens per second
	Roofline       // share of the memory bandwidth a generation speed accounts for
	BenchmarkCount // benchmarks held for the record
	fieldCount
)

var fieldNames = [fieldCount]string{
	"none", "family", "vendor", "type", "category", "source", "model", "hardware", "tool", "quantization", "backend",
	"slug", "name", "params", "context_length", "released", "vram", "bandwidth", "fp16", "tdp", "launch_price",
	"street_price", "run_date", "generation_tps", "prompt_tps", "roofline_ratio", "benchmark_count",
}

// String gives the field's word in canonical queries.
func (f Field) String() string { return fieldNames[f] }
