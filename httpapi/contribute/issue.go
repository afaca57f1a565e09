package contribute

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/record"
	"modeldex/dataset/text"

	jsonv2 "github.com/goccy/go-json/v2"
)

// emptyAnswer is what an issue has where a field of its form was left empty.
const emptyAnswer = "_No response_"

// maxIssue is the most bytes of an issue that are read; GitHub takes 65,536 characters.
const maxIssue = 256 << 10

// issueFields are the fields of the issue form: an output, or else the fields of one measurement.
func issueFields() []Field {
	out := []Field{Pasted.Fields[0]}
	out[0].Label, out[0].Required = Pasted.Title, false
	for _, g := range Groups {
		out = append(out, g.Fields...)
	}
	return out
}

// IssueForm is the form of an issue with which GitHub asks for a measurement, as YAML.
func IssueForm() []byte {
	var b strings.Builder
	b.WriteString(`# Made from the form of the page /contribute: go test ./httpapi/contribute -update
name: Measurement
description: Tokens per second that you measured, or found published.
title: "Measurement: "
labels: [measurement]
body:
  - type: markdown
    attributes:
      value: Paste what llama-bench printed, or fill in the fields. When a maintainer accepts the issue, it becomes a pull request.
`)
	quoted := func(s string) string {
		b, _ := jsonv2.Marshal(s) // of this program; JSON is YAML
		return string(b)
	}
	for _, f := range issueFields() {
		kinds := map[kind]string{"choice": "dropdown", "long": "textarea"}
		kind := kinds[f.Kind]
		if kind == "" {
			kind = "input"
		}
		fmt.Fprintf(&b, "  - type: %s\n    id: %s\n    attributes:\n      label: %s\n", kind, f.Name, quoted(f.Label))
		help := strings.TrimSpace(f.Help + " " + strings.TrimSuffix("In "+f.Unit+".", "In ."))
		if help != "" {
			fmt.Fprintf(&b, "      description: %s\n", quoted(help))
		}
		if f.Hint != "" && kind != "dropdown" {
			fmt.Fprintf(&b, "      placeholder: %s\n", quoted(f.Hint))
		}
		if kind == "dropdown" {
			b.WriteString("      options:\n")
			for _, o := range f.Choices {
				fmt.Fprintf(&b, "        - %s\n", quoted(o.Label))
			}
		}
		if f.Name == outputField {
			b.WriteString("      render: text\n")
		}
	}
	return []byte(b.String())
}

// ReadIssue reads the text of an issue that was made with the form: headings, each the label of a field, with the value
// below. The text is a stranger's. A heading that is no label belongs to the value above it, and one that
// comes again is an error.
func ReadIssue(body string) (url.Values, error) {
	if len(body) > maxIssue {
		return nil, fmt.Errorf("the issue: must be at most %d bytes long, got %d", maxIssue, len(body))
	}
	fields, values, field := issueFields(), url.Values{}, (*Field)(nil)
	found := map[string][]string{}
	for line := range strings.Lines(strings.ReplaceAll(body, "\r\n", "\n")) {
		label, isHeading := strings.CutPrefix(strings.TrimRight(line, " \n"), "### ")
		i := slices.IndexFunc(fields, func(f Field) bool { return isHeading && f.Label == label })
		switch {
		case i >= 0 && found[fields[i].Name] != nil:
			return nil, fmt.Errorf("%s: comes twice in the issue", label)
		case i >= 0:
			field = &fields[i]
			found[field.Name] = []string{}
		case field != nil:
			found[field.Name] = append(found[field.Name], line)
		}
	}
	if field == nil {
		return nil, fmt.Errorf("the issue: was not made with the form for measurements")
	}
	for i := range fields {
		f := &fields[i]
		value := strings.TrimSpace(strings.Join(found[f.Name], ""))
		if f.Name == outputField {
			value = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(value, "```text\n"), "```"))
		}
		for _, o := range f.Choices {
			if value == o.Label {
				value = o.Value
			}
		}
		if value != "" && value != emptyAnswer {
			values.Set(f.Name, value)
		}
	}
	values.Set(KindField, FieldsForm)
	if values.Has(outputField) {
		pasted := url.Values{KindField: {PastedForm}}
		for _, f := range Pasted.Fields {
			if values.Has(f.Name) {
				pasted.Set(f.Name, values.Get(f.Name))
			}
		}
		values = pasted
	}
	return values, nil
}

// Report says in Markdown what came of a form, for the one who sent it: what is wrong, or the lines and the runs nearest
// to them. Values of the form are shown as code, so that they have no effect.
func (d *Desk) Report(r *Result) string {
	var b strings.Builder
	list := func(title string, faults []Fault) {
		if len(faults) == 0 {
			return
		}
		fmt.Fprintf(&b, "### %s\n\n", title)
		for _, f := range faults {
			label := f.Field
			if known := fieldsOf(r.Form)[f.Field]; known != nil {
				label = known.Label
			}
			fmt.Fprintf(&b, "- %s\n", code(strings.TrimPrefix(label+": "+f.Text, ": ")))
			for _, n := range f.Near {
				fmt.Fprintf(&b, "  - %s\n", code(n.Name+" ("+n.Slug+")"))
			}
		}
		b.WriteString("\n")
	}
	faults := r.Faults
	warnings := r.Warnings
	for _, l := range r.Lines {
		faults, warnings = append(faults, l.Faults...), append(warnings, l.Warnings...)
	}
	ready := r.Ready()
	fmt.Fprintf(&b, "%s of this issue.\n\n", text.Count(len(ready), "line was made", "lines were made"))
	list("What is wrong", faults)
	list("What to look at", warnings)
	for _, s := range r.Skipped {
		fmt.Fprintf(&b, "- %s\n", code(s.String()))
	}
	for _, l := range ready {
		fmt.Fprintf(&b, "### %s on %s\n\n", l.Model, l.Hardware)
		d.compare(&b, l)
	}
	return b.String()
}

// compare lists the runs nearest to a line: of the same model, hardware and quantization.
func (d *Desk) compare(b *strings.Builder, l Line) {
	var mine dataset.Benchmark
	if record.Decode([]byte(l.Text), &mine) != nil {
		return
	}
	row := func(r *dataset.Benchmark) {
		var cells []string
		for _, v := range []any{r.ID, r.Tool, r.Backend, r.HardwareCount, r.ContextDepth, r.PromptTPS, r.GenerationTPS, r.RunDate} {
			cell, _ := jsonv2.Marshal(v)
			cells = append(cells, code(strings.Trim(string(cell), `"`)))
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
	b.WriteString("| run | tool | backend | devices | depth | prompt tok/s | generation tok/s | date |\n|---|---|---|---|---|---|---|---|\n")
	row(&mine)
	const most = 5
	others := 0
	for i := range d.set.Benchmarks.Len() {
		r := d.set.Benchmarks.At(i)
		if r.Model != mine.Model || r.Hardware != mine.Hardware || r.Scenario != nil || r.Withdrawn != nil ||
			r.Quantization == nil || mine.Quantization == nil || *r.Quantization != *mine.Quantization {
			continue
		}
		if others++; others <= most {
			row(r)
		}
	}
	fmt.Fprintf(b, "\n%s of the same model, hardware and quantization in the dataset.\n\n", text.Count(others, "other run", "other runs"))
}

// code is a text of one line that Markdown shows as it is.
func code(s string) string {
	s = strings.NewReplacer("`", "'", "|", "/").Replace(record.Printable(s))
	return "`" + strings.Join(strings.Fields(s), " ") + "`"
}
