// Package suggest finds the name that a caller probably meant: of a parameter, a field, a value, an address or a record.
//
// A Suggester compares what was sent with the names there are, by spelling (Near, Nearest), and by what other APIs call
// the same thing (Parameter, Field, Address). Parameters, Fields, Values and Addresses are the names of other APIs. The
// package knows no lists and no routes: what there is comes with each call. A Suggester belongs to one request.
package suggest

import "modeldex/dataset/record"

const (
	// MaxCompared is how many names the searches for suggestions of one request compare: about
	// 3 ms of work. The first search is always made.
	MaxCompared = 3000
	// longCandidates is from how many names on a search is work that costs burst allowance.
	longCandidates = 100
)

// A Suggester searches for the names that the caller of one request may have meant, within a bound. The zero value is
// before the first search.
type Suggester struct {
	Searches int // of long lists so far: work that costs burst allowance
	Compared int // names compared so far
}

// Near returns up to n of the candidates the caller may have meant. There are none if the bound of the request
// is reached, and for a word that is longer than any name.
func (s *Suggester) Near(word string, candidates []string, n int) []string {
	const longestName = 120 // runes; longer than any slug or alias
	if len(word) > 4*longestName || s.Compared > 0 && s.Compared+len(candidates) > MaxCompared {
		return nil
	}
	s.Compared += len(candidates)
	if len(candidates) >= longCandidates {
		s.Searches++
	}
	return record.Near(word, candidates, n)
}

// Nearest is the one name the caller most probably meant, empty if there is none.
func (s *Suggester) Nearest(word string, candidates []string) string {
	if near := s.Near(word, candidates, 1); len(near) > 0 {
		return near[0]
	}
	return ""
}
