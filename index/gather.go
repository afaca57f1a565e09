package index

import (
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"

	"modeldex/dataset/cores"
)

// gathered is the numbers and texts of all records, by field, and which values they have.
type gathered struct {
	nums      [][]float64 // nil for fields without numbers
	texts     [][]string  // nil for fields that are not sorted by as texts
	gathering []gathering // of fields with a posting
}

// gatherBlock is how many records are read at a time for one field after the other: few enough that they
// stay in the cache of a core.
const gatherBlock = 512

// gather reads all records on all cores. The blocks of a field are read in order, each by the worker that comes first:
// some fields take many times as long as others.
func (b *builder[R]) gather() *gathered {
	g := &gathered{
		nums: make([][]float64, len(b.fields)), texts: make([][]string, len(b.fields)), gathering: make([]gathering, len(b.fields)),
	}
	for i := range b.fields {
		f := &b.fields[i]
		switch f.kind() {
		case Number, Date:
			if g.nums[i] = b.known[f.Name]; g.nums[i] == nil {
				g.nums[i] = make([]float64, b.n)
			}
		case Text:
			if f.Uses&Sorts != 0 {
				g.texts[i] = make([]string, b.n)
			}
		}
		if f.hasPosting() {
			g.gathering[i] = gathering{numbers: make([]uint32, 0, b.n), coded: slices.Contains(b.coded, f.Name)}
		}
	}
	turns, size := make([]turn, len(b.fields)), cores.Size()
	var workers cores.Group
	for worker := range size {
		workers.Go(func() {
			read, first := b.reader(), worker*len(b.fields)/size
			for from := 0; from < b.n && b.ctx.Err() == nil; from += gatherBlock {
				recs := read(from, min(from+gatherBlock, b.n))
				for i := range b.fields {
					field := (first + i) % len(b.fields)
					if turns[field].take(from) {
						b.gatherField(g, field, recs, from)
						turns[field].next(from + gatherBlock)
					}
				}
			}
		})
	}
	workers.Wait()
	return g
}

// codes are the codes of the coded fields, once they have postings.
func (b *builder[R]) codes(g *gathered) map[Field][]uint32 {
	out := make(map[Field][]uint32, len(b.coded))
	for i := range b.fields {
		if codes := g.gathering[i].codes; codes != nil {
			out[b.fields[i].Name] = codes
		}
	}
	return out
}

// A turn is the first record of the block of a field that is to be read next, and whether a worker reads it. The worker
// that read the block before comes to every later one, so that none is left out.
type turn struct{ from atomic.Int64 }

// reading is added while the block is read.
const reading = 1

// take takes the block that begins with a record, if it is the next one and no other worker has it.
func (t *turn) take(from int) bool { return t.from.CompareAndSwap(int64(from), int64(from)+reading) }

// next makes the block that begins with a record the next one.
func (t *turn) next(from int) { t.from.Store(int64(from)) }

// gatherField reads one field of consecutive records, of which the first has the ordinal from.
func (b *builder[R]) gatherField(g *gathered, field int, recs []R, from int) {
	f := &b.fields[field]
	if b.known[f.Name] != nil {
		return
	}
	if nums := g.nums[field]; nums != nil {
		for i := range recs {
			nums[from+i] = f.number(&recs[i])
		}
		return
	}
	if texts := g.texts[field]; texts != nil {
		for i := range recs {
			texts[from+i] = f.Text(&recs[i])
		}
	}
	if f.hasPosting() {
		gatherValues(&g.gathering[field], f, recs, from)
	}
}

// gatherValues adds the values of a field that a posting finds.
func gatherValues[R any](g *gathering, f *FieldOf[R], recs []R, from int) {
	switch {
	case f.Text != nil:
		for i := range recs {
			g.add(g.text(f.Text(&recs[i])))
		}
	case f.Texts != nil:
		for i := range recs {
			g.addAll(uint32(from+i), f.Texts(&recs[i]))
		}
	case f.Flag != nil:
		for i := range recs {
			if v := f.Flag(&recs[i]); v != nil {
				g.add(g.text(strconv.FormatBool(*v)))
			} else {
				g.add(0)
			}
		}
	case f.Count != nil:
		for i := range recs {
			if v := f.Count(&recs[i]); v != nil {
				g.add(g.count(*v))
			} else {
				g.add(0)
			}
		}
	}
}

// A gathering is the values of one field of all records. It numbers them from 1 in the order they are first
// met; 0 is unknown. It is for one goroutine.
type gathering struct {
	numbers []uint32 // of the values of the first record, then of the second, and so on
	ords    []uint32 // the record of each; nil: every record has one, so that they are in order
	values  []string // by number - 1

	coded   bool              // the code of each record will be needed
	codes   []uint32          // of all records, once there is a posting
	byText  map[string]uint32 // numbers
	byCount map[int64]uint32  // of whole numbers
	// Values that were met lately, by a few of their bits. Most texts share their memory with an earlier one,
	// and comparing two such texts costs a third of a look-up in a map.
	recentTexts [256]struct {
		text   string
		number uint32 // 0: empty
	}
	recentCounts [256]struct {
		count  int64
		number uint32
	}
}

// add adds the value of a field with one value per record.
func (g *gathering) add(number uint32) { g.numbers = append(g.numbers, number) }

// addAll adds the values of a record, of a field that may have several.
func (g *gathering) addAll(ord uint32, values []string) {
	known := false
	for _, v := range values {
		if number := g.text(v); number != 0 {
			known = true
			g.numbers, g.ords = append(g.numbers, number), append(g.ords, ord)
		}
	}
	if !known {
		g.numbers, g.ords = append(g.numbers, 0), append(g.ords, ord)
	}
}

// text is the number of a text; that of the empty one, which is unknown, is 0.
func (g *gathering) text(v string) uint32 {
	if v == "" {
		return 0
	}
	n := len(v)
	met := &g.recentTexts[uint8(n+3*int(v[0])+5*int(v[n/2])+7*int(v[n-1]))]
	if met.number != 0 && met.text == v {
		return met.number
	}
	number, known := g.byText[v]
	if !known {
		if g.byText == nil {
			g.byText = map[string]uint32{}
		}
		g.values = append(g.values, strings.Clone(v)) // v may be part of a longer text, which it would keep in memory
		number = uint32(len(g.values))
		g.byText[g.values[number-1]] = number
	}
	met.text, met.number = v, number
	return number
}

// count is the number of a whole number.
func (g *gathering) count(v int64) uint32 {
	met := &g.recentCounts[uint8(v^v>>8)]
	if met.number != 0 && met.count == v {
		return met.number
	}
	number, known := g.byCount[v]
	if !known {
		if g.byCount == nil {
			g.byCount = map[int64]uint32{}
		}
		g.values = append(g.values, countText(v))
		number = uint32(len(g.values))
		g.byCount[v] = number
	}
	met.count, met.number = v, number
	return number
}

// posting makes the posting of the field, of whole numbers or not, in a table of n records. It ends the gathering,
// of which only codes are left.
func (g *gathering) posting(n int, whole bool, memory *fieldMemory) *posting {
	ords, ends := g.byNumber(memory)
	bits := bitset(zeroed((*[]uint64)(&memory.bits), (n+63)/64))
	out := &posting{n: n, byValue: make(map[string]*roaring.Bitmap, len(g.values)), unknown: bitmapOf(ords[:ends[0]], bits)}
	sets := make([]*roaring.Bitmap, len(g.values))
	for i, v := range g.values {
		sets[i] = bitmapOf(ords[ends[i]:ends[i+1]], bits)
		out.byValue[v] = sets[i]
	}
	order := g.inOrder()
	for _, i := range order {
		out.add(g.values[i], sets[i])
	}
	if whole {
		out.parse()
	}
	*g = gathering{codes: g.codesIn(order)} // other fields have not begun yet, and need the memory
	return out
}

// inOrder is the places of all values in sorted order.
func (g *gathering) inOrder() []uint32 {
	order := make([]uint32, len(g.values))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return strings.Compare(g.values[a], g.values[b]) })
	return order
}

// codesIn are the codes of all records, see codes, in the memory of their numbers; nil if nothing needs them. order is
// the places of values in sorted order.
func (g *gathering) codesIn(order []uint32) []uint32 {
	if !g.coded {
		return nil
	}
	codes := make([]uint32, len(order)+1) // by number
	codes[0] = uint32(len(order))
	for code, i := range order {
		codes[i+1] = uint32(code)
	}
	for ord, number := range g.numbers {
		g.numbers[ord] = codes[number]
	}
	return g.numbers
}

// byNumber returns the records of each value, in the order of numbers, and where those of each number end. The records
// are in memory, until it is used again.
func (g *gathering) byNumber(memory *fieldMemory) (ords, ends []uint32) {
	next := make([]uint32, len(g.values)+2) // by number + 1: where its next record goes
	for _, number := range g.numbers {
		next[number+1]++
	}
	for number := range g.values {
		next[number+1] += next[number]
	}
	ords = sized(&memory.ords, len(g.numbers))
	for i, number := range g.numbers {
		ord := uint32(i)
		if g.ords != nil {
			ord = g.ords[i]
		}
		ords[next[number]] = ord
		next[number]++
	}
	return ords, next[:len(g.values)+1]
}

// bitmapOf is the bitmap of some ordinals in ascending order. bits has one for every record, and is empty
// before and after. Adding an ordinal to a set looks for its container; of a value that many records have,
// setting bits and reading them once takes a tenth of that.
func bitmapOf(ords []uint32, bits bitset) *roaring.Bitmap {
	const many = 16 // words of 64 bits for each ordinal: reading them costs no more than adding one, and leaves no room unused
	if len(ords)*many < len(bits) {
		set := roaring.New()
		set.AddMany(ords)
		return compact(set)
	}
	bits.addAll(ords)
	set := compact(roaring.FromDense(bits, true))
	clear(bits)
	return set
}
