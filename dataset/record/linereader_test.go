package record

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"
)

// FuzzLineReader: whatever the reader of plain lines reads, the strict decoder reads equally and finds
// valid. It meets each line twice, so that values met before count too.
func FuzzLineReader(f *testing.F) {
	lines := shippedLines(f)
	for i := 0; i < len(lines); i += len(lines) / 50 {
		f.Add(lines[i])
	}
	const head = `{"id":"a","model":"m","model_raw":"M","hardware":"h","hardware_raw":"H","hardware_count":1,"tool":"t",`
	for _, rest := range []string{
		`"generation_tps":1,"source":"community"}`, `"generation_tps":1e3,"source":"community"}`, `"generation_tps":01,"source":"community"}`,
		`"generation_tps":1.,"source":"community"}`, `"generation_tps":.5,"source":"community"}`, `"generation_tps":-0,"source":"community"}`,
		`"generation_tps":0,"source":"community"}`, `"generation_tps":1,"source":"nobody"}`, `"generation_tps":1,"generation_tps":2,"source":"community"}`,
		`"source":"community","generation_tps":1}`, `"n_gen":9223372036854775808,"source":"community"}`, `"n_gen":-0,"source":"community"}`, `"n_gen":1.0,"source":"community"}`,
		`"n_gpu_layers":-1,"source":"community"}`, `"flash_attention":truex,"source":"community"}`, `"source":"community","notes":"a\"b"}`, `"source":"community","notes":""}`,
		"\"source\":\"community\",\"notes\":\"a\tb\"}", "\"source\":\"community\",\"notes\":\"\xff\"}", "\"source\":\"community\",\"notes\":\"\u202e\"}", `"source":"community","Notes":"x"}`,
		`"source":"community"}x`, `"source":"community"} `, `"source":"community",}`, `"source":null}`, `"source":"community","withdrawn":{"date":"2026-01-01","reason":"x"}}`, `"source":"community"`,
	} {
		f.Add([]byte(head + rest))
	}
	d := NewDecoder[Benchmark]()
	f.Fuzz(func(t *testing.T, line []byte) {
		for range 2 {
			var got, want Benchmark
			if !d.lines.read(line, &got) {
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("%q was not read, and changed the record to %+v", line, got)
				}
				return
			}
			if problems := Decode(bytes.Clone(line), &want); problems != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%q was read as\n%+v\nwant %v\n%+v", line, got, problems, want)
			}
		}
	})
}

// TestLineReader: the lines of the format are read without the strict decoder, but for texts with
// escapes and withdrawn records.
func TestLineReader(t *testing.T) {
	d := NewDecoder[Benchmark]()
	for _, line := range someLines(t) {
		var b Benchmark
		plain := bytes.IndexByte(line, '\\') < 0 && bytes.Contains(line, []byte(`"withdrawn":null`))
		if got := d.lines.read(line, &b); got != plain {
			t.Fatalf("read(%s) = %t, want %t", line, got, plain)
		}
	}
}

// BenchmarkDecoder decodes the shipped benchmarks, line by line, with the reader of plain lines and
// with the strict decoder alone.
func BenchmarkDecoder(b *testing.B) {
	lines := shippedLines(b)
	for _, quick := range []bool{true, false} {
		b.Run(fmt.Sprintf("quick=%t", quick), func(b *testing.B) {
			d := NewDecoder[Benchmark]()
			if !quick {
				for i := range lines {
					lines[i] = append(bytes.Clone(lines[i]), ' ') // a blank is not canonical
				}
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				var rec Benchmark
				if problems := d.Decode(lines[i%len(lines)], &rec); problems != nil {
					b.Fatal(problems)
				}
			}
		})
	}
}
