package svg

import "testing"

// TestScales holds that ticks are inside the scale, apart, and at least two on any useful range.
func TestScales(t *testing.T) {
	t.Parallel()
	for _, log := range []bool{false, true} {
		for _, r := range [][2]float64{{1, 2}, {3, 3}, {0.001, 0.0011}, {1, 1e9}, {35, 240}, {1e-12, 1e12}, {99, 101}} {
			for _, length := range []float64{200, 700} {
				s := NewScale(log, r[0], r[1], 0, length)
				ticks := s.Ticks(40)
				if len(ticks) < 1 {
					t.Errorf("log %t, %v, %v: no ticks", log, r, length)
				}
				for i, v := range ticks {
					if at := s.At(v); at < -0.01 || at > length+0.01 {
						t.Errorf("log %t, %v: tick %v is at %v of %v", log, r, v, at, length)
					}
					if i > 0 && s.At(v)-s.At(ticks[i-1]) < 30 {
						t.Errorf("log %t, %v: ticks %v and %v are %v apart", log, r, ticks[i-1], v, s.At(v)-s.At(ticks[i-1]))
					}
				}
			}
		}
	}
}
