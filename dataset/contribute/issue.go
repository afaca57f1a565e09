package contribute

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/record"
	"modeldex/dataset/text"

	jsonv2 "github.com/goccy/go-json/v2"
)

const emptyAnswer = "_No response_"

// maxIssue is the most bytes of an issue that are read; GitHub takes 65,536 characters.
const maxIssue = 256 << 10

// ReadIssue reads the text of an issue that was made with the form: headings, each the label of a field, with the value
// below. The text is a stranger's. A heading that is no label belongs to the value above it, and one that
// comes again is an error.
func ReadIssue(body string) (url.Values, error) {
	if len(body) > maxIssue {
		return nil, fmt.Errorf("the issue: must be at most %d bytes long, got %d", maxIssue, len(body))
	}
	values, field := url.Values{}, ""
	found := map[string]string{}
	for line := range strings.Lines(strings.ReplaceAll(body, "\r\n", "\n")) {
		label, isHeading := strings.CutPrefix(strings.TrimRight(line, " \n"), "### ")
		i := slices.IndexFunc(fields, func(f Field) bool { return isHeading && f.Label == label })
		if i < 0 {
			found[field] += line
			continue
		}
		field = fields[i].Name
		if _, twice := found[field]; twice {
			return nil, fmt.Errorf("%s: comes twice in the issue", label)
		}
		found[field] = ""
	}
	if field == "" {
		return nil, errors.New("the issue: was not made with the form for measurements")
	}
	for i := range fields {
		f := &fields[i]
		value := strings.TrimSpace(found[f.Name])
		if f.Name == OutputField {
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
	return values, nil
}

// Report says in Markdown what came of a form, for the one who sent it: what is wrong, or the lines and the runs nearest
// to them. Values of the form are shown as code, so that they have no effect.
func (d *Desk) Report(r *Result) string {
	var b strings.Builder
	list := func(title string, faults []Fault) {
		for i, f := range faults {
			if i == 0 {
				fmt.Fprintf(&b, "### %s\n\n", title)
			}
			label := ""
			if i := place(f.Field); i >= 0 {
				label = fields[i].Label + ": "
			}
			fmt.Fprintf(&b, "- %s\n", code(label+f.Text))
			for _, n := range f.Near {
				fmt.Fprintf(&b, "  - %s\n", code(fmt.Sprintf("%s (%s)", n.Name, n.Slug)))
			}
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%s from this issue.\n\n", text.Count(len(r.Lines), "line was made", "lines were made"))
	list("What is wrong", r.Faults)
	list("Please check", r.Warnings)
	for _, s := range r.Skipped {
		fmt.Fprintf(&b, "- %s\n", code(s))
	}
	for _, l := range r.Lines {
		fmt.Fprintf(&b, "\n### %s on %s\n\n", l.Model, l.Hardware)
		d.compare(&b, l)
	}
	return b.String()
}

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
