package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset/record"
	"modeldex/dataset/resolve"
	"modeldex/httpapi/suggest"
)

// The codes of faults, which are codes of the errors of the API.
const (
	InvalidParameter = "invalid_parameter"
	UnknownParameter = "unknown_parameter"
	InvalidField     = "invalid_field"
	InvalidCursor    = "invalid_cursor"
	CursorMismatch   = "cursor_mismatch"
)

// Fault is one problem with a request.
type Fault struct {
	// Part of the request: query, path, header or body.
	In string `json:"in" jsonschema:"enum=query,enum=path,enum=header,enum=body,example=query"`
	// Name of the parameter or field.
	Name string `json:"name" jsonschema:"example=vendor"`
	// The value that was sent, cut to 100 characters; omitted if it may be secret.
	Value *string `json:"value,omitzero" jsonschema:"example=nvida"`
	// The rule.
	Detail string `json:"detail" jsonschema:"example=must be one of nvidia\\, amd\\, intel\\, apple\\, qualcomm"`
	// The allowed values, if there are only a few.
	Allowed []string `json:"allowed,omitempty" jsonschema:"example=nvidia"`
	// What you may have meant.
	Suggestion string `json:"suggestion,omitempty" jsonschema:"example=nvidia"`

	// For pages: possible meanings of an unknown name.
	Candidates []resolve.Candidate `json:"-"`
}

// NoParameter is the rule that a name breaks which an endpoint does not know.
const NoParameter = "is not a parameter of this endpoint"

// removed are parameters of earlier versions, each with what to use instead.
var removed = map[string]string{
	"as_of":  "serve an older dataset from a git worktree, as packaging/README.md shows",
	"pareto": "sort by best, or by tps; the chart hardware-frontier shows the models that no other beats in speed and capability",
}

// MaxFaults is how many faults of one request are listed; the rest are counted. A request of 8 KiB can name four
// thousand wrong values: to list them all, or to search near names for each, would cost the server more than the
// caller. Package suggest bounds the searches.
const MaxFaults = 20

// Faults collects what is wrong with one request. The zero value is an empty list.
type Faults struct {
	Code    string // code of all faults, or InvalidParameter; empty without faults
	List    []Fault
	Omitted int // faults beyond MaxFaults
	suggest.Suggester
}

// Add notes a fault. The result is the listed fault, to be completed, or nil beyond MaxFaults.
func (l *Faults) Add(code string, f Fault) *Fault {
	if l.Code == "" {
		l.Code = code
	} else if l.Code != code {
		l.Code = InvalidParameter
	}
	if len(l.List) == MaxFaults {
		l.Omitted++
		return nil
	}
	l.List = append(l.List, f)
	return &l.List[len(l.List)-1]
}

// Unknown notes a name that is none of those allowed.
func (l *Faults) Unknown(in, prefix, name string, allowed []string) {
	code, detail := UnknownParameter, NoParameter
	if in == "body" {
		code, detail = InvalidField, "is not a known field"
	}
	if instead := removed[name]; in == "query" && instead != "" {
		detail = "was removed: " + instead
	}
	if name == "" {
		detail = "has no name"
	}
	f := l.Add(code, Fault{In: in, Name: prefix + *Clip(name), Detail: detail, Allowed: allowed})
	if f != nil && allowed != nil {
		f.Suggestion = l.Parameter(*Clip(name), allowed)
	}
}

// Join adds the faults of a part of the request.
func (l *Faults) Join(part *Faults) {
	for _, f := range part.List {
		l.Add(part.Code, f)
	}
	l.Omitted += part.Omitted
	l.Searches += part.Searches
}

// Of reports whether a fault of a parameter is listed.
func (l *Faults) Of(name string) bool {
	return slices.ContainsFunc(l.List, func(f Fault) bool { return f.Name == name })
}

// Text writes the faults in one line, for people.
func (l *Faults) Text() string {
	texts := make([]string, len(l.List), len(l.List)+1)
	for i := range l.List {
		texts[i] = l.List[i].Subject() + " " + l.List[i].Detail
	}
	if l.Omitted > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", l.Omitted))
	}
	return strings.Join(texts, "; ")
}

// Subject is the name at fault, quoted if it has invisible characters.
func (f *Fault) Subject() string {
	switch quoted := strconv.Quote(f.Name); {
	case f.Name == "" && f.In == "query":
		return "a parameter"
	case f.Name == "":
		return "a field"
	case quoted != `"`+f.Name+`"` || strings.TrimSpace(f.Name) != f.Name:
		return quoted
	default:
		return f.Name
	}
}

// Clip makes a value fit to be shown, of at most 100 characters.
func Clip(v string) *string {
	v = record.Clip(v, 100)
	return &v
}
