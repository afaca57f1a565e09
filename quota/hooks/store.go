// Package hooks keeps webhooks and their messages in a ledger file, in buckets of their own; the package page of
// quota draws them. It does not send anything.
//
// Each method is one transaction: what it reports as done is durable, and after an error nothing is changed.
// Everything is safe for concurrent use.
package hooks

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"modeldex/quota"

	jsonv2 "github.com/goccy/go-json/v2"
)

// Store is the webhooks of one ledger file. It is made by Open.
type Store struct{ ledger *quota.Ledger }

// Open returns the webhooks of a ledger, which stays the caller's. It removes what only earlier versions wrote: the log
// of deliveries, tests that wait, and messages of a release that was not announced to its end, which comes again.
func Open(ctx context.Context, l *quota.Ledger) (*Store, error) {
	s := &Store{l}
	return s, s.update(ctx, func(tx *tx) error {
		b, err := tx.baseline()
		all, errList := tx.list(nil)
		sent := tx.Bucket(quota.BucketSent)
		err = errors.Join(err, errList, sent.DeletePrefix(nil))
		for _, h := range all {
			waiting := len(h.Queue)
			h.Queue = slices.DeleteFunc(h.Queue, func(d Delivery) bool { return d.Release == 0 || d.Release >= max(b.Next, 1) })
			if err == nil && len(h.Queue) < waiting {
				err = tx.save(&h)
			}
		}
		return err
	})
}

// tx is the buckets in one transaction.
type tx struct {
	quota.Rows
	hooks, outbox, releases, records, announced quota.Bucket
}

func newTx(r quota.Rows) *tx {
	return &tx{
		Rows: r, hooks: r.Bucket(quota.BucketHooks), outbox: r.Bucket(quota.BucketOutbox), releases: r.Bucket(quota.BucketReleases),
		records: r.Bucket(quota.BucketRecords), announced: r.Bucket(quota.BucketAnnounced),
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

// read reads a JSON value; empty text leaves v unchanged. It drops the decoder's message, which could quote a secret.
func read(what string, text []byte, v any) error {
	if text != nil && jsonv2.Unmarshal(text, v) != nil {
		return fmt.Errorf("%w: %s cannot be read", quota.ErrCorrupt, what)
	}
	return nil
}

// get reads one row, if it is there.
func get(b *quota.Bucket, k []byte, what string, v any) error {
	text, err := b.Get(k)
	return errors.Join(err, read(what, text, v))
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

// list returns the webhooks whose rows begin with a prefix, oldest first.
func (tx *tx) list(prefix []byte) (out []Hook, err error) {
	err = each(&tx.hooks, prefix, "webhook", func(k []byte, h Hook) error {
		h.Key = Key{quota.ID(binary.BigEndian.Uint64(k)), ID(binary.BigEndian.Uint64(k[8:]))}
		err := each(&tx.outbox, k, "delivery", func(k []byte, d Delivery) error {
			d.Seq = binary.BigEndian.Uint64(k[16:])
			h.Queue = append(h.Queue, d)
			return nil
		})
		out = append(out, h)
		return err
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

// save stores a webhook and its queue.
func (tx *tx) save(h *Hook) error {
	err := errors.Join(put(&tx.hooks, h.Key.row(), h), tx.outbox.DeletePrefix(h.Key.row()))
	for i := range h.Queue {
		err = errors.Join(err, put(&tx.outbox, binary.BigEndian.AppendUint64(h.Key.row(), h.Queue[i].Seq), &h.Queue[i]))
	}
	return err
}

// List returns the webhooks of one account, or of all for zero, oldest first.
func (s *Store) List(ctx context.Context, account quota.ID) ([]Hook, error) {
	var prefix []byte
	if account != 0 {
		prefix = numberKey(uint64(account))
	}
	return view(ctx, s, func(tx *tx) ([]Hook, error) { return tx.list(prefix) })
}

// Get returns one webhook, or ErrNoHook.
func (s *Store) Get(ctx context.Context, k Key) (Hook, error) {
	return view(ctx, s, func(tx *tx) (Hook, error) { return tx.hook(k) })
}

// Create stores a webhook; most is how many the account may have. ErrTooMany, quota.ErrFinal and quota.ErrNotFound say
// why not.
func (s *Store) Create(ctx context.Context, h Hook, most int) error {
	return s.update(ctx, func(tx *tx) error {
		r, err := tx.Account(h.Key.Account)
		hooks, errList := tx.list(numberKey(uint64(h.Key.Account)))
		switch err := errors.Join(err, errList); {
		case err != nil:
			return err
		case r.Status == quota.StatusRevoked:
			return quota.ErrFinal
		case len(hooks) >= most:
			return ErrTooMany
		}
		return tx.save(&h)
	})
}

// Update changes one webhook and its queue, or returns ErrNoHook.
func (s *Store) Update(ctx context.Context, k Key, fn func(*Hook)) (h Hook, err error) {
	err = s.update(ctx, func(tx *tx) error {
		if h, err = tx.hook(k); err != nil {
			return err
		}
		fn(&h)
		return tx.save(&h)
	})
	return h, err
}

// Delete removes a webhook with its messages, or returns ErrNoHook.
func (s *Store) Delete(ctx context.Context, k Key) error {
	return s.update(ctx, func(tx *tx) error {
		if _, err := tx.hook(k); err != nil {
			return err
		}
		return errors.Join(tx.hooks.DeletePrefix(k.row()), tx.outbox.DeletePrefix(k.row()))
	})
}

// Next returns a webhook with what its first message is made of, if one waits, or ErrNoHook.
func (s *Store) Next(ctx context.Context, k Key) (Job, error) {
	return view(ctx, s, func(tx *tx) (j Job, err error) {
		if j.Hook, err = tx.hook(k); err != nil || len(j.Queue) == 0 {
			return j, err
		}
		d := &j.Queue[0]
		j.Account, err = tx.Account(k.Account)
		err = errors.Join(err, get(&tx.releases, numberKey(d.Release), "release", &j.Release))
		for _, place := range d.Rows {
			record, errRow := tx.records.Get(recordKey(d.Release, place))
			if err = errors.Join(err, errRow); record != nil {
				j.Records = append(j.Records, slices.Clone(record))
			}
		}
		return j, err
	})
}
