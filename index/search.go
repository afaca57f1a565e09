package index

import (
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
)

// scan finds a word in the names of every record in turn. The tables it serves have thousands
// of records, a few hundred bytes of names each: some tens of microseconds a word.
type scan struct{ texts []string } // by ordinal: slug, name and aliases, lower case, a line each

func (s scan) match(word string, w *work) *roaring.Bitmap {
	out := roaring.New()
	w.look(len(s.texts))
	for i, text := range s.texts {
		if strings.Contains(text, word) {
			out.Add(uint32(i))
		}
	}
	return out
}

// linked finds a word in the names of what records refer to, and then takes the records by
// reference: a million benchmarks are searched by searching a thousand names.
type linked struct {
	table *Table // of the records
	links []link
}

type link struct {
	field Field  // the posting by which the records refer
	to    *Table // what they refer to
}

func (l linked) match(word string, w *work) *roaring.Bitmap {
	var found []*roaring.Bitmap
	if ord, ok := l.table.Find(word); ok {
		found = append(found, roaring.BitmapOf(ord))
	}
	for _, ln := range l.links {
		by := l.table.postings[ln.field].byValue
		w.batches(func(ords []uint32) {
			for _, ord := range ords {
				if b := by[ln.to.Slug(ord)]; b != nil {
					found = append(found, b)
				}
			}
		}, ln.to.search.match(word, w))
	}
	return w.union(l.table.n, found)
}

// namesOf folds the names of a record into one text and its parts.
func namesOf(slug, name string, more ...string) []string {
	out := []string{slug, strings.ToLower(name)}
	for _, m := range more {
		out = append(out, strings.ToLower(m))
	}
	return out
}
