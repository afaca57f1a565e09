// Package measure runs a model on this machine and makes benchmark lines of what it measures: by llama-bench, by Ollama,
// or by any server that speaks the OpenAI protocol. A prompt of 512 tokens is read and 128 tokens are generated, behind
// contexts of several depths. It sends prompts of random words to the given address and nothing else anywhere.
package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/here"
	"modeldex/dataset/importer"
	"modeldex/dataset/record"
	"modeldex/dataset/resolve"
)

// Lengths of the prompt and of the generation, in tokens, as llama-bench has them by default.
const (
	prompt     = 512
	generation = 128
)

// Run is one finished measurement.
type Run struct {
	dataset.Benchmark
	// Repetitions are the generation speeds in the order they were measured, in tokens per second.
	Repetitions []float64
}

// Bench says what to measure, on what and how.
type Bench struct {
	Set         *dataset.Set
	Names       *resolve.Resolver
	Report      here.Report // the hardware of this machine
	Model       string      // any name; where it is empty the runner says it
	Hardware    string      // any name; where it is empty that of Report
	Depths      []int       // tokens before the prompt
	Repetitions int
	SourceURL   dataset.URL // page the result is published on; empty: the owner's own
	RunDate     dataset.Date
	// Say tells the user about progress and about what was skipped.
	Say func(format string, args ...any)
}

// A Runner measures at one depth. An error means that this depth could not be measured.
type Runner interface {
	// Start finds the runner and what it runs. No depth can be measured where it fails.
	Start(ctx context.Context, b *Bench) error
	Measure(ctx context.Context, b *Bench, depth int) (Run, error)
}

// All measures every depth. It reports and skips depths that fail, and returns an error if all fail.
func (b *Bench) All(ctx context.Context, r Runner) (out []Run, err error) {
	if err := r.Start(ctx, b); err != nil {
		return nil, err
	}
	for _, depth := range b.Depths {
		b.Say("depth %d: measuring, %s", depth, record.Counted(b.Repetitions, "repetition"))
		var run Run
		err := b.tooDeep(depth)
		if err == nil {
			run, err = r.Measure(ctx, b, depth)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			b.Say("depth %d: skipped: %v", depth, err)
			continue
		}
		out = append(out, run)
	}
	if len(out) == 0 {
		return nil, errors.New("no depth could be measured")
	}
	return out, nil
}

func (b *Bench) options() importer.Options {
	out := importer.Options{Source: dataset.Owner, RunDate: b.RunDate, Model: b.Model, Hardware: b.Hardware}
	if b.SourceURL != "" {
		out.Source, out.SourceURL = dataset.Community, b.SourceURL
	}
	return out
}

// machine is the hardware of a server: the named one, else the only card, else the processor, which it sets in s.
func (b *Bench) machine(s *server) (string, error) {
	if b.Hardware != "" {
		slug := b.Names.Strict(resolve.Hardware, b.Hardware).Slug
		i := slices.IndexFunc(b.Set.Hardware, func(h dataset.Hardware) bool { return h.Slug == slug })
		if i >= 0 && s.onProcessor && b.Set.Hardware[i].Type == "gpu" {
			return "", fmt.Errorf("hardware: the server did not use the graphics, so %s was not measured", b.Hardware)
		}
		s.onProcessor = s.onProcessor || i >= 0 && b.Set.Hardware[i].Type == "cpu"
		return b.Hardware, nil
	}
	var parts []string
	for _, d := range b.Report.Devices {
		if d.Slug != "" && (d.Source == "processor") == s.onProcessor {
			parts = append(parts, d.Slug)
		}
	}
	switch {
	case len(parts) > 1:
		return "", fmt.Errorf("hardware: this machine has %s; name the ones that ran with --hardware, such as \"2x %s\"", strings.Join(parts, ", "), parts[0])
	case len(parts) == 1:
		return parts[0], nil
	case b.Report.Main != "" && !s.onProcessor:
		return b.Report.Main, nil
	}
	return "", errors.New("hardware: the directory does not have this machine's hardware; name it with --hardware")
}

// sample is one repetition: n_prompt, n_gen, prompt_tps, generation_tps and ttft_ms as in a benchmark; 0 is unknown.
type sample map[string]float64

type server struct {
	tool                  dataset.Slug
	version, quantization string
	onProcessor, partly   bool
}

// repeat measures a depth of a server by requests. Each has a prompt of its own, because servers keep the last in a cache.
func (b *Bench) repeat(s *server, depth int, ask func(prompt string, tokens int) (sample, error)) (Run, error) {
	const trial = 256
	warm, err := ask(words(trial), 16)
	if err != nil {
		return Run{}, fmt.Errorf("warming up: %w", err)
	}
	if warm["n_prompt"] == 0 {
		return Run{}, errors.New("the server does not report how many tokens a prompt has")
	}
	// Report an unknown name before measuring for minutes.
	hardware, err := b.machine(s)
	if err != nil {
		return Run{}, err
	}
	opt := b.options()
	opt.Quantization, opt.ToolVersion, opt.Hardware, opt.Model = s.quantization, s.version, hardware, PlainName(opt.Model)
	im, err := importer.NewMeasured(s.tool, b.Set, opt)
	if err != nil {
		return Run{}, err
	}
	want := depth + prompt
	length := want * trial / int(warm["n_prompt"])
	all := map[string][]float64{}
	for i := range b.Repetitions {
		b.Say("depth %d: repetition %d of %d", depth, i+1, b.Repetitions)
		got, err := ask(words(length), generation)
		switch {
		case err != nil:
			return Run{}, err
		case got["n_gen"] < generation/4 || !(got["generation_tps"] > 0):
			return Run{}, fmt.Errorf("the server generated %g tokens, not %d", got["n_gen"], generation)
		case got["n_prompt"] < float64(want)*0.9:
			return Run{}, fmt.Errorf("the server read %g tokens of a prompt of about %d: it truncated the prompt or had it cached", got["n_prompt"], want)
		}
		for field, v := range got {
			all[field] = append(all[field], v)
		}
	}
	values := map[string]string{}
	switch {
	case s.partly:
		values["partial_offload"], values["compute_unit"] = "true", "mixed"
	case s.onProcessor:
		values["compute_unit"] = "cpu"
	}
	text := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	for field, list := range all {
		mean, deviation := spread(list)
		switch {
		case !(mean > 0):
		case strings.HasPrefix(field, "n_"):
			values[field] = text(math.Round(mean))
		default:
			values[field] = text(mean)
			if strings.HasSuffix(field, "_tps") && len(list) > 1 {
				values[field+"_stddev"] = text(deviation)
			}
		}
	}
	run := Run{Repetitions: all["generation_tps"]}
	run.Benchmark, err = im.Record(values)
	return run, err
}

func spread(list []float64) (mean, deviation float64) {
	for _, v := range list {
		mean += v / float64(len(list))
	}
	for _, v := range list {
		deviation += (v - mean) * (v - mean) / max(1, float64(len(list)-1))
	}
	return math.Round(mean*100) / 100, math.Round(math.Sqrt(deviation)*100) / 100
}

var place = regexp.MustCompile(`^[/~.]|^[A-Za-z]:[/\\]|\\|\.(gguf|safetensors)$`)

// PlainName is the name of a model without the folders of its file, which may name a user. Names of a hub stay.
func PlainName(name string) string {
	if place.MatchString(name) {
		return strings.TrimSuffix(path.Base(strings.ReplaceAll(name, `\`, "/")), ".gguf")
	}
	return name
}

func (b *Bench) tooDeep(depth int) error {
	slug, need := b.Names.Strict(resolve.Model, b.Model).Slug, int64(depth+prompt+generation)
	for i := range b.Set.Models {
		if m := &b.Set.Models[i]; m.Slug == slug && m.Architecture.ContextLength != nil && need > *m.Architecture.ContextLength {
			return fmt.Errorf("%d tokens exceed the context length of %s, %d tokens", need, m.Name, *m.Architecture.ContextLength)
		}
	}
	return nil
}
