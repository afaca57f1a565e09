package record

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
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

// FuzzDecimal: numbers are read as strconv reads them, to the last bit.
func FuzzDecimal(f *testing.F) {
	for _, text := range []string{"0", "-0", "1", "-1.5", "0.1", "35.02", "123456789012345", "1234567890123456", "9007199254740993", "0.00000000000001", "0.000000000000001", "12345678.9012345", "01", "1.", ".5", "-", "1e3"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, n := decimal([]byte(text + ","))
		if n == 0 {
			return
		}
		if want, err := strconv.ParseFloat(text[:n], 64); err != nil || math.Float64bits(v) != math.Float64bits(want) {
			t.Fatalf("%q is read as %v, want %v, %v", text[:n], v, want, err)
		}
	})
}

// TestDecimal compares numbers of every length, with the point in every place, with those of strconv.
func TestDecimal(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 100_000 {
		text := strconv.AppendUint(nil, 1+r.Uint64N(math.MaxInt64)>>r.IntN(63), 10)
		if at := r.IntN(len(text)); at > 0 {
			text = slices.Insert(text, at, '.')
		}
		v, n := decimal(append(text, '}'))
		if want, err := strconv.ParseFloat(string(text), 64); err != nil || n != len(text) || v != want {
			t.Fatalf("%s is read as %v of %d bytes, want %v, %v", text, v, n, want, err)
		}
	}
}

// TestEveryValueIsRead: each member of a benchmark but a withdrawal is of a kind that the reader of plain lines reads.
func TestEveryValueIsRead(t *testing.T) {
	r := newLineReader[Benchmark](SchemaOf(reflect.TypeFor[Benchmark]()))
	for _, f := range r.fields {
		if _, other := f.lineValue.(*otherValue); other != (f.key == `"withdrawn":`) {
			t.Errorf("%s is left to the strict decoder: %t", f.key, other)
		}
	}
}

// TestMetElsewhere: a text that the strict decoder read from escapes is not what its bytes mean in a line.
func TestMetElsewhere(t *testing.T) {
	const head = `{"id":"a","model":"m","model_raw":"M","hardware":"h","hardware_raw":"H","hardware_count":1,"tool":"t","generation_tps":1,"source":"community","notes":`
	d := NewDecoder[Benchmark]()
	for _, notes := range []string{`"a\\u0062"`, `"a\u0062"`, `"ab"`, `"ab"`, `"a\b"`, `"a\\b"`, `""x"`, `"\"`, `"é\n"`, `"é
"`} {
		line := []byte(head + notes + "}")
		for range 2 {
			var got, want Benchmark
			problems, expected := d.Decode(line, &got), Decode(line, &want)
			if !reflect.DeepEqual(problems, expected) || expected == nil && !reflect.DeepEqual(got, want) {
				t.Fatalf("%s is read as\n%+v, %v\nwant\n%+v, %v", line, got, problems, want, expected)
			}
		}
	}
}

// TestTextTable compares a table with a map, over its growth.
func TestTextTable(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	table, want := newTextTable[Slug](), map[string]*Slug{}
	for range 20_000 {
		text := strconv.Itoa(r.IntN(10_000))
		found := table.find([]byte(text))
		if found.at != want[text] || found.at != nil && found.text != text {
			t.Fatalf("%q is found as %+v, want %p", text, found, want[text])
		}
		if found.at == nil {
			value := Slug(text)
			want[text] = &value
			table.add(seenText[Slug]{text, &value})
		}
	}
	if table.count != len(want) {
		t.Fatalf("the table has %d texts, want %d", table.count, len(want))
	}
}

// TestLineReader: the lines of the format are read without the strict decoder, except for texts with
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
