package snapshot

import (
	"cmp"
	"slices"
	"strings"

	"modeldex/dataset/record"
)

const maxFindings = 1000

// Finding is one violation of a rule.
type Finding struct {
	Path    string // file or address; empty when the check was given bytes
	Pointer string // RFC 6901 JSON pointer of the place; empty for the whole document
	Rule    string // what must hold, and what was found
}

// String gives "path#pointer: rule"; the whole document is "#".
func (f Finding) String() string {
	return f.Path + "#" + f.Pointer + ": " + f.Rule
}

// sortFindings orders by place, then rule, and drops repetitions, so that a report is the same at each run.
func sortFindings(fs []Finding) []Finding {
	slices.SortFunc(fs, func(a, b Finding) int {
		return cmp.Or(
			strings.Compare(a.Path, b.Path),
			strings.Compare(a.Pointer, b.Pointer),
			strings.Compare(a.Rule, b.Rule),
		)
	})
	return slices.Compact(fs)
}

var escapeToken = strings.NewReplacer("~", "~0", "/", "~1")

// pointer joins reference tokens to a JSON pointer, escaping as RFC 6901 asks.
func pointer(tokens ...string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte('/')
		b.WriteString(escapeToken.Replace(t))
	}
	return b.String()
}

// clip keeps a stranger's text short in a report.
func clip(s string) string { return record.Clip(s, 40) }
