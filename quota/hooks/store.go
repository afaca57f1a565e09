// Package hooks keeps webhooks and their messages in a ledger file, in buckets of their own; the package page of
// quota draws them. It does not send anything.
//
// Each method is one transaction: what it reports as done is durable, and after an error nothing is changed.
// Everything is safe for concurrent use.
package hooks

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"modeldex/quota"

	jsonv2 "github.com/goccy/go-json/v2"
)

// Store is the webhooks of one ledger file. It is made by Open.
type Store struct{ ledger *quota.Ledger }

// Open returns the webhooks of a ledger, which stays the caller's. Earlier versions announced a release in several
// transactions; what one that was killed meanwhile had written is removed, and the release is announced again.
func Open(ctx context.Context, l *quota.Ledger) (*Store, error) {
	s := &Store{l}
	return s, s.update(ctx, func(tx *tx) error {
		b, err := tx.baseline()
		if err != nil {
			return err
		}
		waiting, err := deliveriesOf(&tx.outbox, nil)
		for _, d := range waiting {
			if err == nil && d.Release >= max(b.Next, 1) {
				err = tx.outbox.Delete(d.Key.delivery(d.Seq))
			}
		}
		return err
	})
}

// tx is the buckets in one transaction.
type tx struct {
	quota.Rows
	hooks, outbox, sent, releases, records, announced quota.Bucket
}

func newTx(r quota.Rows) *tx {
	return &tx{
		Rows: r, hooks: r.Bucket(quota.BucketHooks), outbox: r.Bucket(quota.BucketOutbox), sent: r.Bucket(quota.BucketSent),
		releases: r.Bucket(quota.BucketReleases), records: r.Bucket(quota.BucketRecords), announced: r.Bucket(quota.BucketAnnounced),
	}
}

// view returns what fn reads in one transaction.
func view[T any](ctx context.Context, s *Store, fn func(*tx) (T, error)) (out T, err error) {
	err = s.ledger.ViewRows(ctx, func(r quota.Rows) error {
		out, err = fn(newTx(r))
		return err
	})
	return out, err
}

func (s *Store) update(ctx context.Context, fn func(*tx) error) error {
	return s.ledger.UpdateRows(ctx, func(r quota.Rows) error { return fn(newTx(r)) })
}

func put(b *quota.Bucket, k []byte, v any) error {
	text, err := jsonv2.Marshal(v)
	if err != nil {
		return err
	}
	return b.Put(k, text)
}

// read reads a JSON value. The decoder's own words could quote a secret, so they are left out.
func read(what string, text []byte, v any) error {
	if jsonv2.Unmarshal(text, v) != nil {
		return fmt.Errorf("%w: %s cannot be read", quota.ErrCorrupt, what)
	}
	return nil
}

// keyOf reads the key of a row of n bytes that begins with the key of a webhook.
func keyOf(k []byte, n int) (Key, error) {
	if len(k) != n {
		return Key{}, fmt.Errorf("%w: key of a webhook has %d bytes", quota.ErrCorrupt, len(k))
	}
	return Key{quota.ID(binary.BigEndian.Uint64(k)), ID(binary.BigEndian.Uint64(k[8:]))}, nil
}

func (tx *tx) readHook(k, v []byte) (h Hook, err error) {
	if h.Key, err = keyOf(k, 16); err != nil {
		return h, err
	}
	if err = read("webhook "+h.Key.Hook.String(), v, &h); err != nil {
		return h, err
	}
	if err = h.check(); err != nil {
		return h, err
	}
	err = tx.outbox.Each(k, func(k, v []byte) (bool, error) {
		if h.Queued++; h.Queued > 1 {
			return true, nil
		}
		d, err := readDelivery(k, v)
		h.Oldest = d.Created
		return true, err
	})
	return h, err
}

// hook returns one webhook, or ErrNoHook.
func (tx *tx) hook(k Key) (Hook, error) {
	v, err := tx.hooks.Get(k.row())
	if err != nil {
		return Hook{}, err
	}
	if v == nil {
		return Hook{}, ErrNoHook
	}
	return tx.readHook(k.row(), v)
}

func (tx *tx) putHook(h *Hook) error {
	if err := h.check(); err != nil {
		return err
	}
	return put(&tx.hooks, h.Key.row(), h)
}

// list returns the webhooks of one account, or of all for zero, oldest first.
func (tx *tx) list(account quota.ID) (out []Hook, err error) {
	var prefix []byte
	if account != 0 {
		prefix = binary.BigEndian.AppendUint64(nil, uint64(account))
	}
	err = tx.hooks.Each(prefix, func(k, v []byte) (bool, error) {
		h, err := tx.readHook(k, v)
		out = append(out, h)
		return true, err
	})
	return out, err
}

// List returns the webhooks of one account, or of all for zero, oldest first.
func (s *Store) List(ctx context.Context, account quota.ID) ([]Hook, error) {
	return view(ctx, s, func(tx *tx) ([]Hook, error) { return tx.list(account) })
}

// Create stores a webhook; most is how many the account may have. ErrTooMany, quota.ErrTaken, quota.ErrFinal and
// quota.ErrNotFound say why not.
func (s *Store) Create(ctx context.Context, h Hook, most int) error {
	return s.update(ctx, func(tx *tx) error {
		r, err := tx.Account(h.Key.Account)
		if err != nil {
			return err
		}
		if r.Status == quota.StatusRevoked {
			return quota.ErrFinal
		}
		hooks, err := tx.list(h.Key.Account)
		switch {
		case err != nil:
			return err
		case slices.ContainsFunc(hooks, func(o Hook) bool { return o.Key == h.Key }):
			return quota.ErrTaken
		case len(hooks) >= most:
			return ErrTooMany
		}
		return tx.putHook(&h)
	})
}

// Get returns one webhook, or ErrNoHook.
func (s *Store) Get(ctx context.Context, k Key) (Hook, error) {
	return view(ctx, s, func(tx *tx) (Hook, error) { return tx.hook(k) })
}

// Update changes one webhook, or returns ErrNoHook.
func (s *Store) Update(ctx context.Context, k Key, fn func(*Hook)) (h Hook, err error) {
	err = s.update(ctx, func(tx *tx) error {
		if h, err = tx.hook(k); err != nil {
			return err
		}
		fn(&h)
		return tx.putHook(&h)
	})
	return h, err
}

// Delete removes a webhook with its messages and its log, or returns ErrNoHook.
func (s *Store) Delete(ctx context.Context, k Key) error {
	return s.update(ctx, func(tx *tx) error {
		if _, err := tx.hook(k); err != nil {
			return err
		}
		for _, b := range []*quota.Bucket{&tx.hooks, &tx.outbox, &tx.sent} {
			if err := b.DeletePrefix(k.row()); err != nil {
				return err
			}
		}
		return nil
	})
}

func readDelivery(k, v []byte) (d Delivery, err error) {
	if d.Key, err = keyOf(k, 24); err != nil {
		return d, err
	}
	d.Seq = binary.BigEndian.Uint64(k[16:])
	return d, read(fmt.Sprintf("delivery %d of %s", d.Seq, d.Key.Hook), v, &d)
}

// deliveriesOf reads the deliveries whose keys have a prefix, in order of their numbers.
func deliveriesOf(b *quota.Bucket, prefix []byte) (out []Delivery, err error) {
	err = b.Each(prefix, func(k, v []byte) (bool, error) {
		d, err := readDelivery(k, v)
		out = append(out, d)
		return true, err
	})
	return out, err
}

// enqueue adds a delivery to the outbox and numbers it. The caller stores h.
func (tx *tx) enqueue(h *Hook, d *Delivery) error {
	d.Seq, d.State = h.Next, Pending
	h.Next++
	h.Queued++
	return put(&tx.outbox, d.Key.delivery(d.Seq), d)
}

// Enqueue adds a delivery its owner asked for, or returns ErrNoHook or ErrQueueFull. Seq is filled in.
func (s *Store) Enqueue(ctx context.Context, d Delivery) (h Hook, _ Delivery, err error) {
	d.Once = true
	err = s.update(ctx, func(tx *tx) error {
		if h, err = tx.hook(d.Key); err != nil {
			return err
		}
		if h.Queued >= MaxQueued {
			return ErrQueueFull
		}
		if err := tx.enqueue(&h, &d); err != nil {
			return err
		}
		return tx.putHook(&h)
	})
	return h, d, err
}

// due finds the delivery of a webhook to attempt next at now, and when it is or another one will be due: one its
// owner asked for or, while the webhook is active, the oldest of the others. At 0 none will be.
func (tx *tx) due(h *Hook, now int64) (Delivery, int64, error) {
	waiting, err := deliveriesOf(&tx.outbox, h.Key.row())
	at, ordered := int64(0), false
	for _, d := range waiting {
		if !d.Once && (ordered || h.State != Active) {
			continue
		}
		ordered = ordered || !d.Once
		next := d.due(now)
		if next <= now {
			return d, next, err
		}
		if at == 0 || next < at {
			at = next
		}
	}
	return Delivery{}, at, err
}

// Due returns the delivery that is to be attempted next at now, with its webhook and its release, or ErrNoHook.
// Where none is due yet, Delivery.Seq is 0. at says when one is due, or was; 0 is never.
func (s *Store) Due(ctx context.Context, k Key, now int64) (job Job, at int64, err error) {
	job, err = view(ctx, s, func(tx *tx) (Job, error) {
		h, err := tx.hook(k)
		if err != nil {
			return Job{}, err
		}
		d, next, err := tx.due(&h, now)
		if at = next; err != nil || d.Seq == 0 {
			return Job{}, err
		}
		return tx.job(h, d)
	})
	return job, at, err
}

func (tx *tx) job(h Hook, d Delivery) (Job, error) {
	r, err := tx.release(d.Release)
	return Job{Delivery: d, Hook: h, Release: r}, err
}

// Settle stores an outcome, and returns when the next attempt of the webhook is, seen at now; 0 for none.
func (s *Store) Settle(ctx context.Context, o *Outcome, now int64) (next int64, err error) {
	err = s.update(ctx, func(tx *tx) error {
		h, err := tx.hook(o.Delivery.Key)
		if err != nil {
			return err
		}
		d := &o.Delivery
		k := d.Key.delivery(d.Seq)
		v, err := tx.outbox.Get(k)
		if err == nil && v != nil { // otherwise it was settled before
			h.note(o)
			if d.State == Pending {
				err = put(&tx.outbox, k, d)
			} else {
				err = tx.finish(d)
			}
		}
		if err == nil {
			err = tx.putHook(&h)
		}
		if err == nil {
			_, next, err = tx.due(&h, now)
		}
		return err
	})
	if errors.Is(err, ErrNoHook) { // deleted meanwhile, with its messages
		return 0, nil
	}
	return next, err
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
	switch {
	case d.Once:
		return
	case d.State != Pending:
		h.FailingSince = 0
	case h.FailingSince == 0:
		h.FailingSince = last.At
	}
	if o.Disable != "" && h.State == Active {
		h.State, h.Reason, h.Changed = Disabled, o.Disable, last.At
	}
}

// finish moves a delivery from the outbox to the log, which drops its oldest one.
func (tx *tx) finish(d *Delivery) error {
	if err := tx.outbox.Delete(d.Key.delivery(d.Seq)); err != nil {
		return err
	}
	if err := put(&tx.sent, d.Key.delivery(d.Seq), d); err != nil {
		return err
	}
	log, err := deliveriesOf(&tx.sent, d.Key.row())
	for _, old := range log[:max(0, len(log)-maxLogged)] {
		if err == nil {
			err = tx.sent.Delete(old.Key.delivery(old.Seq))
		}
	}
	return err
}

// all returns a webhook with all its deliveries, newest first, or ErrNoHook.
func (tx *tx) all(k Key) (h Hook, out []Delivery, err error) {
	if h, err = tx.hook(k); err != nil {
		return h, nil, err
	}
	waiting, err := deliveriesOf(&tx.outbox, k.row())
	if err != nil {
		return h, nil, err
	}
	sent, err := deliveriesOf(&tx.sent, k.row())
	out = slices.Concat(waiting, sent)
	slices.SortFunc(out, func(a, b Delivery) int { return cmp.Compare(b.Seq, a.Seq) })
	return h, out, err
}

// Deliveries returns deliveries with numbers below before (0: all), newest first, or ErrNoHook.
func (s *Store) Deliveries(ctx context.Context, k Key, before uint64, limit int) (out []Delivery, err error) {
	out, err = view(ctx, s, func(tx *tx) ([]Delivery, error) {
		_, all, err := tx.all(k)
		return all, err
	})
	out = slices.DeleteFunc(out, func(d Delivery) bool { return before > 0 && d.Seq >= before })
	return out[:min(len(out), limit)], err
}

// Delivery returns one delivery with its webhook and release, or ErrNoHook or ErrNoDelivery.
func (s *Store) Delivery(ctx context.Context, k Key, seq uint64) (Job, error) {
	return view(ctx, s, func(tx *tx) (Job, error) {
		h, list, err := tx.all(k)
		if err != nil {
			return Job{}, err
		}
		i := slices.IndexFunc(list, func(d Delivery) bool { return d.Seq == seq })
		if i < 0 {
			return Job{}, ErrNoDelivery
		}
		return tx.job(h, list[i])
	})
}

// Sweep removes what is older than a month, except messages that wait for an active webhook and their releases.
// There are few of those and retries end after days: if one seems a month old, the clock is probably ahead.
func (s *Store) Sweep(ctx context.Context, now time.Time) error {
	cut := now.Add(-keep).Unix()
	return s.update(ctx, func(tx *tx) error {
		hooks, err := tx.list(0)
		if err != nil {
			return err
		}
		needed := map[uint64]bool{} // releases of messages that are kept
		for _, h := range hooks {
			for _, b := range []*quota.Bucket{&tx.sent, &tx.outbox} {
				list, err := deliveriesOf(b, h.Key.row())
				if err != nil {
					return err
				}
				for _, d := range list {
					if d.Created >= cut || d.State == Pending && h.State == Active {
						needed[d.Release] = true
					} else if err := b.Delete(d.Key.delivery(d.Seq)); err != nil {
						return err
					}
				}
			}
		}
		return tx.dropReleases(func(r Release, _ int) bool { return r.At < cut && !needed[r.Number] })
	})
}
