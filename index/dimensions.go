package index

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"

	"modeldex/dataset"
	"modeldex/dataset/cores"

	"github.com/RoaringBitmap/roaring/v2"
)

// dimensions are what statistics group benchmarks by and compare them by. They have an order of
// their own: a place is a record's number in the order of hardware, then of generation speed. Records of one piece
// of hardware, of one page, or of nearly the same speed are then at few parts of memory.
type dimensions struct {
	codes    *codes   // of the fields with the uses Groups and Setting, and Settings
	settings []Field  // the fields with the use Setting
	pages    []uint32 // by place: which source page, from 1; 0: none
	// repeats are numbers from 1, equal for places with the same page that agree on what was measured and how:
	// model, hardware, settings, and whether it is a single stream. 0: no other place agrees.
	repeats []uint32
	// samePage are the records of each page that has several, and those without a page; sameRepeat those of each repeat.
	samePage, sameRepeat runs
	withdrawn            *roaring.Bitmap // records that no statistics count; nil for none
	metrics              map[Field]metricOrder
}

// metricOrder is the records with a value of a metric that were not withdrawn, and their places in order of the value.
type metricOrder struct {
	known     *roaring.Bitmap
	ascending []uint32
}

// Text is the value of a field of a benchmark that statistics group or compare by, empty where it is unknown. It
// is read without the row, which takes microseconds to decode.
func (t *Table) Text(f Field, ord uint32) string {
	c := t.dimensions.codes
	s := c.slots[f]
	return s.value(s.code(c.words[s.word][c.places[ord]]))
}

// SourcePage is the number of the source page of a benchmark, 0 where it has none. Equal pages have equal numbers.
func (t *Table) SourcePage(ord uint32) uint32 {
	return t.dimensions.pages[t.dimensions.codes.places[ord]]
}

// codedFields are the fields that dimensions have codes of.
func codedFields() (fields []Field) {
	for _, f := range BenchmarkFields {
		if f.Is(Setting) || f.Is(Groups) || f.Name == Settings {
			fields = append(fields, f.Name)
		}
	}
	return fields
}

// newDimensions makes the dimensions of a table with postings, or shares those of prev where they
// are the same. known are codes of fields that are known already, see newCodes.
func (b *benchmarkBuilder) newDimensions(t, prev *Table, known map[Field][]uint32) *dimensions {
	d := &dimensions{withdrawn: t.postings[Settings].byValue[withdrawn]}
	var metrics []Field
	for _, f := range BenchmarkFields {
		if f.Is(Setting) {
			d.settings = append(d.settings, f.Name)
		}
		if f.Is(Metric) {
			metrics = append(metrics, f.Name)
		}
	}
	speeds := t.columns[GenerationTPS]
	if prev != nil && prev.columns[GenerationTPS] == speeds && prev.dimensions.codes.samePostings(t) {
		d.codes = prev.dimensions.codes
	} else {
		d.codes, prev = newCodes(t, Hardware, speeds, b.coded, known), nil // other places: nothing can be shared
	}
	var workers cores.Group
	workers.Go(func() { // one table of hashes after the other, so one goroutine: beside the orders of metrics
		if prev != nil && b.samePages {
			d.pages, d.samePage = prev.dimensions.pages, prev.dimensions.samePage
			d.repeats, d.sameRepeat = prev.dimensions.repeats, prev.dimensions.sameRepeat
			return
		}
		var numPages, numRepeats int
		d.pages, numPages = b.sourcePages().inOrderOf(d.codes.ords)
		d.samePage = newRuns(d.pages, 0, numPages)
		d.repeats, numRepeats = d.newRepeats()
		d.sameRepeat = newRuns(d.repeats, 1, numRepeats)
	})
	d.sortMetrics(t, prev, metrics)
	workers.Wait()
	return d
}

// sortMetrics sets the orders of all metrics, or shares those of prev, which has the same postings, whose column is the same.
func (d *dimensions) sortMetrics(t, prev *Table, metrics []Field) {
	orders := make([]metricOrder, len(metrics))
	var workers cores.Group
	for i, f := range metrics {
		if prev != nil && prev.columns[f] == t.columns[f] {
			orders[i] = prev.dimensions.metrics[f]
			continue
		}
		workers.Go(func() { orders[i] = d.metricOrder(t.columns[f]) })
	}
	workers.Wait()
	d.metrics = make(map[Field]metricOrder, len(metrics))
	for i, f := range metrics {
		d.metrics[f] = orders[i]
	}
}

// metricOrder finds the records with a value of a column.
func (d *dimensions) metricOrder(col *column) metricOrder {
	ords, known := col.inAscending()
	out, bits := metricOrder{ascending: make([]uint32, 0, known)}, newBitset(len(col.nums))
	for _, ord := range ords[:known] {
		if d.withdrawn == nil || !d.withdrawn.Contains(ord) {
			out.ascending = append(out.ascending, d.codes.places[ord])
			bits.add(ord)
		}
	}
	out.known = compact(roaring.FromDense(bits, true))
	return out
}

// runs are places that have something in common, those of one run after those of another.
type runs struct {
	places []uint32
	ends   []uint32 // by run
}

// newRuns puts places together that have the same number, in the order of numbers, then of places. Numbers that are
// not from first to last, and those that one place has, are in no run.
func newRuns(numbers []uint32, first, last int) (out runs) {
	next := make([]uint32, last+1) // by number: how many places, then where the next one goes
	for _, number := range numbers {
		next[number]++
	}
	const alone = math.MaxUint32
	size := uint32(0)
	for number, times := range next {
		if next[number] = size; number < first || times < 2 {
			next[number] = alone
			continue
		}
		size += times
		out.ends = append(out.ends, size)
	}
	out.ends, out.places = slices.Clip(out.ends), make([]uint32, size)
	for place, number := range numbers {
		if at := next[number]; at != alone {
			out.places[at] = uint32(place)
			next[number]++
		}
	}
	return out
}

// each calls do with every run.
func (r *runs) each(do func(run int, places []uint32)) {
	from := uint32(0)
	for run, to := range r.ends {
		do(run, r.places[from:to])
		from = to
	}
}

// sourcePages are numbers of the source pages of all records.
type sourcePages struct {
	byOrd []uint32 // from 1; 0: none
	n     int      // the last number
}

// newSourcePages numbers the source pages of records in the order they are first met.
func newSourcePages(records *dataset.Pack) *sourcePages {
	seed := maphash.MakeSeed()
	byOrd, n := numberDistinct(records.Len(), func(i int) (hash uint64, ok bool) {
		if url := records.At(i).SourceURL; url != nil {
			return maphash.String(seed, string(*url)), true
		}
		return 0, false
	}, func(i, k int) bool { return *records.At(i).SourceURL == *records.At(k).SourceURL })
	return &sourcePages{byOrd, n}
}

// inOrderOf numbers them by place, in the order they are first met at places, so that the pages of one piece of
// hardware have numbers that are close together. ords are the records by place.
func (p *sourcePages) inOrderOf(ords []uint32) (pages []uint32, n int) {
	numbers, next := make([]uint32, p.n+1), uint32(0)
	pages = make([]uint32, len(ords))
	for place, ord := range ords {
		page := p.byOrd[ord]
		if page != 0 && numbers[page] == 0 {
			next++
			numbers[page] = next
		}
		pages[place] = numbers[page]
	}
	return pages, p.n
}

// newRepeats numbers the pages and configurations of all places. A place that is alone on its page repeats nothing.
func (d *dimensions) newRepeats() (repeats []uint32, n int) {
	configuration := d.codes.bits(append([]Field{Model, Hardware, Settings}, d.settings...)...)
	inCompany := newBitset(len(d.pages))
	inCompany.addAll(d.samePage.places)
	seed, key := maphash.MakeSeed(), make([]byte, 0, 8*(1+len(configuration)))
	return onlyRepeated(numberDistinct(len(d.pages), func(place int) (uint64, bool) {
		if !inCompany.has(uint32(place)) {
			return 0, false
		}
		key = binary.NativeEndian.AppendUint64(key[:0], uint64(d.pages[place]))
		for w, bits := range configuration {
			key = binary.NativeEndian.AppendUint64(key, d.codes.words[w][place]&bits)
		}
		return maphash.Bytes(seed, key), true
	}, func(a, b int) bool {
		differ := uint64(d.pages[a] ^ d.pages[b])
		for w, bits := range configuration {
			differ |= (d.codes.words[w][a] ^ d.codes.words[w][b]) & bits
		}
		return differ == 0
	}))
}

// onlyRepeated numbers things with numbers that others have too from 1, and sets the numbers of all others to 0, which
// is that of things without one.
func onlyRepeated(numbers []uint32, n int) ([]uint32, int) {
	renumbered := make([]uint32, n+1)
	for _, number := range numbers {
		renumbered[number]++
	}
	repeated := uint32(0)
	for number, times := range renumbered {
		if renumbered[number] = 0; times > 1 && number > 0 {
			repeated++
			renumbered[number] = repeated
		}
	}
	for i, number := range numbers {
		numbers[i] = renumbered[number]
	}
	return numbers, int(repeated)
}

// numberDistinct numbers n things from 1 in the order they are first met, equal ones with the same
// number; a thing whose hash is not ok has number 0. The hash table has the number of a thing and half of its hash
// instead of its text: a fifth of the cost of a map of a million texts. Only things with equal halves are compared, which
// are nearly always equal.
func numberDistinct(n int, hash func(i int) (h uint64, ok bool), same func(i, k int) bool) (numbers []uint32, distinct int) {
	type cell struct{ half, number uint32 } // number 0: empty
	numbers = make([]uint32, n)
	size := 8
	for size*2 < n*3 {
		size *= 2
	}
	cells := make([]cell, size)
	var firsts []uint32 // by number - 1
	for i := range numbers {
		h, ok := hash(i)
		if !ok {
			continue
		}
		half, at := uint32(h>>32), h&uint64(size-1)
		for cells[at].number != 0 && (cells[at].half != half || !same(i, int(firsts[cells[at].number-1]))) {
			at = (at + 1) & uint64(size-1)
		}
		if cells[at].number == 0 {
			firsts = append(firsts, uint32(i))
			cells[at] = cell{half, uint32(len(firsts))}
		}
		numbers[i] = cells[at].number
	}
	return numbers, len(firsts)
}
