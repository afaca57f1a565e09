package httpapi

import (
	"cmp"
	"slices"

	"modeldex/dataset/fit"
)

// paretoBySize is fit.Pareto for rows of one model, where a row beats another only with a size of at least as many bits per
// weight: a file of one bit on a small card is faster than any of four bits, and is not the same model. A size of unknown bits
// compares with itself alone. Rows are a few hundred, and few are kept.
func paretoBySize(rows []fit.Best, values func(row *fit.Best) (x, y float64, ok bool)) []fit.Best {
	type point struct {
		row  *fit.Best
		x, y float64
	}
	var points []point
	for i := range rows {
		if x, y, ok := values(&rows[i]); ok {
			points = append(points, point{&rows[i], x, y})
		}
	}
	// What beats a row comes before it, and what beats that is kept.
	slices.SortStableFunc(points, func(a, b point) int {
		return cmp.Or(-cmp.Compare(a.x, b.x), -cmp.Compare(a.y, b.y), -cmp.Compare(bitsOf(a.row), bitsOf(b.row)))
	})
	var kept []point
	keep := map[*fit.Best]bool{}
	for _, p := range points {
		beaten := slices.ContainsFunc(kept, func(k point) bool {
			precise, more := comparePrecision(k.row, p.row)
			return precise && k.x >= p.x && k.y >= p.y && (more || k.x > p.x || k.y > p.y)
		})
		if !beaten {
			kept, keep[p.row] = append(kept, p), true
		}
	}
	var out []fit.Best
	for i := range rows {
		if keep[&rows[i]] {
			out = append(out, rows[i])
		}
	}
	return out
}

// comparePrecision reports whether the size of a has at least as many bits per weight as that of b, and whether it has more.
func comparePrecision(a, b *fit.Best) (atLeast, more bool) {
	switch {
	case a.Quantization == b.Quantization:
		return true, false
	case a.BitsPerWeight == nil || b.BitsPerWeight == nil:
		return false, false
	}
	return *a.BitsPerWeight >= *b.BitsPerWeight, *a.BitsPerWeight > *b.BitsPerWeight
}

func bitsOf(b *fit.Best) float64 {
	if b.BitsPerWeight == nil {
		return 0
	}
	return *b.BitsPerWeight
}
