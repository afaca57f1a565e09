package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path"
	"slices"
	"strings"

	jsonv2 "github.com/goccy/go-json/v2"

	"modeldex/dataset/record"
)

// Severity says what a finding does to its dataset.
type Severity uint8

// A Fault rejects the dataset; a Warning asks a person to look.
const (
	Fault Severity = iota
	Warning
)

// String is the word of the severity in reports.
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// MarshalText gives the word of the severity.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Finding is one violation of a rule.
type Finding struct {
	Path string `json:"path"` // file, relative to the dataset directory, with slashes
	Line int    `json:"line"` // from 1; 0 where the finding is about the whole file
	Col  int    `json:"col"`  // from 1, in characters; 0 where the finding is about the whole line
	// Field is the dotted name of the field, empty if the finding is about the record.
	Field string `json:"field"`
	// Text is one sentence: the rule, then what was found. Lower case, no full stop.
	Text     string   `json:"text"`
	Severity Severity `json:"severity"`
	// Rule is the id of the rule, see Rules; empty for those of single fields and files.
	Rule string `json:"rule"`
	// Record is the slug of the record, or the id of a benchmark; empty if Rule is.
	Record Slug `json:"record"`

	unreadable bool // the file could not be read; another attempt may succeed
	broken     bool // the text is no record: not JSON, or JSON of another kind
}

// String gives the finding as path:line:col: field: message, a warning with that word before the field.
func (f Finding) String() string {
	var b strings.Builder
	b.WriteString(record.Printable(f.Path))
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d", f.Line)
		if f.Col > 0 {
			fmt.Fprintf(&b, ":%d", f.Col)
		}
	}
	b.WriteString(": ")
	if f.Severity == Warning {
		b.WriteString("warning: ")
	}
	if f.Field != "" {
		b.WriteString(record.Printable(f.Field))
		b.WriteString(": ")
	}
	b.WriteString(record.Printable(f.Text))
	return b.String()
}

// Findings are all violations of a load, in order of place. As an error it is the rejection of the dataset.
type Findings []Finding

// Error gives one line per finding.
func (fs Findings) Error() string { return strings.TrimSuffix(string(fs.lines(Finding.String)), "\n") }

// Faults returns the findings that reject the dataset, in their order.
func (fs Findings) Faults() Findings {
	return slices.DeleteFunc(slices.Clone(fs), func(f Finding) bool { return f.Severity != Fault })
}

// Unreadable reports whether a file could not be read, so that another attempt may succeed.
func (fs Findings) Unreadable() bool {
	return slices.ContainsFunc(fs, func(f Finding) bool { return f.unreadable })
}

func (fs Findings) sort() {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Text, b.Text))
	})
}

// acceptedFile lists warnings that a person looked at and found right. Only Check reads it.
const acceptedFile = "accepted.json"

type acceptance struct {
	Rule   string `json:"rule"`   // see Rules
	Record Slug   `json:"record"` // slug, or id of a benchmark
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

func (fs Findings) accepted(files iofs.FS) Findings {
	list, broken := acceptances(files)
	if broken != nil {
		return append(fs, *broken)
	}
	out := fs[:0:0]
	for _, f := range fs {
		key := acceptance{Rule: f.Rule, Record: f.Record, Field: f.Field}
		if _, ok := list[key]; ok && f.Severity == Warning {
			list[key] = true
			continue
		}
		out = append(out, f)
	}
	for key, occurred := range list {
		if !occurred {
			out = append(out, Finding{
				Path: acceptedFile, Field: string(key.Record), Severity: Warning, Rule: "accepted",
				Text: fmt.Sprintf("accepts a warning of %s about %s that no longer occurs: remove the entry", key.Rule, key.Field),
			})
		}
	}
	out.sort()
	return out
}

// acceptances are the entries of the file without reasons. None has matched yet.
func acceptances(files iofs.FS) (map[acceptance]bool, *Finding) {
	b, err := iofs.ReadFile(files, acceptedFile)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		broken := unreadable(acceptedFile, err)
		broken.Severity = Warning
		return nil, &broken
	}
	var entries []acceptance
	if err := jsonv2.Unmarshal(b, &entries, jsonv2.RejectUnknownMembers(true)); err != nil {
		p := record.Explain(b, err)
		return nil, &Finding{Path: acceptedFile, Field: p.Field, Text: p.Text, Severity: Warning}
	}
	out := map[acceptance]bool{}
	for i, a := range entries {
		if a.Reason == "" {
			return nil, &Finding{Path: acceptedFile, Field: fmt.Sprintf("%d.reason", i), Text: "must give the reason for accepting the warning", Severity: Warning}
		}
		out[acceptance{a.Rule, a.Record, a.Field, ""}] = false
	}
	return out, nil
}

// Report writes the findings in one of these forms:
//
//   - text: one line each, as Finding.String gives it.
//   - json: one object with the list "findings" (path, line, col, field, text, severity, rule,
//     record; line and col are 0 if there is none, rule and record empty) and the numbers "errors" and "warnings".
//   - github: one workflow command each, shown at the line in a pull request.
func (fs Findings) Report(w io.Writer, form string) error {
	var b []byte
	switch form {
	case "text":
		b = fs.lines(Finding.String)
	case "github":
		b = fs.lines(Finding.annotation)
	case "json":
		out := struct {
			Findings Findings `json:"findings"`
			Errors   int      `json:"errors"`
			Warnings int      `json:"warnings"`
		}{Findings: append(Findings{}, fs...), Errors: len(fs.Faults())}
		out.Warnings = len(fs) - out.Errors
		line, err := record.Line(&out)
		if err != nil {
			return err
		}
		line = append(line, '\n')
		b = line
	default:
		return fmt.Errorf("--format: must be one of text, json, github, got %q", form)
	}
	_, err := w.Write(b)
	return err
}

func (fs Findings) lines(of func(Finding) string) (b []byte) {
	for _, f := range fs {
		b = append(b, of(f)+"\n"...)
	}
	return b
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
