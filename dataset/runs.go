package dataset

import (
	"bytes"
	"hash/maphash"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
)

// parallel calls do for each number below n, on so many goroutines.
func parallel(workers, n int, do func(i int)) {
	var (
		next    atomic.Int64
		running sync.WaitGroup
	)
	for range min(workers, n) {
		running.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	running.Wait()
}

// runs is the shelf of the benchmarks: it gathers them packed, chunk by chunk, and counts them in
// order of place.
type runs struct {
	mu     sync.Mutex
	idle   []*packer
	dict   *dictionary
	chunks []runChunk
	starts []int   // by chunk: the number of its first record
	places []place // by record
	lost   []lost
}

// runChunk is the benchmarks of a piece of a file.
type runChunk struct {
	at     place
	recs   packBlock
	places []place
	lost   []lost

	// A chunk of a file that did not change has the records first to end of the stock instead.
	stock      *runStock
	first, end int
}

// runStock is the benchmarks of a set as they stand in its files.
type runStock struct {
	pack   Pack
	order  []uint32 // by place: where the record is in the pack
	places []place
}

func (s *runStock) at(i int) []byte { return s.pack.packed(int(s.order[i])) }

func (c *runChunk) size() int { return len(c.recs.ends) + c.end - c.first }

func (c *runChunk) rec(i int) []byte {
	if c.stock != nil {
		return c.stock.at(c.first + i)
	}
	return c.recs.at(i)
}

func (s *runs) put(c runChunk) {
	s.mu.Lock()
	s.chunks = append(s.chunks, c)
	s.mu.Unlock()
}

// packer is one that no other worker uses; it is given back by seal.
func (s *runs) packer() *packer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.idle); n > 0 {
		p := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return p
	}
	return newPacker(s.dict)
}

// seal takes what was packed, in memory of its size.
func (s *runs) seal(p *packer) packBlock {
	b := packBlock{bytes.Clone(p.data), slices.Clone(p.ends)}
	p.data, p.ends = p.data[:0], p.ends[:0]
	s.mu.Lock()
	s.idle = append(s.idle, p)
	s.mu.Unlock()
	return b
}

// reshelve puts back the records of a file that did not change.
func (s *runs) reshelve(from *runStock, was, now int32) {
	first, end := part(from.places, was)
	s.put(runChunk{at: place{file: now}, stock: from, first: first, end: end})
}

// close counts the records in order of place.
func (s *runs) close() {
	slices.SortFunc(s.chunks, func(a, b runChunk) int { return comparePlaces(a.at, b.at) })
	n := 0
	s.starts = make([]int, len(s.chunks))
	for i := range s.chunks {
		s.starts[i] = n
		n += s.chunks[i].size()
	}
	s.places = make([]place, 0, n)
	for i := range s.chunks {
		c := &s.chunks[i]
		s.places, s.lost = append(s.places, c.places...), append(s.lost, c.lost...)
		for j := c.first; j < c.end; j++ {
			p := c.stock.places[j]
			s.places = append(s.places, place{c.at.file, p.line, p.col})
		}
		c.places, c.lost = nil, nil
	}
	s.idle = nil
}

// rec is a record by its number.
func (s *runs) rec(i int) []byte {
	c := sort.SearchInts(s.starts, i+1) - 1
	return s.chunks[c].rec(i - s.starts[c])
}

// each visits all records on so many goroutines, in no order. A record is valid until visit
// returns.
func (s *runs) each(workers int, visit func(i int, b *Benchmark)) {
	t := s.dict.vocabulary()
	parallel(workers, len(s.chunks), func(n int) {
		var u unpacker
		c := &s.chunks[n]
		for i := range c.size() {
			visit(s.starts[n]+i, u.read(c.rec(i), t))
		}
	})
}

// gap reports whether some benchmark could not be read so far as its id.
func (s *runs) gap() bool {
	return slices.ContainsFunc(s.lost, func(r lost) bool { return r.slug == "" })
}

// runIDs finds benchmarks by id: a hash table of numbers, for a map of a million texts takes
// ten times as long.
type runIDs struct {
	*runs
	seed  maphash.Seed
	cells []uint64 // 32 bits of the hash, then the number of the record + 1; 0 is empty
	lost  map[Slug]bool
}

// ids gathers the ids and calls twice for each record whose id an earlier one has.
func (s *runs) ids(twice func(i, first int)) *runIDs {
	size := 8
	for size*2 < len(s.places)*3 {
		size *= 2
	}
	ids := &runIDs{runs: s, seed: maphash.MakeSeed(), cells: make([]uint64, size), lost: map[Slug]bool{}}
	for _, rec := range s.lost {
		ids.lost[rec.slug] = true
	}
	for n := range s.chunks {
		for i := range s.chunks[n].size() {
			id := idOf(s.chunks[n].rec(i))
			if at, first := ids.find(id); first < 0 {
				ids.cells[at] = maphash.String(ids.seed, string(id))&^0xffffffff | uint64(s.starts[n]+i+1)
			} else if id != "" {
				twice(s.starts[n]+i, first)
			}
		}
	}
	return ids
}

// find returns the record of an id, -1 for none, and where in the table it is or would be.
func (t *runIDs) find(id Slug) (at uint64, rec int) {
	hash := maphash.String(t.seed, string(id))
	mask := uint64(len(t.cells) - 1)
	for at = hash & mask; t.cells[at] != 0; at = (at + 1) & mask {
		if cell := t.cells[at]; cell^hash <= 0xffffffff && idOf(t.rec(int(uint32(cell))-1)) == id {
			return at, int(uint32(cell)) - 1
		}
	}
	return at, -1
}

// has reports whether there is a benchmark of an id, or one that could not be read.
func (t *runIDs) has(id Slug) bool {
	_, rec := t.find(id)
	return rec >= 0 || t.lost[id]
}

// An entry is a benchmark on its way into default order.
type entry struct {
	head uint64 // first bytes of the id
	day  uint32
	at   uint32 // number
}

func entryOf(rec []byte, at int) entry {
	e := entry{day: packedDay(rec), at: uint32(at)}
	id := idOf(rec)
	for i := range 8 {
		e.head <<= 8
		if i < len(id) {
			e.head |= uint64(id[i])
		}
	}
	return e
}

// sorted returns the numbers of the records in default order. What was taken over from last,
// which is sorted, is merged with what is new.
func (s *runs) sorted(last *Pack) []uint32 {
	taken, fresh := s.entries(last)
	fresh = s.sort(fresh)
	out := make([]uint32, 0, len(s.places))
	for _, at := range taken {
		if at == isNew {
			continue
		}
		for len(fresh) > 0 && comparePacked(s.rec(int(fresh[0].at)), s.rec(int(at))) < 0 {
			out, fresh = append(out, fresh[0].at), fresh[1:]
		}
		out = append(out, at)
	}
	for _, e := range fresh {
		out = append(out, e.at)
	}
	return out
}

// isNew stands for the number of a record that was not taken over.
const isNew = ^uint32(0)

// entries returns, for each record of last, its number, isNew where it was not taken over; and
// the records that are new.
func (s *runs) entries(last *Pack) (taken []uint32, fresh []entry) {
	taken = slices.Repeat([]uint32{isNew}, last.Len())
	fresh = make([]entry, 0, s.freshCount())
	for n := range s.chunks {
		c := &s.chunks[n]
		for i := range c.size() {
			at := s.starts[n] + i
			if c.stock != nil {
				taken[c.stock.order[c.first+i]] = uint32(at)
			} else {
				fresh = append(fresh, entryOf(c.rec(i), at))
			}
		}
	}
	return taken, fresh
}

// sort returns entries in default order. Files hold the lines of a day together and in order of
// id: those stretches are only put where they belong, and what is in order is not sorted.
func (s *runs) sort(in []entry) []entry {
	next := map[uint32]int{} // day -> how many there are, then where the next goes
	days(in, func(day []entry) { next[day[0].day] += len(day) })
	at := 0
	for _, day := range slices.Sorted(maps.Keys(next)) {
		next[day], at = at, at+next[day]
	}
	out := make([]entry, len(in))
	days(in, func(day []entry) {
		next[day[0].day] += copy(out[next[day[0].day]:], day)
	})
	days(out, func(day []entry) {
		if !slices.IsSortedFunc(day, s.compare) {
			slices.SortFunc(day, s.compare)
		}
	})
	return out
}

// days visits the stretches of entries of one day.
func days(in []entry, visit func(day []entry)) {
	for len(in) > 0 {
		n := 1
		for n < len(in) && in[n].day == in[0].day {
			n++
		}
		visit(in[:n])
		in = in[n:]
	}
}

func (s *runs) freshCount() (n int) {
	for i := range s.chunks {
		n += len(s.chunks[i].recs.ends)
	}
	return n
}

// compare is the order of two entries of one day.
func (s *runs) compare(a, b entry) int {
	switch {
	case a.head < b.head:
		return -1
	case a.head > b.head:
		return 1
	}
	return strings.Compare(string(idOf(s.rec(int(a.at)))), string(idOf(s.rec(int(b.at)))))
}

// stock packs the records in default order and notes where they stand in the files.
func (s *runs) stock(last *Pack, workers int) runStock {
	sorted := s.sorted(last)
	order := make([]uint32, len(sorted))
	for at, i := range sorted {
		order[i] = uint32(at)
	}
	pack := newPack(len(sorted), workers, func(i int) []byte { return s.rec(int(sorted[i])) }, s.dict.vocabulary())
	return runStock{pack: pack, order: order, places: s.places}
}
