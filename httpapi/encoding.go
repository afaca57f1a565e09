package httpapi

import (
	"bytes"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// coding is a content coding. Its value is part of cache keys.
type coding byte

// The codings, in order of preference among those a client likes equally.
const (
	identity coding = iota
	zstandard
	brotliCoding
	gzipCoding
	codingCount
)

var codingNames = [codingCount]string{"identity", "zstd", "br", "gzip"}

// compressFrom is the smallest body worth compressing: below it the headers outweigh the gain.
const compressFrom = 1 << 10

// accepted picks the coding for an Accept-Encoding header (RFC 9110, 12.5.3): the highest
// q-value, ties in order of preference. No header, or one that names nothing known, means
// identity: a client that says nothing may not be able to decode. It does not allocate.
func accepted(header []byte) coding {
	best, bestQ, star := identity, 0, -1
	var q [codingCount]int
	for i := range q {
		q[i] = -1
	}
	for len(header) > 0 {
		var item []byte
		item, header, _ = bytes.Cut(header, []byte{','})
		name, weight := splitWeight(item)
		if len(name) == 1 && name[0] == '*' {
			star = weight
		}
		for c := identity; c < codingCount; c++ {
			if equalFold(name, codingNames[c]) {
				q[c] = weight
			}
		}
	}
	for c := zstandard; c < codingCount; c++ {
		if q[c] < 0 {
			q[c] = star
		}
		if q[c] > bestQ {
			best, bestQ = c, q[c]
		}
	}
	if q[identity] > bestQ { // named, and liked better than all we could do
		return identity
	}
	return best
}

// splitWeight cuts "gzip;q=0.5" into its name and its weight in thousandths.
func splitWeight(item []byte) (name []byte, weight int) {
	name, params, _ := bytes.Cut(item, []byte{';'})
	return bytes.TrimSpace(name), weightOf(params)
}

// weightOf is the weight among the parameters of an item, in thousandths; 1000 without one.
func weightOf(params []byte) (weight int) {
	for len(params) > 0 {
		var param []byte
		param, params, _ = bytes.Cut(params, []byte{';'})
		name, v, _ := bytes.Cut(param, []byte{'='})
		if v = bytes.TrimSpace(v); len(v) == 0 || !equalFold(bytes.TrimSpace(name), "q") {
			continue
		}
		weight = 1000 * int(v[0]-'0')
		scale := 100
		for _, c := range v[min(2, len(v)):] {
			if c < '0' || c > '9' || scale == 0 {
				break
			}
			weight += int(c-'0') * scale
			scale /= 10
		}
		return max(0, min(weight, 1000))
	}
	return 1000
}

func equalFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// Bodies are compressed once and then served from the cache many times, but a query never
// asked before waits for it: levels are those that cost about as much as rendering the page.
var (
	zstdEncoder = func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic(err) // the options are constants
		}
		return e
	}()
	brotlis = sync.Pool{New: func() any { return brotli.NewWriterLevel(nil, 3) }}
	gzips   = sync.Pool{New: func() any {
		w, err := gzip.NewWriterLevel(nil, 3)
		if err != nil {
			panic(err) // the level is a constant
		}
		return w
	}}
)

// compress returns body in a coding, at its exact size. Safe for concurrent use.
func compress(body []byte, c coding) []byte {
	var out bytes.Buffer
	switch c {
	case zstandard:
		return bytes.Clone(zstdEncoder.EncodeAll(body, nil))
	case brotliCoding:
		w := brotlis.Get().(*brotli.Writer)
		defer brotlis.Put(w)
		w.Reset(&out)
		mustWrite(w.Write(body))
		mustWrite(0, w.Close())
	case gzipCoding:
		w := gzips.Get().(*gzip.Writer)
		defer gzips.Put(w)
		w.Reset(&out)
		mustWrite(w.Write(body))
		mustWrite(0, w.Close())
	default:
		return body
	}
	return bytes.Clone(out.Bytes())
}

// compressor is what puts a coding around a stream; nil for identity. Windows are bounded, so that a
// stream takes a few hundred kilobytes on either side.
func compressor(c coding) func(io.Writer) io.WriteCloser {
	const window = 256 << 10
	switch c {
	case zstandard:
		return func(w io.Writer) io.WriteCloser {
			return sure(zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window)))
		}
	case brotliCoding:
		return func(w io.Writer) io.WriteCloser {
			return brotli.NewWriterOptions(w, brotli.WriterOptions{Quality: 3, LGWin: 18}) // 2^18 bytes
		}
	case gzipCoding:
		return func(w io.Writer) io.WriteCloser { return sure(gzip.NewWriterLevel(w, 3)) }
	default:
		return nil
	}
}

// mustWrite holds the compressors to writing into memory without error.
func mustWrite(_ int, err error) {
	if err != nil {
		panic(err)
	}
}
