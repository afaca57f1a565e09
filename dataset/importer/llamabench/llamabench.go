package llamabench

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/resolve"
)

// Options says what the output itself does not.
type Options struct {
	// Source is who measured; empty means community.
	Source dataset.Source
	// SourceURL is the page the output was published on; required unless Source is owner.
	SourceURL dataset.URL
	// RunDate is the day of the run, used where the output does not print one. Empty leaves the
	// run undated there.
	RunDate dataset.Date
	// Model is what was measured, by any name, for tables that print only a type such as "llama 7B". Given, it
	// counts for every row.
	Model string
	// Hardware is what it ran on, by any name, for tables without device lines. Given, it counts for every row.
	Hardware string
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

// tool is the slug of the program whose output this is.
const tool dataset.Slug = "llama.cpp"

// Importer maps printed names to the records of one dataset.
type Importer struct {
	opt             Options
	model, hardware dataset.Slug // of the options
	names           *resolve.Resolver
	models          map[dataset.Slug]*dataset.Model
	parts           resolve.Parts
	have            map[dataset.Slug]bool // ids of benchmarks there are
	originKey       *string               // of the page, nil where sources.json does not have it
}

// New makes an importer for the records of set. The error names the options that cannot be used.
func New(set *dataset.Set, opt Options) (*Importer, error) {
	opt.Source = cmp.Or(opt.Source, dataset.Community)
	im := &Importer{
		opt: opt, names: resolve.New(set), models: map[dataset.Slug]*dataset.Model{}, parts: resolve.Parts{},
		have: map[dataset.Slug]bool{},
	}
	for i := range set.Models {
		im.models[set.Models[i].Slug] = &set.Models[i]
	}
	for i := range set.Hardware {
		im.parts[set.Hardware[i].Slug] = &set.Hardware[i]
	}
	for i := range set.Benchmarks.Len() {
		im.have[set.Benchmarks.ID(i)] = true
	}
	key := opt.SourceURL.OriginKey()
	if slices.ContainsFunc(set.Origins, func(o dataset.Origin) bool { return o.Key == key }) {
		im.originKey = &key
	}
	if !slices.ContainsFunc(set.Tools, func(t dataset.Tool) bool { return t.Slug == tool }) {
		return nil, fmt.Errorf("tool: no tool has slug %q", tool)
	}
	var badModel, badHardware error
	im.model, badModel = im.named(resolve.Model, opt.Model)
	im.hardware, badHardware = im.named(resolve.Hardware, opt.Hardware)
	return im, errors.Join(opt.Validate(), badModel, badHardware)
}

// named finds the record that an option names.
func (im *Importer) named(kind resolve.Kind, name string) (dataset.Slug, error) {
	if name == "" {
		return "", nil
	}
	a := im.names.Strict(kind, name)
	if a.Slug == "" {
		return "", fmt.Errorf("%s: %q %s%s", kind, name, a.WhyNot(), near(a))
	}
	return a.Slug, nil
}

// near ends a sentence with up to three records a reader may mean.
func near(a resolve.Answer) string {
	var slugs []string
	for _, c := range a.Candidates[:min(3, len(a.Candidates))] {
		slugs = append(slugs, string(c.Slug))
	}
	if slugs == nil {
		return ""
	}
	return "; near it are " + strings.Join(slugs, ", ")
}

// Validate checks what needs no records: New does it too.
func (opt Options) Validate() error {
	var errs []error
	if opt.SourceURL == "" && opt.Source != dataset.Owner {
		errs = append(errs, fmt.Errorf("source url: must be given where source is %q", cmp.Or(opt.Source, dataset.Community)))
	}
	if opt.SourceURL != "" && !opt.SourceURL.Valid() {
		errs = append(errs, fmt.Errorf("source url: must start with https:// or http://, got %q", opt.SourceURL))
	}
	if opt.RunDate != "" && !opt.RunDate.Valid() {
		errs = append(errs, fmt.Errorf("run date: must be a date as YYYY-MM-DD, got %q", opt.RunDate))
	}
	if opt.Now.IsZero() {
		opt.Now = time.Now()
	}
	if text := dataset.DateProblem(opt.RunDate, opt.Now); text != "" {
		errs = append(errs, fmt.Errorf("run date: %s", text))
	}
	return errors.Join(errs...)
}

// Read imports one output of llama-bench; the form is seen from its text. A row that cannot be read is skipped with
// the reason, the others are imported. The error means that the text is not JSON or CSV where it begins as one, or
// has nothing llama-bench prints.
func (im *Importer) Read(file string, b []byte) (Result, error) {
	if bytes.IndexByte(b, 0) >= 0 { // UTF-16, as PowerShell writes the output of a program
		return Result{}, fmt.Errorf("%s: holds no row of llama-bench; the file must be in UTF-8", file)
	}
	rows, err := parse(b)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", file, err)
	}
	if len(rows) == 0 {
		return Result{}, fmt.Errorf("%s: holds no row of llama-bench", file)
	}
	var out Result
	skip := func(r *row, why string) {
		out.Skipped = append(out.Skipped, Skipped{File: file, Line: r.line, Row: r.name(), Why: why})
	}
	rows = slices.DeleteFunc(rows, func(r *row) bool {
		if r.read(); r.bad != "" {
			skip(r, r.bad)
		}
		return r.bad != ""
	})
	seen := map[dataset.Slug]bool{}
	for _, p := range pair(rows) {
		b, from, err := im.benchmark(p)
		if err == nil && seen[b.ID] {
			err = errors.New("duplicate of a row before it")
		}
		if err != nil {
			for _, r := range p.rows() {
				skip(r, err.Error())
			}
			continue
		}
		seen[b.ID] = true
		out.Benchmarks, out.From = append(out.Benchmarks, b), append(out.From, from)
	}
	slices.SortStableFunc(out.Skipped, func(a, b Skipped) int { return a.Line - b.Line })
	return out, nil
}
