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
				err = tx.outbox.Delete(d.row())
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

// each calls fn for the rows of b below a prefix, whose values are of type T.
func each[T any](b *quota.Bucket, prefix []byte, what string, fn func(k []byte, v T) error) error {
	return b.Each(prefix, func(k, text []byte) (bool, error) {
		var v T
		if err := read(what, text, &v); err != nil {
			return false, err
		}
		return true, fn(k, v)
	})
}

// keyOf reads the key of a row of n bytes that begins with the key of a webhook.
func keyOf(k []byte, n int) (Key, error) {
	if len(k) != n {
		return Key{}, fmt.Errorf("%w: key of a webhook has %d bytes", quota.ErrCorrupt, len(k))
	}
	return Key{quota.ID(binary.BigEndian.Uint64(k)), ID(binary.BigEndian.Uint64(k[8:]))}, nil
}

// list returns the webhooks whose rows begin with a prefix, oldest first.
func (tx *tx) list(prefix []byte) (out []Hook, err error) {
	err = each(&tx.hooks, prefix, "webhook", func(k []byte, h Hook) error {
		if h.Key, err = keyOf(k, 16); err != nil {
			return err
		}
		waiting, err := deliveriesOf(&tx.outbox, k)
		if h.Queued = len(waiting); h.Queued > 0 {
			h.Oldest = waiting[0].Created
		}
		out = append(out, h)
		return errors.Join(err, h.check())
	})
	return out, err
}

// hook returns one webhook, or ErrNoHook.
func (tx *tx) hook(k Key) (Hook, error) {
	list, err := tx.list(k.row())
	if err == nil && len(list) == 0 {
		err = ErrNoHook
	}
	if err != nil {
		return Hook{}, err
	}
	return list[0], nil
}

func (tx *tx) putHook(h *Hook) error { return errors.Join(h.check(), put(&tx.hooks, h.Key.row(), h)) }

// List returns the webhooks of one account, or of all for zero, oldest first.
func (s *Store) List(ctx context.Context, account quota.ID) ([]Hook, error) {
	var prefix []byte
	if account != 0 {
		prefix = numberKey(uint64(account))
	}
	return view(ctx, s, func(tx *tx) ([]Hook, error) { return tx.list(prefix) })
}

// Create stores a webhook; most is how many the account may have. ErrTooMany, quota.ErrTaken, quota.ErrFinal and
// quota.ErrNotFound say why not.
func (s *Store) Create(ctx context.Context, h Hook, most int) error {
	return s.update(ctx, func(tx *tx) error {
		r, err := tx.Account(h.Key.Account)
		if err != nil {
			return err
		}
		hooks, err := tx.list(numberKey(uint64(h.Key.Account)))
		switch {
		case err != nil:
			return err
		case r.Status == quota.StatusRevoked:
			return quota.ErrFinal
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
		_, err := tx.hook(k)
		for _, b := range []*quota.Bucket{&tx.hooks, &tx.outbox, &tx.sent} {
			if err == nil {
				err = b.DeletePrefix(k.row())
			}
		}
		return err
	})
}

// deliveriesOf reads the deliveries whose keys have a prefix, in order of their numbers.
func deliveriesOf(b *quota.Bucket, prefix []byte) (out []Delivery, err error) {
	err = each(b, prefix, "delivery", func(k []byte, d Delivery) error {
		if d.Key, err = keyOf(k, 24); err == nil {
			d.Seq = binary.BigEndian.Uint64(k[16:])
			out = append(out, d)
		}
		return err
	})
	return out, err
}

// enqueue adds a delivery to the outbox and numbers it. The caller stores h.
func (tx *tx) enqueue(h *Hook, d *Delivery) error {
	d.Seq, d.State = h.Next, Pending
	h.Next++
	h.Queued++
	return put(&tx.outbox, d.row(), d)
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
		return errors.Join(tx.enqueue(&h, &d), tx.putHook(&h))
	})
	return h, d, err
}

// Due returns the delivery that is to be attempted next at now, with its webhook and its release, or ErrNoHook: one
// its owner asked for or, while the webhook is active, the oldest of the others. Where none is due yet, Delivery.Seq
// is 0. at says when one is due, or was; 0 is never.
func (s *Store) Due(ctx context.Context, k Key, now int64) (job Job, at int64, err error) {
	job, err = view(ctx, s, func(tx *tx) (Job, error) {
		h, err := tx.hook(k)
		if err != nil {
			return Job{}, err
		}
		waiting, err := deliveriesOf(&tx.outbox, k.row())
		ordered := false
		for _, d := range waiting {
			if !d.Once && (ordered || h.State != Active) {
				continue
			}
			ordered = ordered || !d.Once
			next := d.due(now)
			if at == 0 || next < at {
				at = next
			}
			if next <= now {
				at = next
				return tx.job(h, d)
			}
		}
		return Job{}, err
	})
	return job, at, err
}

func (tx *tx) job(h Hook, d Delivery) (Job, error) {
	a, err := tx.Account(d.Key.Account)
	r, errRelease := tx.release(d.Release)
	return Job{Delivery: d, Hook: h, Account: a, Release: r}, errors.Join(err, errRelease)
}

// Settle stores an outcome. One that was stored before, and one of a webhook that is gone, changes nothing.
func (s *Store) Settle(ctx context.Context, o *Outcome) error {
	d, k := &o.Delivery, o.Delivery.row()
	return s.update(ctx, func(tx *tx) error {
		h, err := tx.hook(d.Key)
		if errors.Is(err, ErrNoHook) {
			return nil // deleted meanwhile, with its messages
		}
		if err != nil {
			return err
		}
		if v, err := tx.outbox.Get(k); v == nil || err != nil {
			return err
		}
		h.note(o)
		if d.State == Pending {
			err = put(&tx.outbox, k, d)
		} else {
			err = tx.finish(d)
		}
		return errors.Join(err, tx.putHook(&h))
	})
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
	err := errors.Join(tx.outbox.Delete(d.row()), put(&tx.sent, d.row(), d))
	if err != nil {
		return err
	}
	log, err := deliveriesOf(&tx.sent, d.Key.row())
	if err == nil && len(log) > maxLogged {
		err = tx.sent.Delete(log[0].row())
	}
	return err
}

// all returns a webhook with all its deliveries, newest first, or ErrNoHook.
func (tx *tx) all(k Key) (h Hook, out []Delivery, err error) {
	if h, err = tx.hook(k); err != nil {
		return h, nil, err
	}
	waiting, err := deliveriesOf(&tx.outbox, k.row())
	sent, errSent := deliveriesOf(&tx.sent, k.row())
	out = slices.Concat(waiting, sent)
	slices.SortFunc(out, func(a, b Delivery) int { return cmp.Compare(b.Seq, a.Seq) })
	return h, out, errors.Join(err, errSent)
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
		i := slices.IndexFunc(list, func(d Delivery) bool { return d.Seq == seq })
		if err == nil && i < 0 {
			err = ErrNoDelivery
		}
		if err != nil {
			return Job{}, err
		}
		return tx.job(h, list[i])
	})
}

// Sweep removes what is older than a month, except messages that wait for an active webhook and their releases.
// There are few of those and retries end after days: if one seems a month old, the clock is probably ahead.
func (s *Store) Sweep(ctx context.Context, now time.Time) error {
	cut := now.Add(-keep).Unix()
	return s.update(ctx, func(tx *tx) error {
		hooks, err := tx.list(nil)
		needed := map[uint64]bool{} // releases of messages that are kept
		for _, h := range hooks {
			for _, b := range []*quota.Bucket{&tx.sent, &tx.outbox} {
				list, errList := deliveriesOf(b, h.Key.row())
				err = errors.Join(err, errList)
				for _, d := range list {
					if d.Created >= cut || d.State == Pending && h.State == Active {
						needed[d.Release] = true
					} else {
						err = errors.Join(err, b.Delete(d.row()))
					}
				}
			}
		}
		if err != nil {
			return err
		}
		return tx.dropReleases(func(r Release, _ int) bool { return r.At < cut && !needed[r.Number] })
	})
}
