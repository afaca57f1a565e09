package quota

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"
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
	Day         Day    `json:"day"`
	Calls       uint64 `json:"calls"`        // charged
	NotModified uint64 `json:"not_modified"` // answered with 304, free
	Repeated    uint64 `json:"repeated"`     // charged for what the key had received a short while before
	Paging      uint64 `json:"paging"`       // thousandths of calls that the largest pages would have saved
}

func (u *DayUsage) add(v DayUsage) {
	u.Calls, u.NotModified, u.Repeated, u.Paging = u.Calls+v.Calls, u.NotModified+v.NotModified, u.Repeated+v.Repeated, u.Paging+v.Paging
}

func (u *DayUsage) empty() bool { return u.Calls|u.NotModified|u.Repeated|u.Paging == 0 }

// AccountDay is the use of one key on one day.
type AccountDay struct {
	ID ID
	DayUsage
}

// DayStore is what a ledger keeps of the use per day. Ledger implements it.
type DayStore interface {
	// AddDays adds to what is kept. After an error it is not known what was added.
	AddDays(ctx context.Context, list []AccountDay) error
	// Days returns what is kept of one account, oldest first: at most KeepDays days.
	Days(ctx context.Context, id ID) ([]DayUsage, error)
}

// recentTags is how many of the newest responses of a key are remembered, by a hash of each.
const recentTags = 16

// dayCounts counts one key's use on one day since the last flush. Calls add to it without a lock.
type dayCounts struct {
	day    Day
	acc    *account
	calls  atomic.Uint64
	free   atomic.Uint64
	again  atomic.Uint64
	paging atomic.Uint64
	idle   bool // at the last flush; guarded by the keeper's lock of days
	recent [recentTags]atomic.Uint64
}

// take returns what was counted since the last take.
func (d *dayCounts) take() AccountDay {
	return AccountDay{d.acc.id, DayUsage{d.day, d.calls.Swap(0), d.free.Swap(0), d.again.Swap(0), d.paging.Swap(0)}}
}

func (d *dayCounts) peek() DayUsage {
	return DayUsage{d.day, d.calls.Load(), d.free.Load(), d.again.Load(), d.paging.Load()}
}

// days returns where the call is counted.
func (c *Call) days() *dayCounts {
	if d := c.acc.days.Load(); d != nil && d.day == c.day {
		return d
	}
	k := c.k
	k.daysMu.Lock()
	defer k.daysMu.Unlock()
	if d := c.acc.days.Load(); d != nil && d.day == c.day {
		return d
	}
	d := &dayCounts{day: c.day, acc: c.acc}
	k.days = append(k.days, d)
	c.acc.days.Store(d)
	return d
}

// NoteNotModified counts a free answer that spared a call.
func (c *Call) NoteNotModified() {
	if c.acc != nil {
		c.days().free.Add(1)
	}
}

// NoteSent counts what a charged answer could have cost less: tag is a hash of what was sent, paging
// the thousandths of a call that larger pages would have saved. It takes no lock.
func (c *Call) NoteSent(tag uint64, paging uint32) {
	if c.acc == nil || tag == 0 {
		return
	}
	d := c.days()
	if d.recent[tag%recentTags].Load() == tag {
		d.again.Add(1)
		return // its paging was counted before
	}
	d.recent[tag%recentTags].Store(tag)
	if paging > 0 {
		d.paging.Add(uint64(paging))
	}
}

// flushDaysEvery is how often days are written.
const flushDaysEvery = time.Minute

// runDays writes days until ctx ends.
func (k *Keeper) runDays(ctx context.Context) {
	for sleep(ctx, flushDaysEvery) == nil {
		if err := k.flushDays(); err != nil {
			k.cfg.OnError(fmt.Errorf("writing the use per day: %w", err))
		}
	}
}

// flushDays writes what was counted since the last flush, and forgets keys that have been idle
// since.
func (k *Keeper) flushDays() error {
	store, ok := k.store.(DayStore)
	if !ok {
		return nil
	}
	k.flushMu.Lock()
	defer k.flushMu.Unlock()
	batch := k.takeDays()
	for len(batch) > 0 {
		part := batch[:min(len(batch), 10_000)]
		ctx, cancel := context.WithTimeout(context.Background(), k.cfg.StoreTimeout)
		err := store.AddDays(ctx, part)
		cancel()
		if err != nil {
			k.daysMu.Lock()
			k.unwritten = batch // tried again with the next flush
			k.daysMu.Unlock()
			return k.noteLost(err)
		}
		batch = batch[len(part):]
	}
	return nil
}

// mostUnwritten bounds what is kept for a ledger that fails; what is above it is lost.
const mostUnwritten = 100_000

// takeDays takes what is to be written.
func (k *Keeper) takeDays() []AccountDay {
	k.daysMu.Lock()
	defer k.daysMu.Unlock()
	batch := k.unwritten
	k.unwritten = nil
	k.days = slices.DeleteFunc(k.days, func(d *dayCounts) bool {
		one := d.take()
		if !one.empty() {
			d.idle = false
			batch = append(batch, one)
			return false
		}
		if !d.idle {
			d.idle = true
			return false
		}
		d.acc.days.CompareAndSwap(d, nil)
		return true
	})
	return batch[:min(len(batch), mostUnwritten)]
}

// Days returns what a key did per day, oldest first, up to now. A ledger that keeps no days gives
// those since the start.
func (k *Keeper) Days(ctx context.Context, id ID) (out []DayUsage, err error) {
	k.flushMu.Lock() // nothing is on its way to the ledger
	defer k.flushMu.Unlock()
	if store, ok := k.store.(DayStore); ok {
		if out, err = store.Days(ctx, id); err != nil {
			return nil, fmt.Errorf("account %s: %w", id, err)
		}
	}
	k.daysMu.Lock()
	defer k.daysMu.Unlock()
	for _, one := range k.unwritten {
		if one.ID == id {
			out = addDay(out, one.DayUsage)
		}
	}
	for _, d := range k.days {
		if d.acc.id == id {
			if u := d.peek(); !u.empty() {
				out = addDay(out, u)
			}
		}
	}
	return out, nil
}

// addDay adds one day to a list in order of days.
func addDay(list []DayUsage, u DayUsage) []DayUsage {
	i, ok := slices.BinarySearchFunc(list, u.Day, func(d DayUsage, day Day) int { return int(d.Day - day) })
	if ok {
		list[i].add(u)
		return list
	}
	return slices.Insert(list, i, u)
}

// AddTo adds one day to what is kept of an account, and drops what is too old. It also drops a day so far ahead
// that a wrong clock counted it: beside that one, everything would be too old.
func (u DayUsage) AddTo(list []DayUsage) []DayUsage {
	return slices.DeleteFunc(addDay(list, u), func(d DayUsage) bool { return u.Day-d.Day >= KeepDays || d.Day-u.Day >= KeepDays })
}

// daysBucket is made with the first day that is written, as those of webhooks are.
var daysBucket = []byte("days")

var _ DayStore = (*Ledger)(nil)

// AddDays implements DayStore, in one transaction.
func (l *Ledger) AddDays(ctx context.Context, list []AccountDay) error {
	return l.update(ctx, "writing", func(tx *bolt.Tx) error {
		b, err := makeBucket(tx, daysBucket)
		if err != nil {
			return err
		}
		for _, one := range list {
			days, err := getDays(b, one.ID)
			if err != nil {
				return err
			}
			if err := putDays(b, one.ID, one.AddTo(days)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Days implements DayStore.
func (l *Ledger) Days(ctx context.Context, id ID) (out []DayUsage, err error) {
	err = l.view(ctx, "reading", func(tx *bolt.Tx) error {
		out, err = getDays(tx.Bucket(daysBucket), id)
		return err
	})
	return out, err
}

// getDays reads from the bucket of days, which may be nil.
func getDays(b *bolt.Bucket, id ID) ([]DayUsage, error) {
	if b == nil {
		return nil, nil
	}
	v := b.Get(id.key())
	if v == nil {
		return nil, nil
	}
	return readDays(id.key(), v)
}

func readDays(k, v []byte) (out []DayUsage, err error) {
	payload, err := unseal(k, v)
	if err != nil {
		return nil, fmt.Errorf("days of %s: %w", idFromKey(k), err)
	}
	for in := (reader{b: payload}); len(in.b) > 0; {
		u := DayUsage{Day(in.uvarint()), in.uvarint(), in.uvarint(), in.uvarint(), in.uvarint()}
		if in.bad || len(out) > 0 && out[len(out)-1].Day >= u.Day {
			return nil, fmt.Errorf("%w: days of %s cannot be read", ErrCorrupt, idFromKey(k))
		}
		out = append(out, u)
	}
	return out, nil
}

func putDays(b *bolt.Bucket, id ID, list []DayUsage) error {
	var payload []byte
	for _, u := range list {
		for _, n := range []uint64{uint64(u.Day), u.Calls, u.NotModified, u.Repeated, u.Paging} {
			payload = binary.AppendUvarint(payload, n)
		}
	}
	return insert(b, id.key(), seal(id.key(), payload))
}
