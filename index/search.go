package index

import (
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"modeldex/dataset/record"
)

type searcher interface {
	match(words []string) *roaring.Bitmap // the records that all of some words, one at least, occur in
	has(word string) bool                 // whether a word occurs in any record
	vocabulary() []string                 // the words of the names it looks at
}

// nameSearch finds words in the names of every record in turn. Its tables have thousands of
// records with a few hundred bytes of names each: some tens of microseconds per word.
type nameSearch struct {
	texts []string // by ordinal: slug, name and aliases, lower case, one per line
	words []string // of all texts, each once, in order
}

func newNameSearch(texts []string) nameSearch {
	s, seen := nameSearch{texts: texts}, map[string]bool{}
	for _, text := range texts {
		for _, word := range strings.FieldsFunc(text, betweenWords) {
			if len(word) >= shortestWord && !seen[word] {
				seen[word] = true
				s.words = append(s.words, word)
			}
		}
	}
	slices.Sort(s.words)
	return s
}

// shortestWord is the length, in bytes, below which a word is near too many others to say what was meant.
const shortestWord = 3

func betweenWords(r rune) bool { return strings.ContainsRune(" \n-_/:,;()[]\"", r) }

func (s nameSearch) vocabulary() []string { return s.words }

func (s nameSearch) has(word string) bool {
	return slices.ContainsFunc(s.texts, func(text string) bool { return strings.Contains(text, word) })
}

// An UnknownWord is one that no record of a table has.
type UnknownWord struct {
	Word string
	Near []string // words of names that may have been meant, the nearest first
}

// UnknownWords are those of some words, in lower case, that no record has, each with at most so many near ones. For each it
// looks at the names, and at each word of them.
func (t *Table) UnknownWords(words []string, near int) (out []UnknownWord) {
	for _, word := range words {
		if t.search.has(word) {
			continue
		}
		u := UnknownWord{Word: word}
		if len(word) >= shortestWord {
			u.Near = record.Near(word, t.search.vocabulary(), near)
		}
		out = append(out, u)
	}
	return out
}

func (s nameSearch) match(words []string) *roaring.Bitmap {
	var found []uint32
	for i, text := range s.texts {
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) }) {
			found = append(found, uint32(i))
		}
	}
	return roaring.BitmapOf(found...)
}

// linkSearch finds words in the names of the records that others refer to, and returns the
// records that refer to them: searching a million benchmarks is searching a thousand names.
type linkSearch struct {
	table *Table // of the records
	links []link
	words []string // of the names of all records that may be referred to
}

func (l linkSearch) vocabulary() []string { return l.words }

func (l linkSearch) has(word string) bool {
	if _, isID := l.table.Find(word); isID {
		return true
	}
	return slices.ContainsFunc(l.links, func(ln link) bool {
		return slices.ContainsFunc(ln.names, func(names string) bool { return strings.Contains(names, word) })
	})
}

type link struct {
	posting *posting
	names   []string // by code: the names of the record referred to
}

// newLinkSearch makes the search of a table by the names of the records in others.
func newLinkSearch(t *Table, to map[Field]*Table) linkSearch {
	out := linkSearch{table: t}
	for _, f := range []Field{Model, Hardware, Tool} {
		if to[f] == nil {
			continue
		}
		ln, names := link{posting: t.postings[f]}, to[f].search.(nameSearch)
		for _, slug := range ln.posting.values {
			text := ""
			if ord, ok := to[f].Find(slug); ok {
				text = names.texts[ord]
			}
			ln.names = append(ln.names, text)
		}
		out.links, out.words = append(out.links, ln), append(out.words, names.words...)
	}
	slices.Sort(out.words)
	out.words = slices.Compact(out.words)
	return out
}

func (l linkSearch) match(words []string) (out *roaring.Bitmap) {
	for _, word := range words {
		out = both(out, l.matchOne(word))
	}
	return out
}

// matchOne finds the records that refer to one with a word in its names, and the record whose id the word is.
func (l linkSearch) matchOne(word string) *roaring.Bitmap {
	found := []*roaring.Bitmap{l.table.find([]string{word})}
	for _, ln := range l.links {
		for code, names := range ln.names {
			if strings.Contains(names, word) {
				found = append(found, ln.posting.sets[code])
			}
		}
	}
	return union(found)
}

func namesOf(slug, name string, more ...string) []string {
	out := []string{slug, strings.ToLower(name)}
	for _, m := range more {
		out = append(out, strings.ToLower(m))
	}
	return out
}
