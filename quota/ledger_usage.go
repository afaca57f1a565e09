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

func removeMonth(tx *bolt.Tx, m Month) error {
	usage, name := tx.Bucket(usageBucket), []byte(m.String())
	if err := usage.SetSequence(usage.Sequence() - 1); err != nil {
		return err
	}
	return errors.Join(usage.Delete(markKey(name)), usage.DeleteBucket(name))
}

func readCount(k, v []byte) (uint64, error) {
	payload, err := unseal(k, v)
	if err != nil {
		return 0, fmt.Errorf("count of %s: %w", idFromKey(k), err)
	}
	in := reader{b: payload}
	calls := in.uvarint()
	if in.bad || len(in.b) > 0 || calls > MaxLimit {
		return 0, fmt.Errorf("%w: count of %s cannot be read", ErrCorrupt, idFromKey(k))
	}
	return calls, nil
}

// callsIn reads the calls of all accounts in a month. Like countedCalls it finds a month that was folded.
func callsIn(tx *bolt.Tx, month Month) (map[ID]uint64, error) {
	out := map[ID]uint64{}
	err := eachRow("history", tx.Bucket(historyBucket), func(k, v []byte) error {
		past, err := readHistory(k, v)
		if i, ok := findMonth(past, month); ok {
			out[idFromKey(k)] = past[i].Calls
		}
		return err
	})
	if b := monthBucket(tx, month); b != nil && err == nil {
		err = eachRow("usage "+month.String(), b, func(k, v []byte) (err error) {
			out[idFromKey(k)], err = readCount(k, v)
			return err
		})
	}
	return out, err
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
// marked has no bucket, and one that has a bucket is not marked. Programs that do not know marks leave either, but not both.
func months(tx *bolt.Tx) (list []Month, err error) {
	usage, marked, unmarked := tx.Bucket(usageBucket), map[string]bool{}, false
	c := usage.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if v != nil {
			if _, err := unseal(k, v); err != nil || k[0] != markByte {
				return nil, errors.Join(fmt.Errorf("%w: usage: mark of a month cannot be read", ErrCorrupt), err)
			}
			marked[string(k[1:])] = true
			continue
		}
		m, err := ParseMonth(string(k))
		if err != nil {
			return nil, fmt.Errorf("%w: usage: %w", ErrCorrupt, err)
		}
		if n := len(list); n > 0 && list[n-1] >= m {
			return nil, fmt.Errorf("%w: usage: month %s is not in order", ErrCorrupt, m)
		}
		list = append(list, m)
		unmarked = unmarked || !marked[string(k)]
		delete(marked, string(k))
	}
	for name := range marked {
		if unmarked {
			return nil, fmt.Errorf("%w: usage: month %s has no counts, and another was not begun", ErrCorrupt, name)
		}
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

// countedCalls also looks into the history: a clock set far back may reopen a month that a
// compaction has folded.
func countedCalls(tx *bolt.Tx, m Month, id ID) (uint64, error) {
	if b := monthBucket(tx, m); b != nil {
		if v := b.Get(id.key()); v != nil {
			return readCount(id.key(), v)
		}
	}
	past, err := getHistory(tx, id)
	if err != nil {
		return 0, err
	}
	if i, ok := findMonth(past, m); ok {
		return past[i].Calls, nil
	}
	return 0, nil
}

// Reserve implements Store. The batch is one transaction, which is one disk write.
func (l *Ledger) Reserve(ctx context.Context, batch []Count) error {
	asked := slices.Clone(batch)
	return l.update(ctx, "writing", func(tx *bolt.Tx) error {
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
	own := ask.Own
	if own > ask.Limit {
		own = min(own, max(ask.Limit, stored))
	}
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

// usageOf joins the folded months with those that still have a bucket; a bucket is the newer
// word on its month.
func usageOf(tx *bolt.Tx, id ID) ([]MonthCalls, error) {
	out, err := getHistory(tx, id)
	if err != nil {
		return nil, err
	}
	err = eachMonth(tx, func(m Month, b *bolt.Bucket) error {
		v := b.Get(id.key())
		if v == nil {
			return nil
		}
		calls, err := readCount(id.key(), v)
		if calls > 0 {
			out = setMonth(out, m, calls)
		}
		return err
	})
	return out, err
}

// eachMonth visits the months that have a bucket, oldest first.
func eachMonth(tx *bolt.Tx, fn func(Month, *bolt.Bucket) error) error {
	list, err := months(tx)
	if err != nil {
		return err
	}
	for _, m := range list {
		if err := fn(m, monthBucket(tx, m)); err != nil {
			return err
		}
	}
	return nil
}

func findMonth(list []MonthCalls, m Month) (int, bool) {
	return slices.BinarySearchFunc(list, m, func(c MonthCalls, m Month) int { return int(c.Month - m) })
}

func setMonth(list []MonthCalls, m Month, calls uint64) []MonthCalls {
	i, ok := findMonth(list, m)
	if !ok {
		return slices.Insert(list, i, MonthCalls{m, calls})
	}
	list[i].Calls = calls
	return list
}

// getHistory returns the folded months of one account, oldest first.
func getHistory(tx *bolt.Tx, id ID) ([]MonthCalls, error) {
	v := tx.Bucket(historyBucket).Get(id.key())
	if v == nil {
		return nil, nil
	}
	return readHistory(id.key(), v)
}

func readHistory(k, v []byte) ([]MonthCalls, error) {
	payload, err := unseal(k, v)
	if err != nil {
		return nil, fmt.Errorf("history of %s: %w", idFromKey(k), err)
	}
	var out []MonthCalls
	for in := (reader{b: payload}); len(in.b) > 0; {
		m, calls := Month(in.uvarint()), in.uvarint()
		if in.bad || calls > MaxLimit || len(out) > 0 && out[len(out)-1].Month >= m {
			return nil, fmt.Errorf("%w: history of %s cannot be read", ErrCorrupt, idFromKey(k))
		}
		out = append(out, MonthCalls{m, calls})
	}
	return out, nil
}

func putHistory(tx *bolt.Tx, id ID, list []MonthCalls) error {
	var payload []byte
	for _, c := range list {
		payload = binary.AppendUvarint(payload, uint64(c.Month))
		payload = binary.AppendUvarint(payload, c.Calls)
	}
	return insert(tx.Bucket(historyBucket), id.key(), seal(id.key(), payload))
}
