package index

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// detailOf is a detail of record i: none, short, or long enough that it is compressed.
func detailOf(i int) string { return strings.Repeat(fmt.Sprint("detail ", i, " "), i%700) }

// TestDetails: every detail comes back as it was, to many callers at once, and each may write to its own.
func TestDetails(t *testing.T) {
	const n = 2*blockRows + 5
	d, err := buildDetails(n, same(func(dst []byte, i int) ([]byte, error) { return append(dst, detailOf(i)...), nil }))
	if err != nil {
		t.Fatal(err)
	}
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for i := range n {
				got := d.at(uint32(i))
				if string(got) != detailOf(i) {
					t.Errorf("detail %d has %d bytes, want %d", i, len(got), len(detailOf(i)))
					return
				}
				clear(got)
			}
		})
	}
	callers.Wait()
	want := 0
	for i := range n {
		want += len(detailOf(i))
	}
	if d.bytes != want || d.size() >= want/2 {
		t.Errorf("%d bytes in %d, want %d in less than half of that", d.bytes, d.size(), want)
	}
}

// TestDetailsFail: an error of a renderer is that of the build.
func TestDetailsFail(t *testing.T) {
	wrong := errors.New("not to be rendered")
	_, err := buildDetails(3, same(func(dst []byte, i int) ([]byte, error) {
		if i == 2 {
			return dst, wrong
		}
		return dst, nil
	}))
	if !errors.Is(err, wrong) {
		t.Errorf("buildDetails = %v, want %v", err, wrong)
	}
}

// BenchmarkDetail is what a detail of usual length costs.
func BenchmarkDetail(b *testing.B) {
	var text bytes.Buffer
	for i := range 60 {
		fmt.Fprintf(&text, `{"name":"Q%d_K_M","format":"gguf","bits_per_weight":%d.75,"size_bytes":49128982%d,"basis":"computed","method":"params_b x 10^9 x bits_per_weight / 8"},`, i, i, i*7)
	}
	d, err := buildDetails(1, same(func(dst []byte, _ int) ([]byte, error) { return append(dst, text.Bytes()...), nil }))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		d.at(0)
	}
}
