package index

import (
	"fmt"

	"github.com/klauspost/compress/s2"
)

// details are the longer forms of records, compressed: nine megabytes of models, most of them one
// computed size after the other, take less than two. A record is asked for by its own address, whose
// response a server keeps, so each is decompressed seldom; it takes 16 microseconds (BenchmarkDetail).
type details struct {
	blob
	bytes int // of all details, as they are asked for
}

func buildDetails(n int, appenders func() appender) (details, error) {
	sizes := make([]int, n)
	b, err := buildBlob(full(n), func() appender {
		add := appenders()
		var plain []byte
		return func(dst []byte, i int) ([]byte, error) {
			var err error
			if plain, err = add(plain[:0], i); err != nil {
				return dst, err
			}
			sizes[i] = len(plain)
			return append(dst, s2.EncodeBetter(nil, plain)...), nil
		}
	})
	out := details{blob: b}
	for _, n := range sizes {
		out.bytes += n
	}
	return out, err
}

// at returns the bytes of an entry, which are the caller's.
func (d *details) at(ord uint32) []byte {
	b, err := s2.Decode(nil, d.blob.at(ord))
	if err != nil {
		panic(fmt.Errorf("details of record %d: %w", ord, err)) // buildDetails wrote them, and nothing writes to them
	}
	return b
}
