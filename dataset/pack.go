package dataset

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"strings"
	"unsafe"
)

// A Pack holds benchmarks, each as a short string of bytes from which it is made again when
// somebody looks: about 90, where a decoded record with all it points to takes 450, and nothing
// the garbage collector has to walk. Texts that repeat stand once beside the bytes, see
// vocabulary. Making a record takes 0.2 microseconds.
//
// A Pack is not changed once it is made; all methods are safe for concurrent use. The zero value
// is empty.
type Pack struct {
	blocks []packBlock
	words  vocabulary
	n      int
}

// packBlock is up to packRows records in one allocation.
type packBlock struct {
	data []byte
	ends []uint32 // where a record ends in data
}

const packRows = 1024

// NewPack packs records in the order given.
func NewPack(recs []Benchmark) Pack {
	d := newDictionary(nil)
	p := packer{dict: d}
	for i := range recs {
		p.record(&recs[i])
	}
	return newPack(len(recs), 1, p.at, d.vocabulary())
}

// newPack copies n packed records, block by block on so many cores.
func newPack(n, workers int, rec func(i int) []byte, t vocabulary) Pack {
	p := Pack{blocks: make([]packBlock, (n+packRows-1)/packRows), words: t, n: n}
	parallel(workers, len(p.blocks), func(i int) {
		p.blocks[i].copy(i*packRows, min((i+1)*packRows, n), rec)
	})
	return p
}

func (b *packBlock) copy(from, to int, rec func(i int) []byte) {
	recs, size := make([][]byte, 0, packRows), 0
	for i := from; i < to; i++ {
		recs = append(recs, rec(i))
		size += len(recs[i-from])
	}
	b.data, b.ends = make([]byte, 0, size), make([]uint32, 0, to-from)
	for _, r := range recs {
		b.data = append(b.data, r...)
		b.ends = append(b.ends, uint32(len(b.data)))
	}
}

func (b *packBlock) at(i int) []byte {
	start := uint32(0)
	if i > 0 {
		start = b.ends[i-1]
	}
	return b.data[start:b.ends[i]:b.ends[i]]
}

func (p *Pack) packed(i int) []byte { return p.blocks[i/packRows].at(i % packRows) }

// Len is the number of records.
func (p *Pack) Len() int { return p.n }

// ID returns the id of a record. It keeps a part of the pack alive.
func (p *Pack) ID(i int) Slug { return idOf(p.packed(i)) }

// At returns a record, which may be kept. What it points to may be shared with other records and
// must not be changed; its texts keep a part of the pack alive.
func (p *Pack) At(i int) *Benchmark { return new(unpacker).read(p.packed(i), p.words) }

// All returns all records.
func (p *Pack) All() []Benchmark {
	out := make([]Benchmark, p.n)
	for i := range out {
		out[i] = *p.At(i)
	}
	return out
}

// A Reader makes records of a pack, each in the memory of the one before. It is for one
// goroutine.
type Reader struct {
	pack *Pack
	unpacker
}

// Reader returns a Reader of the pack.
func (p *Pack) Reader() *Reader { return &Reader{pack: p} }

// At returns a record, which is valid until the next call; its texts are for longer, but keep
// a part of the pack alive.
func (r *Reader) At(i int) *Benchmark { return r.read(r.pack.packed(i), r.pack.words) }

// Pair walks this pack and an older one side by side, both in default order. It calls visit for
// each record of either, in that order: was is its place in the older pack, -1 for one that was
// not there, is that in this one, -1 for one that has gone. A record of another run date is one
// that has gone and one that is new. same says that no field differs.
func (p *Pack) Pair(old *Pack, visit func(was, is int, same bool)) {
	related := p.words.related(old.words)
	was, is := 0, 0
	for was < old.n && is < p.n {
		a, b := old.packed(was), p.packed(is)
		same := related && bytes.Equal(a, b)
		order := 0
		if !same {
			order = comparePacked(a, b)
			same = order == 0 && !related && samePacked(a, old.words, b, p.words)
		}
		switch {
		case order < 0:
			visit(was, -1, false)
			was++
		case order > 0:
			visit(-1, is, false)
			is++
		default:
			visit(was, is, same)
			was, is = was+1, is+1
		}
	}
	for ; was < old.n; was++ {
		visit(was, -1, false)
	}
	for ; is < p.n; is++ {
		visit(-1, is, false)
	}
}

// A packed record is the day of its run (4 bytes), its id, a bit for each other field (8 bytes)
// that says whether it is known, and the fields that are, in order: lengths, codes of texts
// and whole numbers as varints, other numbers as 8 bytes, flags as a second bit.

// dayOf turns a run date into a number that puts the newest first and the unknown last. What a
// date does not say counts as zero, as in the order of the texts.
func dayOf(d string) uint32 {
	n, digits := uint32(0), 0
	for _, c := range []byte(d) {
		if c != '-' {
			n, digits = 10*n+uint32(c-'0'), digits+1
		}
	}
	for ; digits < 8; digits++ {
		n *= 10
	}
	return unknownDay - 1 - n
}

const unknownDay = ^uint32(0)

func packedDay(rec []byte) uint32 { return binary.LittleEndian.Uint32(rec) }

func idOf(rec []byte) Slug {
	n, head := binary.Uvarint(rec[4:])
	id := rec[4+head:][:n]
	return Slug(unsafe.String(unsafe.SliceData(id), len(id))) // nobody changes the bytes
}

// comparePacked is NewerRun.
func comparePacked(a, b []byte) int {
	switch x, y := packedDay(a), packedDay(b); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return strings.Compare(string(idOf(a)), string(idOf(b)))
}

// samePacked compares two records whose texts do not stand in one list.
func samePacked(a []byte, ta vocabulary, b []byte, tb vocabulary) bool {
	var u, v unpacker
	return reflect.DeepEqual(u.read(a, ta), v.read(b, tb))
}
