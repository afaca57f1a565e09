package export

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
	"strconv"

	"modeldex/httpapi/rowjson"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
	"github.com/parquet-go/parquet-go/encoding/plain"
)

// A columnBuffer has the values of one column of a row group: those of a page until there are enough for one, and the pages
// before it as they are written. Its memory is used again for any other column.
type columnBuffer struct {
	typ      Type
	nullable bool

	rows    int      // of the row group that have their levels here; the rows behind them are null
	levels  []uint8  // definition levels of the page: what is there of a value; none where all of it always is
	repeats []uint8  // repetition levels: 1 for a text that is in the list of the text before it; of lists alone
	count   int      // values of the page that are not null
	fixed   []byte   // values of numbers and flags, encoded
	indexes []int32  // values of texts, as places in dictionary
	long    textList // values of texts that are not in it

	dictionary dictionary
	spilled    bool // the dictionary is full: later texts are not in it

	written chunk
}

// use makes an empty buffer for a column.
func (b *columnBuffer) use(c *Column) {
	b.typ, b.nullable = c.Type, c.Nullable
	b.reset()
}

// reset makes the buffer empty for the next row group.
func (b *columnBuffer) reset() {
	b.resetPage()
	b.rows, b.spilled = 0, false
	b.dictionary.reset()
	b.written.reset()
}

func (b *columnBuffer) resetPage() {
	b.levels, b.repeats, b.count = b.levels[:0], b.repeats[:0], 0
	b.fixed, b.indexes = b.fixed[:0], b.indexes[:0]
	b.long.reset()
}

// defined is the definition level of a value: one for each of "it is not null" and "the list is not empty".
func (b *columnBuffer) defined() (level uint8) {
	if b.nullable {
		level++
	}
	if b.typ == Texts {
		level++
	}
	return level
}

// fill adds nulls up to a row.
func (b *columnBuffer) fill(row int) {
	if n := row - b.rows; n > 0 {
		b.levels = appendZeros(b.levels, n)
		if b.typ == Texts {
			b.repeats = appendZeros(b.repeats, n)
		}
		b.rows = row
	}
}

func appendZeros(b []uint8, n int) []uint8 {
	b = slices.Grow(b, n)[:len(b)+n]
	clear(b[len(b)-n:])
	return b
}

// add adds the value of a row, which is not null.
func (b *columnBuffer) add(row int, v jsontext.Value) (err error) {
	b.fill(row)
	b.rows++
	if b.typ == Texts {
		return b.addList(v)
	}
	if b.nullable {
		b.levels = append(b.levels, 1)
	}
	switch b.typ {
	case Integer:
		var n int64
		n, err = strconv.ParseInt(string(v), 10, 64)
		b.fixed = binary.LittleEndian.AppendUint64(b.fixed, uint64(n))
	case Number:
		var n float64
		n, err = strconv.ParseFloat(string(v), 64)
		b.fixed = binary.LittleEndian.AppendUint64(b.fixed, math.Float64bits(n))
	case Flag:
		if b.count%8 == 0 {
			b.fixed = append(b.fixed, 0)
		}
		if v[0] == 't' {
			b.fixed[b.count/8] |= 1 << (b.count % 8)
		}
	case Any:
		b.long.add(v)
	default:
		text, plainly := rowjson.Plain(v)
		if !plainly {
			text, err = jsontext.AppendUnquote(nil, v)
		}
		b.addText(text)
	}
	b.count++
	return err
}

// addText adds a text, but not its level.
func (b *columnBuffer) addText(text []byte) {
	if b.spilled {
		b.long.add(text)
		return
	}
	if n := len(b.indexes); n > 0 && bytes.Equal(b.dictionary.at(int(b.indexes[n-1])), text) {
		b.indexes = append(b.indexes, b.indexes[n-1])
		return
	}
	b.indexes = append(b.indexes, b.dictionary.place(text))
}

// addList adds the texts of a list. An empty one has a level, one less than that of a text.
func (b *columnBuffer) addList(v jsontext.Value) error {
	level, texts := b.defined(), 0
	add := func(text []byte) {
		b.levels, b.repeats = append(b.levels, level), append(b.repeats, uint8(min(texts, 1)))
		b.addText(text)
		b.count++
		texts++
	}
	rest := v[1:]
	for len(rest) > 0 && rest[0] == '"' {
		n := rowjson.TextEnd(rest)
		if n == 0 || n == len(rest) || rest[n] != ',' && rest[n] != ']' {
			break
		}
		text, plainly := rowjson.Plain(rest[:n])
		if !plainly {
			var err error
			if text, err = jsontext.AppendUnquote(nil, rest[:n]); err != nil {
				return err
			}
		}
		add(text)
		if rest = rest[n+1:]; v[len(v)-len(rest)-1] == ']' {
			return nil
		}
	}
	return b.addDecoded(v, texts, add)
}

// addDecoded is addList of a list with spaces or without texts, from a place on.
func (b *columnBuffer) addDecoded(v jsontext.Value, from int, add func([]byte)) error {
	var list []string
	if err := jsonv2.Unmarshal(v, &list); err != nil {
		return err
	}
	for _, text := range list[from:] {
		add([]byte(text))
	}
	if len(list) == 0 {
		b.levels, b.repeats = append(b.levels, b.defined()-1), append(b.repeats, 0)
	}
	return nil
}

// full reports whether there is enough for a page.
func (b *columnBuffer) full() bool {
	return len(b.fixed)+len(b.long.bytes)+4*len(b.indexes) >= pageSize || !b.spilled && len(b.dictionary.bytes) > maxDictionary
}

// bounds are the least and the greatest value of the page, encoded as statistics have them; nil where all are null.
func (b *columnBuffer) bounds() (low, high []byte) {
	include := func(v []byte) {
		if low == nil || b.typ.compare(v, low) < 0 {
			low = v
		}
		if high == nil || b.typ.compare(v, high) > 0 {
			high = v
		}
	}
	switch b.typ {
	case Integer, Number:
		for v := range slices.Chunk(b.fixed, 8) {
			include(v)
		}
	case Flag:
		for i := range b.count {
			include(flags[b.fixed[i/8]>>(i%8)&1])
		}
	case Text, Texts:
		for i := range b.dictionary.used(b.indexes) {
			include(b.dictionary.at(i))
		}
		for i := range b.long.len() {
			include(b.long.at(i))
		}
	}
	return low, high
}

var flags = [2][]byte{{0}, {1}}

// compare compares two values as statistics have them.
func (t Type) compare(a, b []byte) int {
	switch t {
	case Integer:
		return cmp.Compare(int64(binary.LittleEndian.Uint64(a)), int64(binary.LittleEndian.Uint64(b)))
	case Number:
		return cmp.Compare(math.Float64frombits(binary.LittleEndian.Uint64(a)), math.Float64frombits(binary.LittleEndian.Uint64(b)))
	default:
		return bytes.Compare(a, b)
	}
}

// textList is texts as a page has them: each behind its length.
type textList struct {
	bytes []byte
	ends  []int // of the texts in bytes
}

func (l *textList) add(text []byte) {
	l.bytes = plain.AppendByteArray(l.bytes, text)
	l.ends = append(l.ends, len(l.bytes))
}

func (l *textList) at(i int) []byte {
	begin := plain.ByteArrayLengthSize
	if i > 0 {
		begin += l.ends[i-1]
	}
	return l.bytes[begin:l.ends[i]:l.ends[i]]
}

func (l *textList) len() int { return len(l.ends) }

func (l *textList) reset() { l.bytes, l.ends = l.bytes[:0], l.ends[:0] }

// dictionary is distinct texts, which can be found. It is a table of open addresses: a map of Go would need a copy of each text,
// and new memory for each file.
type dictionary struct {
	textList
	slots []int32 // place of a text plus one, at its hash or behind it; a power of two of them, half of them 0
	marks []bool  // of used
}

var dictionarySeed = maphash.MakeSeed() // places do not depend on it

const leastSlots = 64

func (d *dictionary) reset() {
	d.textList.reset()
	d.slots = d.slots[:min(len(d.slots), leastSlots)]
	clear(d.slots)
}

// place is the place of a text, which is the next one for a text that is not there yet.
func (d *dictionary) place(text []byte) int32 {
	if 2*d.len() >= len(d.slots) {
		d.grow()
	}
	slot := d.slot(text)
	if d.slots[slot] == 0 {
		d.add(text)
		d.slots[slot] = int32(d.len())
	}
	return d.slots[slot] - 1
}

// slot is where the place of a text is or would be.
func (d *dictionary) slot(text []byte) int {
	last := len(d.slots) - 1
	slot := int(maphash.Bytes(dictionarySeed, text)) & last
	for d.slots[slot] != 0 && !bytes.Equal(d.at(int(d.slots[slot]-1)), text) {
		slot = (slot + 1) & last
	}
	return slot
}

// grow makes the slots twice as many.
func (d *dictionary) grow() {
	n := max(leastSlots, 2*len(d.slots))
	d.slots = slices.Grow(d.slots[:0], n)[:n]
	clear(d.slots)
	for i := range d.len() {
		d.slots[d.slot(d.at(i))] = int32(i) + 1
	}
}

// used gives each of the places among indexes once, in their order.
func (d *dictionary) used(indexes []int32) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		d.marks = slices.Grow(d.marks[:0], d.len())[:d.len()]
		clear(d.marks)
		for _, i := range indexes {
			d.marks[i] = true
		}
		for i, used := range d.marks {
			if used && !yield(i) {
				return
			}
		}
	}
}
