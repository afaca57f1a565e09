package index

import (
	"math/bits"

	"modeldex/dataset/cores"
)

// codes are the values of some fields of every record as small numbers, several of them packed in each
// 64-bit word. Statistics read every matching record, and read this instead of texts or bitmaps. They
// also say which fields are equal in all records of a group. The XOR of a record with the first one has
// a bit wherever the two differ. The OR of all these has none in an equal field.
//
// Code c of a field is value c in sorted order; the code after the last is unknown. So codes are in
// the order of keys.
//
// Words are in an order of their own, see newCodes. A record's number in this order is its place.
type codes struct {
	slots  map[Field]slot
	words  [][]uint64 // by number of the word, then by place
	ords   []uint32   // by place: the ordinal
	places []uint32   // by ordinal: the place
}

// A slot is where the code of a field is in the words.
type slot struct {
	p     *posting
	word  int
	shift int
	mask  uint64 // of the code, not shifted
}

// newCodes packs fields that have one value per record at most, in the order of one of them and of a
// column, unknown values last. known are codes of all records by field, where they are known already.
func newCodes(t *Table, field Field, col *column, fields []Field, known map[Field][]uint32) *codes {
	c := &codes{slots: make(map[Field]slot, len(fields)), ords: make([]uint32, t.n), places: make([]uint32, t.n)}
	codes := func(f Field, memory *[]uint32) []uint32 {
		if codes := known[f]; codes != nil {
			return codes
		}
		return t.postings[f].codes(memory)
	}
	c.order(t.postings[field], codes(field, new([]uint32)), col)
	used := 64 // bits of the last word
	for _, f := range fields {
		p := t.postings[f]
		size := max(1, bits.Len(uint(len(p.values))))
		if used+size > 64 {
			c.words, used = append(c.words, make([]uint64, t.n)), 0
		}
		c.slots[f] = slot{p, len(c.words) - 1, used, 1<<size - 1}
		used += size
	}
	var workers cores.Group
	for word := range c.words { // one goroutine per word: no two write the same memory
		workers.Go(func() {
			var memory []uint32
			byOrd := make([]uint64, t.n) // first, because the ordinals of a value follow each other in memory
			for f, s := range c.slots {
				if s.word == word {
					for ord, code := range codes(f, &memory) {
						byOrd[ord] |= uint64(code) << s.shift
					}
				}
			}
			for place, ord := range c.ords {
				c.words[word][place] = byOrd[ord]
			}
		})
	}
	workers.Wait()
	return c
}

// order gives each record its place: by code of a field, then by number.
func (c *codes) order(by *posting, codes []uint32, col *column) {
	next := make([]uint32, len(by.values)+2) // by code: where its next record goes
	for code, n := range by.counts {
		next[code+1] = next[code] + n
	}
	ords, _ := col.inAscending()
	for _, ord := range ords {
		place := &next[codes[ord]]
		c.ords[*place], c.places[ord] = ord, *place
		*place++
	}
}

// codes are the codes of all records, of which each has one value at most, in memory until it is used again.
func (p *posting) codes(memory *[]uint32) []uint32 {
	codes, unknown := sized(memory, p.n), uint32(len(p.values))
	for ord := range codes {
		codes[ord] = unknown
	}
	var read batches
	for code, v := range p.values {
		read.each(p.byValue[v], func(ords []uint32) {
			for _, ord := range ords {
				codes[ord] = uint32(code)
			}
		})
	}
	return codes
}

// bits selects the bits of some fields in each word.
func (c *codes) bits(fields ...Field) []uint64 {
	out := make([]uint64, len(c.words))
	for _, f := range fields {
		s := c.slots[f]
		out[s.word] |= s.mask << s.shift
	}
	return out
}

// samePostings reports whether the fields have the values they had.
func (c *codes) samePostings(t *Table) bool {
	for f, s := range c.slots {
		if t.postings[f] != s.p {
			return false
		}
	}
	return true
}

// code is the code of a field in its word.
func (s slot) code(word uint64) uint32 { return uint32(word >> s.shift & s.mask) }

// differs reports whether a field differs between records, by the OR of the XOR of their words.
func (s slot) differs(xor []uint64) bool { return xor[s.word]>>s.shift&s.mask != 0 }

// slotsOf are the slots of fields.
func (c *codes) slotsOf(fields []Field) []slot {
	out := make([]slot, len(fields))
	for i, f := range fields {
		out[i] = c.slots[f]
	}
	return out
}

// size is how many codes there are, that of unknown included.
func (s slot) size() int { return len(s.p.values) + 1 }

// value is the value of a code, empty for unknown.
func (s slot) value(code uint32) string {
	if int(code) == len(s.p.values) {
		return ""
	}
	return s.p.values[code]
}

// known reports whether the code is that of a value.
func (s slot) known(code uint32) bool { return int(code) < len(s.p.values) }
