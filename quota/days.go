package quota

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// KeepDays is how many days of use are kept of a key.
const KeepDays = 35

// Day is a day in UTC, counted from 1970-01-01.
type Day int32

// DayOf returns the day of t in UTC.
func DayOf(t time.Time) Day { return Day(t.Unix() / secondsPerDay) }

const secondsPerDay = 24 * 60 * 60

// Start returns the first instant of the day.
func (d Day) Start() time.Time { return time.Unix(int64(d)*secondsPerDay, 0).UTC() }

// DayUsage is what a key did on one day. The numbers are for its owner: they are written once per
// minute, so that a crash may lose a minute of them. What is charged does not follow from them.
type DayUsage struct {
	Day   Day    `json:"day"`
	Calls uint64 `json:"calls"` // charged
}

// AccountDay is the use of one key on one day.
type AccountDay struct {
	ID ID
	DayUsage
}

// dayLog counts the use of keys per day, and writes it once per minute.
type dayLog struct {
	store   Store
	timeout time.Duration
	health  *health

	flushMu sync.Mutex // held while days are written; taken before mu
	mu      sync.Mutex // guards list
	list    []*dayCounts
}

// dayCounts counts one key's use on one day since the last flush. Calls add to it without a lock.
type dayCounts struct {
	day   Day
	acc   *account
	calls atomic.Uint64
	idle  bool // at the last flush; guarded by the lock of the log
}

// of returns where the calls of an account on a day are counted.
func (l *dayLog) of(acc *account, day Day) *dayCounts {
	if d := acc.days.Load(); d != nil && d.day == day {
		return d
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	d := acc.days.Load()
	if d == nil || d.day != day {
		d = &dayCounts{day: day, acc: acc}
		l.list = append(l.list, d)
		acc.days.Store(d)
	}
	return d
}

// flushDaysEvery is how often days are written.
const flushDaysEvery = time.Minute

// run writes days until ctx ends.
func (l *dayLog) run(ctx context.Context, onError func(error)) {
	for sleep(ctx, flushDaysEvery) == nil {
		if err := l.flush(); err != nil {
			onError(fmt.Errorf("writing the use per day: %w", err))
		}
	}
}

// flush writes what was counted since the last flush, and forgets keys that have been idle since. What a ledger
// that fails does not take is lost.
func (l *dayLog) flush() error {
	l.flushMu.Lock()
	defer l.flushMu.Unlock()
	for part := range slices.Chunk(l.take(), 10_000) {
		ctx, cancel := context.WithTimeout(context.Background(), l.timeout)
		err := l.store.AddDays(ctx, part)
		cancel()
		if err != nil {
			return l.health.noteLost(err)
		}
	}
	return nil
}

// take takes what is to be written.
func (l *dayLog) take() (batch []AccountDay) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(d *dayCounts) bool {
		if calls := d.calls.Swap(0); calls > 0 {
			d.idle = false
			batch = append(batch, AccountDay{d.acc.id, DayUsage{d.day, calls}})
			return false
		}
		if !d.idle {
			d.idle = true
			return false
		}
		d.acc.days.CompareAndSwap(d, nil)
		return true
	})
	return batch
}

// daysOf returns what a key did per day, oldest first, up to now.
func (l *dayLog) daysOf(ctx context.Context, id ID) ([]DayUsage, error) {
	l.flushMu.Lock() // nothing is on its way to the ledger
	defer l.flushMu.Unlock()
	out, err := l.store.Days(ctx, id)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range l.list {
		if calls := d.calls.Load(); d.acc.id == id && calls > 0 {
			out = addDay(out, DayUsage{d.day, calls})
		}
	}
	return out, err
}

// addDay adds one day to a list in order of days.
func addDay(list []DayUsage, u DayUsage) []DayUsage {
	i, ok := slices.BinarySearchFunc(list, u.Day, func(d DayUsage, day Day) int { return int(d.Day - day) })
	if ok {
		list[i].Calls += u.Calls
		return list
	}
	return slices.Insert(list, i, u)
}

// AddTo adds one day to what is kept of an account, and drops what is too old. It also drops a day so far ahead
// that a wrong clock counted it: beside that one, everything would be too old.
func (u DayUsage) AddTo(list []DayUsage) []DayUsage {
	return slices.DeleteFunc(addDay(list, u), func(d DayUsage) bool { return u.Day-d.Day >= KeepDays || d.Day-u.Day >= KeepDays })
}
