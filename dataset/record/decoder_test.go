package record

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// shippedLines are the lines of all shipped benchmarks.
func shippedLines(tb testing.TB) (lines [][]byte) {
	tb.Helper()
	names, err := filepath.Glob("../../data/benchmarks/*.ndjson")
	if err != nil || len(names) == 0 {
		tb.Fatalf("no shipped benchmarks: %v", err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		lines = append(lines, bytes.Split(bytes.TrimSpace(b), []byte{'\n'})...)
	}
	return lines
}

// someLines are the shipped benchmarks in the long form of the tests, MODELDEX_LONG_TESTS=1, and one in
// four in the short form, from one that is drawn.
func someLines(tb testing.TB) (lines [][]byte) {
	tb.Helper()
	lines = shippedLines(tb)
	if os.Getenv("MODELDEX_LONG_TESTS") == "1" {
		return lines
	}
	const every = 4
	first := rand.IntN(every)
	tb.Logf("one line in %d, from line %d", every, first)
	some := lines[:0]
	for i := first; i < len(lines); i += every {
		some = append(some, lines[i])
	}
	return some
}

// TestDecoder compares a Decoder with the function Decode on shipped benchmarks, and on each with one
// byte changed: what one accepts the other does, with the same record or problems.
func TestDecoder(t *testing.T) {
	d := NewDecoder[Benchmark]()
	kept, want := []Benchmark{}, []Benchmark{}
	for i, line := range someLines(t) {
		for _, b := range [][]byte{line, altered(line, i)} {
			var got, plain Benchmark
			problems := d.Decode(b, &got)
			if expected := Decode(b, &plain); !reflect.DeepEqual(problems, expected) {
				t.Fatalf("problems of %s\n%v, want\n%v", b, problems, expected)
			} else if expected == nil {
				kept, want = append(kept, got), append(want, plain)
			}
		}
	}
	// At the end, because a decoder must not write to a value that a record shares.
	for i := range want {
		if !reflect.DeepEqual(kept[i], want[i]) {
			t.Fatalf("record %d is %+v, want %+v", i, kept[i], want[i])
		}
	}
}

// altered changes one byte of a line.
func altered(line []byte, n int) []byte {
	out := bytes.Clone(line)
	out[n*7919%len(out)] = "0a\" ,:}-\xff."[n%10]
	return out
}

// TestDecoderShares checks that equal values of two records are one value in memory.
func TestDecoderShares(t *testing.T) {
	const line = `{"id":"%","model":"m","model_raw":"M","hardware":"h","hardware_raw":"H","hardware_count":1,"tool":"t","generation_tps":1,"source":"community","source_url":"https://x.org","backend":"cuda","n_gen":128,"flash_attention":true}`
	d := NewDecoder[Benchmark]()
	var a, b Benchmark
	for rec, id := range map[*Benchmark]string{&a: "a", &b: "b"} {
		if problems := d.Decode([]byte(line[:7]+id+line[8:]), rec); problems != nil {
			t.Fatal(problems)
		}
	}
	if a.Backend != b.Backend || a.NGen != b.NGen || a.FlashAttention != b.FlashAttention || a.SourceURL != b.SourceURL {
		t.Error("equal values of two records are not shared")
	}
	if a.GenerationTPS == b.GenerationTPS {
		t.Error("measured speeds are shared")
	}
}

// TestAppendLine compares AppendLine with Line on shipped benchmarks.
func TestAppendLine(t *testing.T) {
	for _, line := range someLines(t) {
		var b Benchmark
		if problems := Decode(line, &b); problems != nil {
			t.Fatal(problems)
		}
		want, err := Line(&b)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := b.AppendLine([]byte("head")); err != nil || string(got) != "head"+string(want) {
			t.Fatalf("AppendLine\n%s, %v, want\n%s", got, err, want)
		}
	}
}

// BenchmarkAppendLine writes the shipped benchmarks, with the general encoder too.
func BenchmarkAppendLine(b *testing.B) {
	var recs []Benchmark
	for _, line := range shippedLines(b) {
		var rec Benchmark
		if problems := Decode(line, &rec); problems != nil {
			b.Fatal(problems)
		}
		recs = append(recs, rec)
	}
	dst := make([]byte, 0, 4096)
	b.Run("AppendLine", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			dst, _ = recs[i%len(recs)].AppendLine(dst[:0])
		}
	})
	b.Run("general", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if _, err := Line(&recs[i%len(recs)]); err != nil {
				b.Fatal(err)
			}
		}
	})
}
