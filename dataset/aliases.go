package dataset

import "modeldex/dataset/record"

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
	Tool             = record.Tool
	Benchmark        = record.Benchmark
	Withdrawal       = record.Withdrawal
	Quality          = record.Quality
	QuantizationType = record.QuantizationType
	Info             = record.Info
	Origin           = record.Origin
	Slug             = record.Slug
	Date             = record.Date
	URL              = record.URL
	Vendor           = record.Vendor
	HardwareType     = record.HardwareType
	Source           = record.Source
	Basis            = record.Basis
	PowerBasis       = record.PowerBasis
	ComputeUnit      = record.ComputeUnit
)

// Limits, patterns and members of closed sets, see package record.
const (
	Nvidia    = record.Nvidia
	Apple     = record.Apple
	Owner     = record.Owner
	Community = record.Community
	Published = record.Published
	Computed  = record.Computed
)

// Vendors lists every vendor, see package record.
var Vendors = record.Vendors
