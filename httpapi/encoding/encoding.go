// Package encoding chooses the coding of a body by Accept-Encoding, and compresses bodies: whole (Compress) and as streams
// (Compressor). It knows headers for their lists, and nothing of requests and responses.
package encoding

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"modeldex/httpapi/headers"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Coding is a content coding. Its value is part of cache keys.
type Coding byte

// The codings, in order of preference among those a client likes equally.
const (
	Identity Coding = iota // the body as it is
	Zstandard
	Brotli
	Gzip
	Count // of codings
)

// Names are the codings as headers name them.
var Names = [Count]string{"identity", "zstd", "br", "gzip"}

// CompressFrom is the smallest body worth compressing: below it the headers outweigh the gain.
const CompressFrom = 1 << 10

// Accepted picks the coding for an Accept-Encoding header (RFC 9110, 12.5.3): the highest
// q-value, ties in order of preference. No header, or one that names nothing known, means
// identity: a client that says nothing may not be able to decode. It does not allocate.
func Accepted(header []byte) Coding {
	best, bestQ, star := Identity, 0, -1
	var q [Count]int
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
		for c := Identity; c < Count; c++ {
			if headers.EqualFold(name, Names[c]) {
				q[c] = weight
			}
		}
	}
	for c := Zstandard; c < Count; c++ {
		if q[c] < 0 {
			q[c] = star
		}
		if q[c] > bestQ {
			best, bestQ = c, q[c]
		}
	}
	if q[Identity] > bestQ { // named, and liked better than all we could do
		return Identity
	}
	return best
}

// splitWeight cuts "gzip;q=0.5" into its name and its weight in thousandths.
func splitWeight(item []byte) (name []byte, weight int) {
	name, params, _ := bytes.Cut(item, []byte{';'})
	return bytes.TrimSpace(name), headers.Weight(params)
}

// Bodies are compressed once and then served from the cache many times, but a new query waits for it. So the
// levels are those that cost about as much as rendering the page.
var (
	zstdEncoder = mustMake(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1)))
	writers     = map[Coding]*sync.Pool{
		Brotli: {New: func() any { return brotli.NewWriterLevel(nil, 3) }},
		Gzip:   {New: func() any { return mustMake(gzip.NewWriterLevel(nil, 3)) }},
	}
)

// Compress returns body in a coding, at its exact size. Safe for concurrent use.
func Compress(body []byte, c Coding) []byte {
	switch c {
	case Identity:
		return body
	case Zstandard:
		return bytes.Clone(zstdEncoder.EncodeAll(body, nil))
	}
	var out bytes.Buffer
	w := writers[c].Get().(interface {
		io.WriteCloser
		Reset(to io.Writer)
	})
	defer writers[c].Put(w)
	w.Reset(&out)
	if _, err := w.Write(body); errors.Join(err, w.Close()) != nil {
		panic("memory takes everything")
	}
	return bytes.Clone(out.Bytes())
}

// Compressor is what puts a coding around a stream; nil for identity. Windows are bounded, so that a
// stream takes a few hundred kilobytes on either side.
func Compressor(c Coding) func(io.Writer) io.WriteCloser {
	const window = 256 << 10
	switch c {
	case Zstandard:
		return func(w io.Writer) io.WriteCloser {
			return mustMake(zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window)))
		}
	case Brotli:
		return func(w io.Writer) io.WriteCloser {
			return brotli.NewWriterOptions(w, brotli.WriterOptions{Quality: 3, LGWin: 18}) // 2^18 bytes
		}
	case Gzip:
		return func(w io.Writer) io.WriteCloser { return mustMake(gzip.NewWriterLevel(w, 3)) }
	default:
		return nil
	}
}

// mustMake is for compressors whose options are constants.
func mustMake[W any](w W, err error) W {
	if err != nil {
		panic(err)
	}
	return w
}
