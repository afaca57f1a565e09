package outputs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"modeldex/dataset"
	"modeldex/dataset/importer/llamabench"
	"modeldex/dataset/record"
	"modeldex/dataset/resolve"

	jsonv2 "github.com/goccy/go-json/v2"
)

// Options says what outputs do not: those of llama-bench, and more that other programs do not print.
type Options struct {
	llamabench.Options
	// Quantization is that of the weights, where the name of the model does not say it.
	Quantization string
	// ToolVersion is that of the program.
	ToolVersion string
}

// run is one measurement as printed: values by the names of fields.
type run struct {
	line   int
	values map[string]value
	bad    string // why it cannot be used
}

type value struct{ text, from string }

// adapter reads the output of one program.
type adapter struct {
	tool  dataset.Slug
	fixed map[string]string // values that hold for every run of the program
	read  func(text string) []run
}

// Formats are the names of the formats that can be read, as the command line has them.
func Formats() []string { return slices.Sorted(maps.Keys(adapters)) }

// Importer maps the outputs of one program to the records of a dataset.
type Importer struct {
	adapter
	format          string
	opt             Options
	names           *resolve.Resolver
	model, hardware resolve.Answer
	have            map[dataset.Slug]bool
	originKey       string
}

// New makes an importer of a format. The error names the options that cannot be used.
func New(format string, set *dataset.Set, opt Options) (*Importer, error) {
	a, ok := adapters[format]
	if !ok {
		return nil, fmt.Errorf("format: must be one of %v, got %q", Formats(), format)
	}
	return newImporter(a, format, set, opt)
}

// NewMeasured makes an importer of runs of a tool that the caller measured itself, see Record. Every run is of one stream.
func NewMeasured(tool dataset.Slug, set *dataset.Set, opt Options) (*Importer, error) {
	return newImporter(adapter{tool: tool, fixed: single}, "modeldex bench", set, opt)
}

func newImporter(a adapter, format string, set *dataset.Set, opt Options) (*Importer, error) {
	opt.Source = cmp.Or(opt.Source, dataset.Community)
	im := &Importer{adapter: a, format: format, opt: opt, have: map[dataset.Slug]bool{}}
	for i := range set.Benchmarks.Len() {
		im.have[set.Benchmarks.ID(i)] = true
	}
	if key := opt.SourceURL.OriginKey(); slices.ContainsFunc(set.Origins, func(o dataset.Origin) bool { return o.Key == key }) {
		im.originKey = key
	}
	im.names = resolve.New(set)
	errs := []error{opt.Validate()}
	for _, n := range []struct {
		kind resolve.Kind
		name string
		to   *resolve.Answer
	}{{resolve.Model, opt.Model, &im.model}, {resolve.Hardware, opt.Hardware, &im.hardware}} {
		if n.name == "" {
			errs = append(errs, fmt.Errorf("%s: is required: %s does not print which record it was", n.kind, format))
		} else if *n.to = im.names.Strict(n.kind, n.name); n.to.Slug == "" {
			errs = append(errs, fmt.Errorf("%s: %q %s", n.kind, n.name, n.to.WhyNot()))
		}
	}
	return im, errors.Join(errs...)
}

// Read imports one output. The error means that nothing in it is of the program.
func (im *Importer) Read(file string, b []byte) (llamabench.Result, error) {
	var out llamabench.Result
	runs := im.read(string(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))))
	if len(runs) == 0 {
		return out, fmt.Errorf("%s: has no result of %s", file, im.format)
	}
	seen := map[dataset.Slug]bool{}
	for i := range runs {
		b, from, err := im.benchmark(&runs[i])
		if err == nil && seen[b.ID] {
			err = errors.New("duplicate of a run before it")
		}
		if err != nil {
			out.Skipped = append(out.Skipped, llamabench.Skipped{File: file, Line: runs[i].line, Row: im.format, Why: err.Error()})
			continue
		}
		seen[b.ID] = true
		out.Benchmarks, out.From = append(out.Benchmarks, b), append(out.From, from)
	}
	return out, nil
}

// Record makes the record of a run that the caller measured, from values by the names of the fields of a benchmark.
func (im *Importer) Record(measured map[string]string) (dataset.Benchmark, error) {
	r := run{values: map[string]value{}}
	for field, text := range measured {
		if text != "" {
			r.values[field] = value{text, im.format}
		}
	}
	b, _, err := im.benchmark(&r)
	return b, err
}

// numbers are the fields whose values are not texts.
var numbers = []string{
	"hardware_count", "memory_gb", "n_prompt", "n_gen", "context_depth", "batch_size", "concurrency", "n_gpu_layers", "threads", "prompt_tps", "generation_tps", "total_tps",
	"request_rate", "ttft_ms", "ttft_p50_ms", "ttft_p99_ms", "tpot_ms", "tpot_p50_ms", "tpot_p99_ms", "flash_attention", "speculative_decoding",
	"prompt_tps_stddev", "generation_tps_stddev", "model_size_gib", "partial_offload",
}

// benchmark makes the record of a run, and says where its fields come from.
func (im *Importer) benchmark(r *run) (b dataset.Benchmark, from map[string]string, err error) {
	if r.bad != "" {
		return b, nil, errors.New(r.bad)
	}
	values := maps.Clone(r.values)
	add := func(field, text, from string) {
		if _, printed := values[field]; !printed && text != "" {
			values[field] = value{text, from}
		}
	}
	for field, text := range im.fixed {
		add(field, text, im.format+": always so")
	}
	const options = "the options"
	if printed := values["model_raw"]; printed.text != "" {
		a := im.names.Strict(resolve.Model, printed.text)
		if a.Slug != "" && a.Slug != im.model.Slug {
			return b, nil, fmt.Errorf("the output is of %s (%s), not of %s", printed.text, a.Slug, im.model.Slug)
		}
		add("quantization", a.Quantization, printed.from)
	}
	if gb := im.hardware.MemoryGB; gb > 0 {
		add("memory_gb", strconv.FormatFloat(gb, 'f', -1, 64), options)
	}
	add("model_raw", im.opt.Model, options)
	add("hardware_raw", im.opt.Hardware, options)
	add("hardware_count", strconv.Itoa(max(1, im.hardware.Count)), options)
	add("quantization", cmp.Or(im.opt.Quantization, im.model.Quantization), options)
	add("tool_version", im.opt.ToolVersion, options)
	add("run_date", string(im.opt.RunDate), options)
	if values["run_date"].text != "" {
		add("date_basis", "run", "run_date")
	}
	add("source_url", string(im.opt.SourceURL), options)
	add("source_key", im.originKey, options)
	add("source", string(im.opt.Source), options)
	add("notes", im.format, "the format")
	add("id", "bm-000000000000", "computed from the other fields")
	values["model"], values["hardware"] = value{string(im.model.Slug), options}, value{string(im.hardware.Slug), options}
	values["tool"] = value{string(im.tool), im.format + ": always so"}
	var line bytes.Buffer
	from = map[string]string{}
	for i, field := range slices.Sorted(maps.Keys(values)) {
		v := values[field]
		from[field] = v.from
		text, err := jsonv2.Marshal(v.text)
		if err != nil {
			return b, nil, fmt.Errorf("%s: must be UTF-8", field)
		}
		if slices.Contains(numbers, field) {
			text = []byte(v.text)
		}
		fmt.Fprintf(&line, "%s%q:%s", []string{"{", ","}[min(i, 1)], field, text)
	}
	line.WriteByte('}')
	if problems := record.Decode(line.Bytes(), &b); len(problems) > 0 {
		return b, nil, problems[0]
	}
	if b.ID, err = record.BenchmarkID(&b); err != nil {
		return b, nil, err
	}
	if im.have[b.ID] {
		return b, nil, fmt.Errorf("is in the directory already as %s", b.ID)
	}
	return b, from, record.Validate(&b)
}
