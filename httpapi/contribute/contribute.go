package contribute

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"modeldex/dataset"
	"modeldex/dataset/importer/llamabench"
	"modeldex/dataset/record"
	"modeldex/dataset/resolve"

	jsonv2 "github.com/goccy/go-json/v2"
)

// Bounds of one form.
const (
	// maxValue is the most bytes of a value, maxPasted of a pasted output.
	maxValue  = 1000
	maxPasted = 64 << 10
	// maxLines is how many lines one output may give: the checks of a line are cheap, a page of more
	// could not be read.
	maxLines = 100
)

// Fault is one thing wrong with a form, or unlikely about it.
type Fault struct {
	// Field is the name of a field of the form; empty where the whole line is meant.
	Field string
	// Text is a rule and what was found: lower case, no full stop.
	Text string
	// Near are records that may be meant.
	Near []Near
}

// Near is a record that may be meant by a name.
type Near struct{ Slug, Name string }

// Line is one finished line.
type Line struct {
	// Text is the line as the file has it, without the line end.
	Text string
	ID   dataset.Slug
	// File is where the line belongs, below the dataset.
	File            string
	Model, Hardware dataset.Slug
	// Faults are why the line would be rejected, Warnings what asks for a look.
	Faults, Warnings []Fault
}

// Result is what came of one form.
type Result struct {
	// Form is FieldsForm or PastedForm.
	Form string
	// Lines are in the order of the output; of one measurement there is one, or none where a fault
	// keeps it from being made.
	Lines []Line
	// Faults and Warnings are those of the form, in the order of its fields.
	Faults, Warnings []Fault
	// Notes say how names were read and what was filled in.
	Notes []string
	// Skipped are the rows of an output that gave no line.
	Skipped []llamabench.Skipped
}

// Ready are the lines without a fault, in the order files have them.
func (r *Result) Ready() []Line {
	if len(r.Faults) > 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.Lines), func(l Line) bool { return len(l.Faults) > 0 })
}

// Desk is what the values of a form are compared with.
type Desk struct {
	set   *dataset.Set
	names *resolve.Resolver
	now   func() time.Time
}

// NewDesk makes a desk of a set and the resolver of its names. now is the clock of dates in the
// future; nil means time.Now.
func NewDesk(set *dataset.Set, names *resolve.Resolver, now func() time.Time) *Desk {
	return &Desk{set, names, now}
}

// time is zero where the desk has no clock of its own.
func (d *Desk) time() (t time.Time) {
	if d.now != nil {
		t = d.now()
	}
	return t
}

// Check reads a form and checks what it says. The form is that which KindField names.
func (d *Desk) Check(values url.Values) *Result {
	w := &work{Desk: d, values: map[string]string{}, Result: &Result{Form: FieldsForm}}
	if values.Get(KindField) == PastedForm {
		w.Form = PastedForm
	}
	w.read(values)
	switch {
	case len(w.Faults) > 0: // of what was sent, not of what it says
	case w.Form == PastedForm:
		w.output()
	default:
		w.measurement()
	}
	byField := func(a, b Fault) int { return cmp.Compare(order(w.Form, a.Field), order(w.Form, b.Field)) }
	slices.SortStableFunc(w.Faults, byField)
	slices.SortStableFunc(w.Warnings, byField)
	return w.Result
}

// work is one form on its way to a result.
type work struct {
	*Desk
	*Result
	values map[string]string
}

func (w *work) fault(field, text string) {
	w.Faults = append(w.Faults, Fault{Field: field, Text: text})
}

var lineBreaks = strings.NewReplacer("\r\n", " ", "\n", " ")

// read takes over the values of the fields there are. Blanks around a value do not count.
func (w *work) read(values url.Values) {
	fields := fieldsOf(w.Form)
	for name, list := range values {
		f := fields[name]
		most := maxValue
		if name == outputField {
			most = maxPasted
		}
		v := strings.TrimSpace(list[0])
		if name != outputField {
			v = lineBreaks.Replace(v) // a line of the dataset has none
		}
		switch {
		case name == KindField && (v == FieldsForm || v == PastedForm):
		case f == nil:
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

// slug finds the record a field names. Without one the field has a fault with what may be meant.
func (w *work) slug(field string, kind resolve.Kind) (dataset.Slug, resolve.Answer) {
	text := w.values[field]
	if text == "" {
		return "", resolve.Answer{}
	}
	a := w.names.Strict(kind, text)
	if a.Found() {
		if string(a.Slug) != text && !strings.EqualFold(a.Name, text) {
			w.Notes = append(w.Notes, fmt.Sprintf("%s “%s” was read as %s (%s).", fieldsOf(w.Form)[field].Label, record.Printable(text), a.Name, a.Slug))
		}
		return a.Slug, a
	}
	f := Fault{Field: field, Text: fmt.Sprintf("no %s is known by this name", kind)}
	if a.Ambiguous {
		f.Text = a.WhyNot()
	}
	for _, c := range a.Candidates {
		f.Near = append(f.Near, Near{string(c.Slug), c.Name})
	}
	w.Faults = append(w.Faults, f)
	return "", a
}

// measurement makes the line of one measurement.
func (w *work) measurement() {
	w.fill()
	line := w.json()
	var b dataset.Benchmark
	if record.Decode(line, &b) == nil {
		if id, err := record.BenchmarkID(&b); err == nil {
			b.ID = id
		}
		if finished, err := record.Line(&b); err == nil {
			line = finished
		}
	}
	w.judge([]dataset.Benchmark{b}, line)
	if len(w.Faults) > 0 {
		w.Lines = nil
	}
}

// fill replaces names by slugs and adds what follows from what was entered.
func (w *work) fill() {
	model, read := w.slug("model", resolve.Model)
	w.usual("model_raw", w.values["model"])
	if w.usual("quantization", read.Quantization) {
		w.Notes = append(w.Notes, "Quantization "+read.Quantization+" was read from the name of the model.")
	}
	hardware, machine := w.slug("hardware", resolve.Hardware)
	w.usual("hardware_raw", w.values["hardware"])
	if machine.Count > 1 && (w.values["hardware_count"] == "" || w.values["hardware_count"] == "1") {
		w.values["hardware_count"] = strconv.Itoa(machine.Count)
		w.Notes = append(w.Notes, fmt.Sprintf("%d devices were read from the name of the hardware.", machine.Count))
	}
	w.usual("hardware_count", "1")
	tool, _ := w.slug("tool", resolve.Tool)
	for field, slug := range map[string]dataset.Slug{"model": model, "hardware": hardware, "tool": tool} {
		if slug != "" {
			w.values[field] = string(slug)
		}
	}
	if w.values["run_date"] != "" {
		w.usual("date_basis", dataset.DateBasis("").Values()[0])
	}
	w.usual("source", source.Usual)
	w.origin()
}

// origin adds the key of the repository or site that the page is of, where the dataset lists it.
func (w *work) origin() {
	key := dataset.URL(w.values["source_url"]).OriginKey()
	switch {
	case key == "" || !dataset.URL(w.values["source_url"]).Valid():
	case slices.ContainsFunc(w.set.Origins, func(o dataset.Origin) bool { return o.Key == key }):
		w.values["source_key"] = key
	default:
		w.newOrigin(key)
	}
}

// newOrigin says that nothing of a repository or site is in the dataset yet.
func (w *work) newOrigin(key string) {
	w.Notes = append(w.Notes, fmt.Sprintf("%s is not among the sources yet. The keepers add it to sources.json with its owner and licence; you may do that as well.", record.Printable(key)))
}

// usual gives a field that is empty a value, and reports whether it did.
func (w *work) usual(field, value string) bool {
	if w.values[field] != "" || value == "" {
		return false
	}
	w.values[field] = value
	return true
}

// placeholder is the id of a line whose own cannot be worked out yet.
const placeholder = "bm-000000000000"

// json writes the values as an object, those that are not numbers or flags as texts, so that the
// checks can say what was found.
func (w *work) json() []byte {
	var b bytes.Buffer
	b.WriteString(`{"id":"` + placeholder + `"`)
	for name, v := range w.values {
		b.WriteString(`,"` + name + `":`)
		if plain(kinds[name], v) {
			b.WriteString(v)
			continue
		}
		quoted, _ := jsonv2.Marshal(v) // valid UTF-8, see read
		b.Write(quoted)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// plain reports whether JSON has a value as it was entered: a number or a flag.
func plain(kind reflect.Kind, v string) bool {
	switch kind {
	case reflect.Int64, reflect.Float64:
		var n float64
		return strings.ContainsRune("-0123456789", rune(v[0])) && jsonv2.Unmarshal([]byte(v), &n) == nil
	case reflect.Bool:
		return v == "true" || v == "false"
	}
	return false
}

// judge checks lines and puts what is found at them, and for one measurement at the fields of the
// form.
func (w *work) judge(list []dataset.Benchmark, lines []byte) {
	findings, err := dataset.Propose(w.set, lines, dataset.Options{Now: w.now, Review: w.names.Review})
	if err != nil {
		w.fault("", "cannot be checked: "+err.Error())
		return
	}
	texts := strings.Split(strings.TrimSuffix(string(lines), "\n"), "\n")
	for i := range list {
		b := &list[i]
		w.Lines = append(w.Lines, Line{Text: texts[i], ID: b.ID, File: fileOf(b), Model: b.Model, Hardware: b.Hardware})
	}
	known := fieldsOf(w.Form)
	for _, f := range findings {
		fault := Fault{Field: f.Field, Text: strings.Replace(f.Text, " or null, got", ", got", 1)}
		switch line := &w.Lines[f.Line-1]; {
		case f.Field == "source_key" && f.Severity == dataset.Warning: // see newOrigin
		case w.Form == FieldsForm && slices.ContainsFunc(w.Faults, func(have Fault) bool { return have.Field == f.Field && f.Field != "" }):
		case w.Form == FieldsForm:
			if known[f.Field] == nil {
				fault = Fault{Text: strings.TrimPrefix(f.Field+": "+fault.Text, "id: ")}
			}
			if f.Severity == dataset.Warning {
				w.Warnings = append(w.Warnings, fault)
			} else {
				w.Faults = append(w.Faults, fault)
			}
		case f.Severity == dataset.Warning:
			line.Warnings = append(line.Warnings, fault)
		default:
			line.Faults = append(line.Faults, fault)
		}
	}
}

// fileOf is the file a benchmark belongs in: that of its year.
func fileOf(b *dataset.Benchmark) string {
	if b.RunDate == nil {
		return "benchmarks/undated.ndjson"
	}
	year, _, _ := strings.Cut(string(*b.RunDate), "-")
	return "benchmarks/" + year + ".ndjson"
}

// output makes the lines of a pasted output.
func (w *work) output() {
	model, _ := w.slug("model", resolve.Model)
	hardware, _ := w.slug("hardware", resolve.Hardware)
	if len(w.Faults) > 0 {
		return
	}
	if w.values[outputField] == "" {
		w.fault(outputField, "is required")
		return
	}
	im, err := llamabench.New(w.set, llamabench.Options{
		Source: dataset.Source(cmp.Or(w.values["source"], source.Usual)), SourceURL: dataset.URL(w.values["source_url"]), RunDate: dataset.Date(w.values["run_date"]),
		Model: string(model), Hardware: string(hardware), Now: w.time(),
	})
	if err != nil {
		w.optionFaults(err)
		return
	}
	got, err := im.Read("output", []byte(w.values[outputField]))
	if err != nil {
		w.fault(outputField, strings.TrimPrefix(err.Error(), "output: "))
		return
	}
	w.Skipped = got.Skipped
	if len(got.Benchmarks) > maxLines {
		w.fault(outputField, fmt.Sprintf("must give at most %d lines, got %d", maxLines, len(got.Benchmarks)))
		return
	}
	var lines bytes.Buffer
	for i := range got.Benchmarks {
		line, err := record.Line(&got.Benchmarks[i])
		if err != nil {
			w.fault(outputField, err.Error())
			return
		}
		lines.Write(append(line, '\n'))
	}
	if page := dataset.URL(w.values["source_url"]); len(got.Benchmarks) > 0 && got.Benchmarks[0].SourceKey == nil && page != "" {
		w.newOrigin(page.OriginKey())
	}
	if len(got.Benchmarks) > 0 {
		w.judge(got.Benchmarks, lines.Bytes())
	}
}

// optionFaults puts what an importer says about its options at the fields they came from.
func (w *work) optionFaults(err error) {
	fields := map[string]string{"source url": "source_url", "run date": "run_date", "model": "model", "hardware": "hardware"}
	for _, one := range unjoined(err) {
		name, text, found := strings.Cut(one.Error(), ": ")
		if field := fields[name]; found && field != "" {
			w.fault(field, text)
		} else {
			w.fault("", one.Error())
		}
	}
}

func unjoined(err error) []error {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return joined.Unwrap()
	}
	return []error{err}
}
