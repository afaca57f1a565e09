package index

import (
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"modeldex/dataset/record"
)

// A search finds records by words of their names, or of the names of records that they refer to.
type search struct {
	table *Table
	links []link
	words []string // of the names, and of all that may be referred to, each once, in order
}

type link struct {
	posting *posting // of the field that refers to other records; nil: names are those of the records themselves
	names   []string // by code of the posting or by ordinal: slug, name and aliases, lower case, one per line
}

// shortestWord is the length, in bytes, below which a word is near too many others to say what was meant.
const shortestWord = 3

func betweenWords(r rune) bool { return strings.ContainsRune(" \n-_/:,;()[]\"", r) }

func newSearch(t *Table, names []string) *search {
	s := &search{table: t, links: []link{{names: names}}}
	for _, text := range names {
		for _, word := range strings.FieldsFunc(text, betweenWords) {
			if len(word) >= shortestWord {
				s.words = append(s.words, word)
			}
		}
	}
	slices.Sort(s.words)
	s.words = slices.Compact(s.words)
	return s
}

func newLinkSearch(t *Table, to map[Field]*Table) *search {
	s := &search{table: t}
	for _, f := range []Field{Model, Hardware, Tool} {
		if to[f] == nil {
			continue
		}
		ln := link{posting: t.postings[f]}
		for _, slug := range ln.posting.values {
			text := ""
			if ord, ok := to[f].Find(slug); ok {
				text = to[f].search.links[0].names[ord]
			}
			ln.names = append(ln.names, text)
		}
		s.links, s.words = append(s.links, ln), append(s.words, to[f].search.words...)
	}
	slices.Sort(s.words)
	s.words = slices.Compact(s.words)
	return s
}

// match finds the records with a word in their names, or that refer to one, and the record whose id the word is.
func (s *search) match(word string) *roaring.Bitmap {
	own := s.table.find([]string{word})
	found := []*roaring.Bitmap{own}
	for _, ln := range s.links {
		for code, names := range ln.names {
			switch {
			case !strings.Contains(names, word):
			case ln.posting == nil:
				own.Add(uint32(code))
			default:
				found = append(found, ln.posting.sets[code])
			}
		}
	}
	return union(found)
}

// An UnknownWord is one that no record of a table has.
type UnknownWord struct {
	Word string
	Near []string // words of names that may have been meant, the nearest first
}

// UnknownWords returns the words (in lower case) that no record has, each with similar words from names.
func (t *Table) UnknownWords(words []string, near int) (out []UnknownWord) {
	for _, word := range words {
		known := func(ln link) bool {
			return slices.ContainsFunc(ln.names, func(names string) bool { return strings.Contains(names, word) })
		}
		if _, isID := t.Find(word); isID || slices.ContainsFunc(t.search.links, known) {
			continue
		}
		u := UnknownWord{Word: word}
		if len(word) >= shortestWord {
			u.Near = record.Near(word, t.search.words, near)
		}
		out = append(out, u)
	}
	return out
}

func namesOf(slug, name string, more ...string) []string {
	out := []string{slug, strings.ToLower(name)}
	for _, m := range more {
		out = append(out, strings.ToLower(m))
	}
	return out
}
