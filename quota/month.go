package quota

import (
	"fmt"
	"time"
)

// Month is one calendar month in UTC, counted from January of the year 0: year*12 + month - 1.
// It is the period in which calls are counted.
type Month int32

// MonthOf returns the month of t in UTC.
func MonthOf(t time.Time) Month {
	y, m, _ := t.UTC().Date()
	return Month(y*12 + int(m) - 1)
}

// Start returns the first instant of the month.
func (m Month) Start() time.Time {
	return time.Date(int(m)/12, time.Month(int(m)%12+1), 1, 0, 0, 0, 0, time.UTC)
}

// End returns the first instant of the next month, when a new quota begins.
func (m Month) End() time.Time { return (m + 1).Start() }

// String returns the month as 2026-02.
func (m Month) String() string { return fmt.Sprintf("%04d-%02d", int(m)/12, int(m)%12+1) }

// MarshalText returns the month as 2026-02.
func (m Month) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads 2026-02.
func (m *Month) UnmarshalText(text []byte) error {
	got, err := ParseMonth(string(text))
	if err != nil {
		return err
	}
	*m = got
	return nil
}

// ParseMonth reads the form String writes.
func ParseMonth(s string) (Month, error) {
	t, err := time.Parse("2006-01", s)
	if err != nil {
		return 0, fmt.Errorf("month: must look like 2026-02, got %q", s)
	}
	return MonthOf(t), nil
}

// backSlack is how far behind the month being counted the clock may fall before it is
// believed. Leap seconds, NTP steps, resumed machines and hardware clocks kept in local time
// (up to 14 hours) stay inside it, so none of them reopens a month that has ended. A clock
// further behind was wrong before, and is followed.
const backSlack = 24 * time.Hour

// calendar is a month being counted and the seconds of the clock for which it is counted.
type calendar struct {
	month    Month
	from, to int64 // Unix seconds, from included
	peak     Month // the newest month that was ever counted in
	again    bool  // the month was over, or may have been, before it became this one
}

// turn returns the calendar that follows c at the given second.
func (c *calendar) turn(unix int64) *calendar {
	next := calendarOf(MonthOf(unixTime(unix)))
	next.again = next.month <= c.peak
	next.peak = max(next.month, c.peak)
	return next
}

func calendarOf(m Month) *calendar {
	return &calendar{month: m, from: m.Start().Add(-backSlack).Unix(), to: m.End().Unix()}
}

func (c *calendar) covers(unix int64) bool { return c.from <= unix && unix < c.to }
