package record

import (
	"regexp"
	"testing"
	"time"
)

func TestDate(t *testing.T) {
	pattern := regexp.MustCompile(DatePattern)
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
		if ok && !pattern.MatchString(string(tt.date)) {
			t.Errorf("Date(%q) is valid, the pattern of schemas refuses it", tt.date)
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
