package quota

import (
	"testing"
	"time"
)

func TestMonth(t *testing.T) {
	at := func(s string) time.Time {
		v, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	tests := []struct{ name, now, month, end string }{
		{"first instant", "2026-03-01T00:00:00Z", "2026-03", "2026-04-01T00:00:00Z"},
		{"last instant", "2026-03-31T23:59:59Z", "2026-03", "2026-04-01T00:00:00Z"},
		{"leap day", "2028-02-29T12:00:00Z", "2028-02", "2028-03-01T00:00:00Z"},
		{"february of a year that is not a leap year", "2026-02-28T23:59:59Z", "2026-02", "2026-03-01T00:00:00Z"},
		{"century without leap day", "2100-02-28T23:59:59Z", "2100-02", "2100-03-01T00:00:00Z"},
		{"new year", "2026-12-31T23:59:59Z", "2026-12", "2027-01-01T00:00:00Z"},
		{"another zone", "2026-04-01T01:00:00+02:00", "2026-03", "2026-04-01T00:00:00Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := MonthOf(at(tt.now))
			if m.String() != tt.month || !m.End().Equal(at(tt.end)) {
				t.Errorf("MonthOf(%s) = %v until %v, want %s until %s", tt.now, m, m.End(), tt.month, tt.end)
			}
			if got, err := ParseMonth(m.String()); err != nil || got != m {
				t.Errorf("ParseMonth(%v) = %v, %v", m, got, err)
			}
			if !calendarOf(m).covers(at(tt.now).Unix()) {
				t.Errorf("calendar of %v does not cover %s", m, tt.now)
			}
		})
	}
	for _, bad := range []string{"", "2026", "2026-13", "2026-00", "26-01", "2026-01-01"} {
		if m, err := ParseMonth(bad); err == nil {
			t.Errorf("ParseMonth(%q) = %v, want an error", bad, m)
		}
	}
}
