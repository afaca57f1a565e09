package httpapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset/record"
)

// Bounds of what the response to a rejected request says. A request of 8 KiB can name four thousand wrong values.
// To list them all, or to search near names for each, would cost the server more than the caller.
const (
	// maxFaults is how many faults of one request are listed; the rest are counted.
	maxFaults = 20
	// maxCompared is how many names the searches for suggestions of one request compare: about
	// 3 ms of work. The first search is always made.
	maxCompared = 3000
	// longCandidates is from how many names on a search is work that costs burst allowance.
	longCandidates = 100
)

// faultList collects what is wrong with one request. The zero value is an empty list.
type faultList struct {
	code    *code // what all faults share, or invalid_parameter; nil: no faults
	list    []Fault
	omitted int // faults beyond maxFaults
	suggester
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
	l.searches += part.searches
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
	return &failure{code: l.code, detail: sentences(l.list, l.omitted), faults: l.list, omitted: l.omitted, searches: l.searches}
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

// suggester searches near names within the bound of one request.
type suggester struct {
	compared int // names compared so far
	searches int // searches of long lists so far
}

// near returns up to n of the candidates the caller may have meant. There are none where the bound of the request
// is reached, and for a word that is longer than any name.
func (s *suggester) near(word string, candidates []string, n int) []string {
	const longestName = 120 // runes; longer than any slug or alias
	if len(word) > 4*longestName || s.compared > 0 && s.compared+len(candidates) > maxCompared {
		return nil
	}
	s.compared += len(candidates)
	if len(candidates) >= longCandidates {
		s.searches++
	}
	return record.Near(word, candidates, n)
}

// nearest is the one name the caller most probably meant, empty if there is none.
func (s *suggester) nearest(word string, candidates []string) string {
	if near := s.near(word, candidates, 1); len(near) > 0 {
		return near[0]
	}
	return ""
}
