package quota

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"
)

func readDelivery(k, v []byte) (Delivery, error) {
	if len(k) != 24 {
		return Delivery{}, fmt.Errorf("%w: delivery key has %d bytes", ErrCorrupt, len(k))
	}
	d := Delivery{Key: hookFromKey(k), Seq: seqFromKey(k)}
	err := readJSON(fmt.Sprintf("delivery %d of %s", d.Seq, d.Key.Hook), k, v, &d)
	return d, err
}

func putDelivery(b *bolt.Bucket, d *Delivery) error { return putJSON(b, d.Key.item(d.Seq), d) }

// job puts a delivery together with what its message is made of.
func (tx *hookTx) job(h Hook, d Delivery) (Job, error) {
	j := Job{Delivery: d, Hook: h}
	if d.Release == 0 {
		return j, nil
	}
	r, err := tx.release(d.Release)
	if err != nil {
		return j, err
	}
	j.Release = r
	return j, nil
}

// Enqueue implements HookStore.
func (l *Ledger) Enqueue(ctx context.Context, d Delivery) (Delivery, error) {
	d.Once, d.State = true, DeliveryPending
	err := l.updateHooks(ctx, func(tx *hookTx) error {
		h, err := tx.hook(d.Key)
		if err != nil {
			return err
		}
		if h.Queued >= MaxQueued {
			return &answer{ErrQueueFull}
		}
		d.Seq = h.Next
		h.Next++
		h.Queued++
		return errors.Join(putDelivery(tx.outbox, &d), tx.putHook(&h))
	})
	return d, err
}

// Waiting implements HookStore.
func (l *Ledger) Waiting(ctx context.Context, now int64) (out []Waiting, err error) {
	err = l.viewHooks(ctx, func(tx *hookTx) error {
		out = nil
		return tx.eachHook(0, func(h Hook) error {
			if h.Queued == 0 {
				return nil
			}
			_, at, err := tx.due(&h, now)
			if err == nil && at > 0 {
				out = append(out, Waiting{h.Key, at})
			}
			return err
		})
	})
	return out, err
}

// due finds the delivery of a webhook to attempt next at now, and when it is or another one will be due.
// That is one its owner asked for or, while the webhook is active, the oldest of the others. At 0 none will
// be.
func (tx *hookTx) due(h *Hook, now int64) (d Delivery, at int64, err error) {
	prefix, ordered := h.Key.key(), false
	c := tx.outbox.Cursor()
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
		if d, err = readDelivery(k, v); err != nil {
			return Delivery{}, 0, err
		}
		if !d.Once && (ordered || h.State != HookActive) {
			continue
		}
		if early, err := tx.unannounced(&d); early || err != nil {
			if err != nil {
				return Delivery{}, 0, err
			}
			continue
		}
		ordered = ordered || !d.Once
		next := d.due(now)
		if next <= now {
			return d, next, nil
		}
		if at == 0 || next < at {
			at = next
		}
	}
	return Delivery{}, at, nil
}

// Due implements HookStore.
func (l *Ledger) Due(ctx context.Context, k HookKey, now int64) (job Job, at int64, err error) {
	err = l.viewHooks(ctx, func(tx *hookTx) error {
		h, err := tx.hook(k)
		if err != nil {
			return err
		}
		d, next, err := tx.due(&h, now)
		at = next
		if err != nil || d.Seq == 0 {
			return err
		}
		job, err = tx.job(h, d)
		return err
	})
	return job, at, err
}

// Settle implements HookStore, in one transaction.
func (l *Ledger) Settle(ctx context.Context, outcomes []Outcome, now int64) (next []int64, err error) {
	err = l.updateHooks(ctx, func(tx *hookTx) error {
		next = make([]int64, len(outcomes))
		for i := range outcomes {
			at, err := tx.settle(&outcomes[i], now)
			if err != nil {
				return err
			}
			next[i] = at
		}
		return nil
	})
	return next, err
}

func (tx *hookTx) settle(o *Outcome, now int64) (next int64, err error) {
	d := &o.Delivery
	h, ok, err := tx.findHook(d.Key)
	if err != nil || !ok {
		return 0, err // deleted meanwhile, with its deliveries
	}
	if tx.outbox.Get(d.Key.item(d.Seq)) == nil {
		return 0, nil // settled before: the call is repeated
	}
	h.note(o)
	if d.State == DeliveryPending {
		err = putDelivery(tx.outbox, d)
	} else {
		err = tx.finish(&h, d)
	}
	if err != nil {
		return 0, err
	}
	_, next, err = tx.due(&h, now)
	return next, errors.Join(err, tx.putHook(&h))
}

// note keeps what an attempt says about the webhook.
func (h *Hook) note(o *Outcome) {
	d := &o.Delivery
	if len(d.Attempts) == 0 {
		return
	}
	last := d.Attempts[len(d.Attempts)-1]
	if last.Error == "" {
		h.LastSuccess = last.At
	} else {
		h.LastFailure = &last
	}
	if d.Once {
		return
	}
	switch {
	case d.State != DeliveryPending:
		h.FailingSince = 0
	case h.FailingSince == 0:
		h.FailingSince = last.At
	}
	if o.Disable != "" && h.State == HookActive {
		h.State, h.Reason, h.Changed = HookDisabled, o.Disable, last.At
	}
}

// finish moves a delivery from the outbox to the log.
func (tx *hookTx) finish(h *Hook, d *Delivery) error {
	if err := remove(tx.outbox, d.Key.item(d.Seq)); err != nil {
		return err
	}
	h.Queued--
	h.Logged++
	if err := putDelivery(tx.sent, d); err != nil {
		return err
	}
	for h.Logged > MaxLogged {
		k, _ := tx.sent.Cursor().Seek(d.Key.key())
		if err := remove(tx.sent, bytes.Clone(k)); err != nil {
			return err
		}
		h.Logged--
	}
	return nil
}

// Deliveries implements HookStore.
func (l *Ledger) Deliveries(ctx context.Context, k HookKey, before uint64, limit int) (out []Delivery, err error) {
	if before == 0 {
		before = 1<<64 - 1
	}
	err = l.viewHooks(ctx, func(tx *hookTx) error {
		if _, err := tx.hook(k); err != nil {
			return err
		}
		out = nil
		for _, b := range []*bolt.Bucket{tx.outbox, tx.sent} {
			c := b.Cursor()
			n := 0
			key, v := seekBelow(c, k.item(before))
			for ; bytes.HasPrefix(key, k.key()) && n < limit; key, v = c.Prev() {
				d, err := readDelivery(key, v)
				if err != nil {
					return err
				}
				if early, err := tx.unannounced(&d); err != nil {
					return err
				} else if !early {
					out, n = append(out, d), n+1
				}
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b Delivery) int { return cmp.Compare(b.Seq, a.Seq) })
	return out[:min(len(out), limit)], err
}

// seekBelow finds the last row below a key.
func seekBelow(c *bolt.Cursor, key []byte) (k, v []byte) {
	if k, _ := c.Seek(key); k == nil {
		return c.Last()
	}
	return c.Prev()
}

// Delivery implements HookStore.
func (l *Ledger) Delivery(ctx context.Context, k HookKey, seq uint64) (job Job, err error) {
	err = l.viewHooks(ctx, func(tx *hookTx) error {
		h, err := tx.hook(k)
		if err != nil {
			return err
		}
		key := k.item(seq)
		v := tx.outbox.Get(key)
		if v == nil {
			v = tx.sent.Get(key)
		}
		if v == nil {
			return &answer{ErrNoDelivery}
		}
		d, err := readDelivery(key, v)
		if err != nil {
			return err
		}
		if early, err := tx.unannounced(&d); err != nil {
			return err
		} else if early {
			return &answer{ErrNoDelivery}
		}
		job, err = tx.job(h, d)
		return err
	})
	return job, err
}

// drop removes a delivery from wherever it is.
func (tx *hookTx) drop(d *Delivery) error {
	h, ok, err := tx.findHook(d.Key)
	if err != nil || !ok {
		return err
	}
	k := d.Key.item(d.Seq)
	if tx.outbox.Get(k) != nil {
		h.Queued--
		return errors.Join(remove(tx.outbox, k), tx.putHook(&h))
	}
	if tx.sent.Get(k) != nil {
		h.Logged--
		return errors.Join(remove(tx.sent, k), tx.putHook(&h))
	}
	return nil
}
