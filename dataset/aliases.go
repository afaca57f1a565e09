package dataset

import (
	"modeldex/dataset/pack"
	"modeldex/dataset/record"
)

// Model and the other records with their parts, see package record.
type (
	Model            = record.Model
	ModelFacts       = record.ModelFacts
	Architecture     = record.Architecture
	KVCache          = record.KVCache
	Quantization     = record.Quantization
	SourceRef        = record.SourceRef
	Hardware         = record.Hardware
	PriceObservation = record.PriceObservation
	Tool             = record.Tool
	Benchmark        = record.Benchmark
	Withdrawal       = record.Withdrawal
	QuantizationType = record.QuantizationType
	ObservedBits     = record.ObservedBits
	Info             = record.Info
	Origin           = record.Origin
	Slug             = record.Slug
	Date             = record.Date
	URL              = record.URL
	Vendor           = record.Vendor
	HardwareType     = record.HardwareType
	Category         = record.Category
	Source           = record.Source
	Basis            = record.Basis
	FP16Basis        = record.FP16Basis
	BandwidthBasis   = record.BandwidthBasis
	DateBasis        = record.DateBasis
	ModelType        = record.ModelType
	Attention        = record.Attention
	Modality         = record.Modality
	RateBasis        = record.RateBasis
	PowerBasis       = record.PowerBasis
	ComputeUnit      = record.ComputeUnit
	Scenario         = record.Scenario
	Division         = record.Division
	Availability     = record.Availability
	PriceKind        = record.PriceKind

	ReleaseDateBasis   = record.ReleaseDateBasis
	ContextLengthBasis = record.ContextLengthBasis
)

// Pack is the benchmarks of a Set, see package pack.
type Pack = pack.Pack

// NewPack returns a pack of benchmarks that are in default order, see pack.New.
func NewPack(recs []Benchmark) Pack { return pack.New(recs) }

// Limits, patterns and members of closed sets, see package record.
const (
	MaxSlug       = record.MaxSlug
	SlugPattern   = record.SlugPattern
	DatePattern   = record.DatePattern
	SchemaVersion = record.SchemaVersion
	Nvidia        = record.Nvidia
	AMD           = record.AMD
	Intel         = record.Intel
	Apple         = record.Apple
	Qualcomm      = record.Qualcomm
	Owner         = record.Owner
	Community     = record.Community
	Official      = record.Official
	Published     = record.Published
	Computed      = record.Computed
	PowerDevice   = record.PowerDevice
	PowerWall     = record.PowerWall
	RateDecode    = record.RateDecode
	RateEndToEnd  = record.RateEndToEnd
	RateTotal     = record.RateTotal
	OnGPU         = record.OnGPU
	OnCPU         = record.OnCPU
	OnNPU         = record.OnNPU
	OnMixed       = record.OnMixed
)

// The members of each closed set, in the order shown to callers, see package record.
var (
	Vendors        = record.Vendors
	HardwareTypes  = record.HardwareTypes
	Categories     = record.Categories
	Sources        = record.Sources
	Bases          = record.Bases
	FP16Bases      = record.FP16Bases
	BandwidthBases = record.BandwidthBases
	DateBases      = record.DateBases
	ModelTypes     = record.ModelTypes
	Attentions     = record.Attentions
	Modalities     = record.Modalities
	RateBases      = record.RateBases
	PowerBases     = record.PowerBases
	ComputeUnits   = record.ComputeUnits
	Scenarios      = record.Scenarios
	Divisions      = record.Divisions
	Availabilities = record.Availabilities
	PriceKinds     = record.PriceKinds

	ReleaseDateBases   = record.ReleaseDateBases
	ContextLengthBases = record.ContextLengthBases
)

// Line returns a record in its one-line form, see record.Line.
func Line(rec any) ([]byte, error) { return record.Line(rec) }

// Pretty returns a record in the form of .json files, see record.Pretty.
func Pretty(rec any) ([]byte, error) { return record.Pretty(rec) }

// AppendNumber appends a number as Line writes it, see record.AppendNumber.
func AppendNumber(dst []byte, v float64) ([]byte, error) { return record.AppendNumber(dst, v) }

// BenchmarkID returns the id of a benchmark that has none, see record.BenchmarkID.
func BenchmarkID(b *Benchmark) (Slug, error) { return record.BenchmarkID(b) }

// NewerRun is the default order of benchmarks, see record.NewerRun.
func NewerRun(a, b *Benchmark) int { return record.NewerRun(a, b) }

// DateOf is record.DateOf.
func DateOf(number uint32) Date { return record.DateOf(number) }

// Near returns the candidates a reader may have meant by word, see record.Near.
func Near(word string, candidates []string, n int) []string { return record.Near(word, candidates, n) }

// Clip makes a text fit to be shown, see record.Clip.
func Clip(s string, n int) string { return record.Clip(s, n) }

// Counted is a number and its noun, see record.Counted.
func Counted[N int | int64 | uint64](n N, noun string) string { return record.Counted(n, noun) }

// Validate reports every field of a record made in memory that breaks a rule of its type, see
// record.Validate.
func Validate[T Model | Hardware | Tool | Benchmark](rec *T) error { return record.Validate(rec) }

// Single is the answer of Benchmark.SingleStream, see package record.
type Single = record.Single

// The answers of Benchmark.SingleStream, and what it takes for an empty cache.
const (
	SingleUnknown = record.SingleUnknown
	SingleNo      = record.SingleNo
	SingleYes     = record.SingleYes

	Shallow     = record.Shallow
	ShortPrompt = record.ShortPrompt
)

// Act is what happened to a record between two sets.
type Act = record.Act

// What can happen to a record.
const (
	Added     = record.Added
	Changed   = record.Changed
	Withdrawn = record.Withdrawn
	Removed   = record.Removed
)

// Acts lists what can happen to a record.
var Acts = record.Acts
