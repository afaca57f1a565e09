package export

import (
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
)

// BenchmarkMillionRows writes a file of 1,000,000 rows and reports the most memory in use beyond what
// there was before, sampled with each megabyte read:
//
//	go test ./httpapi/export -run - -bench MillionRows -benchtime 1x
func BenchmarkMillionRows(b *testing.B) {
	const rows = 1_000_000
	rnd := rand.New(rand.NewPCG(1, 1))
	list := make([][]byte, 10_000)
	for i := range list {
		s := randomSample(rnd)
		s.Open = map[string]any{}
		row, err := json.Marshal(s)
		if err != nil {
			b.Fatal(err)
		}
		list[i] = row
	}
	for _, f := range []Format{CSV, NDJSON, Parquet} {
		b.Run("format="+f.String(), func(b *testing.B) {
			for range b.N {
				made := 0
				next := func() []byte {
					if made == rows {
						return nil
					}
					made++
					return list[made%len(list)]
				}
				r, err := NewReader(f, sampleSchema, about(), next, nil)
				if err != nil {
					b.Fatal(err)
				}
				size, most := drain(b, r)
				b.ReportMetric(float64(size)/1e6, "MB")
				b.ReportMetric(float64(most)/1e6, "MB-memory")
				b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
			}
		})
	}
}

// drain reads a file and returns its size and the most memory it took, in bytes.
func drain(b *testing.B, r io.Reader) (size int, most uint64) {
	b.Helper()
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	before, look := stats.HeapInuse, 0
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		size += n
		if size >= look {
			runtime.ReadMemStats(&stats)
			most = max(most, stats.HeapInuse-min(before, stats.HeapInuse))
			look = size + 1<<20
		}
		if errors.Is(err, io.EOF) {
			return size, most
		} else if err != nil {
			b.Fatal(err)
		}
	}
}
