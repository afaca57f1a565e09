package quota

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	jsonv2 "github.com/goccy/go-json/v2"
)

// The buckets of webhooks; doc.go draws them. They are made with the first webhook: a ledger
// without webhooks has none, and a program that does not know them leaves them alone. This file has
// the webhooks; ledger_releases.go has what a release sends, ledger_deliveries.go the messages to each
// webhook, and ledger_hooks_sweep.go removes what is old.
var (
	hooksBucket     = []byte("hooks")
	outboxBucket    = []byte("outbox")
	sentBucket      = []byte("sent")
	releasesBucket  = []byte("releases")
	recordsBucket   = []byte("records")
	announcedBucket = []byte("announced")

	hookBuckets = [][]byte{hooksBucket, outboxBucket, sentBucket, releasesBucket, recordsBucket, announcedBucket}

	baselineKey = []byte("baseline")
)

var _ HookStore = (*Ledger)(nil)

// hookTx gives the buckets of webhooks in one transaction; all are nil before the first webhook.
type hookTx struct {
	*bolt.Tx
	hooks, outbox, sent, releases, records, announced *bolt.Bucket

	next uint64 // number of the next release; 0 until it is asked for, see unannounced
}

func hookTxOf(tx *bolt.Tx) *hookTx {
	return &hookTx{
		Tx: tx, hooks: tx.Bucket(hooksBucket), outbox: tx.Bucket(outboxBucket), sent: tx.Bucket(sentBucket), releases: tx.Bucket(releasesBucket),
		records: tx.Bucket(recordsBucket), announced: tx.Bucket(announcedBucket),
	}
}

// made reports whether there are buckets: the last one is made with all others.
func (tx *hookTx) made() bool { return tx.announced != nil }

func (l *Ledger) viewHooks(ctx context.Context, fn func(*hookTx) error) error {
	return l.view(ctx, "reading", func(tx *bolt.Tx) error { return fn(hookTxOf(tx)) })
}

func (l *Ledger) updateHooks(ctx context.Context, fn func(*hookTx) error) error {
	return l.update(ctx, "writing", func(tx *bolt.Tx) error { return fn(hookTxOf(tx)) })
}

// putJSON stores a sealed JSON value.
func putJSON(b *bolt.Bucket, k []byte, v any) error {
	payload, err := encodeStored(v)
	if err != nil {
		return err
	}
	return insert(b, k, seal(k, payload))
}

// readJSON reads a sealed JSON value.
func readJSON(what string, k, sealed []byte, v any) error {
	payload, err := unseal(k, sealed)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if jsonv2.Unmarshal(payload, v) != nil {
		return fmt.Errorf("%w: %s cannot be read", ErrCorrupt, what) // the decoder's words could quote a secret
	}
	return nil
}

func readHook(k, v []byte) (Hook, error) {
	if len(k) != 16 {
		return Hook{}, fmt.Errorf("%w: webhook key has %d bytes", ErrCorrupt, len(k))
	}
	h := Hook{Key: hookFromKey(k)}
	if err := readJSON("webhook "+h.Key.Hook.String(), k, v, &h); err != nil {
		return h, err
	}
	if err := h.Check(); err != nil {
		return h, fmt.Errorf("%w: webhook %s: %w", ErrCorrupt, h.Key.Hook, err)
	}
	return h, nil
}

// hook returns one webhook, or an answer of ErrNoHook.
func (tx *hookTx) hook(k HookKey) (Hook, error) {
	h, ok, err := tx.findHook(k)
	if !ok && err == nil {
		err = &answer{ErrNoHook}
	}
	return h, err
}

// findHook returns one webhook, false when there is none.
func (tx *hookTx) findHook(k HookKey) (h Hook, ok bool, err error) {
	if !tx.made() {
		return h, false, nil
	}
	v := tx.hooks.Get(k.key())
	if v == nil {
		return h, false, nil
	}
	h, err = readHook(k.key(), v)
	return h, true, err
}

func (tx *hookTx) putHook(h *Hook) error { return putJSON(tx.hooks, h.Key.key(), h) }

// eachHook visits the webhooks of one account, or of all for zero.
func (tx *hookTx) eachHook(account ID, fn func(Hook) error) error {
	if !tx.made() {
		return nil
	}
	var prefix []byte
	if account != 0 {
		prefix = account.key()
	}
	c := tx.hooks.Cursor()
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix) && k != nil; k, v = c.Next() {
		h, err := readHook(k, v)
		if err != nil {
			return err
		}
		if err := fn(h); err != nil {
			return err
		}
	}
	return nil
}

// CreateHook implements HookStore.
func (l *Ledger) CreateHook(ctx context.Context, h Hook, most int) error {
	if err := h.Check(); err != nil {
		return fmt.Errorf("creating webhook: %w", err)
	}
	return l.updateHooks(ctx, func(tx *hookTx) error {
		r, err := getRecord(tx.Tx, h.Key.Account)
		switch {
		case err != nil:
			return err
		case r.Status == StatusRevoked:
			return &answer{ErrFinal}
		case !tx.made() || tx.announced.Get(baselineKey) == nil:
			return &answer{ErrNoBaseline}
		case tx.hooks.Get(h.Key.key()) != nil:
			return &answer{ErrTaken}
		}
		n := 0
		if err := tx.eachHook(h.Key.Account, func(Hook) error { n++; return nil }); err != nil {
			return err
		}
		if n >= most {
			return &answer{ErrTooManyHooks}
		}
		return tx.putHook(&h)
	})
}

// GetHook implements HookStore.
func (l *Ledger) GetHook(ctx context.Context, k HookKey) (h Hook, err error) {
	err = l.viewHooks(ctx, func(tx *hookTx) (err error) {
		h, err = tx.hook(k)
		return err
	})
	return h, err
}

// UpdateHook implements HookStore.
func (l *Ledger) UpdateHook(ctx context.Context, k HookKey, fn func(*Hook) error) (h Hook, err error) {
	err = l.updateHooks(ctx, func(tx *hookTx) (err error) {
		if h, err = tx.hook(k); err != nil {
			return err
		}
		if err := fn(&h); err != nil {
			return &answer{err}
		}
		h.Rev++
		if err := h.Check(); err != nil {
			return &answer{fmt.Errorf("changing webhook %s: %w", k.Hook, err)}
		}
		return tx.putHook(&h)
	})
	return h, err
}

// DeleteHook implements HookStore.
func (l *Ledger) DeleteHook(ctx context.Context, k HookKey) error {
	return l.updateHooks(ctx, func(tx *hookTx) error {
		if _, err := tx.hook(k); err != nil {
			return err
		}
		return tx.removeHook(k)
	})
}

func (tx *hookTx) removeHook(k HookKey) error {
	return errors.Join(
		removePrefix(tx.outbox, k.key(), nil),
		removePrefix(tx.sent, k.key(), nil),
		remove(tx.hooks, k.key()),
	)
}

// removeHooksOf removes everything webhooks have of an account whose key was revoked.
func removeHooksOf(tx *bolt.Tx, id ID) error {
	hooks := hookTxOf(tx)
	if !hooks.made() {
		return nil
	}
	return errors.Join(
		removePrefix(hooks.outbox, id.key(), nil),
		removePrefix(hooks.sent, id.key(), nil),
		removePrefix(hooks.hooks, id.key(), nil),
	)
}

// removePrefix removes the rows whose keys have a prefix, and, where end is not nil, are below it.
func removePrefix(b *bolt.Bucket, prefix, end []byte) error {
	var keys [][]byte // a cursor must not be moved over rows that are being removed
	c := b.Cursor()
	for k, _ := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix) && (end == nil || bytes.Compare(k, end) < 0); k, _ = c.Next() {
		keys = append(keys, bytes.Clone(k))
	}
	for _, k := range keys {
		if err := remove(b, k); err != nil {
			return err
		}
	}
	return nil
}

// EachHook implements HookStore. fn runs inside a read transaction.
func (l *Ledger) EachHook(ctx context.Context, account ID, fn func(Hook) error) error {
	return l.viewHooks(ctx, func(tx *hookTx) error {
		return tx.eachHook(account, func(h Hook) error {
			if err := fn(h); err != nil {
				return &answer{err}
			}
			return nil
		})
	})
}

// makeHookBuckets makes the buckets of webhooks that are missing.
func makeHookBuckets(tx *bolt.Tx) (*hookTx, error) {
	for _, name := range hookBuckets {
		if _, err := makeBucket(tx, name); err != nil {
			return nil, err
		}
	}
	return hookTxOf(tx), nil
}

// CountHooks implements HookStore.
func (l *Ledger) CountHooks(ctx context.Context) (out HookCounts, err error) {
	err = l.viewHooks(ctx, func(tx *hookTx) error {
		out = HookCounts{}
		return tx.eachHook(0, func(h Hook) error {
			switch h.State {
			case HookPaused:
				out.Paused++
				return nil
			case HookDisabled:
				out.Disabled++
				return nil
			}
			out.Active++
			if h.Queued == 0 {
				return nil
			}
			out.Pending += h.Queued
			k, v := tx.outbox.Cursor().Seek(h.Key.key()) // its oldest
			if !bytes.HasPrefix(k, h.Key.key()) {
				return nil
			}
			d, err := readDelivery(k, v)
			if err == nil && (out.Oldest == 0 || d.Created < out.Oldest) {
				out.Oldest = d.Created
			}
			return err
		})
	})
	return out, err
}
