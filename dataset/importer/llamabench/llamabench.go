package llamabench

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/ndjson"
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
	// Model is what was measured, for Markdown tables, which print only a size such as "llama 7B".
	// Given, it counts for every row.
	Model dataset.Slug
	// Hardware is what it ran on, for tables without device lines. Given, it counts for every row.
	Hardware dataset.Slug
	// Now is the time that dates in the future are judged by; zero means that of the call.
	Now time.Time
}

// Result is what one file holds.
type Result struct {
	// Benchmarks are in the order of the file, each with its id, and pass the checks of a dataset.
	Benchmarks []dataset.Benchmark
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
	opt   Options
	known knowledge
	have  map[dataset.Slug]bool // ids of benchmarks there are

	originKey *string // of the page, nil where sources.json does not have it
}

// New makes an importer for the records of set. The error names an option that cannot be used.
func New(set *dataset.Set, opt Options) (*Importer, error) {
	if opt.Source == "" {
		opt.Source = dataset.Community
	}
	im := &Importer{opt: opt, known: newKnowledge(set), have: map[dataset.Slug]bool{}}
	for i := range set.Benchmarks.Len() {
		im.have[set.Benchmarks.ID(i)] = true
	}
	key := opt.SourceURL.OriginKey()
	if slices.ContainsFunc(set.Origins, func(o dataset.Origin) bool { return o.Key == key }) {
		im.originKey = &key
	}
	known := false
	for i := range set.Tools {
		known = known || set.Tools[i].Slug == tool
	}
	if !known {
		return nil, fmt.Errorf("tool: no tool has slug %q", tool)
	}
	return im, im.check()
}

func (opt Options) now() time.Time {
	if opt.Now.IsZero() {
		return time.Now()
	}
	return opt.Now
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
	if text := dataset.DateProblem(opt.RunDate, opt.now()); text != "" {
		errs = append(errs, fmt.Errorf("run date: %s", text))
	}
	return errors.Join(errs...)
}

func (im *Importer) check() error {
	errs := []error{im.opt.Validate()}
	if slug := im.opt.Model; slug != "" && im.known.models[slug] == nil {
		errs = append(errs, fmt.Errorf("model: no model has slug %q%s", slug, near(im.known.names.Resolve(resolve.Model, string(slug)))))
	}
	if slug := im.opt.Hardware; slug != "" && im.known.hardware[slug] == nil {
		errs = append(errs, fmt.Errorf("hardware: no hardware has slug %q%s", slug, near(im.known.names.Resolve(resolve.Hardware, string(slug)))))
	}
	return errors.Join(errs...)
}

// Read imports one output of llama-bench; the form is seen from its text. A row that cannot be read
// is skipped with the reason, the others are imported. The error means that the text is not JSON or
// CSV where it begins as one, or holds nothing llama-bench prints.
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
	good := rows[:0:0]
	for i := range rows {
		if rows[i].bad == "" {
			good = append(good, rows[i])
			continue
		}
		out.Skipped = append(out.Skipped, Skipped{File: file, Line: rows[i].line, Row: rows[i].name(), Why: rows[i].bad})
	}
	seen := map[dataset.Slug]bool{}
	for _, p := range pair(good) {
		b, err := im.benchmark(p)
		if err == nil && seen[b.ID] {
			err = errors.New("duplicate of a row before it")
		}
		if seen[b.ID] = true; err != nil {
			out.Skipped = append(out.Skipped, p.skipped(file, err)...)
			continue
		}
		out.Benchmarks = append(out.Benchmarks, b)
	}
	slices.SortStableFunc(out.Skipped, func(a, b Skipped) int { return a.Line - b.Line })
	return out, nil
}

// logged is where a structured output begins that follows a log.
var logged = regexp.MustCompile(`(?m)^(?:\[\s*\{\s*"build_commit"|\{\s*"build_commit"|"?build_commit"?,)`)

// parse reads any of the forms.
func parse(b []byte) ([]row, error) {
	b = bytes.TrimPrefix(b, ndjson.ByteOrderMark)
	start := len(b) - len(bytes.TrimLeft(b, " \t\r\n"))
	head, _, _ := bytes.Cut(b[start:], []byte{'\n'})
	if !bytes.HasPrefix(head, []byte{'['}) && !bytes.HasPrefix(head, []byte{'{'}) && !bytes.Contains(head, []byte("build_commit,")) && !bytes.Contains(head, []byte(`build_commit",`)) {
		if rows := parseMarkdown(b); len(rows) > 0 {
			return rows, nil
		}
		at := logged.FindIndex(b)
		if at == nil {
			return nil, nil
		}
		start = at[0]
	}
	if !bytes.Contains(b[start:], []byte("build_commit")) && !bytes.Contains(b[start:], []byte("avg_ts")) {
		return nil, nil // JSON of another kind
	}
	first, text := 1+bytes.Count(b[:start], []byte{'\n'}), b[start:]
	switch text[0] {
	case '[':
		return parseJSON(text)
	case '{':
		return parseLines(first, text)
	default:
		return parseCSV(first, text)
	}
}
