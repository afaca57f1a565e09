package index

import (
	"cmp"
	"hash/maphash"

	"modeldex/dataset"
)

// dimensions are what statistics group benchmarks by and compare them by.
type dimensions struct {
	codes    *codes  // of the fields with the uses Groups and Setting, and Settings
	settings []Field // the fields with the use Setting
	// configuration selects the bits of the codes that say what was measured and how: model, hardware,
	// settings, and whether they are those of a single stream.
	configuration []uint64
	pages         []uint32 // by ordinal: which source page, from 1; 0: none
	numPages      int
}

// newDimensions makes the dimensions of a table with postings, or shares those of prev where they
// are the same.
func (b *benchmarkBuilder) newDimensions(t, prev *Table) *dimensions {
	d := &dimensions{}
	var fields []Field
	for _, f := range BenchmarkFields {
		if f.Is(Setting) {
			d.settings = append(d.settings, f.Name)
		}
		if f.Is(Setting) || f.Is(Groups) || f.Name == Settings {
			fields = append(fields, f.Name)
		}
	}
	if prev != nil && prev.dimensions.codes.samePostings(t) {
		d.codes = prev.dimensions.codes
	} else {
		d.codes = newCodes(t, fields)
	}
	d.configuration = make([]uint64, len(d.codes.words))
	for _, f := range append([]Field{Model, Hardware, Settings}, d.settings...) {
		slot := d.codes.slots[f]
		d.configuration[slot.word] |= slot.mask << slot.shift
	}
	if prev != nil && b.samePages {
		d.pages, d.numPages = prev.dimensions.pages, prev.dimensions.numPages
	} else {
		d.pages, d.numPages = pagesOf(b.records)
	}
	return d
}

// compareConfigurations orders two records by what was measured and how; 0 if both are the same.
func (d *dimensions) compareConfigurations(a, b uint32) int {
	for i, bits := range d.configuration {
		words := d.codes.words[i]
		if c := cmp.Compare(words[a]&bits, words[b]&bits); c != 0 {
			return c
		}
	}
	return 0
}

// pagesOf numbers the source pages in the order they are first met. The hash table has the number
// of a record instead of its text, which is a fifth of the cost of a map of a million texts.
func pagesOf(records *dataset.Pack) (pages []uint32, n int) {
	type cell struct{ page, record uint32 } // page 0: empty
	pages = make([]uint32, records.Len())
	size := 8
	for size*2 < len(pages)*3 {
		size *= 2
	}
	cells, seed, read := make([]cell, size), maphash.MakeSeed(), records.Reader()
	for i := range pages {
		url := read.At(i).SourceURL
		if url == nil {
			continue
		}
		at := maphash.String(seed, string(*url)) & uint64(size-1)
		for cells[at].page != 0 && *read.At(int(cells[at].record)).SourceURL != *url {
			at = (at + 1) & uint64(size-1)
		}
		if cells[at].page == 0 {
			n++
			cells[at] = cell{uint32(n), uint32(i)}
		}
		pages[i] = cells[at].page
	}
	return pages, n
}
