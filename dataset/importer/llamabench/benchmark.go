package llamabench

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/record"
	"modeldex/dataset/resolve"
)

// benchmark makes the record of a run, and says where its fields come from. The error says why there is none.
func (im *Importer) benchmark(p paired) (b dataset.Benchmark, from map[string]string, err error) {
	r := p.rows()[0] // they differ only in their test
	switch {
	case r.prompt > 0 && r.gen > 0:
		return b, nil, errors.New("a test of prompt and generation together gives neither speed")
	case r.prompt == 0 && r.gen == 0:
		return b, nil, errors.New("no tokens were measured")
	}
	model, raw, modelFrom, err := im.findModel(r)
	if err != nil {
		return b, nil, err
	}
	backend, worked, err := r.worked()
	if err != nil {
		return b, nil, err
	}
	hardware, err := im.findHardware(r, backend, worked)
	if err != nil {
		return b, nil, err
	}
	named := value{string(hardware), "the option hardware"}
	if len(worked) > 0 {
		named = worked[0].value
	}
	depth, no, one := r.count("n_depth"), false, int64(1)
	if depth == nil {
		depth = new(int64)
	}
	b = dataset.Benchmark{
		Model: model, ModelRaw: raw.text, Quantization: r.quantization(), Hardware: hardware, HardwareRaw: named.text,
		HardwareCount: int64(max(1, len(worked))), Tool: tool, ToolVersion: optional(r.build.text),
		Backend: optional(backendWord(backend)), ContextDepth: depth, BatchSize: r.count("n_batch"), Concurrency: &one,
		NGPULayers: r.count("n_gpu_layers"), FlashAttention: r.flash(), SpeculativeDecoding: &no, Threads: r.count("n_threads"),
		ModelSizeGiB: optional(r.gib), Source: im.opt.Source, SourceURL: optional(im.opt.SourceURL), SourceKey: im.originKey,
		RunDate: optional(cmp.Or(r.day, im.opt.RunDate)), Notes: optional(r.notes()),
	}
	const always, options = "llama-bench: always so", "the options"
	from = map[string]string{
		"id": "computed from the other fields", "model": modelFrom, "model_raw": raw.from,
		"hardware": named.from, "hardware_raw": named.from, "hardware_count": named.from,
		"tool": always, "tool_version": r.build.from, "concurrency": always, "speculative_decoding": always,
		"rate_basis": always, "source": options, "source_url": options, "source_key": options, "date_basis": "run_date",
		"run_date": cmp.Or(r.values["test_time"].from, options), "notes": "all settings that are not the usual ones",
	}
	for field, name := range printedFields {
		from[field] = cmp.Or(r.values[name].from, "llama-bench: so unless it is printed")
	}
	if p.prompt != nil {
		b.NPrompt, b.PromptTPS, b.PromptTPSStddev = &p.prompt.prompt, &p.prompt.speed, p.prompt.stddev
		from["n_prompt"], from["prompt_tps"] = p.prompt.values["n_prompt"].from, p.prompt.values["avg_ts"].from
		from["prompt_tps_stddev"] = p.prompt.values["stddev_ts"].from
	}
	if p.gen != nil {
		basis := dataset.RateDecode // a generation test times nothing else
		b.NGen, b.GenerationTPS, b.GenerationTPSStddev, b.RateBasis = &p.gen.gen, &p.gen.speed, p.gen.stddev, &basis
		from["n_gen"], from["generation_tps"] = p.gen.values["n_gen"].from, p.gen.values["avg_ts"].from
		from["generation_tps_stddev"] = p.gen.values["stddev_ts"].from
	}
	im.place(&b, r)
	if b.RunDate != nil {
		basis := dataset.DateBasis("run")
		b.DateBasis = &basis
	}
	if b.ID, err = record.BenchmarkID(&b); err != nil {
		return b, nil, err
	}
	if im.have[b.ID] {
		return b, nil, fmt.Errorf("is in the directory already as %s", b.ID)
	}
	return b, from, record.Validate(&b)
}

// printedFields are the fields of a benchmark that a single value of llama-bench gives.
var printedFields = map[string]string{
	"quantization": "model_type", "backend": "backends", "compute_unit": "n_gpu_layers", "partial_offload": "n_gpu_layers",
	"context_depth": "n_depth", "batch_size": "n_batch", "n_gpu_layers": "n_gpu_layers", "flash_attention": "flash_attn",
	"threads": "n_threads", "model_size_gib": "model_size",
}

// optional is nil for nothing.
func optional[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

// place says what generated: the processor where there is nothing else, graphics where all layers and the output were
// on them, both where some were. That is unknown where the output does not say how many layers were, or other machines
// may have worked.
func (im *Importer) place(b *dataset.Benchmark, r *row) {
	layers, put, experts := im.models[b.Model].Architecture.NumLayers, b.NGPULayers, r.count("n_cpu_moe")
	override, yes, unit := r.text("tensor_buft_overrides"), true, dataset.OnGPU
	switch {
	case r.text("backends") == "", r.remote():
		return
	case len(r.accelerators()) == 0:
		unit, b.NGPULayers = dataset.OnCPU, nil // a program without a GPU prints the layers it was told all the same
	case experts != nil && *experts > 0, override != "" && override != "none",
		put != nil && layers != nil && *put < *layers:
		unit, b.PartialOffload = dataset.OnMixed, &yes
	case put == nil, layers == nil, *put == *layers: // the output counts as one more
		return
	}
	b.ComputeUnit = &unit
}

// settings are those that change a speed and have no field, with their usual value.
var settings = []struct{ name, usual, words string }{
	{"type_k", "f16", "key cache %s"},
	{"type_v", "f16", "value cache %s"},
	{"n_ubatch", "512", "ubatch %s"},
	{"n_cpu_moe", "0", "experts of %s layers on the processor"},
	{"tensor_buft_overrides", "none", "tensors placed by %s"},
	{"split_mode", "layer", "split mode %s"},
	{"no_kv_offload", "0", "cache in main memory"},
	{"no_op_offload", "0", "operations on weights in main memory stay on the processor"},
	{"embeddings", "0", "embeddings"},
}

// notes words the settings that are not the usual ones.
func (r *row) notes() string {
	notes := "llama-bench"
	if r.remote() {
		notes += "; RPC: other machines may have worked as well"
	}
	for _, s := range settings {
		if v := r.text(s.name); v != "" && v != s.usual {
			notes += "; " + strings.Replace(s.words, "%s", v, 1)
		}
	}
	return notes
}

// findModel finds what was measured, its name as printed, and by what it was found. The error says why it is not known.
func (im *Importer) findModel(r *row) (slug dataset.Slug, raw value, from string, err error) {
	raw = r.values["model_type"]
	if file := r.values["model_filename"]; file.text != "" {
		raw = value{stem(file.text), file.from}
	}
	a := im.names.Strict(resolve.Model, raw.text)
	switch {
	case im.model != "":
		a.Slug, from = im.model, "the option model"
	case a.Slug != "" && !a.Ambiguous:
		from = raw.from
	case r.text("model_filename") == "":
		err = fmt.Errorf("the type %q names the architecture and the size of a file, not a model; say which model it was "+
			"(on the command line: --model), or paste the line of llama-bench with its -m as well", raw.text)
	case a.Ambiguous:
		err = fmt.Errorf("%q may be several models: %s%s", raw.text, a.Reason, near(a))
	default:
		err = fmt.Errorf("no model is known as %q%s", raw.text, near(a))
	}
	m := im.models[a.Slug]
	if err == nil && r.params > 0 && m.ParamsB != nil && !paramsFit(r.params, m) {
		err = fmt.Errorf("the output is not %s: %s prints %.2f B parameters, the directory has %.2f B",
			a.Slug, r.text("model_type"), r.params, *m.ParamsB)
	}
	return a.Slug, raw, from, err
}

// paramsFit reports whether a printed number of parameters, in billions, can be that of a model. llama.cpp counts the
// tensors of a file. It leaves out a vision tower and embeddings that are looked up. It counts the output matrix twice
// if a file has it beside an equal embedding.
func paramsFit(printed float64, m *dataset.Model) bool {
	own, slack := *m.ParamsB, 0.025
	if own*10 == math.Trunc(own*10) {
		slack = 0.06 // the maker's rounded figure
	}
	near := func(want float64) bool { return math.Abs(printed/want-1) <= slack }
	if near(own) {
		return true
	}
	if a := m.Architecture; a.VocabSize != nil && a.HiddenSize != nil {
		matrix := float64(*a.VocabSize) * float64(*a.HiddenSize) / 1e9
		if near(own+matrix) || own > matrix && near(own-matrix) {
			return true
		}
	}
	ratio, least := printed/own, 0.75
	if m.EffectiveParamsB != nil {
		least = *m.EffectiveParamsB / own * 0.9
	}
	return (m.EffectiveParamsB != nil || len(m.Modalities) > 1) && ratio >= least && ratio <= 1.025
}

// storagePattern finds the storage type at the end of a file name, before the number of a part.
var storagePattern = regexp.MustCompile(`(?i)[-_.:]((?:UD-)?(?:I?Q[0-9]_[0-9A-Z_]+|BF16|FP?16|FP?32|MXFP4(?:_MOE)?|NVFP4|T?Q[0-9]_0))` +
	`(?:-[0-9]{5}-of-[0-9]{5})?$`)

// quantization is the storage type of the weights. The name of the file says more than the type printed where it
// names a dynamic mix (UD-).
func (r *row) quantization() *string {
	name := ""
	if m := storagePattern.FindStringSubmatch(stem(r.text("model_filename"))); m != nil {
		name = strings.ToUpper(m[1])
	}
	if _, printed := resolve.TypeQuantization(r.text("model_type")); printed != "" && !strings.HasPrefix(name, "UD-") {
		name = printed
	}
	return optional(name)
}
