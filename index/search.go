package index

import (
	"slices"
	"strings"

	"modeldex/dataset/record"

	"github.com/RoaringBitmap/roaring/v2"
)

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

// betweenWords are the characters that end a word of a name.
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

// A link is a field by which the records refer to others.
type link struct {
	slot  slot     // of the field in the codes of the table
	words []uint64 // of the codes, by place
	names []string // by code: the names of the record referred to; empty for unknown
}

// newLinkSearch makes the search of a table with codes.
func newLinkSearch(t *Table, to map[Field]*Table) linkSearch {
	out := linkSearch{table: t}
	for _, f := range []Field{Model, Hardware, Tool} {
		codes := t.dimensions.codes
		s, names := codes.slots[f], to[f].search.(nameSearch)
		ln := link{s, codes.words[s.word], make([]string, s.size())}
		for code, slug := range s.p.values {
			if ord, ok := to[f].Find(slug); ok {
				ln.names[code] = names.texts[ord]
			}
		}
		out.links, out.words = append(out.links, ln), append(out.words, names.words...)
	}
	slices.Sort(out.words)
	out.words = slices.Compact(out.words)
	return out
}

// wordsAtOnce is how many words fit a wordSet.
const wordsAtOnce = 64

// A wordSet has a bit for each word that was found.
type wordSet uint64

func (l linkSearch) match(words []string) *roaring.Bitmap {
	var out *roaring.Bitmap
	for some := range slices.Chunk(words, wordsAtOnce) {
		out = both(out, l.newWordSearch(some).match())
	}
	return out
}

// A wordSearch is what is known of some words before records are looked at.
type wordSearch struct {
	linkSearch
	all    wordSet
	byCode [3][]wordSet       // by link, then by code: the words in the names
	ids    map[uint32]wordSet // the records that a word is the id of
	rarest int                // the word that fewest records have
	most   int                // how many have it at most
}

func (l linkSearch) newWordSearch(words []string) *wordSearch {
	s := &wordSearch{linkSearch: l, all: 1<<len(words) - 1, ids: map[uint32]wordSet{}}
	having := make([]int, len(words))
	for i, ln := range l.links {
		s.byCode[i] = make([]wordSet, len(ln.names))
		for code, names := range ln.names[:len(ln.slot.p.values)] {
			for w, word := range words {
				if strings.Contains(names, word) {
					s.byCode[i][code] |= 1 << w
					having[w] += int(ln.slot.p.byValue[ln.slot.p.values[code]].GetCardinality())
				}
			}
		}
	}
	for w, word := range words {
		if ord, ok := l.table.Find(word); ok {
			s.ids[ord] |= 1 << w
			having[w]++
		}
	}
	s.most = slices.Min(having)
	s.rarest = slices.Index(having, s.most)
	return s
}

// match looks at the records that have the rarest word or, if these are many, at all of them in the order of
// places.
func (s *wordSearch) match() *roaring.Bitmap {
	if s.most > s.table.n/16 {
		return s.matchAll()
	}
	rare := s.having(s.rarest)
	if s.all == 1 {
		return rare
	}
	var found []uint32
	places := s.table.dimensions.codes.places
	inBatches(func(ords []uint32) {
		for _, ord := range ords {
			if s.of(places[ord])|s.ids[ord] == s.all {
				found = append(found, ord)
			}
		}
	}, rare)
	return roaring.BitmapOf(found...)
}

// of is the words in the names of what a record refers to.
func (s *wordSearch) of(place uint32) (words wordSet) {
	for i := range s.links {
		ln := &s.links[i]
		words |= s.byCode[i][ln.slot.code(ln.words[place])]
	}
	return words
}

// addWords adds the words of a link to those of the records from a place on.
func (l *link) addWords(to []wordSet, from int, byCode []wordSet) {
	codes, shift, mask := l.words[from:][:len(to)], uint(l.slot.shift)%64, l.slot.mask
	for i, word := range codes {
		to[i] |= byCode[word>>shift&mask]
	}
}

// having is the records that have a word.
func (s *wordSearch) having(word int) *roaring.Bitmap {
	var found []*roaring.Bitmap
	for i := range s.links {
		p := s.links[i].slot.p
		for code, words := range s.byCode[i] {
			if words>>word&1 != 0 {
				found = append(found, p.byValue[p.values[code]])
			}
		}
	}
	for ord, words := range s.ids {
		if words>>word&1 != 0 {
			found = append(found, roaring.BitmapOf(ord))
		}
	}
	return union(s.table.n, found)
}

// matchAll looks at every record: at a block of them by one link after the other, so that there is little to do for each
// record and link.
func (s *wordSearch) matchAll() *roaring.Bitmap {
	dense := make([]uint64, (s.table.n+63)/64)
	var block [1024]wordSet
	for from := 0; from < s.table.n; from += len(block) {
		ords := s.table.dimensions.codes.ords[from:min(from+len(block), s.table.n)]
		words := block[:len(ords)]
		clear(words)
		for i := range s.links {
			s.links[i].addWords(words, from, s.byCode[i])
		}
		for i, ord := range ords { // without a branch, which a processor could not predict
			dense[ord/64] |= uint64(boolInt(words[i] == s.all)) << (ord % 64)
		}
	}
	places := s.table.dimensions.codes.places
	for ord, words := range s.ids {
		if s.of(places[ord])|words == s.all {
			dense[ord/64] |= 1 << (ord % 64)
		}
	}
	return roaring.FromDense(dense, false)
}

// namesOf returns the names of a record in lower case.
func namesOf(slug, name string, more ...string) []string {
	out := []string{slug, strings.ToLower(name)}
	for _, m := range more {
		out = append(out, strings.ToLower(m))
	}
	return out
}
