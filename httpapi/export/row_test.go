package export

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// TestScan: rows as they are made are scanned, and divided as the decoder divides them.
func TestScan(t *testing.T) {
	scanned, decoded := newCells(sampleSchema), newCells(sampleSchema)
	for _, row := range randomRows(t, 1000) {
		rest := scanned.scan(sampleSchema.root, row)
		if rest == nil || len(rest) > 0 {
			t.Fatalf("the row is not scanned to its end: %s", row)
		}
		clear(decoded.values)
		if err := decoded.decode(row); err != nil {
			t.Fatal(err)
		}
		sameCells(t, row, decoded, scanned)
		clear(scanned.values)
	}
}

// FuzzSplit: what a decoder can divide is divided in the same way, whatever its order, spaces, escapes and
// unknown members; what it rejects never reads past the end.
func FuzzSplit(f *testing.F) {
	for seed := range uint64(4) {
		row, err := json.Marshal(randomSample(rand.New(rand.NewPCG(seed, 0))))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(row)
	}
	for _, seed := range []string{
		`{}`, `{"slug":"a","slug":null,"slug":"b"}`, `{ "slug": "a" }`, `{"size":1,"slug":"a","unknown":[{"}":1}],"ratio":-0.5}`, `{"slug":"a",}`, `{"slug":"a"`,
		`{"\u0073lug":"a"}`, `{"nested":{"many":1},"nested":null}`, `{"nested":{"name":"x","new":{}},"on":true}x`, `{"count":1 ,"on":false}`, `{"last":{"deep":5}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, row []byte) {
		scanned, decoded := newCells(sampleSchema), newCells(sampleSchema)
		rest := scanned.scan(sampleSchema.root, row)
		if err := decoded.decode(row); err != nil || rest == nil {
			return
		}
		sameCells(t, row, decoded, scanned)
	})
}

func sameCells(t *testing.T, row []byte, want, got *cells) {
	t.Helper()
	for i, v := range want.values {
		if (v == nil) != (got.values[i] == nil) || !bytes.Equal(v, got.values[i]) {
			t.Fatalf("%s: %s is scanned as %q and decoded as %q", row, sampleSchema.Columns[i].Name, got.values[i], v)
		}
	}
}
