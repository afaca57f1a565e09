package index

import (
	"context"
	"strings"

	"modeldex/dataset"
)

type hardwareRecord struct {
	*dataset.Hardware
	counts BenchmarkCounts
}

var hardwareFields = []fieldOf[hardwareRecord]{
	{Name: Slug, Text: func(h *hardwareRecord) string { return string(h.Slug) }, Param: "slug", Uses: Key | Sorts, Doc: "Stable public key; several fetch a batch."},
	{Name: Silicon, Refers: Hardware, Param: "silicon", Uses: Related, Doc: "Hardware that is related to a record, by slug or alias, itself included: its variants and the record it is a variant of, its integrated graphics or the chips with these, the machines built from it or its possible chips, and siblings, which are variants of one record, or machines of one chip, with the same memory bandwidth."},
	{Name: Name, Text: func(h *hardwareRecord) string { return strings.ToLower(h.Name) }, Uses: Sorts, Doc: "Name as its vendor writes it."},
	{Name: "vendor", Text: func(h *hardwareRecord) string { return string(h.Vendor) }, Values: dataset.Vendor("").Values(), Param: "vendor", Uses: Facets, Doc: "Who makes the part."},
	{Name: "type", Text: func(h *hardwareRecord) string { return string(h.Type) }, Values: dataset.HardwareType("").Values(), Param: "type", Uses: Facets, Doc: "Kind of part or machine."},
	{Name: "architecture", Text: func(h *hardwareRecord) string { return text(h.Architecture) }, Param: "architecture", Uses: Facets, Doc: "Architecture of the graphics or processor cores."},
	{Name: "backend", Texts: func(h *hardwareRecord) []string { return append([]string{}, h.Backends...) }, Param: "backend", Uses: Facets, Doc: "Compute backend known to work, such as cuda or vulkan."},
	{Name: "unified_memory", Flag: func(h *hardwareRecord) *bool { return &h.UnifiedMemory }, Param: "unified_memory", Uses: Facets, Doc: "Whether processor and graphics share one memory."},
	{Name: "has_benchmarks", Flag: func(h *hardwareRecord) *bool { return h.counts.hasAny() }, Param: "has_benchmarks", Uses: Facets, Doc: "Whether the directory has a benchmark on the hardware."},
	{Name: "vram_gb", Number: func(h *hardwareRecord) float64 { return number(h.VRAMGB) }, Unit: "GB", Min: "min_vram_gb", Max: "max_vram_gb", Uses: Sorts | Facets, Doc: "Memory the accelerator can use, in GB."},
	{Name: "memory_bandwidth_gbps", Number: func(h *hardwareRecord) float64 { return number(h.MemoryBandwidthGBps) }, Unit: "GB/s", Min: "min_bandwidth_gbps", Max: "max_bandwidth_gbps", Uses: Sorts | Facets, Doc: "Memory bandwidth, in GB/s."},
	{Name: "fp16_tflops", Number: func(h *hardwareRecord) float64 { return number(h.FP16TFLOPS) }, Unit: "TFLOPS", Min: "min_fp16_tflops", Uses: Sorts | Facets, Doc: "Dense FP16 rate, in TFLOPS."},
	{Name: "tdp_watts", Number: func(h *hardwareRecord) float64 { return number(h.TDPWatts) }, Unit: "W", Max: "max_tdp_watts", Uses: Sorts | Facets, Doc: "Board or package power, in watts."},
	{Name: "launch_price_usd", Number: func(h *hardwareRecord) float64 { return number(h.LaunchPriceUSD) }, Unit: "US dollars", Uses: Sorts | Facets, Doc: "Price at launch, in US dollars."},
	{Name: "street_price_usd", Number: func(h *hardwareRecord) float64 { return number(h.StreetPriceUSD) }, Unit: "US dollars", Min: "min_price_usd", Max: "max_price_usd", Uses: Sorts | Facets, Doc: "Price seen in the street, in US dollars."},
	{Name: "release_date", Date: func(h *hardwareRecord) *dataset.Date { return h.ReleaseDate }, Min: "released_since", Max: "released_until", Uses: Sorts | Facets, Doc: "Day of release; a date that is only a year or a month counts as its first day."},
	{Name: BenchmarkCount, Number: func(h *hardwareRecord) float64 { return float64(h.counts.Own) }, Min: "min_benchmark_count", Uses: Sorts | Facets, Doc: "Number of benchmarks on the record itself."},
}

func newHardware(ctx context.Context, recs []dataset.Hardware, relations *dataset.Relations, benchmarks *Table, r Renderers) (*Table, error) {
	s := source[hardwareRecord]{
		home: Sort{Field: Slug}, fields: hardwareFields,
		slug:  func(h *hardwareRecord) string { return string(h.Slug) },
		names: func(h *hardwareRecord) []string { return namesOf(string(h.Slug), h.Name, h.Aliases...) },
		row:   func(dst []byte, h *hardwareRecord) ([]byte, error) { return r.Hardware(dst, h.Hardware, h.counts) },
	}
	for i := range recs {
		h := &recs[i]
		s.recs = append(s.recs, hardwareRecord{h, benchmarks.counts(Hardware, string(h.Slug))})
	}
	t := newTable(&s)
	t.related = map[Field]related{Silicon: {Slug, siliconOf(recs, relations)}}
	return t, s.render(ctx, t)
}
