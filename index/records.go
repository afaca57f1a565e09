package index

import (
	"strings"

	"modeldex/dataset"
)

// What each kind of record can be asked about.

func buildModels(recs []dataset.Model, benchmarks *Table, r Renderers) (*Table, error) {
	count := func(i int) int { return benchmarks.Count(Model, string(recs[i].Slug)) }
	s := spec{
		n:    len(recs),
		home: Sort{Field: Slug},
		slug: func(i int) string { return string(recs[i].Slug) },
		names: func(i int) []string {
			m := &recs[i]
			names := namesOf(string(m.Slug), m.Name, m.Aliases...)
			if m.HFRepo != nil {
				names = append(names, strings.ToLower(*m.HFRepo))
			}
			return names
		},
		row:    func(dst []byte, i int) ([]byte, error) { return r.Model(dst, &recs[i], count(i)) },
		detail: func(dst []byte, i int) ([]byte, error) { return r.ModelDetail(dst, &recs[i], count(i)) },
		sets: map[Field]func(int, func(string)){
			Family: func(i int, emit func(string)) { emit(string(recs[i].Family)) },
		},
		nums: map[Field]func(int) float64{
			Params:         func(i int) float64 { return opt(recs[i].ParamsB) },
			ContextLength:  func(i int) float64 { return optInt(recs[i].Architecture.ContextLength) },
			Released:       func(i int) float64 { return DateNumber(recs[i].ReleaseDate) },
			BenchmarkCount: func(i int) float64 { return float64(count(i)) },
		},
		texts: map[Field]func(int) string{
			Slug: func(i int) string { return string(recs[i].Slug) },
			Name: func(i int) string { return strings.ToLower(recs[i].Name) },
		},
	}
	return s.build()
}

func buildHardware(recs []dataset.Hardware, benchmarks *Table, r Renderers) (*Table, error) {
	count := func(i int) int { return benchmarks.Count(Hardware, string(recs[i].Slug)) }
	s := spec{
		n:     len(recs),
		home:  Sort{Field: Slug},
		slug:  func(i int) string { return string(recs[i].Slug) },
		names: func(i int) []string { return namesOf(string(recs[i].Slug), recs[i].Name, recs[i].Aliases...) },
		row:   func(dst []byte, i int) ([]byte, error) { return r.Hardware(dst, &recs[i], count(i)) },
		sets: map[Field]func(int, func(string)){
			Vendor: func(i int, emit func(string)) { emit(string(recs[i].Vendor)) },
			Type:   func(i int, emit func(string)) { emit(string(recs[i].Type)) },
		},
		nums: map[Field]func(int) float64{
			VRAM:           func(i int) float64 { return opt(recs[i].VRAMGB) },
			Bandwidth:      func(i int) float64 { return opt(recs[i].MemoryBandwidthGBps) },
			FP16:           func(i int) float64 { return opt(recs[i].FP16TFLOPS) },
			TDP:            func(i int) float64 { return opt(recs[i].TDPWatts) },
			LaunchPrice:    func(i int) float64 { return opt(recs[i].LaunchPriceUSD) },
			StreetPrice:    func(i int) float64 { return opt(recs[i].StreetPriceUSD) },
			Released:       func(i int) float64 { return DateNumber(recs[i].ReleaseDate) },
			BenchmarkCount: func(i int) float64 { return float64(count(i)) },
		},
		texts: map[Field]func(int) string{
			Slug: func(i int) string { return string(recs[i].Slug) },
			Name: func(i int) string { return strings.ToLower(recs[i].Name) },
		},
	}
	return s.build()
}

func buildTools(recs []dataset.Tool, benchmarks *Table, r Renderers) (*Table, error) {
	count := func(i int) int { return benchmarks.Count(Tool, string(recs[i].Slug)) }
	s := spec{
		n:     len(recs),
		home:  Sort{Field: Slug},
		slug:  func(i int) string { return string(recs[i].Slug) },
		names: func(i int) []string { return namesOf(string(recs[i].Slug), recs[i].Name, recs[i].Aliases...) },
		row:   func(dst []byte, i int) ([]byte, error) { return r.Tool(dst, &recs[i], count(i)) },
		sets: map[Field]func(int, func(string)){
			Category: func(i int, emit func(string)) { emit(string(recs[i].Category)) },
		},
		nums: map[Field]func(int) float64{
			Released:       func(i int) float64 { return DateNumber(recs[i].FirstRelease) },
			BenchmarkCount: func(i int) float64 { return float64(count(i)) },
		},
		texts: map[Field]func(int) string{
			Slug: func(i int) string { return string(recs[i].Slug) },
			Name: func(i int) string { return strings.ToLower(recs[i].Name) },
		},
	}
	return s.build()
}
