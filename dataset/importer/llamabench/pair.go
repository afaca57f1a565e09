package llamabench

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/record"
)

// paired is a prompt and a generation test of one run, or one of them alone.
type paired struct {
	run
	prompt, gen *row
}

func (p *paired) rows() []*row {
	return slices.DeleteFunc([]*row{p.prompt, p.gen}, func(r *row) bool { return r == nil })
}

// first is the line where it begins.
func (p *paired) first() int {
	first := 0
	for _, r := range p.rows() {
		if first == 0 || r.line < first {
			first = r.line
		}
	}
	return first
}

func (p *paired) skipped(file string, why error) (out []Skipped) {
	for _, r := range p.rows() {
		out = append(out, Skipped{File: file, Line: r.line, Row: r.name(), Why: why.Error()})
	}
	return out
}

// pair merges the rows of each run, in the order of the file. Tests of equal length belong together, then the
// usual 512 and 128, then the rest if it is one of each.
func pair(rows []row) (out []paired) {
	runs, order := map[run][]*row{}, []run{}
	for i := range rows {
		key := rows[i].run
		key.date = "" // a run may pass midnight
		if runs[key] == nil {
			order = append(order, key)
		}
		runs[key] = append(runs[key], &rows[i])
	}
	for _, key := range order {
		out = append(out, pairRun(runs[key])...)
	}
	slices.SortStableFunc(out, func(a, b paired) int { return a.first() - b.first() })
	return out
}

func pairRun(rows []*row) (out []paired) {
	var prompts, gens []*row
	for _, r := range rows {
		switch {
		case r.gen == 0:
			prompts = append(prompts, r)
		case r.prompt == 0:
			gens = append(gens, r)
		default: // a combined test is kept alone; benchmark rejects it
			out = append(out, paired{run: r.run, prompt: r})
		}
	}
	match := func(fits func(p, g *row) bool) {
		for i := 0; i < len(prompts); i++ {
			if j := slices.IndexFunc(gens, func(g *row) bool { return fits(prompts[i], g) }); j >= 0 {
				out = append(out, paired{run: prompts[i].run, prompt: prompts[i], gen: gens[j]})
				prompts, gens = slices.Delete(prompts, i, i+1), slices.Delete(gens, j, j+1)
				i--
			}
		}
	}
	match(func(p, g *row) bool { return p.prompt == g.gen })
	match(func(p, g *row) bool { return p.prompt == 512 && g.gen == 128 })
	if len(prompts) == 1 && len(gens) == 1 {
		match(func(*row, *row) bool { return true })
	}
	for _, r := range prompts {
		out = append(out, paired{run: r.run, prompt: r})
	}
	for _, r := range gens {
		out = append(out, paired{run: r.run, gen: r})
	}
	return out
}

// backends are the directory's words for what llama-bench prints.
var backends = map[string]string{
	"MTL": "metal", "Metal": "metal", "HIP": "rocm", "BLAS": "cpu", "OpenBLAS": "cpu", "CPU": "cpu",
}

// remote notes that layers may have been on other machines, which llama-bench does not list.
func remote(backend string) []string {
	if slices.Contains(strings.Split(backend, ","), "RPC") {
		return []string{"RPC: other machines may have worked as well"}
	}
	return nil
}

// accelerators are the backends of an output that run on something else than the processor of this machine.
func accelerators(r *run) []string {
	return slices.DeleteFunc(split(r.backend), func(name string) bool { return name == "RPC" || backends[name] == "cpu" })
}

// oneBackend reports why it is not known which backend did the work. A program with several backends lists a
// device once for each, and puts layers on all that are not excluded.
func oneBackend(r *run) error {
	names := accelerators(r)
	if len(names) < 2 || r.layers == (known{0, true}) {
		return nil
	}
	if r.chosen == "" {
		return fmt.Errorf("backends %s may all have worked: the output does not say which devices were used", strings.Join(names, ", "))
	}
	used := map[string]bool{}
	for _, device := range chosen(r) {
		used[strings.TrimRight(device, "0123456789")] = true
	}
	listed := slices.Compact(slices.Sorted(slices.Values(split(r.devices))))
	if len(used) != 1 || !slices.ContainsFunc(names, func(name string) bool { return used[name] }) || len(listed) > 1 {
		return fmt.Errorf("device %s of backends %s: the output does not say which of its devices that is", r.chosen, strings.Join(names, ", "))
	}
	return nil
}

func backendOf(r *run) *string {
	first, rest, _ := strings.Cut(r.backend, ",")
	if first == "RPC" && rest != "" {
		first, _, _ = strings.Cut(rest, ",")
	}
	if names := accelerators(r); len(names) > 0 {
		first = names[0]
		for _, name := range names[1:] {
			if slices.ContainsFunc(chosen(r), func(device string) bool { return strings.TrimRight(device, "0123456789") == name }) {
				first = name
			}
		}
	}
	word, ok := backends[first]
	switch {
	case r.layers == known{0, true}:
		word = "cpu"
	case !ok:
		word = strings.ToLower(first)
	}
	if word == "" {
		return nil
	}
	return &word
}

// benchmark makes the record of a run; the error says why there is none.
func (im *Importer) benchmark(p paired) (dataset.Benchmark, error) {
	switch {
	case p.prompt != nil && p.prompt.gen > 0:
		return dataset.Benchmark{}, errors.New("a test of prompt and generation together gives neither speed")
	case p.prompt != nil && p.prompt.prompt == 0:
		return dataset.Benchmark{}, errors.New("no tokens were measured")
	}
	model, modelRaw, err := im.model(&p.run)
	if err != nil {
		return dataset.Benchmark{}, err
	}
	if err := oneBackend(&p.run); err != nil {
		return dataset.Benchmark{}, err
	}
	hardware, hardwareRaw, count, err := im.device(&p.run)
	if err != nil {
		return dataset.Benchmark{}, err
	}
	no, one := false, int64(1)
	b := dataset.Benchmark{
		Model: model, ModelRaw: modelRaw, Quantization: p.quantization(), Hardware: hardware, HardwareRaw: hardwareRaw,
		HardwareCount: count, Tool: tool, ToolVersion: text(p.build), Backend: backendOf(&p.run), ContextDepth: &p.depth,
		BatchSize: p.batch.ptr(), Concurrency: &one, NGPULayers: p.layers.ptr(), SpeculativeDecoding: &no,
		Threads: p.threads.ptr(), Source: im.opt.Source, Notes: text(p.notes),
	}
	im.finish(&b, &p)
	b.ID, err = record.BenchmarkID(&b)
	switch {
	case err != nil:
		return b, err
	case im.have[b.ID]:
		return b, fmt.Errorf("is in the directory already as %s", b.ID)
	default:
		return b, record.Validate(&b)
	}
}

// finish fills what is known of some runs only.
func (im *Importer) finish(b *dataset.Benchmark, p *paired) {
	if p.prompt != nil {
		b.NPrompt, b.PromptTPS, b.PromptTPSStddev = &p.prompt.prompt, &p.prompt.speed, p.prompt.stddev
	}
	if p.gen != nil {
		b.NGen, b.GenerationTPS, b.GenerationTPSStddev = &p.gen.gen, &p.gen.speed, p.gen.stddev
		basis := dataset.RateDecode // a generation test times nothing else
		b.RateBasis = &basis
	}
	if b.ComputeUnit = im.unit(b.Model, &p.run); b.ComputeUnit != nil && *b.ComputeUnit == dataset.OnCPU {
		b.NGPULayers = nil // a program without a GPU prints the layers it was told all the same
	}
	if p.flash.ok {
		on := p.flash.n == 1
		b.FlashAttention = &on
	}
	if p.gib > 0 {
		b.ModelSizeGiB = &p.gib
	}
	if unit := b.ComputeUnit; unit != nil && *unit == dataset.OnMixed {
		partial := true
		b.PartialOffload = &partial
	}
	if im.opt.SourceURL != "" {
		b.SourceURL = &im.opt.SourceURL
		b.SourceKey = im.originKey
	}
	day, basis := p.date, dataset.DateBasis("run")
	if day == "" {
		day = im.opt.RunDate
	}
	if day != "" {
		b.RunDate, b.DateBasis = &day, &basis
	}
}

// unit is what generated: the processor where nothing was put on another device, graphics where all
// layers and the output were, both where it was some of them. It is nil where the output does not
// say how many layers were, or other machines may have worked.
func (im *Importer) unit(model dataset.Slug, r *run) *dataset.ComputeUnit {
	var unit dataset.ComputeUnit
	layers := int64(0)
	if m := im.known.models[model]; m != nil && m.Architecture.NumLayers != nil {
		layers = *m.Architecture.NumLayers
	}
	switch {
	case r.backend == "", remote(r.backend) != nil:
		return nil
	case cpuBackend(r), r.layers == known{0, true}:
		unit = dataset.OnCPU
	case r.offload, r.layers.ok && r.layers.n < layers:
		unit = dataset.OnMixed
	case r.layers.ok && layers > 0 && r.layers.n > layers: // the output counts as one more
		unit = dataset.OnGPU
	default:
		return nil
	}
	return &unit
}

// text is nil for nothing.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
