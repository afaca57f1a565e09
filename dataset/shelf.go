package dataset

import (
	"cmp"
	"slices"
	"sync"
)

// place is where a record begins: file by number, line from 1, byte of that line from 0.
type place struct{ file, line, col int32 }

func comparePlaces(a, b place) int {
	return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.col, b.col))
}

// A shelf gathers the records of one kind, chunk by chunk, and gives them back in order of
// place whatever order the workers finished in.
type shelf[T any] struct {
	mu     sync.Mutex
	chunks []chunk[T]
	chunk[T]
}

// chunk is the records of a piece of a file.
type chunk[T any] struct {
	at     place
	recs   []T
	places []place // by record
	lost   []lost

	// A chunk of a file that did not change has the records first to end of the stock instead.
	stock      *stock[T]
	first, end int
}

// size is the number of records.
func (c *chunk[T]) size() int { return len(c.recs) + c.end - c.first }

// lost is a record that could not be read. What names it is not to blame, so its slug counts
// as known; where even that is unreadable, no name of its kind can be called unknown.
type lost struct {
	at   place
	slug Slug // empty where it could not be read
}

func (s *shelf[T]) put(c chunk[T]) {
	s.mu.Lock()
	s.chunks = append(s.chunks, c)
	s.mu.Unlock()
}

// close joins the chunks in order of place.
func (s *shelf[T]) close() {
	slices.SortFunc(s.chunks, func(a, b chunk[T]) int { return comparePlaces(a.at, b.at) })
	n := 0
	for i := range s.chunks {
		n += s.chunks[i].size()
	}
	s.recs, s.places = make([]T, 0, n), make([]place, 0, n)
	for i := range s.chunks {
		s.recs = append(s.recs, s.chunks[i].recs...)
		s.places = append(s.places, s.chunks[i].places...)
		s.lost = append(s.lost, s.chunks[i].lost...)
		s.restock(&s.chunks[i])
	}
	s.chunks = nil
}

// restock takes records over from the last load.
func (s *shelf[T]) restock(c *chunk[T]) {
	for i := c.first; i < c.end; i++ {
		p := c.stock.places[i]
		p.file = c.at.file
		s.recs, s.places = append(s.recs, c.stock.recs[i]), append(s.places, p)
	}
}

// gap reports whether some record of the kind could not be read so far as its slug.
func (s *shelf[T]) gap() bool {
	return slices.ContainsFunc(s.lost, func(r lost) bool { return r.slug == "" })
}
