package export

import (
	"bytes"
	"hash/crc32"
	"math/bits"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// chunk is the pages of one column of a row group, as they are written.
type chunk struct {
	pages        []byte // of data
	dictionary   []byte // the page before them; empty for none
	uncompressed int    // bytes of all of them
	rows         int    // in pages
	stats        []pageStats
}

// pageStats is what the indexes and the footer of a file say of a page of data.
type pageStats struct {
	encoding      format.Encoding
	offset        int // in the pages of the chunk
	size          int
	rows          int // before it
	values, nulls int
	low, high     []byte // bounds; nil where there are no values, or where they say nothing
}

func (c *chunk) reset() {
	c.pages, c.dictionary, c.uncompressed, c.rows, c.stats = c.pages[:0], c.dictionary[:0], 0, 0, c.stats[:0]
}

// pageSpace is what pages need until they are written.
type pageSpace struct {
	repeats, levels, indexes, packed []byte
	head                             bytes.Buffer
	thrift                           *thrift.Encoder // into head
}

func newPageSpace() *pageSpace {
	s := new(pageSpace)
	s.thrift = thrift.NewEncoder(new(thrift.CompactProtocol).NewWriter(&s.head))
	return s
}

// endPage writes the page, if it has rows. last says that none comes behind it in the row group.
func (b *columnBuffer) endPage(s *pageSpace, last bool) error {
	c := &b.written
	rows := b.rows - c.rows
	if rows == 0 {
		return nil
	}
	values, encoding, err := b.encode(s, last)
	if err != nil {
		return err
	}
	packed, is := values, false
	if len(values) >= leastPacked {
		if s.packed = pack(s.packed[:0], values); len(s.packed) < len(values) {
			packed, is = s.packed, true
		}
	}
	all := max(len(b.levels), b.count)
	one := pageStats{encoding: encoding, offset: len(c.pages), rows: c.rows, values: all, nulls: all - b.count}
	head := format.PageHeader{
		Type:                 format.DataPageV2,
		UncompressedPageSize: int32(len(s.repeats) + len(s.levels) + len(values)),
		DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{
			NumValues: int32(one.values), NumNulls: int32(one.nulls), NumRows: int32(rows), Encoding: encoding,
			RepetitionLevelsByteLength: int32(len(s.repeats)), DefinitionLevelsByteLength: int32(len(s.levels)),
			IsCompressed: thrift.New(is), Statistics: format.Statistics{NullCount: int64(one.nulls)},
		}),
	}
	if c.pages, err = c.appendPage(c.pages, s, &head, s.repeats, s.levels, packed); err != nil {
		return err
	}
	one.size = len(c.pages) - one.offset
	low, high := b.bounds()
	one.low, one.high = bytes.Clone(low), bytes.Clone(high)
	c.rows, c.stats = b.rows, append(c.stats, one)
	b.spilled = b.spilled || len(b.dictionary.bytes) > maxDictionary
	b.resetPage()
	return nil
}

// encode makes the bytes of the values of a page, and those of the levels in s.
func (b *columnBuffer) encode(s *pageSpace, last bool) (values []byte, as format.Encoding, err error) {
	s.repeats, s.levels = s.repeats[:0], s.levels[:0]
	if len(b.repeats) > 0 {
		if s.repeats, err = (&rle.Encoding{BitWidth: 1}).EncodeLevels(s.repeats, b.repeats); err != nil {
			return nil, 0, err
		}
	}
	if len(b.levels) > 0 {
		if s.levels, err = (&rle.Encoding{BitWidth: bits.Len8(b.defined())}).EncodeLevels(s.levels, b.levels); err != nil {
			return nil, 0, err
		}
	}
	switch {
	case b.typ == Integer || b.typ == Number || b.typ == Flag:
		return b.fixed, format.Plain, nil
	case len(b.indexes) == 0:
		return b.long.bytes, format.Plain, nil
	case last && len(b.written.stats) == 0 && b.dictionary.len() == b.count: // all texts are distinct: it is the page
		return b.dictionary.bytes, format.Plain, nil
	default:
		s.indexes, err = new(rle.DictionaryEncoding).EncodeInt32(s.indexes, b.indexes)
		return s.indexes, format.RLEDictionary, err
	}
}

// endChunk writes the last page, and the dictionary if a page refers to it.
func (b *columnBuffer) endChunk(s *pageSpace) (err error) {
	if err := b.endPage(s, true); err != nil {
		return err
	}
	c := &b.written
	if !slices.ContainsFunc(c.stats, func(one pageStats) bool { return one.encoding == format.RLEDictionary }) {
		return nil
	}
	s.packed = pack(s.packed[:0], b.dictionary.bytes)
	c.dictionary, err = c.appendPage(c.dictionary, s, &format.PageHeader{
		Type:                 format.DictionaryPage,
		UncompressedPageSize: int32(len(b.dictionary.bytes)),
		DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: int32(b.dictionary.len()), Encoding: format.Plain}),
	}, s.packed)
	return err
}

// appendPage appends the head of a page and its parts, and completes the head for that.
func (c *chunk) appendPage(dst []byte, s *pageSpace, head *format.PageHeader, parts ...[]byte) ([]byte, error) {
	crc, size := uint32(0), 0
	for _, part := range parts {
		crc, size = crc32.Update(crc, crc32.IEEETable, part), size+len(part)
	}
	head.CompressedPageSize, head.CRC = int32(size), int32(crc)
	s.head.Reset()
	if err := s.thrift.Encode(head); err != nil {
		return nil, err
	}
	c.uncompressed += s.head.Len() + int(head.UncompressedPageSize)
	dst = append(dst, s.head.Bytes()...)
	for _, part := range parts {
		dst = append(dst, part...)
	}
	return dst, nil
}

const (
	// leastPacked is how many bytes of values are worth compressing: the frame alone has 13.
	leastPacked = 32
	// pageWindow is how far back, in bytes, equal text is looked for in a page. Pages have 64 KB, except those with a
	// value of megabytes: a window that the cache of a processor holds compresses these in half the time, to 2 % more.
	pageWindow = 256 << 10
)

var packers sync.Pool // of *zstd.Encoder

// pack appends src, compressed, to dst. What better levels gain, 1.5 % of a page of a list, is not worth their time.
func pack(dst, src []byte) []byte {
	e, _ := packers.Get().(*zstd.Encoder)
	if e == nil {
		var err error
		if e, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(pageWindow),
			zstd.WithLowerEncoderMem(true), zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false)); err != nil {
			panic(err) // the options are constants
		}
	}
	defer packers.Put(e)
	return e.EncodeAll(src, dst)
}
