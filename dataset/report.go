package dataset

import (
	"fmt"
	"io"
	"path"
	"strings"

	jsonv2 "github.com/goccy/go-json/v2"

	"modeldex/dataset/record"
)

// reportForms lists the forms Report knows: lines for people, JSON for programs, annotations
// for pull requests on GitHub.
var reportForms = []string{"text", "json", "github"}

// Report writes the findings in one of reportForms:
//
//   - text: one line each, as Finding.String gives it.
//   - json: one object with the list "findings" (path, line, col, field, text, severity, rule,
//     record; line and col are 0 if there is none, rule and record empty) and the numbers "errors" and "warnings".
//   - github: one workflow command each, shown at the line in a pull request.
func (fs Findings) Report(w io.Writer, form string) error {
	switch form {
	case "text":
		return fs.each(w, Finding.String)
	case "github":
		return fs.each(w, Finding.annotation)
	case "json":
		return fs.reportJSON(w)
	default:
		return fmt.Errorf("report form: must be one of %s, got %q", strings.Join(reportForms, ", "), form)
	}
}

func (fs Findings) each(w io.Writer, line func(Finding) string) error {
	for _, f := range fs {
		if _, err := io.WriteString(w, line(f)+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// Under returns the findings with their paths below dir, for reports read from outside the dataset directory.
func (fs Findings) Under(dir string) Findings {
	out := make(Findings, len(fs))
	for i, f := range fs {
		f.Path = path.Join(dir, f.Path)
		out[i] = f
	}
	return out
}

func (fs Findings) reportJSON(w io.Writer) error {
	out := struct {
		Findings Findings `json:"findings"`
		Errors   int      `json:"errors"`
		Warnings int      `json:"warnings"`
	}{Findings: append(Findings{}, fs...), Errors: len(fs.Faults())}
	out.Warnings = len(fs) - out.Errors
	b, err := jsonv2.Marshal(&out)
	if err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	return err
}

// What a workflow command must escape, in its message and, beyond that, in its properties:
// https://docs.github.com/actions/reference/workflow-commands-for-github-actions
var (
	commandText     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func (f Finding) annotation() string {
	var b strings.Builder
	fmt.Fprintf(&b, "::%s file=%s", f.Severity, commandProperty.Replace(f.Path))
	if f.Line > 0 {
		fmt.Fprintf(&b, ",line=%d", f.Line)
	}
	if f.Col > 0 {
		fmt.Fprintf(&b, ",col=%d", f.Col)
	}
	text := record.Printable(f.Text)
	if f.Field != "" {
		text = record.Printable(f.Field) + ": " + text
	}
	return b.String() + "::" + commandText.Replace(text)
}
