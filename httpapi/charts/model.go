package charts

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/text"
	"modeldex/index"
)

// modelDetail is what is read of the detail of a model.
type modelDetail struct {
	Name         string `json:"name"`
	Architecture struct {
		ContextLength *int64 `json:"context_length"`
	} `json:"architecture"`
	Quantizations []dataset.Quantization `json:"quantizations"`
}

// usualSizes are the quantizations people choose from, the most usual first. A plot of memory shows
// the first few of them that the model has.
var usualSizes = []string{
	"Q4_K_M", "Q8_0", "MXFP4", "BF16", "F16", "Q2_K", "Q6_K", "Q5_K_M", "Q3_K_M", "IQ4_XS", "Q4_0", "FP8", "NVFP4", "AWQ", "4bit", "8bit",
}

// ModelMemory draws memory against context of a model, with levels at common memory sizes.
func (m Maker) ModelMemory(slug string) *Figure {
	f := &Figure{
		Title: m.modelName(slug) + ": memory against context", Address: address("model-memory", "model", slug),
		Source:  m.source("; computed from the published architecture"),
		Note:    "Weights, key-value cache (f16) and compute buffer of one request under llama.cpp's rules, without the reserve. 1 GB is 2^30 bytes here. Both axes are logarithmic.",
		Missing: "The facts about the model's layers that the size of the cache depends on are not published.",
	}
	ord, ok := m.gen.Models.Find(slug)
	if !ok {
		return f
	}
	model := read[modelDetail](m.gen.Models.Detail(ord))
	out := &lines{}
	for _, name := range chosenSizes(model.Quantizations, m.mostMeasured(slug, model.Quantizations)) {
		*out = append(*out, m.memoryLine(slug, name, cmp.Or(known(model.Architecture.ContextLength), 131072)))
	}
	if f.drawn(out); !f.Empty() {
		low, high, last := math.Inf(1), 0.0, int64(0)
		for _, l := range *out {
			low, high = min(low, l.points[0].gib), max(high, l.points[len(l.points)-1].gib)
			last = max(last, l.points[len(l.points)-1].context)
		}
		f.Summary = fmt.Sprintf("From %s GB to %s GB between %s and %s tokens of context.", text.Rounded(low), text.Rounded(high), text.Tokens((*out)[0].points[0].context), text.Tokens(last))
	}
	return f
}

// mostMeasured is the quantization of a model that most benchmarks used, empty without any.
func (m Maker) mostMeasured(slug string, sizes []dataset.Quantization) string {
	counts := map[string]int{}
	for _, s := range sizes {
		_, n := m.gen.Benchmarks.First(index.Query{Sets: []index.Set{is(index.Model, slug), is(index.Quantization, s.Name)}})
		if n > 0 {
			counts[s.Name] = n
		}
	}
	return most(counts)
}

// chosenSizes are at most four quantizations of a model, the largest first: the main one and usual ones that differ
// by more than a tenth.
func chosenSizes(sizes []dataset.Quantization, main string) (out []string) {
	bytes := map[string]int64{}
	names := append([]string{main}, usualSizes...)
	for _, s := range sizes {
		if s.SizeBytes > 0 {
			bytes[s.Name] = s.SizeBytes
		}
	}
	for _, s := range sizes {
		if !slices.ContainsFunc(names, func(name string) bool { return bytes[name] > 0 }) {
			names = append(names, s.Name) // without a usual one, any
		}
	}
	for _, name := range names {
		same := func(o string) bool { return math.Abs(math.Log(float64(bytes[o])/float64(bytes[name]))) < 0.12 }
		if bytes[name] > 0 && len(out) < 4 && !slices.ContainsFunc(out, same) {
			out = append(out, name)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return -cmp.Compare(bytes[a], bytes[b]) })
	return out
}

// memoryLine asks the fit engine at powers of two up to the limit of the model. The machine is larger than any: only
// what is taken counts.
func (m Maker) memoryLine(slug, quantization string, limit int64) line {
	out := line{name: quantization}
	limit = min(limit, fit.MaxContext)
	for context := min(1024, limit); ; context = min(context*2, limit) {
		answer, fault := m.gen.Fit.Fit(fit.Query{Model: dataset.Slug(slug), Quantization: quantization, Context: context, MemoryGB: 1e6, BestOnly: true})
		if fault != nil || len(answer.Sizes) == 0 {
			return out
		}
		if need := answer.Sizes[0].Memory; need.Cache != nil && need.Compute != nil {
			gb := func(bytes int64) string { return text.Rounded(float64(bytes) / (1 << 30)) }
			weights, cache, buffer := need.Weights.Bytes, need.Cache.Bytes.Bytes, need.Compute.Bytes
			total := weights + cache + buffer
			tip := fmt.Sprintf("%s at %s tokens: %s GB = %s weights + %s cache + %s buffer", quantization, text.Tokens(context), gb(total), gb(weights), gb(cache), gb(buffer))
			out.points = append(out.points, linePoint{context, float64(total) / (1 << 30), tip})
		}
		if context >= limit {
			return out
		}
	}
}

// ModelSpeeds draws the measured speed of a model by hardware.
func (m Maker) ModelSpeeds(slug string) *Figure {
	runs, total := m.runsOf(is(index.Model, slug))
	f := &Figure{
		Title: m.modelName(slug) + ": measured speed by hardware", Address: address("model-speeds", "model", slug),
		Source: m.published(runs), Missing: "No run of one stream is known.",
	}
	byHardware, quantizations := map[string][]run{}, map[string]int{}
	for _, r := range runs {
		byHardware[m.of(index.Hardware, r)] = append(byHardware[m.of(index.Hardware, r)], r)
		quantizations[m.of(index.Quantization, r)]++
	}
	main := most(quantizations)
	if 4*quantizations[main] < len(runs) {
		main = "" // what fewer used is not the usual one
	}
	names := slices.SortedFunc(maps.Keys(byHardware), func(a, b string) int {
		return cmp.Or(-cmp.Compare(len(byHardware[a]), len(byHardware[b])), cmp.Compare(a, b))
	})
	names = names[:min(len(names), mostRows)]
	for _, name := range names {
		byHardware[name] = every(m.fastestFirst(byHardware[name]), mostDots)
	}
	slices.SortStableFunc(names, func(a, b string) int { return -cmp.Compare(middle(byHardware[a]), middle(byHardware[b])) })
	out, shown := &rows{axis: "Generation speed (tok/s)"}, 0
	low, high := math.Inf(1), 0.0
	for _, name := range names {
		of, r := byHardware[name], row{name: m.hardwareName(name)}
		for _, one := range of {
			mark := rowMark{at: one.tps, low: one.tps, high: one.tps, class: markClass(0), tip: r.name + ": " + m.described(one)}
			if main != "" && m.of(index.Quantization, one) != main {
				mark.class = "open"
			}
			r.marks = append(r.marks, mark)
		}
		shown += len(of)
		low, high = min(low, of[len(of)-1].tps), max(high, of[0].tps)
		out.rows = append(out.rows, r)
	}
	if f.drawn(out); f.Empty() {
		return f
	}
	f.Note = "One dot for each run of a single stream on one device; logarithmic axis, rows in order of their medians."
	if main != "" {
		f.Note += " Filled: " + main + ". Hollow: other quantizations."
	}
	if len(names) < len(byHardware) || shown < total {
		f.Note += fmt.Sprintf(" %s of %s rows and %s of %s runs are shown.", text.Whole(len(names)), text.Whole(len(byHardware)), text.Whole(shown), text.Whole(total))
	}
	f.Summary = fmt.Sprintf("%s, from %s to %s tok/s. Fastest by median: %s, %s.", text.Count(shown, "run", "runs"), text.Rounded(low), text.Rounded(high), out.rows[0].name, text.Rounded(middle(byHardware[names[0]])))
	return f
}
