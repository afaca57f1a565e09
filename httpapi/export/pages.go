package export

import (
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	parquetzstd "github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding"
)

// What the library does for a page of Parquet costs most in the file of one model: its benchmarks are one value of
// megabytes. Here are two changes of that: another window of the compressor, and no copies of such a value.
// TestLongTexts compares files with values around the size of a page; -bench Expensive measures them.

// pageWindow is how far back, in bytes, equal text is looked for in a page. Pages have 64 KB, except those with a
// value of megabytes: a window that the cache of a processor holds compresses these in half the time, to 2 % more.
const pageWindow = 256 << 10

// pages compresses them.
var pages pageCodec

// pageCodec is the codec of the library with a window of its own.
type pageCodec struct {
	parquetzstd.Codec
	encoders sync.Pool // of *zstd.Encoder
}

// Encode compresses src into the space of dst. What better levels gain, 1.5 % of a page of a list, is not worth their time.
func (c *pageCodec) Encode(dst, src []byte) ([]byte, error) {
	e, _ := c.encoders.Get().(*zstd.Encoder)
	if e == nil {
		var err error
		if e, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(pageWindow),
			zstd.WithLowerEncoderMem(true), zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false)); err != nil {
			return nil, err
		}
	}
	defer c.encoders.Put(e)
	return e.EncodeAll(src, dst[:0]), nil
}

// anyType is JSON texts that are not copied where one is longer than a page.
type anyType struct{ parquet.Type }

// NewColumnBuffer makes a buffer of a column.
func (t anyType) NewColumnBuffer(column, values int) parquet.ColumnBuffer {
	return &anyBuffer{ColumnBuffer: t.Type.NewColumnBuffer(column, values), column: column}
}

// anyBuffer is a buffer of the library, which copies a value when it is written, and once more for a page that has no other.
// A value that fills a page is lent instead: its page is written, and the buffer reset, before WriteRowValues returns.
type anyBuffer struct {
	parquet.ColumnBuffer
	column int
	lent   []byte
}

// WriteValues adds values.
func (b *anyBuffer) WriteValues(values []parquet.Value) (int, error) {
	if len(values) == 1 && b.Len() == 0 {
		if v := values[0].ByteArray(); len(v) >= pageSize {
			b.lent = v
			return 1, nil
		}
	}
	return b.ColumnBuffer.WriteValues(values)
}

// Page is the values.
func (b *anyBuffer) Page() parquet.Page {
	if b.lent == nil {
		return b.ColumnBuffer.Page()
	}
	return b.Type().NewPage(b.column, 1, encoding.ByteArrayValues(b.lent, []uint32{0, uint32(len(b.lent))}))
}

// Len counts the values.
func (b *anyBuffer) Len() int {
	if b.lent != nil {
		return 1
	}
	return b.ColumnBuffer.Len()
}

// Size is how many bytes they have.
func (b *anyBuffer) Size() int64 { return b.ColumnBuffer.Size() + int64(len(b.lent)) }

// Reset removes them.
func (b *anyBuffer) Reset() {
	b.lent = nil
	b.ColumnBuffer.Reset()
}
