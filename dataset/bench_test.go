package dataset

// What is measured: decoding and checking one benchmark line of the shipped data, and a whole
// load. Run with: go test -run xxx -bench . -benchmem ./dataset

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"testing/fstest"

	jsonv2 "github.com/goccy/go-json/v2"

	"modeldex/dataset/record"
)

// shippedLines returns the benchmark lines of one year of the shipped data.
func shippedLines(tb testing.TB) [][]byte {
	tb.Helper()
	b, err := os.ReadFile("../data/benchmarks/2025.ndjson")
	if err != nil {
		tb.Fatal(err)
	}
	return bytes.Split(bytes.TrimSpace(b), []byte{'\n'})
}

func BenchmarkLine(b *testing.B) {
	lines := shippedLines(b)
	mean := len(bytes.Join(lines, []byte{'\n'})) / len(lines)
	for _, bm := range []struct {
		name   string
		decode func(line []byte) error
	}{
		{"decode only", func(line []byte) error {
			var rec Benchmark
			return jsonv2.Unmarshal(line, &rec, jsonv2.RejectUnknownMembers(true))
		}},
		{"decode and check", decodeInstead},
		{"encoding-json", func(line []byte) error { var rec Benchmark; return json.Unmarshal(line, &rec) }},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(mean))
			for i := 0; b.Loop(); i++ {
				if err := bm.decode(lines[i%len(lines)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func decodeInstead(line []byte) error {
	var rec Benchmark
	if faults := record.Decode(line, &rec); faults != nil {
		return fmt.Errorf("%v", faults)
	}
	return nil
}

// BenchmarkLoad loads the shipped data, and the shipped models, hardware and tools with its
// benchmark lines repeated under new ids.
func BenchmarkLoad(b *testing.B) {
	b.Run("shipped", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Load(context.Background(), os.DirFS("../data"), Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, lines := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("lines=%d", lines), func(b *testing.B) {
			fsys := shipped(b)
			repeated := repeat(b, lines)
			for name := range fsys {
				if kindOf(name) == benchmarksDir {
					delete(fsys, name)
				}
			}
			fsys["benchmarks/0001.ndjson"] = &fstest.MapFile{Data: repeated}
			b.SetBytes(int64(len(repeated)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Load(context.Background(), fsys, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// repeat gives n benchmark lines of the shipped data, each with an id of its own.
func repeat(tb testing.TB, n int) []byte {
	tb.Helper()
	lines := shippedLines(tb)
	var out bytes.Buffer
	for i := range n {
		line := lines[i%len(lines)]
		id := line[bytes.Index(line, []byte(`bm-`)):][:len("bm-d20987d408c6")]
		out.Write(bytes.Replace(line, id, fmt.Appendf(nil, "bm-%012x", i), 1))
		out.WriteByte('\n')
	}
	return out.Bytes()
}
