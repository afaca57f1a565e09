package index

import (
	"math"

	"modeldex/dataset"
)

// Field is the public name of a field of a record, such as "params_b". The tables of fields in
// records.go and benchmarks.go declare all of them.
type Field string

// The fields that code names. A field that is only filtered or sorted by needs no constant.
const (
	None           Field = "" // no field; as an order, the table's default order
	Slug           Field = "slug"
	ID             Field = "id" // of a benchmark
	Name           Field = "name"
	Family         Field = "family"
	Model          Field = "model"
	Hardware       Field = "hardware"
	Tool           Field = "tool"
	Source         Field = "source"
	Quantization   Field = "quantization"
	Backend        Field = "backend"
	BenchmarkCount Field = "benchmark_count"
	RunDate        Field = "run_date"
	GenerationTPS  Field = "generation_tps"
	PerStream      Field = "generation_tps_per_stream"
	PromptTPS      Field = "prompt_tps"
	Roofline       Field = "roofline_ratio"
	Settings       Field = "settings"
	Scenario       Field = "scenario"
	Concurrency    Field = "concurrency"
	Month          Field = "month"
	Silicon        Field = "silicon"
)

// SingleStream is the value of Settings that benchmarks have if they measured one stream on one
// device, see dataset.Benchmark.SingleStream.
const SingleStream = "single_stream"

// Uses say what a field can do beside being filtered by its parameters.
type Uses uint16

// The uses.
const (
	Sorts   Uses = 1 << iota // lists can be in its order
	Facets                   // facets count its values, or divide its numbers into bins
	Groups                   // statistics can be grouped by it
	Metric                   // statistics can be computed of it
	Setting                  // it is a setting of a benchmark: rows compare only if it is equal
	Prefix                   // a filter value that ends with * matches all values with that prefix
	Key                      // its values are the slugs of the table
	Related                  // its values stand for several values of another field; it is a filter only
)

// FieldKind is the type of a field's values.
type FieldKind uint8

// The kinds.
const (
	Text   FieldKind = iota // one text, or several
	Flag                    // true or false
	Count                   // a whole number with few distinct values
	Number                  // a number
	Date                    // a date as yyyymmdd
)

// FieldInfo is what parsers, error messages and documents need to know about a field.
type FieldInfo struct {
	Name   Field
	Kind   FieldKind
	Unit   string   // of numbers, such as "GB/s"; empty for plain counts and other kinds
	Values []string // of a closed set; nil if any text is possible
	Refers Field    // Model, Hardware or Tool if the values are slugs of that table
	Param  string   // URL parameter of an exact filter; empty if there is none
	Min    string   // URL parameter of the lower end of a range; empty if there is none
	Max    string   // URL parameter of the upper end
	Uses   Uses
	Doc    string // a sentence
}

// Is reports whether the field has all of some uses.
func (f *FieldInfo) Is(u Uses) bool { return f.Uses&u == u }

// fieldOf declares a field of records of type R: exactly one accessor, none for the use Related. Filters, orders,
// facets and groups follow from it, and the parser, messages and OpenAPI of the service.
type fieldOf[R any] struct {
	Name Field

	Text   func(*R) string        // "" is unknown
	Texts  func(*R) []string      // a record may have several values; nil is unknown
	Flag   func(*R) *bool         // nil is unknown
	Count  func(*R) *int64        // nil is unknown
	Number func(*R) float64       // NaN is unknown
	Date   func(*R) *dataset.Date // nil is unknown

	Unit            string
	Values          []string
	Refers          Field
	Param, Min, Max string
	Uses            Uses
	Doc             string
}

func (f *fieldOf[R]) kind() FieldKind {
	switch {
	case f.Flag != nil:
		return Flag
	case f.Count != nil:
		return Count
	case f.Number != nil:
		return Number
	case f.Date != nil:
		return Date
	default:
		return Text
	}
}

// hasPosting reports whether values of the field are found by a posting. Slugs are found by a hash table instead.
func (f *fieldOf[R]) hasPosting() bool {
	switch f.kind() {
	case Text, Flag, Count:
		return f.Uses&(Key|Related) == 0 && (f.Param != "" || f.Min != "" || f.Max != "" || f.Uses&(Facets|Groups|Setting) != 0)
	default:
		return false
	}
}

func (f *fieldOf[R]) number(rec *R) float64 {
	switch f.kind() {
	case Date:
		return DateNumber(f.Date(rec))
	case Count:
		return wholeNumber(f.Count(rec))
	default:
		return f.Number(rec)
	}
}

func number(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

func wholeNumber(v *int64) float64 {
	if v == nil {
		return math.NaN()
	}
	return float64(*v)
}

// DateNumber is a date as yyyymmdd, its first day where it is only a year or a month; NaN for none.
func DateNumber(d *dataset.Date) float64 {
	if d == nil {
		return math.NaN()
	}
	return float64(d.FirstDay().Number())
}

func text[T ~string](v *T) string {
	if v == nil {
		return ""
	}
	return string(*v)
}

func list(v *[]string) []string {
	if v == nil {
		return nil
	}
	return *v
}

func infos[R any](fields []fieldOf[R]) []FieldInfo {
	out := make([]FieldInfo, len(fields))
	for i, f := range fields {
		out[i] = FieldInfo{f.Name, f.kind(), f.Unit, f.Values, f.Refers, f.Param, f.Min, f.Max, f.Uses, f.Doc}
	}
	return out
}

// The fields of each kind of record, in the order shown to callers. They are not changed.
var (
	ModelFields     = infos(modelFields)
	HardwareFields  = infos(hardwareFields)
	ToolFields      = infos(toolFields)
	QualityFields   = infos(qualityFields)
	BenchmarkFields = infos(benchmarkFields)
)
