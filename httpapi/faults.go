package httpapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"modeldex/httpapi/suggest"
)

// Bounds of what the response to a rejected request says. A request of 8 KiB can name four thousand wrong values.
// To list them all, or to search near names for each, would cost the server more than the caller.
//
// maxFaults is how many faults of one request are listed; the rest are counted. Package suggest bounds the searches.
const maxFaults = 20

// faultList collects what is wrong with one request. The zero value is an empty list.
type faultList struct {
	code    *code // what all faults share, or invalid_parameter; nil: no faults
	list    []Fault
	omitted int // faults beyond maxFaults
	suggest.Suggester
}

// add notes a fault. The result is the listed fault, to be completed, or nil beyond maxFaults.
func (l *faultList) add(c *code, f Fault) *Fault {
	if l.code == nil {
		l.code = c
	} else if l.code != c {
		l.code = invalidParameter
	}
	if len(l.list) == maxFaults {
		l.omitted++
		return nil
	}
	l.list = append(l.list, f)
	return &l.list[len(l.list)-1]
}

// join adds the faults of a part of the request, under the code c.
func (l *faultList) join(c *code, part *faultList) {
	for _, f := range part.list {
		l.add(c, f)
	}
	l.omitted += part.omitted
	l.Searches += part.Searches
}

// of reports whether a fault of a parameter is listed.
func (l *faultList) of(name string) bool {
	return slices.ContainsFunc(l.list, func(f Fault) bool { return f.Name == name })
}

// failure is the response for the caller, nil without faults.
func (l *faultList) failure() *failure {
	if l.code == nil {
		return nil
	}
	return &failure{code: l.code, detail: sentences(l.list, l.omitted), faults: l.list, omitted: l.omitted, searches: l.Searches}
}

// sentences writes faults in one line, for people.
func sentences(faults []Fault, omitted int) string {
	texts := make([]string, len(faults), len(faults)+1)
	for i := range faults {
		texts[i] = faults[i].subject() + " " + faults[i].Detail
	}
	if omitted > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", omitted))
	}
	return strings.Join(texts, "; ")
}

// What is wrong with a name that an endpoint does not know.
const (
	noParameter = "is not a parameter of this endpoint"
	noField     = "is not a known field"
)

// tooManyCompared is the fault of a comparison with more than pages.MostCompared values.
const tooManyCompared = "must have at most 4 values"

// unknownName is the fault of a name that an endpoint does not know; detail is one of the texts above.
func unknownName(in, name, detail string, allowed []string) Fault {
	if name == "" {
		detail = "has no name"
	}
	return Fault{In: in, Name: *clip(name), Detail: detail, Allowed: allowed}
}

// subject is what a sentence says was found at fault: the name, between quotes where a reader would not see all of it.
func (f *Fault) subject() string {
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
