package index

import (
	"encoding/binary"
	"hash/maphash"

	"modeldex/dataset"
	"modeldex/dataset/cores"
)

// dimensions are what statistics group benchmarks by and compare them by. They have an order of
// their own: a place is a record's number in the order of hardware, then of generation speed. Statistics
// read every matching record, most of them by hardware and in order of speed, and so read memory from its
// start to its end.
type dimensions struct {
	codes    *codes   // of the fields with the uses Groups and Setting, and Settings
	settings []Field  // the fields with the use Setting
	pages    []uint32 // by place: which source page, from 1; 0: none
	numPages int
	// repeats are equal for places with the same page that say the same of what was measured and how:
	// model, hardware, settings, and whether they are those of a single stream. From 1; 0: no other place does.
	repeats    []uint32
	numRepeats int
	metrics    map[Field]metricOrder
}

// metricOrder is the records with a value of a metric in order of hardware, then of value. Groups of one
// hardware then have their values in order already, and all are read from the start of memory to its end.
type metricOrder struct {
	places []uint32
	values []float64
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

// newDimensions makes the dimensions of a table with postings, or shares those of prev where they
// are the same.
func (b *benchmarkBuilder) newDimensions(t, prev *Table) *dimensions {
	d := &dimensions{}
	var fields, metrics []Field
	for _, f := range BenchmarkFields {
		if f.Is(Setting) {
			d.settings = append(d.settings, f.Name)
		}
		if f.Is(Setting) || f.Is(Groups) || f.Name == Settings {
			fields = append(fields, f.Name)
		}
		if f.Is(Metric) {
			metrics = append(metrics, f.Name)
		}
	}
	speeds := t.columns[GenerationTPS]
	if prev != nil && prev.columns[GenerationTPS] == speeds && prev.dimensions.codes.samePostings(t) {
		d.codes = prev.dimensions.codes
	} else {
		d.codes, prev = newCodes(t, Hardware, speeds, fields), nil // other places: nothing can be shared
	}
	if prev != nil && b.samePages {
		d.pages, d.numPages = prev.dimensions.pages, prev.dimensions.numPages
		d.repeats, d.numRepeats = prev.dimensions.repeats, prev.dimensions.numRepeats
	} else {
		d.pages, d.numPages = pagesOf(b.records, d.codes.ords)
		d.repeats, d.numRepeats = d.newRepeats()
	}
	d.sortMetrics(t, prev, metrics)
	return d
}

// sortMetrics sets the orders of all metrics, or shares those of prev whose column is the same.
func (d *dimensions) sortMetrics(t, prev *Table, metrics []Field) {
	orders := make([]metricOrder, len(metrics))
	var workers cores.Group
	for i, f := range metrics {
		if prev != nil && prev.columns[f] == t.columns[f] {
			orders[i] = prev.dimensions.metrics[f]
			continue
		}
		workers.Go(func() { orders[i] = d.codes.sortMetric(t.columns[f], Hardware) })
	}
	workers.Wait()
	d.metrics = make(map[Field]metricOrder, len(metrics))
	for i, f := range metrics {
		d.metrics[f] = orders[i]
	}
}

// sortMetric sorts the records with a value by a field, then by value.
func (c *codes) sortMetric(col *column, by Field) metricOrder {
	ords, known := col.inAscending()
	s := c.slots[by]
	words, next := c.words[s.word], make([]int, s.size()+1)
	for _, ord := range ords[:known] {
		next[s.code(words[c.places[ord]])+1]++
	}
	for code := range s.size() {
		next[code+1] += next[code]
	}
	out := metricOrder{make([]uint32, known), make([]float64, known)}
	for _, ord := range ords[:known] {
		place := c.places[ord]
		at := &next[s.code(words[place])]
		out.places[*at], out.values[*at] = place, col.nums[ord]
		*at++
	}
	return out
}

// pagesOf numbers the source pages of records in the order they are first met at places, so that the
// pages of one piece of hardware have numbers that are close together. ords are the records by place.
func pagesOf(records *dataset.Pack, ords []uint32) (pages []uint32, n int) {
	read, other, seed := records.Reader(), records.Reader(), maphash.MakeSeed()
	byOrd, n := numberDistinct(records.Len(), func(i int) (hash uint64, ok bool) {
		if url := read.At(i).SourceURL; url != nil {
			return maphash.String(seed, string(*url)), true
		}
		return 0, false
	}, func(i, k int) bool { return *read.At(i).SourceURL == *other.At(k).SourceURL })
	numbers, next := make([]uint32, n+1), uint32(0)
	pages = make([]uint32, len(ords))
	for place, ord := range ords {
		page := byOrd[ord]
		if page != 0 && numbers[page] == 0 {
			next++
			numbers[page] = next
		}
		pages[place] = numbers[page]
	}
	return pages, n
}

// newRepeats numbers the pages and configurations of all places.
func (d *dimensions) newRepeats() (repeats []uint32, n int) {
	configuration := d.codes.bits(append([]Field{Model, Hardware, Settings}, d.settings...)...)
	seed, key := maphash.MakeSeed(), make([]byte, 0, 8*(1+len(configuration)))
	return onlyRepeated(numberDistinct(len(d.pages), func(place int) (uint64, bool) {
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

// onlyRepeated numbers things with numbers that others have too from 1, and sets the numbers of all others to 0.
func onlyRepeated(numbers []uint32, n int) ([]uint32, int) {
	renumbered := make([]uint32, n+1)
	for _, number := range numbers {
		renumbered[number]++
	}
	repeated := uint32(0)
	for number, times := range renumbered {
		if renumbered[number] = 0; times > 1 {
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
// number; a thing whose hash is not ok has number 0. The hash table has the number of a thing instead
// of its text, which is a fifth of the cost of a map of a million texts.
func numberDistinct(n int, hash func(i int) (h uint64, ok bool), same func(i, k int) bool) (numbers []uint32, distinct int) {
	type cell struct{ number, first uint32 } // number 0: empty
	numbers = make([]uint32, n)
	size := 8
	for size*2 < n*3 {
		size *= 2
	}
	cells := make([]cell, size)
	for i := range numbers {
		h, ok := hash(i)
		if !ok {
			continue
		}
		at := h & uint64(size-1)
		for cells[at].number != 0 && !same(i, int(cells[at].first)) {
			at = (at + 1) & uint64(size-1)
		}
		if cells[at].number == 0 {
			distinct++
			cells[at] = cell{uint32(distinct), uint32(i)}
		}
		numbers[i] = cells[at].number
	}
	return numbers, distinct
}
