package text

import (
	"math"
	"testing"
)

// TestNumbers holds the forms in which people meet numbers.
func TestNumbers(t *testing.T) {
	t.Parallel()
	nan, inf := math.NaN(), math.Inf(1)
	for _, tt := range []struct{ name, got, want string }{
		{"whole", Whole(1281), "1,281"},
		{"whole, negative", Whole(int64(-1234567)), "-1,234,567"},
		{"whole, three digits", Whole(-123), "-123"},
		{"exact", Exact(1234.5678), "1,234.5678"},
		{"exact, negative below 1", Exact(-0.25), "-0.25"},
		{"exact, unknown", Exact(nan), Unknown},
		{"tenths", Tenths(1234.56), "1,234.6"},
		{"tenths, half", Tenths(33.15), "33.2"},
		{"tenths, whole", Tenths(68), "68.0"},
		{"tenths, zero", Tenths(0), "0.0"},
		{"tenths, rounded up to 1", Tenths(0.96), "1.0"},
		{"tenths, below 1", Tenths(0.512), "0.51"},
		{"tenths, unknown", Tenths(inf), Unknown},
		{"rounded, large", Rounded(1234567), "1,234,567"},
		{"rounded, tens", Rounded(13.12), "13.1"},
		{"rounded, ones", Rounded(1.005), "1"},
		{"rounded, below 1", Rounded(0.01234), "0.012"},
		{"rounded, negative", Rounded(-1234), "-1,234"},
		{"rounded, zero", Rounded(0), "0"},
		{"rounded, unknown", Rounded(nan), Unknown},
		{"short, millions", Short(2_500_000), "2.5M"},
		{"short, billions", Short(1e9), "1B"},
		{"short, thousands", Short(1500), "1,500"},
		{"percent", Percent(0.4567), "45.7%"},
		{"percent, unknown", Percent(nan), Unknown},
		{"dollars", Dollars(2873.4), "$2,873"},
		{"dollars, cents", Dollars(8.3), "$8.30"},
		{"dollars, small and whole", Dollars(7), "$7"},
		{"dollars, unknown", Dollars(nan), Unknown},
		{"GiB", GiB(3 << 29), "1.5 GiB"},
		{"tokens", Tokens(131072), "128k"},
		{"tokens, millions", Tokens(1 << 20), "1M"},
		{"tokens, not round", Tokens(40960 + 1), "40,961"},
		{"count of one", Count(1, "run", "runs"), "1 run"},
		{"count of none", Count(0, "run", "runs"), "0 runs"},
		{"count of many", Count(int64(1200), "entry", "entries"), "1,200 entries"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}
