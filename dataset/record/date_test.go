package record

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestDate(t *testing.T) {
	for _, tt := range []struct {
		date Date
		want string // the first instant, empty if it is not a date
	}{
		{"2024-07-23", "2024-07-23"},
		{"2024-07", "2024-07-01"},
		{"2024", "2024-01-01"},
		{"2024-02-29", "2024-02-29"},
		{"0001-01-01", "0001-01-01"},
		{"2023-02-29", ""},
		{"2024-00-01", ""},
		{"2024-13", ""},
		{"2024-04-31", ""},
		{"2024-1-1", ""},
		{"24", ""},
		{"", ""},
		{"2024-07-23T00:00:00Z", ""},
		{"2024/07/23", ""},
		{"2024-07-2x", ""},
		{"-024-01-01", ""},
		{"２０２４", ""},
	} {
		got, ok := tt.date.Time()
		if ok != (tt.want != "") || ok && got.Format(time.DateOnly) != tt.want {
			t.Errorf("Date(%q).Time() = %v, %t, want %q", tt.date, got, ok, tt.want)
		}
	}
}

func TestDateLikeTimeParse(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	layouts := map[int]string{4: "2006", 7: "2006-01", 10: time.DateOnly}
	for range 200_000 {
		b := []byte("2024-02-29")[:[]int{4, 7, 10}[random.IntN(3)]]
		for range random.IntN(4) {
			b[random.IntN(len(b))] = "0123456789-x"[random.IntN(12)]
		}
		want, err := time.Parse(layouts[len(b)], string(b))
		got, ok := Date(b).Time()
		if ok != (err == nil) || !got.Equal(want) && ok {
			t.Fatalf("Date(%q).Time() = %v, %t, time.Parse gives %v, %v", b, got, ok, want, err)
		}
		if ok && !datePattern.Match(b) {
			t.Fatalf("Date(%q) is valid, the pattern refuses it", b)
		}
	}
}

// DateOf undoes Number.
func TestDateOf(t *testing.T) {
	for _, d := range []Date{"2024", "2024-05", "2024-05-09", "0987-12-31"} {
		if got := DateOf(d.Number()); got != d {
			t.Errorf("DateOf(%d) = %q, want %q", d.Number(), got, d)
		}
	}
}
