package quota

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// month returns the bucket of one month's counts, which is not there when nothing was counted in it.
func (r Rows) month(m Month) Bucket {
	return Bucket{r.tx, usageBucket + " " + m.String(), r.tx.Bucket([]byte(usageBucket)).Bucket([]byte(m.String()))}
}

// markKey is the key of the row beside the bucket of a month that says that it is there: the name of a bucket has no
// checksum. It comes before all months.
func markKey(month []byte) []byte { return append([]byte{markByte}, month...) }

const markByte = '#'

// makeMonth returns the bucket of one month's counts, new or not. Like rows, months are counted; their marks are not,
// which programs that do not know them pass over.
func (r Rows) makeMonth(m Month) (b Bucket, err error) {
	usage, name := r.tx.Bucket([]byte(usageBucket)), []byte(m.String())
	k := markKey(name)
	if b = r.month(m); b.b != nil && usage.Get(k) != nil {
		return b, nil
	}
	if err = usage.Put(k, seal(k, nil)); err == nil && b.b == nil {
		if err = usage.SetSequence(usage.Sequence() + 1); err == nil {
			b.b, err = usage.CreateBucket(name)
		}
	}
	return b, err
}

func decodeCount(k, v []byte) (uint64, error) {
	in := newReader(v)
	calls := in.uvarint()
	if in.bad || in.Len() > 0 || calls > MaxLimit {
		return 0, fmt.Errorf("%w: count of %s cannot be read", ErrCorrupt, idFromKey(k))
	}
	return calls, nil
}

// Newest implements Store.
func (l *Ledger) Newest(ctx context.Context) (m Month, err error) {
	err = l.ViewRows(ctx, func(rows Rows) error {
		list, err := rows.months()
		if len(list) > 0 {
			m = list[len(list)-1]
		}
		return err
	})
	return m, err
}

// months are those that have a bucket, oldest first. A name that was damaged looks like another month: then one that is
// marked has no bucket, and one that has a bucket is not marked. Earlier programs left either, but not both.
func (r Rows) months() (list []Month, err error) {
	usage, marked, unmarked := r.Bucket(usageBucket), map[string]bool{}, false
	err = usage.b.ForEach(func(k, v []byte) error {
		if v != nil {
			if _, err := usage.unseal(k, v); err != nil || k[0] != markByte {
				return errors.Join(fmt.Errorf("%w: usage: mark of a month cannot be read", ErrCorrupt), err)
			}
			marked[string(k[1:])] = true
			return nil
		}
		m, err := ParseMonth(string(k))
		if n := len(list); err != nil || n > 0 && list[n-1] >= m {
			return fmt.Errorf("%w: usage: %q is not a month in order", ErrCorrupt, k)
		}
		list = append(list, m)
		unmarked = unmarked || !marked[string(k)]
		delete(marked, string(k))
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case unmarked && len(marked) > 0:
		return nil, fmt.Errorf("%w: usage: a month has no counts, and another was not begun", ErrCorrupt)
	}
	return list, usage.checkRows(uint64(len(list)))
}

// Counts implements Store.
func (l *Ledger) Counts(ctx context.Context, batch []Count) error {
	return l.ViewRows(ctx, func(rows Rows) error {
		for i := range batch {
			calls, err := rows.counted(batch[i].Month, batch[i].ID)
			if err != nil {
				return err
			}
			batch[i].Own, batch[i].Total = calls, calls
		}
		return nil
	})
}

func (r Rows) counted(m Month, id ID) (uint64, error) {
	b := r.month(m)
	v, err := b.Get(id.key())
	if v == nil {
		return 0, err
	}
	return decodeCount(id.key(), v)
}

// Reserve implements Store. The batch is one transaction, which is one disk write.
func (l *Ledger) Reserve(ctx context.Context, batch []Count) error {
	stored := slices.Clone(batch)
	err := l.UpdateRows(ctx, func(rows Rows) error {
		for i := range stored {
			if err := rows.reserve(&stored[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		copy(batch, stored)
	}
	return err
}

func (r Rows) reserve(c *Count) error {
	before, err := r.counted(c.Month, c.ID)
	if err != nil {
		return err
	}
	c.Own = min(c.Own, max(c.Limit, before))
	if c.Total = c.Own; c.Own == before {
		return nil
	}
	b, err := r.makeMonth(c.Month)
	if err != nil {
		return err
	}
	return b.Put(c.ID.key(), binary.AppendUvarint(nil, c.Own))
}

// Usage implements Store.
func (l *Ledger) Usage(ctx context.Context, id ID) (out []MonthCalls, err error) {
	err = l.ViewRows(ctx, func(rows Rows) error {
		if _, err := rows.Account(id); err != nil {
			return err
		}
		out, err = rows.usage(id)
		return err
	})
	return out, err
}

// usage joins the months that an earlier program folded into one row with those that have a bucket.
func (r Rows) usage(id ID) (out []MonthCalls, err error) {
	history := r.Bucket(historyBucket)
	v, err := history.Get(id.key())
	if err == nil {
		out, err = decodeHistory(id.key(), v)
	}
	if err != nil {
		return nil, err
	}
	list, err := r.months()
	for _, m := range list {
		calls, errCalls := r.counted(m, id)
		if calls > 0 {
			out = setMonth(out, m, calls)
		}
		err = errors.Join(err, errCalls)
	}
	return out, err
}

func setMonth(list []MonthCalls, m Month, calls uint64) []MonthCalls {
	i, ok := slices.BinarySearchFunc(list, m, func(c MonthCalls, m Month) int { return int(c.Month - m) })
	if !ok {
		return slices.Insert(list, i, MonthCalls{m, calls})
	}
	list[i].Calls = calls
	return list
}

// decodeHistory reads the folded months of one account, oldest first.
func decodeHistory(k, v []byte) (out []MonthCalls, err error) {
	for in := newReader(v); in.Len() > 0; {
		one := MonthCalls{Month(in.uvarint()), in.uvarint()}
		if in.bad || one.Calls > MaxLimit || len(out) > 0 && out[len(out)-1].Month >= one.Month {
			return nil, fmt.Errorf("%w: history of %s cannot be read", ErrCorrupt, idFromKey(k))
		}
		out = append(out, one)
	}
	return out, nil
}
