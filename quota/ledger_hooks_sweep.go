package quota

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"time"

	bolt "go.etcd.io/bbolt"
)

// sweepHooks is how many webhooks one transaction of a sweep looks at.
const sweepHooks = 200

// Sweep implements HookStore, some webhooks per transaction.
func (l *Ledger) Sweep(ctx context.Context, now time.Time) error {
	cut := now.Add(-keepDeliveries).Unix()
	var after *HookKey
	needed := uint64(math.MaxUint64) // the oldest release that a message of before cut still waits to announce
	for {
		var part []Hook
		err := l.viewHooks(ctx, func(tx *hookTx) (err error) {
			part, err = tx.hooksAfter(after, sweepHooks)
			return err
		})
		if err != nil || len(part) == 0 {
			if err != nil {
				return err
			}
			return l.sweepReleases(ctx, cut, needed)
		}
		oldest, err := l.sweepPart(ctx, part, cut)
		if err != nil {
			return err
		}
		needed = min(needed, oldest)
		after = &part[len(part)-1].Key
	}
}

func (tx *hookTx) hooksAfter(after *HookKey, n int) (out []Hook, err error) {
	if !tx.made() {
		return nil, nil
	}
	var from []byte
	if after != nil {
		from = append(after.key(), 0)
	}
	c := tx.hooks.Cursor()
	for k, v := c.Seek(from); k != nil && len(out) < n; k, v = c.Next() {
		h, err := readHook(k, v)
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

// sweepPart removes old deliveries of some webhooks; it writes nothing where there are none. Messages that wait
// for an active webhook are kept, however old: there are at most MaxQueued, and retries end after days. If one
// seems a month old, the clock is probably ahead. needed is the oldest release that such messages announce.
func (l *Ledger) sweepPart(ctx context.Context, part []Hook, cut int64) (needed uint64, err error) {
	needed = math.MaxUint64
	var old []Delivery
	err = l.viewHooks(ctx, func(tx *hookTx) error {
		for i := range part {
			sent, err := oldDeliveries(tx.sent, &part[i], cut)
			if err != nil {
				return err
			}
			old = append(old, sent...)
			waiting, err := oldDeliveries(tx.outbox, &part[i], cut)
			switch {
			case err != nil:
				return err
			case part[i].State != HookActive:
				old = append(old, waiting...)
				continue
			}
			for j := range waiting {
				if r := waiting[j].Release; r != 0 { // 0 is a test
					needed = min(needed, r)
				}
			}
		}
		return nil
	})
	if err != nil || len(old) == 0 {
		return needed, err
	}
	return needed, l.updateHooks(ctx, func(tx *hookTx) error {
		for i := range old {
			if err := tx.drop(&old[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// oldDeliveries lists the deliveries created before cut: they are the first ones.
func oldDeliveries(b *bolt.Bucket, h *Hook, cut int64) (out []Delivery, err error) {
	if b == nil {
		return nil, nil
	}
	prefix := h.Key.key()
	c := b.Cursor()
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
		d, err := readDelivery(k, v)
		if err != nil {
			return nil, err
		}
		if d.Created >= cut {
			break
		}
		out = append(out, d)
	}
	return out, nil
}

// sweepReleases removes the releases made before cut, up to the first that is needed.
func (l *Ledger) sweepReleases(ctx context.Context, cut int64, needed uint64) error {
	below := uint64(0)
	err := l.viewHooks(ctx, func(tx *hookTx) error {
		if !tx.made() {
			return nil
		}
		c := tx.releases.Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			var r Release
			if err := readJSON("release", k, v, &r); err != nil {
				return err
			}
			number := binary.BigEndian.Uint64(k)
			if r.At >= cut || number >= needed {
				return nil
			}
			below = number + 1
		}
		return nil
	})
	if err != nil || below == 0 {
		return err
	}
	return l.updateHooks(ctx, func(tx *hookTx) error { return tx.dropReleasesBelow(below) })
}
