package resolve

import (
	"cmp"
	"slices"
	"sync"
)

// likeness finds the records whose names look like a text. It compares trigrams, three letters in
// a row, through an inverted index, so that a look-up reads short lists instead of comparing the
// text with every name.
type likeness struct {
	names []string // keys, each with the record it belongs to
	owner []int32  // name -> record
	size  []uint16 // name -> number of trigrams
	// being made: trigram -> names that have it, ascending
	postings map[uint32][]int32
	// once frozen: a hash table of the postings, which is read a hundred times for one name. The length is a power of two.
	cells []cell
}

// cell is the posting of a trigram; a trigram is never 0.
type cell struct {
	trigram uint32
	names   []int32
}

// maxPosting leaves out trigrams nearly every name has ("nvi", "rtx", "ins"): they tell no record
// from another, and without them a look-up reads at most maxPosting names for each letter.
const maxPosting = 400

func newLikeness() *likeness { return &likeness{postings: map[uint32][]int32{}} }

func (l *likeness) add(owner int32, key string) {
	n := int32(len(l.names))
	size := 0
	trigrams(key, func(t uint32) {
		if p := l.postings[t]; len(p) == 0 || p[len(p)-1] != n {
			l.postings[t] = append(p, n)
			size++
		}
	})
	l.names, l.owner, l.size = append(l.names, key), append(l.owner, owner), append(l.size, uint16(size))
}

// freeze drops the trigrams that are too common. Nothing may be added afterwards.
func (l *likeness) freeze() {
	size := 8
	for size < 2*len(l.postings) {
		size *= 2
	}
	l.cells = make([]cell, size)
	for t, p := range l.postings {
		if len(p) > maxPosting {
			continue
		}
		at := l.cellOf(t)
		for l.cells[at].trigram != 0 {
			at = (at + 1) & (size - 1)
		}
		l.cells[at] = cell{t, slices.Clip(p)}
	}
	l.postings = nil
}

// cellOf is where the search for a trigram begins.
func (l *likeness) cellOf(t uint32) int {
	const golden = 0x9E3779B1 // 2^32 divided by the golden ratio spreads what is close together
	return int(t*golden>>8) & (len(l.cells) - 1)
}

// posting is the names that have a trigram.
func (l *likeness) posting(t uint32) []int32 {
	for at := l.cellOf(t); ; at = (at + 1) & (len(l.cells) - 1) {
		switch c := &l.cells[at]; c.trigram {
		case t:
			return c.names
		case 0:
			return nil
		}
	}
}

// trigrams gives every three bytes in a row, with the beginning and the end as blanks.
func trigrams(key string, emit func(uint32)) {
	t := uint32(' ')<<8 | ' '
	for i := 0; i <= len(key); i++ {
		c := byte(' ')
		if i < len(key) {
			c = key[i]
		}
		t = (t<<8 | uint32(c)) & 0xffffff
		emit(t)
	}
}

// Two names are called similar whose common trigrams are, leastCommon times, those of both: at a share, 2 * common / sizes, of 0.4.
const leastCommon = 5

// counted is memory that near reuses: a request may ask for two hundred names, and each would leave
// garbage of 10 KB.
type counted struct {
	shared  []uint16 // by name: trigrams in common; zero before and after
	touched []int32  // names that have one
}

var counts = sync.Pool{New: func() any { return new(counted) }}

func (l *likeness) counting() *counted {
	c := counts.Get().(*counted)
	if len(c.shared) < len(l.names) {
		c.shared = make([]uint16, len(l.names))
	}
	return c
}

// near returns up to n records whose names share most trigrams with key, most alike first. For n up to MaxCandidates nothing but
// the result is made.
func (l *likeness) near(key string, n int) []int32 {
	memory := l.counting()
	defer counts.Put(memory)
	shared, touched := memory.shared, memory.touched[:0]
	size := 0
	trigrams(key, func(t uint32) {
		size++
		for _, name := range l.posting(t) {
			if shared[name] == 0 {
				touched = append(touched, name)
			}
			shared[name]++
		}
	})
	memory.touched = touched
	var space [MaxCandidates + 1]alike
	best := space[:0]
	for _, name := range touched {
		common, sizes := int(shared[name]), size+int(l.size[name])
		shared[name] = 0
		if leastCommon*common >= sizes {
			share := 2 * float64(common) / float64(sizes) // Dice's coefficient
			best = insert(best, alike{l.owner[name], share, name}, n)
		}
	}
	out := make([]int32, 0, len(best))
	for _, a := range best {
		out = append(out, a.owner)
	}
	return out
}

// alike is a name of a record, and the share of trigrams it has in common with a text.
type alike struct {
	owner int32
	share float64
	name  int32
}

func (a alike) compare(b alike) int {
	return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.name, b.name))
}

// insert keeps the n records most alike, most alike first, each with the name that is most alike. To sort all
// names that share some trigrams would be a third of the work of a look-up.
func insert(best []alike, one alike, n int) []alike {
	if len(best) == n && one.compare(best[n-1]) > 0 {
		return best
	}
	if i := slices.IndexFunc(best, func(a alike) bool { return a.owner == one.owner }); i >= 0 {
		if one.compare(best[i]) > 0 {
			return best
		}
		best = slices.Delete(best, i, i+1)
	}
	at, _ := slices.BinarySearchFunc(best, one, alike.compare)
	best = slices.Insert(best, at, one)
	return best[:min(len(best), n)]
}
