package record

import "hash/maphash"

// A textTable finds texts by their bytes. It is a hash table of its own because looking into a map takes twice as
// long, and a line is a dozen texts. It is for one goroutine.
type textTable[S ~string] struct {
	seed  maphash.Seed
	cells []seenText[S] // a power of two, at most half full
	count int
}

// A seenText is a text that was met, and a value that has it; at is nil if there is none.
type seenText[S ~string] struct {
	text string
	at   *S
}

func newTextTable[S ~string]() *textTable[S] {
	return &textTable[S]{seed: maphash.MakeSeed(), cells: make([]seenText[S], 16)}
}

// find returns the text with the bytes of v.
func (t *textTable[S]) find(v []byte) seenText[S] { return t.cells[t.cell(v)] }

// cell is the number of the cell that has the text, or would have it.
func (t *textTable[S]) cell(v []byte) uint64 {
	last := uint64(len(t.cells) - 1)
	for i := maphash.Bytes(t.seed, v) & last; ; i = (i + 1) & last {
		if c := &t.cells[i]; c.at == nil || c.text == string(v) {
			return i
		}
	}
}

// add adds a text that the table does not have.
func (t *textTable[S]) add(v seenText[S]) {
	if t.count++; t.count > len(t.cells)/2 {
		old := t.cells
		t.cells = make([]seenText[S], 2*len(old))
		for _, c := range old {
			if c.at != nil {
				t.cells[t.cell([]byte(c.text))] = c
			}
		}
	}
	t.cells[t.cell([]byte(v.text))] = v
}
