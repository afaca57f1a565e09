package importer

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/record"
	"modeldex/dataset/resolve"
)

func llamaBench(im *Importer, b []byte) (runs []run, err error) {
	rows, err := parse(b)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(r *row) bool {
		if r.read(); r.bad != "" {
			runs = append(runs, run{rows: []place{{r.line, r.name()}}, bad: r.bad})
		}
		return r.bad != ""
	})
	for _, tests := range pair(rows) {
		one := run{}
		for _, r := range tests {
			one.rows = append(one.rows, place{r.line, r.name()})
		}
		if one.values, err = im.llamaRun(tests); err != nil {
			one.bad = err.Error()
		}
		runs = append(runs, one)
	}
	return runs, nil
}

// llamaRun has the values of a prompt test, a generation test, or both.
func (im *Importer) llamaRun(tests []*row) (map[string]value, error) {
	r := tests[0] // they differ only in their test
	switch {
	case r.prompt > 0 && r.gen > 0:
		return nil, errors.New("a combined test of prompt and generation gives neither speed")
	case r.prompt == 0 && r.gen == 0:
		return nil, errors.New("no tokens were measured")
	}
	model, raw, modelFrom, err := im.findModel(r)
	if err != nil {
		return nil, err
	}
	backend, worked, err := r.worked()
	if err != nil {
		return nil, err
	}
	hardware, err := im.findHardware(r, backend, worked)
	if err != nil {
		return nil, err
	}
	named := value{string(hardware), "the option hardware"}
	if len(worked) > 0 {
		named = worked[0].value
	}
	values := map[string]value{"model": {string(model), modelFrom}, "model_raw": raw, "hardware": {string(hardware), named.from}, "hardware_raw": named}
	put := func(field, text, from string) {
		if text != "" {
			values[field] = value{text, cmp.Or(from, "llama-bench: the default unless it prints another value")}
		}
	}
	put("hardware_count", strconv.Itoa(max(1, len(worked))), named.from)
	put("tool_version", r.build.text, r.build.from)
	put("quantization", r.quantization(), r.values["model_type"].from)
	put("backend", backendWord(backend), r.values["backends"].from)
	put("flash_attention", r.flash(), r.values["flash_attn"].from)
	put("model_size_gib", positive(r.gib), r.values["model_size"].from)
	put("run_date", string(r.day), r.values["test_time"].from)
	put("notes", r.notes(), "every setting that differs from its default")
	for field, name := range map[string]string{"context_depth": "n_depth", "batch_size": "n_batch", "n_gpu_layers": "n_gpu_layers", "threads": "n_threads"} {
		if n := r.count(name); n != nil {
			put(field, strconv.FormatInt(*n, 10), r.values[name].from)
		} else if field == "context_depth" {
			put(field, "0", r.values[name].from)
		}
	}
	for _, r := range tests {
		length, speed := "n_prompt", "prompt_tps"
		if r.gen > 0 {
			length, speed = "n_gen", "generation_tps"
			put("rate_basis", "decode", "llama-bench: always so") // a generation test times nothing else
		}
		put(length, strconv.FormatInt(r.prompt+r.gen, 10), r.values[length].from)
		put(speed, positive(r.speed), r.values["avg_ts"].from)
		put(speed+"_stddev", r.stddev, r.values["stddev_ts"].from)
	}
	unit, layers := im.unit(model, r), r.values["n_gpu_layers"].from
	put("compute_unit", string(unit), layers)
	switch unit {
	case record.OnCPU:
		delete(values, "n_gpu_layers") // a program without a GPU prints the layers it was told all the same
	case record.OnMixed:
		put("partial_offload", "true", layers)
	}
	return values, nil
}

func positive(v float64) string {
	if !(v > 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// unit is what generated; empty if the number of layers is not printed, or if other machines may have worked.
func (im *Importer) unit(model dataset.Slug, r *row) dataset.ComputeUnit {
	layers, put, experts := im.models[model].Architecture.NumLayers, r.count("n_gpu_layers"), r.count("n_cpu_moe")
	override := r.text("tensor_buft_overrides")
	switch {
	case r.text("backends") == "", r.remote():
		return ""
	case len(r.accelerators()) == 0:
		return record.OnCPU
	case experts != nil && *experts > 0, override != "" && override != "none",
		put != nil && layers != nil && *put < *layers:
		return record.OnMixed
	case put == nil, layers == nil, *put == *layers: // the output counts as one more
		return ""
	}
	return record.OnGPU
}

var settings = []struct{ name, usual, words string }{
	{"type_k", "f16", "key cache %s"},
	{"type_v", "f16", "value cache %s"},
	{"n_ubatch", "512", "ubatch %s"},
	{"n_cpu_moe", "0", "experts of %s layers on the processor"},
	{"tensor_buft_overrides", "none", "tensors placed by %s"},
	{"split_mode", "layer", "split mode %s"},
	{"no_kv_offload", "0", "cache in main memory"},
	{"no_op_offload", "0", "operations on weights in main memory run on the processor"},
	{"embeddings", "0", "embeddings"},
}

func (r *row) notes() string {
	notes := "llama-bench"
	if r.remote() {
		notes += "; RPC: other machines may have taken part"
	}
	for _, s := range settings {
		if v := r.text(s.name); v != "" && v != s.usual {
			notes += "; " + strings.Replace(s.words, "%s", v, 1)
		}
	}
	return notes
}

func (im *Importer) findModel(r *row) (slug dataset.Slug, raw value, from string, err error) {
	raw = r.values["model_type"]
	if file := r.values["model_filename"]; file.text != "" {
		raw = value{stem(file.text), file.from}
	}
	a := im.names.Strict(resolve.Model, raw.text)
	switch {
	case im.model.Slug != "":
		a.Slug, from = im.model.Slug, "the option model"
	case a.Slug != "" && !a.Ambiguous:
		from = raw.from
	case r.text("model_filename") == "":
		err = fmt.Errorf("the type %q gives an architecture and a file size, not a model; name the model "+
			"(on the command line: --model), or paste the line of llama-bench with its -m as well", raw.text)
	case a.Ambiguous:
		err = fmt.Errorf("%q matches several models: %s%s", raw.text, a.Reason, near(a))
	default:
		err = fmt.Errorf("no model is named %q%s", raw.text, near(a))
	}
	m := im.models[a.Slug]
	if err == nil && r.params > 0 && m.ParamsB != nil && !paramsFit(r.params, m) {
		err = fmt.Errorf("the output is not from %s: %s prints %.2f B parameters, the dataset has %.2f B",
			a.Slug, r.text("model_type"), r.params, *m.ParamsB)
	}
	return a.Slug, raw, from, err
}

// paramsFit reports whether printed billions of parameters can be those of a model. llama.cpp leaves out vision towers
// and looked up embeddings, and counts an equal output matrix twice.
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

var storagePattern = regexp.MustCompile(`(?i)[-_.:]((?:UD-)?(?:I?Q[0-9]_[0-9A-Z_]+|BF16|FP?16|FP?32|MXFP4(?:_MOE)?|NVFP4|T?Q[0-9]_0))` +
	`(?:-[0-9]{5}-of-[0-9]{5})?$`)

// quantization is the storage type. The file name decides if it names a dynamic mix (UD-).
func (r *row) quantization() (name string) {
	if m := storagePattern.FindStringSubmatch(stem(r.text("model_filename"))); m != nil {
		name = strings.ToUpper(m[1])
	}
	if _, printed := resolve.TypeQuantization(r.text("model_type")); printed != "" && !strings.HasPrefix(name, "UD-") {
		name = printed
	}
	return name
}
