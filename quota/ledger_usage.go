package quota

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// monthBucket returns the bucket of one month's counts, nil when nothing was counted in it.
func monthBucket(tx *bolt.Tx, m Month) *bolt.Bucket {
	return tx.Bucket(usageBucket).Bucket([]byte(m.String()))
}

// markKey is the key of the row beside the bucket of a month that says that it is there: the name of a bucket has no
// checksum. It comes before all months.
func markKey(month []byte) []byte { return append([]byte{markByte}, month...) }

const markByte = '#'

// makeMonth returns the bucket of one month's counts, new or not. Like rows, months are counted; their marks are not,
// which programs that do not know them pass over.
func makeMonth(tx *bolt.Tx, m Month) (*bolt.Bucket, error) {
	usage, name := tx.Bucket(usageBucket), []byte(m.String())
	if k := markKey(name); usage.Get(k) == nil {
		if err := usage.Put(k, seal(k, nil)); err != nil {
			return nil, err
		}
	}
	if b := usage.Bucket(name); b != nil {
		return b, nil
	}
	if err := usage.SetSequence(usage.Sequence() + 1); err != nil {
		return nil, err
	}
	return usage.CreateBucket(name)
}

func readCount(k, v []byte) (uint64, error) {
	payload, err := unseal(k, v)
	if err != nil {
		return 0, fmt.Errorf("count of %s: %w", idFromKey(k), err)
	}
	in := newReader(payload)
	calls := in.uvarint()
	if in.bad || in.Len() > 0 || calls > MaxLimit {
		return 0, fmt.Errorf("%w: count of %s cannot be read", ErrCorrupt, idFromKey(k))
	}
	return calls, nil
}

// eachRow calls fn for every row of a bucket, and checks that none is missing.
func eachRow(name string, b *bolt.Bucket, fn func(k, v []byte) error) error {
	rows := uint64(0)
	err := b.ForEach(func(k, v []byte) error {
		rows++
		return fn(k, v)
	})
	if err != nil {
		return err
	}
	return checkRows(name, b, rows)
}

// Newest implements Store.
func (l *Ledger) Newest(ctx context.Context) (m Month, err error) {
	err = l.view(ctx, "reading", func(tx *bolt.Tx) error {
		list, err := months(tx)
		if len(list) > 0 {
			m = list[len(list)-1]
		}
		return err
	})
	return m, err
}

// months are those that have a bucket, oldest first. A name that was damaged looks like another month: then one that is
// marked has no bucket, and one that has a bucket is not marked. Earlier programs left either, but not both.
func months(tx *bolt.Tx) (list []Month, err error) {
	usage, marked, unmarked := tx.Bucket(usageBucket), map[string]bool{}, false
	err = usage.ForEach(func(k, v []byte) error {
		if v != nil {
			if _, err := unseal(k, v); err != nil || k[0] != markByte {
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
	return list, checkRows("usage", usage, uint64(len(list)))
}

// Counts implements Store.
func (l *Ledger) Counts(ctx context.Context, batch []Count) error {
	return l.view(ctx, "reading", func(tx *bolt.Tx) error {
		for i := range batch {
			calls, err := countedCalls(tx, batch[i].Month, batch[i].ID)
			if err != nil {
				return err
			}
			batch[i].Own, batch[i].Total = calls, calls
		}
		return nil
	})
}

func countedCalls(tx *bolt.Tx, m Month, id ID) (uint64, error) {
	b := monthBucket(tx, m)
	if b == nil {
		return 0, nil
	}
	v := b.Get(id.key())
	if v == nil {
		return 0, nil
	}
	return readCount(id.key(), v)
}

// Reserve implements Store. The batch is one transaction, which is one disk write.
func (l *Ledger) Reserve(ctx context.Context, batch []Count) error {
	asked := slices.Clone(batch)
	return l.update(ctx, func(tx *bolt.Tx) error {
		for i := range batch {
			if err := reserve(tx, asked[i], &batch[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func reserve(tx *bolt.Tx, ask Count, got *Count) error {
	stored, err := countedCalls(tx, ask.Month, ask.ID)
	if err != nil {
		return err
	}
	own := min(ask.Own, max(ask.Limit, stored))
	got.Own, got.Total = own, own
	if own == stored {
		return nil
	}
	b, err := makeMonth(tx, ask.Month)
	if err != nil {
		return err
	}
	k := ask.ID.key()
	return insert(b, k, seal(k, binary.AppendUvarint(nil, own)))
}

// Usage implements Store.
func (l *Ledger) Usage(ctx context.Context, id ID) (out []MonthCalls, err error) {
	err = l.view(ctx, "reading", func(tx *bolt.Tx) error {
		if _, err := getRecord(tx, id); err != nil {
			return err
		}
		out, err = usageOf(tx, id)
		return err
	})
	return out, err
}

// usageOf joins the months that an earlier program folded into one row with those that have a bucket.
func usageOf(tx *bolt.Tx, id ID) (out []MonthCalls, err error) {
	if v := tx.Bucket(historyBucket).Get(id.key()); v != nil {
		if out, err = readHistory(id.key(), v); err != nil {
			return nil, err
		}
	}
	list, err := months(tx)
	for _, m := range list {
		calls, errCalls := countedCalls(tx, m, id)
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

// readHistory reads the folded months of one account, oldest first.
func readHistory(k, v []byte) (out []MonthCalls, err error) {
	payload, err := unseal(k, v)
	if err != nil {
		return nil, fmt.Errorf("history of %s: %w", idFromKey(k), err)
	}
	for in := newReader(payload); in.Len() > 0; {
		one := MonthCalls{Month(in.uvarint()), in.uvarint()}
		if in.bad || one.Calls > MaxLimit || len(out) > 0 && out[len(out)-1].Month >= one.Month {
			return nil, fmt.Errorf("%w: history of %s cannot be read", ErrCorrupt, idFromKey(k))
		}
		out = append(out, one)
	}
	return out, nil
}
