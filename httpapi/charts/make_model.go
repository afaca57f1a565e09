package charts

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/index"
)

type modelRow struct {
	Slug          string
	Name          string
	ContextLength int64
	Sizes         []sizeRow
}

// modelDetail is what is read of the detail of a model.
type modelDetail struct {
	Name         string `json:"name"`
	Architecture struct {
		ContextLength *int64 `json:"context_length"`
	} `json:"architecture"`
	Quantizations []sizeRow `json:"quantizations"`
}

type sizeRow struct {
	Name          string   `json:"name"`
	BitsPerWeight *float64 `json:"bits_per_weight"`
	SizeBytes     int64    `json:"size_bytes"`
	Basis         string   `json:"basis"`
	Source        *string  `json:"source"`
}

func (m Maker) model(slug string) modelRow {
	ord, ok := m.gen.Models.Find(slug)
	if !ok {
		return modelRow{Slug: slug, Name: slug}
	}
	row := read[modelDetail](m.gen.Models.Detail(ord), modelMembers)
	out := modelRow{Slug: slug, Name: row.Name, Sizes: row.Quantizations}
	if row.Architecture.ContextLength != nil {
		out.ContextLength = *row.Architecture.ContextLength
	}
	return out
}

// usualSizes are the quantizations people choose from, the most usual first. A plot of memory shows
// the first few of them that the model has.
var usualSizes = []string{"Q4_K_M", "Q8_0", "MXFP4", "BF16", "F16", "Q2_K", "Q6_K", "Q5_K_M", "Q3_K_M", "IQ4_XS", "Q4_0", "FP8", "NVFP4", "AWQ", "4bit", "8bit"}

// ModelMemory draws memory against context of a model.
func (m Maker) ModelMemory(slug string) *Figure {
	model := m.model(slug)
	d := MemoryData{Model: model.Name, Source: m.source("; computed from the published architecture")}
	for _, name := range chosenSizes(model.Sizes, m.mostMeasured(slug, model.Sizes)) {
		d.Lines = append(d.Lines, m.memoryLine(&model, name))
	}
	f := Memory(d)
	f.Address = address("model-memory", "model", slug)
	return f
}

// mostMeasured is the size of a model that most benchmarks used, empty without any.
func (m Maker) mostMeasured(slug string, sizes []sizeRow) string {
	counts := map[string]int{}
	for _, s := range sizes {
		_, counts[s.Name] = m.gen.Benchmarks.First(index.Query{Sets: []index.Set{{Field: index.Model, Values: []string{slug}}, {Field: index.Quantization, Values: []string{s.Name}}}})
	}
	if name := most(counts); counts[name] > 0 {
		return name
	}
	return ""
}

// chosenSizes are at most four sizes of a model, the largest first: the main one and usual ones.
func chosenSizes(sizes []sizeRow, main string) []string {
	bytes := map[string]int64{}
	for _, s := range sizes {
		if s.SizeBytes > 0 {
			bytes[s.Name] = s.SizeBytes
		}
	}
	var out []string
	for _, name := range append([]string{main}, usualSizes...) {
		same := func(o string) bool { return math.Abs(math.Log(float64(bytes[o])/float64(bytes[name]))) < 0.12 }
		if bytes[name] > 0 && len(out) < 4 && !slices.ContainsFunc(out, same) {
			out = append(out, name)
		}
	}
	for _, s := range sizes {
		if len(out) == 0 && s.SizeBytes > 0 {
			out = append(out, s.Name)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return -cmp.Compare(bytes[a], bytes[b]) })
	return out
}

// memoryLine asks the fit engine at powers of two up to the limit of the model. The machine is
// larger than any: only what is taken counts.
func (m Maker) memoryLine(model *modelRow, quantization string) MemoryLine {
	line := MemoryLine{Name: quantization}
	limit := model.ContextLength
	if limit == 0 {
		limit = 131072
	}
	for context := int64(1024); ; context *= 2 {
		context = min(context, limit, fit.MaxContext)
		answer, fault := m.gen.Fit.Fit(fit.Query{Model: dataset.Slug(model.Slug), Quantization: quantization, Context: context, MemoryGB: 1e6, BestOnly: true})
		if fault != nil || len(answer.Sizes) == 0 {
			return line
		}
		if need := answer.Sizes[0].Memory; need.Cache != nil && need.Compute != nil {
			line.Points = append(line.Points, MemoryPoint{context, need.Weights.Bytes, need.Cache.Bytes.Bytes, need.Compute.Bytes, need.Cache.Basis == fit.UpperBound})
		}
		if context >= min(limit, fit.MaxContext) {
			return line
		}
	}
}

// ModelSizes draws the sizes of the quantizations of a model.
func (m Maker) ModelSizes(slug string) *Figure {
	model := m.model(slug)
	d := SizesData{Model: model.Name, Source: m.source("; the table names the page of each size")}
	for _, s := range model.Sizes {
		size := Size{Name: s.Name, Bytes: s.SizeBytes, BitsPerWeight: math.NaN(), Published: s.Basis == "published"}
		if s.BitsPerWeight != nil {
			size.BitsPerWeight = *s.BitsPerWeight
		}
		if s.Source != nil {
			size.Href = *s.Source
		}
		d.Sizes = append(d.Sizes, size)
	}
	f := Sizes(d)
	f.Address = address("model-sizes", "model", slug)
	return f
}

// ModelSpeeds draws the measured speed of a model by hardware.
func (m Maker) ModelSpeeds(slug string) *Figure {
	runs, total := m.runs(index.Model, slug)
	d := SpeedsData{Title: m.modelName(slug) + ": measured speed by hardware", Group: "Hardware", Runs: total}
	d.Source = m.source(fmt.Sprintf("; runs published on %s", count(m.pages(runs), "page")))
	byHardware := map[string][]measured{}
	quantizations := map[string]int{}
	for _, r := range runs {
		name := m.of(index.Hardware, r)
		byHardware[name] = append(byHardware[name], r)
		quantizations[m.of(index.Quantization, r)]++
	}
	d.Total = len(byHardware)
	if main := most(quantizations); 4*quantizations[main] >= len(runs) {
		d.Main = main // what fewer used is not the usual one
	}
	names := slices.SortedFunc(maps.Keys(byHardware), func(a, b string) int {
		return cmp.Or(-cmp.Compare(len(byHardware[a]), len(byHardware[b])), cmp.Compare(a, b))
	})
	for _, name := range names[:min(len(names), mostRows)] {
		row := SpeedRow{Name: m.hardwareName(name), Href: "/hardware/" + name}
		for _, r := range every(m.fastestFirst(byHardware[name]), mostDots) {
			row.Runs = append(row.Runs, m.run(r))
		}
		d.Rows = append(d.Rows, row)
	}
	f := Speeds(d)
	f.Address = address("model-speeds", "model", slug)
	return f
}

// fastestFirst sorts runs by speed, then by id.
func (m Maker) fastestFirst(runs []measured) []measured {
	slices.SortFunc(runs, func(a, b measured) int {
		if a.tps != b.tps {
			return -cmp.Compare(a.tps, b.tps)
		}
		return cmp.Compare(m.gen.Benchmarks.Slug(a.ord), m.gen.Benchmarks.Slug(b.ord))
	})
	return runs
}

// most is the text that was counted most; the first in order of letters where several were.
func most(counts map[string]int) string {
	best := ""
	for text, n := range counts {
		if text != "" && (n > counts[best] || n == counts[best] && text < best || best == "") {
			best = text
		}
	}
	return best
}
