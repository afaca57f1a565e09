package quota

import (
	"bytes"
	"context"
	"encoding/binary"
	"time"

	bolt "go.etcd.io/bbolt"
)

// sweepHooks is how many webhooks one transaction of a sweep looks at.
const sweepHooks = 200

// Sweep implements HookStore, some webhooks per transaction.
func (l *Ledger) Sweep(ctx context.Context, now time.Time) error {
	cut := now.Add(-keepDeliveries).Unix()
	var after *HookKey
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
			return l.sweepReleases(ctx, cut)
		}
		if err := l.sweepPart(ctx, part, cut); err != nil {
			return err
		}
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

// sweepPart removes old deliveries of some webhooks; it writes nothing where there are none.
func (l *Ledger) sweepPart(ctx context.Context, part []Hook, cut int64) error {
	var old []Delivery
	err := l.viewHooks(ctx, func(tx *hookTx) error {
		for i := range part {
			for _, b := range []*bolt.Bucket{tx.sent, tx.outbox} {
				list, err := oldDeliveries(b, &part[i], cut)
				if err != nil {
					return err
				}
				old = append(old, list...)
			}
		}
		return nil
	})
	if err != nil || len(old) == 0 {
		return err
	}
	return l.updateHooks(ctx, func(tx *hookTx) error {
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

// sweepReleases removes the releases made before cut.
func (l *Ledger) sweepReleases(ctx context.Context, cut int64) error {
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
			if r.At >= cut {
				return nil
			}
			below = binary.BigEndian.Uint64(k) + 1
		}
		return nil
	})
	if err != nil || below == 0 {
		return err
	}
	return l.updateHooks(ctx, func(tx *hookTx) error { return tx.dropReleasesBelow(below) })
}
