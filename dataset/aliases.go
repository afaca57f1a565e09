package dataset

import (
	"modeldex/dataset/pack"
	"modeldex/dataset/record"
)

// The records and the types of their fields, see package record. What is done with one record, and the texts for
// people, are functions of package record alone.
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
	Quality          = record.Quality
	QualityMetric    = record.QualityMetric
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
	DateBasis        = record.DateBasis
	ModelType        = record.ModelType
	ModelForm        = record.ModelForm
	Modality         = record.Modality
	RateBasis        = record.RateBasis
	PowerBasis       = record.PowerBasis
	ComputeUnit      = record.ComputeUnit
	Scenario         = record.Scenario
)

// Pack is the benchmarks of a Set, see package pack.
type Pack = pack.Pack

// Limits, patterns and members of closed sets, see package record.
const (
	MaxSlug     = record.MaxSlug
	SlugPattern = record.SlugPattern
	DatePattern = record.DatePattern
	Nvidia      = record.Nvidia
	AMD         = record.AMD
	Intel       = record.Intel
	Apple       = record.Apple
	Qualcomm    = record.Qualcomm
	Owner       = record.Owner
	Community   = record.Community
	Official    = record.Official
	Published   = record.Published
	Computed    = record.Computed
	PowerDevice = record.PowerDevice
	PowerWall   = record.PowerWall
	RateDecode  = record.RateDecode
	RateTotal   = record.RateTotal
	OnGPU       = record.OnGPU
	OnCPU       = record.OnCPU
	OnMixed     = record.OnMixed
)

// Vendors lists every vendor, see package record.
var Vendors = record.Vendors

// ToolDefaults are what tools measure where a row does not say.
var ToolDefaults = record.ToolDefaults

// The answers of Benchmark.SingleStream, and what it takes for an empty cache.
const (
	SingleUnknown = record.SingleUnknown
	SingleNo      = record.SingleNo
	SingleYes     = record.SingleYes
	Shallow       = record.Shallow
	ShortPrompt   = record.ShortPrompt
)
