package dataset

// firsts finds the first of equal things among many, by number. It is a hash table of numbers: a map of a million
// ids takes three times as long and as much memory, one of measurements thirty times as much. It is for one goroutine.
type firsts struct {
	cells []firstCell // a power of two, at most two thirds full
}

type firstCell struct {
	hash   uint32 // its upper half
	number uint32 // + 1; 0: empty
}

// newFirsts returns a table for up to n things.
func newFirsts(n int) *firsts {
	size := 8
	for size*2 < n*3 {
		size *= 2
	}
	return &firsts{make([]firstCell, size)}
}

// first returns the number of the first thing that was given and equals thing i, which is i itself if there was
// none before. hash is equal for equal things; same reports whether thing i equals thing k.
func (f *firsts) first(i int, hash uint64, same func(k int) bool) int {
	last := uint64(len(f.cells) - 1)
	for at := hash & last; ; at = (at + 1) & last {
		switch c := &f.cells[at]; {
		case c.number == 0:
			*c = firstCell{uint32(hash >> 32), uint32(i) + 1}
			return i
		case c.hash == uint32(hash>>32) && same(int(c.number-1)):
			return int(c.number - 1)
		}
	}
}
