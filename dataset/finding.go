package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
	// Field is the dotted name of the field, empty where the finding is about the record.
	Field string `json:"field"`
	// Text is one sentence: the rule, then what was found. Lower case, no full stop.
	Text     string   `json:"text"`
	Severity Severity `json:"severity"`
	// Rule is the id of the rule, see Rules; empty for those of single fields and files.
	Rule string `json:"rule"`
	// Record is the slug of the record, or the id of a benchmark; empty where Rule is.
	Record Slug `json:"record"`

	unreadable bool // the file could not be read; another attempt may succeed
	broken     bool // the text is no record: not JSON, or JSON of another kind
}

// String gives the finding as path:line:col: field: sentence, a warning with that word before the field.
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

// Findings are all violations that a load finds, in order of place. As an error it is the rejection of
// the whole dataset.
type Findings []Finding

// Error gives one line per finding.
func (fs Findings) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Faults returns the findings that reject the dataset, in their order.
func (fs Findings) Faults() Findings {
	return slices.DeleteFunc(slices.Clone(fs), func(f Finding) bool { return f.Severity != Fault })
}

// Unreadable reports whether a file could not be read, so that another attempt may succeed
// without any change of the files.
func (fs Findings) Unreadable() bool {
	return slices.ContainsFunc(fs, func(f Finding) bool { return f.unreadable })
}

func (fs Findings) sort() {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Text, b.Text))
	})
}
