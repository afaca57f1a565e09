// Package importer turns what programs print about a run into benchmarks of the directory.
//
// An adapter reads the output of one program into runs: values by the names of fields, each with where it was printed.
// One frame adds what the caller knows, finds the records, and checks the line. What can be read in two ways is skipped
// with the reason; names are never guessed. The output of llama-bench is read in every form; its rows that differ only
// in their test are one run. Others are in adapters.go.
//
// An Importer does not change after New and may be used by several goroutines at once. It neither fetches nor writes.
package importer

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/record"
	"modeldex/dataset/resolve"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// Options says what the output itself does not.
type Options struct {
	// Source is who measured; empty means community.
	Source dataset.Source
	// SourceURL is the page the output was published on; required unless Source is owner.
	SourceURL dataset.URL
	// RunDate is the day of the run, used where the output does not print one. Empty leaves the run undated there.
	RunDate dataset.Date
	// Model and Hardware are what was measured and what it ran on, by any name. Given, they count for every run. The
	// output of llama-bench may say them itself.
	Model, Hardware string
	// Quantization is that of the weights, where no name says it.
	Quantization string
	// ToolVersion is that of the program, where it does not print it.
	ToolVersion string
	// Now is the time that dates in the future are judged by; zero means that of the call.
	Now time.Time
}

// Result is what one file holds.
type Result struct {
	// Benchmarks are in the order of the file, each with its id, and pass the checks of a dataset.
	Benchmarks []dataset.Benchmark
	// From says where the fields of each benchmark come from, by their names in JSON.
	From []map[string]string
	// Skipped are the rows that gave none, in the order of the file.
	Skipped []Skipped
}

// Skipped is one row that gave no benchmark.
type Skipped struct {
	File string
	Line int    // from 1; of a JSON file the number of the object
	Row  string // what was measured, as printed
	Why  string
}

// String gives the row as file:line: row: reason.
func (s Skipped) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", s.File, s.Line, s.Row, s.Why)
}

type run struct {
	rows   []place
	values map[string]value
	bad    string // why it cannot be used
}

type place struct {
	line int
	name string
}

type value struct{ text, from string }

type adapter struct {
	tool  dataset.Slug
	fixed map[string]string // values that hold for every run of the program
	read  func(im *Importer, output []byte) ([]run, error)
}

// LlamaBench is the format of llama-bench.
const LlamaBench = "llama-bench"

// Importer maps the outputs of one program to the records of a dataset.
type Importer struct {
	adapter
	format          string
	opt             Options
	names           *resolve.Resolver
	model, hardware resolve.Answer // of the options
	models          map[dataset.Slug]*dataset.Model
	parts           map[dataset.Slug]*dataset.Hardware
	have            map[dataset.Slug]bool // ids of benchmarks there are
	originKey       string                // of the page, empty where sources.json does not have it
}

// New makes an importer of a format. The error names the options that cannot be used.
func New(format string, set *dataset.Set, opt Options) (*Importer, error) {
	a, ok := adapters[format]
	if !ok {
		return nil, fmt.Errorf("format: must be one of %v, got %q", slices.Sorted(maps.Keys(adapters)), format)
	}
	return newImporter(a, format, set, opt)
}

// NewMeasured makes an importer of runs of a tool that the caller measured itself, see Record. Every run is of one stream.
func NewMeasured(tool dataset.Slug, set *dataset.Set, opt Options) (*Importer, error) {
	return newImporter(adapter{tool: tool, fixed: single}, "modeldex bench", set, opt)
}

func newImporter(a adapter, format string, set *dataset.Set, opt Options) (*Importer, error) {
	opt.Source = cmp.Or(opt.Source, dataset.Community)
	im := &Importer{
		adapter: a, format: format, opt: opt, names: resolve.New(set), models: map[dataset.Slug]*dataset.Model{}, parts: map[dataset.Slug]*dataset.Hardware{},
		have: map[dataset.Slug]bool{},
	}
	for i := range set.Models {
		im.models[set.Models[i].Slug] = &set.Models[i]
	}
	for i := range set.Hardware {
		im.parts[set.Hardware[i].Slug] = &set.Hardware[i]
	}
	for _, b := range set.Benchmarks {
		im.have[b.ID] = true
	}
	if key := opt.SourceURL.OriginKey(); slices.ContainsFunc(set.Origins, func(o dataset.Origin) bool { return o.Key == key }) {
		im.originKey = key
	}
	errs := []error{opt.Validate()}
	for _, n := range []struct {
		kind resolve.Kind
		name string
		to   *resolve.Answer
	}{{resolve.Model, opt.Model, &im.model}, {resolve.Hardware, opt.Hardware, &im.hardware}} {
		if n.name == "" {
			if format != LlamaBench {
				errs = append(errs, fmt.Errorf("%s: is required, because %s does not print it", n.kind, format))
			}
		} else if *n.to = im.names.Strict(n.kind, n.name); n.to.Slug == "" {
			errs = append(errs, fmt.Errorf("%s: %q %s%s", n.kind, n.name, n.to.WhyNot(), near(*n.to)))
		}
	}
	return im, errors.Join(errs...)
}

func near(a resolve.Answer) string {
	out := ""
	for i, c := range a.Candidates[:min(3, len(a.Candidates))] {
		out += []string{"; similar names: ", ", "}[min(i, 1)] + string(c.Slug)
	}
	return out
}

// Validate checks what needs no records: New does it too.
func (opt Options) Validate() error {
	var errs []error
	add := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	if opt.Now.IsZero() {
		opt.Now = time.Now()
	}
	add(opt.SourceURL == "" && opt.Source != dataset.Owner, "source_url: must be given if source is %q", cmp.Or(opt.Source, dataset.Community))
	add(opt.SourceURL != "" && !opt.SourceURL.Valid(), "source_url: must start with https:// or http://, got %q", opt.SourceURL)
	add(opt.RunDate != "" && !opt.RunDate.Valid(), "run_date: must be a date in the form YYYY-MM-DD, got %q", opt.RunDate)
	text := dataset.DateProblem(opt.RunDate, opt.Now)
	add(text != "", "run_date: %s", text)
	return errors.Join(errs...)
}

// Read imports one output. A run that cannot be used is skipped with the reason, the others are imported. The error means
// that the text is not JSON or CSV where it begins as one, or has nothing that the program prints.
func (im *Importer) Read(file string, b []byte) (Result, error) {
	var out Result
	if bytes.IndexByte(b, 0) >= 0 { // UTF-16, as PowerShell writes the output of a program
		return out, fmt.Errorf("%s: has no result of %s; the file must be in UTF-8", file, im.format)
	}
	runs, err := im.read(im, b)
	if err != nil {
		return out, fmt.Errorf("%s: %w", file, err)
	}
	if len(runs) == 0 {
		return out, fmt.Errorf("%s: has no result of %s", file, im.format)
	}
	seen := map[dataset.Slug]bool{}
	for i := range runs {
		b, from, err := im.benchmark(&runs[i])
		if err == nil && seen[b.ID] {
			err = errors.New("duplicate of an earlier row")
		}
		if err != nil {
			for _, row := range runs[i].rows {
				out.Skipped = append(out.Skipped, Skipped{File: file, Line: row.line, Row: cmp.Or(row.name, im.format), Why: err.Error()})
			}
			continue
		}
		seen[b.ID] = true
		out.Benchmarks, out.From = append(out.Benchmarks, b), append(out.From, from)
	}
	slices.SortStableFunc(out.Skipped, func(a, b Skipped) int { return a.Line - b.Line })
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

var kinds = func() map[string]reflect.Kind {
	out := map[string]reflect.Kind{}
	for _, f := range record.SchemaOf(reflect.TypeFor[dataset.Benchmark]()).Fields {
		out[f.Name] = f.Kind
	}
	return out
}()

// Object writes values by the names of the fields of a benchmark as JSON. A value that its field does not take is a text,
// so that the checks can say what was found.
func Object(values map[string]string) (jsontext.Value, error) {
	out := map[string]jsontext.Value{}
	for field, text := range values {
		v := jsontext.Value(text)
		isNumber, isFlag := v.Kind() == '0', v.Kind() == 't' || v.Kind() == 'f'
		if kind := kinds[field]; kind == reflect.String || isNumber == (kind == reflect.Bool) || !isNumber && !isFlag || !v.IsValid() {
			var err error
			if v, err = jsonv2.Marshal(text); err != nil {
				return nil, fmt.Errorf("%s: must be UTF-8", field)
			}
		}
		out[field] = v
	}
	return jsonv2.Marshal(out, jsonv2.Deterministic(true))
}

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
	if printed := values["model_raw"]; printed.text != "" && values["model"].text == "" {
		a := im.names.Strict(resolve.Model, printed.text)
		if a.Slug != "" && a.Slug != im.model.Slug {
			return b, nil, fmt.Errorf("the output is from %s (%s), not from %s", printed.text, a.Slug, im.model.Slug)
		}
		add("quantization", a.Quantization, printed.from)
	}
	if values["hardware"].text == "" {
		add("hardware_raw", im.opt.Hardware, options)
		add("hardware_count", strconv.Itoa(max(1, im.hardware.Count)), options)
		if gb := im.hardware.MemoryGB; gb > 0 {
			add("memory_gb", strconv.FormatFloat(gb, 'f', -1, 64), options)
		}
	}
	add("model", string(im.model.Slug), options)
	add("hardware", string(im.hardware.Slug), options)
	add("model_raw", im.opt.Model, options)
	add("quantization", cmp.Or(im.opt.Quantization, im.model.Quantization), options)
	add("tool", string(im.tool), im.format+": always so")
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
	from = map[string]string{}
	measured := map[string]string{}
	for field, v := range values {
		measured[field], from[field] = v.text, v.from
	}
	line, err := Object(measured)
	if err != nil {
		return b, nil, err
	}
	if problems := record.Decode(line, &b); len(problems) > 0 {
		return b, nil, problems[0]
	}
	if b.ID, err = record.BenchmarkID(&b); err != nil {
		return b, nil, err
	}
	if im.have[b.ID] {
		return b, nil, fmt.Errorf("is already in the dataset as %s", b.ID)
	}
	return b, from, record.Validate(&b)
}
