package index

import (
	"strings"

	"modeldex/dataset"
)

// What each kind of record can be asked about.

// named is what the tables of models, hardware and tools have in common: default order by slug,
// an order by name, names to be found by, and how many benchmarks hold the record in a field.
// count is that number. The rest is the caller's to fill in.
func named(n int, benchmarks *Table, by Field, slug func(i int) dataset.Slug, name func(i int) string, aliases func(i int) []string) (s spec, count func(i int) int) {
	count = func(i int) int { return benchmarks.Count(by, string(slug(i))) }
	return spec{
		n:     n,
		home:  Sort{Field: Slug},
		slug:  func(i int) string { return string(slug(i)) },
		names: func(i int) []string { return namesOf(string(slug(i)), name(i), aliases(i)...) },
		nums:  map[Field]func(int) float64{BenchmarkCount: func(i int) float64 { return float64(count(i)) }},
		texts: map[Field]func(int) string{
			Slug: func(i int) string { return string(slug(i)) },
			Name: func(i int) string { return strings.ToLower(name(i)) },
		},
	}, count
}

func buildModels(recs []dataset.Model, benchmarks *Table, r Renderers) (*Table, error) {
	s, count := named(len(recs), benchmarks, Model,
		func(i int) dataset.Slug { return recs[i].Slug },
		func(i int) string { return recs[i].Name },
		func(i int) []string { return recs[i].Aliases })
	names := s.names
	s.names = func(i int) []string {
		if repo := recs[i].HFRepo; repo != nil {
			return append(names(i), strings.ToLower(*repo))
		}
		return names(i)
	}
	s.row = func(dst []byte, i int) ([]byte, error) { return r.Model(dst, &recs[i], count(i)) }
	s.detail = func(dst []byte, i int) ([]byte, error) { return r.ModelDetail(dst, &recs[i], count(i)) }
	s.sets = map[Field]func(int, func(string)){
		Family: func(i int, emit func(string)) { emit(string(recs[i].Family)) },
	}
	s.nums[Params] = func(i int) float64 { return opt(recs[i].ParamsB) }
	s.nums[ContextLength] = func(i int) float64 { return optInt(recs[i].Architecture.ContextLength) }
	s.nums[Released] = func(i int) float64 { return DateNumber(recs[i].ReleaseDate) }
	return s.build()
}

func buildHardware(recs []dataset.Hardware, benchmarks *Table, r Renderers) (*Table, error) {
	s, count := named(len(recs), benchmarks, Hardware,
		func(i int) dataset.Slug { return recs[i].Slug },
		func(i int) string { return recs[i].Name },
		func(i int) []string { return recs[i].Aliases })
	s.row = func(dst []byte, i int) ([]byte, error) { return r.Hardware(dst, &recs[i], count(i)) }
	s.sets = map[Field]func(int, func(string)){
		Vendor: func(i int, emit func(string)) { emit(string(recs[i].Vendor)) },
		Type:   func(i int, emit func(string)) { emit(string(recs[i].Type)) },
	}
	s.nums[VRAM] = func(i int) float64 { return opt(recs[i].VRAMGB) }
	s.nums[Bandwidth] = func(i int) float64 { return opt(recs[i].MemoryBandwidthGBps) }
	s.nums[FP16] = func(i int) float64 { return opt(recs[i].FP16TFLOPS) }
	s.nums[TDP] = func(i int) float64 { return opt(recs[i].TDPWatts) }
	s.nums[LaunchPrice] = func(i int) float64 { return opt(recs[i].LaunchPriceUSD) }
	s.nums[StreetPrice] = func(i int) float64 { return opt(recs[i].StreetPriceUSD) }
	s.nums[Released] = func(i int) float64 { return DateNumber(recs[i].ReleaseDate) }
	return s.build()
}

func buildTools(recs []dataset.Tool, benchmarks *Table, r Renderers) (*Table, error) {
	s, count := named(len(recs), benchmarks, Tool,
		func(i int) dataset.Slug { return recs[i].Slug },
		func(i int) string { return recs[i].Name },
		func(i int) []string { return recs[i].Aliases })
	s.row = func(dst []byte, i int) ([]byte, error) { return r.Tool(dst, &recs[i], count(i)) }
	s.sets = map[Field]func(int, func(string)){
		Category: func(i int, emit func(string)) { emit(string(recs[i].Category)) },
	}
	s.nums[Released] = func(i int) float64 { return DateNumber(recs[i].FirstRelease) }
	return s.build()
}
