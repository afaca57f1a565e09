package quota

import (
	"fmt"
	"sync/atomic"
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
func (m *Month) UnmarshalText(text []byte) (err error) {
	*m, err = ParseMonth(string(text))
	return err
}

// ParseMonth reads the form String writes.
func ParseMonth(s string) (Month, error) {
	t, err := time.Parse("2006-01", s)
	if err != nil {
		return 0, fmt.Errorf("month: must look like 2026-02, got %q", s)
	}
	return MonthOf(t), nil
}

// backSlack is how far behind the month being counted the clock may fall before it is believed. Leap seconds, NTP
// steps, resumed machines and hardware clocks kept in local time (up to 14 hours) stay inside it, so none of them
// reopens a month that has ended. A clock further behind was wrong before, and is followed.
const backSlack = 24 * time.Hour

// calendar is a month being counted and the seconds of the clock for which it is counted.
type calendar struct {
	month    Month
	from, to int64 // Unix seconds, from included
	again    bool  // the clock has been ahead: calls may have been counted in this month before
}

func calendarOf(m Month) *calendar {
	return &calendar{month: m, from: m.Start().Add(-backSlack).Unix(), to: m.End().Unix()}
}

func (c *calendar) covers(unix int64) bool { return c.from <= unix && unix < c.to }

// clock is the time by which calls are counted.
type clock struct {
	now     func() time.Time     // the wall clock, for months
	mono    func() time.Duration // a clock that never jumps; nil: the monotonic part of now
	started time.Time
	cal     atomic.Pointer[calendar]
}

// instant is one reading of both clocks.
type instant struct {
	unix int64         // wall clock, seconds
	mono time.Duration // monotonic clock
}

func (c *clock) instant() instant {
	t := c.now()
	if c.mono != nil {
		return instant{t.Unix(), c.mono()}
	}
	return instant{t.Unix(), t.Sub(c.started)}
}

// calendar returns the month to count in at the given second of the wall clock. A month is left for a later one when
// its end has come, and for an earlier one only when the clock has fallen far behind: see backSlack.
func (c *clock) calendar(unix int64) *calendar {
	for {
		cal := c.cal.Load()
		if cal.covers(unix) {
			return cal
		}
		next := calendarOf(MonthOf(unixTime(unix)))
		next.again = cal.again || next.month < cal.month
		if c.cal.CompareAndSwap(cal, next) {
			return next
		}
	}
}

// monthAt returns the month to count in at the given second, without making it the current one. Work
// in the background asks here. It takes longer than a clock may need to jump, and a second that was
// read before a jump must not lead the keeper back to where the clock was.
func (c *clock) monthAt(unix int64) Month {
	if cal := c.cal.Load(); cal.covers(unix) {
		return cal.month
	}
	return MonthOf(unixTime(unix))
}
