package httpapi

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/fit"
)

// TestParetoBySize: a size of fewer bits beats none of more, and one of unknown bits none but itself.
func TestParetoBySize(t *testing.T) {
	t.Parallel()
	type row struct {
		hardware   dataset.Slug
		size       string
		bits       float64 // 0: unknown
		price, tps float64
	}
	list := func(rows []row) ([]fit.Best, map[dataset.Slug]row) {
		out, by := make([]fit.Best, len(rows)), map[dataset.Slug]row{}
		for i, r := range rows {
			by[r.hardware] = r
			out[i] = fit.Best{Hardware: r.hardware, Quantization: r.size, TPS: &rows[i].tps}
			if r.bits > 0 {
				out[i].BitsPerWeight = &rows[i].bits
			}
		}
		return out, by
	}
	kept := func(rows []row) (out []dataset.Slug) {
		found, by := list(rows)
		for _, b := range paretoBySize(found, func(b *fit.Best) (x, y float64, ok bool) { return -by[b.Hardware].price, *b.TPS, true }) {
			out = append(out, b.Hardware)
		}
		return out
	}
	rows := []row{
		{"large", "Q4_K_M", 4.8, 1300, 34},
		{"small-one-bit", "UD-IQ1_M", 2, 340, 51},
		{"small-two-bits", "Q2_K", 3, 400, 40},
		{"slower", "Q4_K_M", 4.8, 1400, 30},
		{"as-fast-more-precise", "Q6_K", 6.6, 1300, 34},
		{"unknown", "ODD", 0, 9000, 1},
		{"unknown-slower", "ODD", 0, 9000, 0.5},
		{"same-as-unknown", "ODD", 0, 9000, 1},
	}
	if got, want := kept(rows), []dataset.Slug{"small-one-bit", "small-two-bits", "as-fast-more-precise", "unknown", "same-as-unknown"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		rows := make([]row, r.IntN(30))
		for i := range rows {
			bits := r.IntN(4)
			rows[i] = row{dataset.Slug(fmt.Sprintf("h%d", i)), fmt.Sprintf("Q%d", bits), float64(bits), float64(r.IntN(5)), float64(r.IntN(5))}
		}
		var want []dataset.Slug
		for _, a := range rows {
			if !slices.ContainsFunc(rows, func(b row) bool {
				precise := b.size == a.size || a.bits > 0 && b.bits >= a.bits
				return precise && b.price <= a.price && b.tps >= a.tps && (b.price < a.price || b.tps > a.tps || b.bits > a.bits)
			}) {
				want = append(want, a.hardware)
			}
		}
		if got := kept(rows); !slices.Equal(got, want) {
			t.Fatalf("of %v: %v, want %v", rows, got, want)
		}
	}
}
