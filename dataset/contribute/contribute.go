// Package contribute turns a measurement that somebody fills in, or what llama-bench printed, into benchmark lines.
//
// Groups are the fields of the form, which the page /contribute and the issues of a repository share. A Desk checks what
// was filled in by dataset.Propose, which has the rules of modeldex check, and answers with a Result. Nothing is written or
// fetched. Work is bounded by maxValue, maxPasted and maxLines. A Desk is immutable and safe for concurrent use.
package contribute

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"modeldex/dataset"
	"modeldex/dataset/importer"
	"modeldex/dataset/record"
	"modeldex/dataset/resolve"
)

// Bounds of one form: the most bytes of a value and of a pasted output, and the most lines that one output may give.
const (
	maxValue  = 1000
	maxPasted = 64 << 10
	maxLines  = 100
)

// Fault is one thing wrong with a form, or unlikely about it.
type Fault struct {
	// Field is the name of a field of the form; empty if the whole form or line is meant.
	Field string
	// Text is a rule and what was found: lower case, no full stop.
	Text string
	// Near are records that may be meant.
	Near []resolve.Candidate
}

// Line is one finished line.
type Line struct {
	// Text is the line as the file has it, without the line end.
	Text string
	ID   dataset.Slug
	// File is where the line belongs, below the dataset.
	File            string
	Model, Hardware dataset.Slug
}

// Result is what came of one form.
type Result struct {
	// Lines are those without a fault, in the order of an output; none if the form has a fault.
	Lines []Line
	// Faults and Warnings are in the order of the fields of the form.
	Faults, Warnings []Fault
	// Notes say how names were read and what was filled in.
	Notes []string
	// Skipped says which rows of an output gave no line, and why.
	Skipped []string
}

// Desk is what the values of a form are compared with.
type Desk struct {
	set   *dataset.Set
	names *resolve.Resolver
	now   func() time.Time
}

// NewDesk makes a desk of a set and the resolver of its names. now is the clock; nil means time.Now.
func NewDesk(set *dataset.Set, names *resolve.Resolver, now func() time.Time) *Desk {
	return &Desk{set, names, now}
}

// Check reads a form and checks what it says.
func (d *Desk) Check(values url.Values) *Result {
	w := &work{Desk: d, values: map[string]string{}, Result: &Result{}}
	w.read(values)
	switch {
	case len(w.Faults) > 0: // of what was sent, not of what it says
	case w.values[OutputField] != "":
		w.output()
	default:
		w.measurement()
	}
	byField := func(a, b Fault) int { return place(a.Field) - place(b.Field) }
	slices.SortStableFunc(w.Faults, byField)
	slices.SortStableFunc(w.Warnings, byField)
	return w.Result
}

type work struct {
	*Desk
	*Result
	values map[string]string
}

func (w *work) fault(field, text string) {
	w.Faults = append(w.Faults, Fault{Field: field, Text: text})
}

func (w *work) note(format string, args ...any) {
	w.Notes = append(w.Notes, fmt.Sprintf(format, args...))
}

// plainFault words faults of the dataset for the form.
var plainFault = strings.NewReplacer(" or null, got", ", got", `must not be null if source is "community"`, "is required", "if prompt_tps is null", "if there is no prompt speed",
	"without speculative_decoding", "without speculative decoding")

var lineBreaks = strings.NewReplacer("\r\n", " ", "\n", " ")

func (w *work) read(values url.Values) {
	for name, list := range values {
		most, v := maxPasted, strings.TrimSpace(list[0])
		if name != OutputField {
			most, v = maxValue, lineBreaks.Replace(v) // a line of the dataset has none
		}
		switch {
		case place(name) < 0:
			w.fault("", fmt.Sprintf("%s: is not a field of the form", record.Printable(record.Clip(name, 60))))
		case len(list) > 1:
			w.fault(name, "must be given once")
		case len(v) > most:
			w.fault(name, fmt.Sprintf("must be at most %d bytes long, got %d", most, len(v)))
		case !utf8.ValidString(v):
			w.fault(name, "must be UTF-8")
		case v != "":
			w.values[name] = v
		}
	}
}

func (w *work) slug(field string, kind resolve.Kind) resolve.Answer {
	text := w.values[field]
	if text == "" {
		return resolve.Answer{}
	}
	a := w.names.Strict(kind, text)
	if a.Slug != "" {
		if string(a.Slug) != text && !strings.EqualFold(a.Name, text) {
			w.note("%s: “%s” was matched to %s.", fields[place(field)].Label, record.Printable(text), a.Name)
		}
		w.values[field] = string(a.Slug)
		return a
	}
	f := Fault{Field: field, Text: fmt.Sprintf("no %s has this name", kind), Near: a.Candidates}
	if a.Ambiguous {
		f.Text = a.WhyNot()
	}
	w.Faults = append(w.Faults, f)
	return a
}

func (w *work) measurement() {
	w.usual("model_raw", w.values["model"])
	w.usual("hardware_raw", w.values["hardware"])
	model, hardware := w.slug("model", resolve.Model), w.slug("hardware", resolve.Hardware)
	w.slug("tool", resolve.Tool)
	if w.usual("quantization", model.Quantization) {
		w.note("The quantization %s was taken from the name of the model.", model.Quantization)
	}
	if hardware.Count > 1 && (w.values["hardware_count"] == "" || w.values["hardware_count"] == "1") {
		w.values["hardware_count"] = strconv.Itoa(hardware.Count)
		w.note("The number of devices (%d) was taken from the name of the hardware.", hardware.Count)
	}
	w.usual("hardware_count", "1")
	if w.values["run_date"] != "" {
		w.usual("date_basis", record.DateBasis("").Values()[0])
	}
	w.usual("source", string(dataset.Community))
	if w.knowsOrigin() {
		w.values["source_key"] = dataset.URL(w.values["source_url"]).OriginKey()
	}
	w.usual("id", "bm-000000000000") // stays where its own cannot be worked out
	line, err := importer.Object(w.values)
	if err != nil {
		w.fault("", err.Error())
		return
	}
	var b dataset.Benchmark
	if record.Decode(line, &b) == nil {
		if id, err := record.BenchmarkID(&b); err == nil {
			b.ID = id
		}
		if finished, err := record.Line(&b); err == nil {
			line = finished
		}
	}
	w.judge([]dataset.Benchmark{b}, append(line, '\n'))
}

func (w *work) knowsOrigin() bool {
	page := dataset.URL(w.values["source_url"])
	key := page.OriginKey()
	switch {
	case key == "" || !page.Valid():
		return false
	case slices.ContainsFunc(w.set.Origins, func(o dataset.Origin) bool { return o.Key == key }):
		return true
	}
	w.note("%s is not in sources.json yet. The maintainers will add it with its owner and licence, or you can add it yourself.", record.Printable(key))
	return false
}

func (w *work) usual(field, value string) bool {
	if w.values[field] != "" || value == "" {
		return false
	}
	w.values[field] = value
	return true
}

// judge checks lines. A fault of the only line is one of its field; of several lines, those with a fault are left out.
func (w *work) judge(list []dataset.Benchmark, lines []byte) {
	findings, err := dataset.Propose(w.set, lines, dataset.Options{Now: w.now, Review: resolve.Review})
	if err != nil {
		w.fault("", "cannot be checked: "+err.Error())
		return
	}
	pasted, rejected := w.values[OutputField] != "", map[int]bool{}
	for _, f := range findings {
		fault := Fault{Field: strings.TrimSuffix(f.Field, "_raw"), Text: plainFault.Replace(f.Text)}
		isWarning := f.Severity == dataset.Warning
		if b := &list[f.Line-1]; pasted {
			fault = Fault{Text: fmt.Sprintf("%s on %s, %s: %s", b.Model, b.Hardware, f.Field, fault.Text)}
		} else if place(fault.Field) < 0 {
			fault = Fault{Text: strings.TrimPrefix(f.Field+": "+fault.Text, "id: ")}
		}
		switch {
		case f.Field == "source_key" && isWarning: // see knowsOrigin
		case isWarning:
			w.Warnings = append(w.Warnings, fault)
		case pasted:
			w.Skipped = append(w.Skipped, fault.Text)
			rejected[f.Line-1] = true
		case fault.Field == "" || !slices.ContainsFunc(w.Faults, func(have Fault) bool { return have.Field == fault.Field }):
			w.Faults = append(w.Faults, fault)
		}
	}
	if len(w.Faults) > 0 {
		return
	}
	texts := strings.Split(string(lines), "\n")
	for i := range list {
		b, year := &list[i], "undated"
		if b.RunDate != nil {
			year, _, _ = strings.Cut(string(*b.RunDate), "-")
		}
		if !rejected[i] {
			w.Lines = append(w.Lines, Line{texts[i], b.ID, "benchmarks/" + year + ".ndjson", b.Model, b.Hardware})
		}
	}
}

func (w *work) output() {
	w.slug("model", resolve.Model)
	w.slug("hardware", resolve.Hardware)
	if len(w.Faults) > 0 {
		return
	}
	for _, f := range fields {
		if v := w.values[f.Name]; v != "" && v != f.Usual && !slices.Contains(sharedFields, f.Name) {
			w.note("%s was ignored: if you paste output, only the output counts.", f.Label)
		}
	}
	opt := importer.Options{
		Source: dataset.Source(w.values["source"]), SourceURL: dataset.URL(w.values["source_url"]), RunDate: dataset.Date(w.values["run_date"]),
		Model: w.values["model"], Hardware: w.values["hardware"],
	}
	if w.now != nil {
		opt.Now = w.now()
	}
	im, err := importer.New(importer.LlamaBench, w.set, opt)
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			field, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
			w.fault(field, text)
		}
		return
	}
	got, err := im.Read("output", []byte(w.values[OutputField]))
	if err != nil {
		w.fault(OutputField, strings.TrimPrefix(err.Error(), "output: "))
		return
	}
	for _, s := range got.Skipped {
		w.Skipped = append(w.Skipped, fmt.Sprintf("line %d, %s: %s", s.Line, s.Row, s.Why))
	}
	if len(got.Benchmarks) > maxLines {
		w.fault(OutputField, fmt.Sprintf("must give at most %d lines, got %d", maxLines, len(got.Benchmarks)))
		return
	}
	var lines []byte
	for i := range got.Benchmarks {
		line, err := record.Line(&got.Benchmarks[i])
		if err != nil {
			w.fault(OutputField, err.Error())
			return
		}
		lines = append(append(lines, line...), '\n')
	}
	if lines != nil {
		w.knowsOrigin()
		w.judge(got.Benchmarks, lines)
	}
}
