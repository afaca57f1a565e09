package index

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBlobRebuilt: rows that are edited, added and taken away again and again are what a plain
// list says, blocks beside a change stay the same memory, and there are no small blocks.
func TestBlobRebuilt(t *testing.T) {
	r := rand.New(rand.NewPCG(seedOf(t), 5))
	made := 0
	row := func() string { made++; return fmt.Sprintf("row %d", made) }
	plain := make([]string, 10*blockRows+7)
	for i := range plain {
		plain[i] = row()
	}
	appenders := func() appender {
		return func(dst []byte, i int) ([]byte, error) { return append(dst, plain[i]...), nil }
	}
	have, err := buildRows(len(plain), appenders)
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		from := make([]uint32, len(plain))
		for i := range from {
			from[i] = uint32(i)
		}
		for range 1 + r.IntN(3) { // one change or a few
			at := r.IntN(len(plain))
			switch r.IntN(4) {
			case 0:
				n := min(1+r.IntN(40), len(plain)-at)
				plain, from = slices.Delete(plain, at, at+n), slices.Delete(from, at, at+n)
			case 1:
				plain, from = slices.Insert(plain, at, row(), row()), slices.Insert(from, at, noRow, noRow)
			case 2:
				plain, from = append(plain, row()), append(from, noRow)
			default:
				plain[at], from[at] = row(), noRow
			}
		}
		now, err := have.rebuild(from, appenders)
		if err != nil {
			t.Fatal(err)
		}
		checkBlob(t, &now, plain)
		shared := 0
		for i := range now.blocks {
			if slices.ContainsFunc(have.blocks, func(b block) bool { return &b.data[0] == &now.blocks[i].data[0] }) {
				shared++
			}
		}
		if anew := len(now.blocks) - shared; anew > 9 { // a change makes its block again and one beside it, as three at most
			t.Fatalf("%d of %d blocks are new", anew, len(now.blocks))
		}
		have = now
	}
}

func checkBlob(t *testing.T, r *rows, want []string) {
	t.Helper()
	for i, row := range want {
		if got := string(r.at(uint32(i))); got != row {
			t.Fatalf("row %d = %q, want %q", i, got, row)
		}
	}
	small := 0
	for i, b := range r.blocks {
		if len(b.ends) == 0 || len(b.ends) > blockRows {
			t.Fatalf("block %d has %d rows", i, len(b.ends))
		}
		if len(b.ends) < minShared {
			small++
		}
	}
	if small > 1 { // what is left at the end
		t.Fatalf("%d of %d blocks are small", small, len(r.blocks))
	}
}

// TestParts: what becomes of the blocks around a change.
func TestParts(t *testing.T) {
	const n = 3 * blockRows
	b, err := buildBlob(full(n), same(func(dst []byte, i int) ([]byte, error) { return append(dst, 'x'), nil }))
	if err != nil {
		t.Fatal(err)
	}
	all := make([]uint32, n)
	for i := range all {
		all[i] = uint32(i)
	}
	tests := []struct {
		name string
		from []uint32
		want []int // rows of each part, below zero where it is shared
	}{
		{"nothing changed", all, []int{-blockRows, -blockRows, -blockRows}},
		{"an edit", slices.Replace(slices.Clone(all), 1500, 1501, noRow), []int{-blockRows, blockRows, -blockRows}},
		{"one gone", slices.Delete(slices.Clone(all), 1500, 1501), []int{-blockRows, blockRows - 1, -blockRows}},
		{"one more", slices.Insert(slices.Clone(all), 1500, noRow), []int{-blockRows, 513, 512, -blockRows}},
		{"one more between blocks", slices.Insert(slices.Clone(all), blockRows, noRow), []int{-blockRows, 513, 512, -blockRows}},
		{"one more at the end", append(slices.Clone(all), noRow), []int{-blockRows, -blockRows, -blockRows, 1}},
		{"a block gone", slices.Delete(slices.Clone(all), blockRows, 2*blockRows), []int{-blockRows, -blockRows}},
		{"all gone", nil, nil},
		{"all new", slices.Repeat([]uint32{noRow}, 1030), []int{515, 515}},
		{"turned round", []uint32{2, 1, 0}, []int{3}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []int
			at := 0
			for _, p := range b.parts(tt.from) {
				if p.from != at {
					t.Fatalf("a part begins at %d, want %d", p.from, at)
				}
				rows := p.to - p.from
				if at = p.to; p.shared != nil {
					rows = -rows
				}
				got = append(got, rows)
			}
			if !slices.Equal(got, tt.want) || at != len(tt.from) {
				t.Errorf("parts of %v rows up to %d, want %v up to %d", got, at, tt.want, len(tt.from))
			}
		})
	}
}

// TestBlobInPlace makes blobs of so many blocks that they are rendered in place, of entries that are alike, empty, or larger
// from one block to the next.
func TestBlobInPlace(t *testing.T) {
	const n = manyBlocks*blockRows + 100
	sizes := map[string]func(i int) int{
		"alike": func(i int) int { return 3 + i%5 },
		"empty": func(int) int { return 0 },
		"mixed": func(i int) int { return i / blockRows % 7 * (i % 11) },
	}
	for name, size := range sizes {
		entry := func(dst []byte, i int) []byte { return append(dst, bytes.Repeat([]byte{byte(i)}, size(i))...) }
		b, err := buildBlob(full(n), same(func(dst []byte, i int) ([]byte, error) { return entry(dst, i), nil }))
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if want := entry(nil, i); !bytes.Equal(b.at(uint32(i)), want) {
				t.Fatalf("%s: entry %d is %v, want %v", name, i, b.at(uint32(i)), want)
			}
		}
		for i := range b.blocks {
			if data := b.blocks[i].data; float64(cap(data)) > float64(len(data))*(1+spareBytes)+1024 {
				t.Errorf("%s: block %d has %d bytes in memory of %d", name, i, len(data), cap(data))
			}
		}
	}
}
