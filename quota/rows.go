package quota

import (
	"bytes"
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// The buckets of package hooks, which are made with the first webhook. A ledger without webhooks has none. Rows of
// the first three belong to an account: their keys begin with its id, and they are removed when its key is revoked.
const (
	BucketHooks     = "hooks"
	BucketOutbox    = "outbox"
	BucketSent      = "sent"
	BucketReleases  = "releases"
	BucketRecords   = "records"
	BucketAnnounced = "announced"
)

var (
	ownedBuckets = []string{BucketHooks, BucketOutbox, BucketSent}
	hookBuckets  = append(ownedBuckets[:3:3], BucketReleases, BucketRecords, BucketAnnounced)
)

// Rows is a transaction over the buckets of package hooks.
type Rows struct{ tx *bolt.Tx }

// ViewRows runs fn in a read transaction. fn must not change anything and must not use the ledger otherwise.
func (l *Ledger) ViewRows(ctx context.Context, fn func(Rows) error) error {
	return l.view(ctx, "reading", func(tx *bolt.Tx) error { return fn(Rows{tx}) })
}

// UpdateRows runs fn in a write transaction: all of it is durable when UpdateRows returns nil, and nothing is changed
// when fn returns an error.
func (l *Ledger) UpdateRows(ctx context.Context, fn func(Rows) error) error {
	return l.update(ctx, func(tx *bolt.Tx) error { return fn(Rows{tx}) })
}

// Account returns the record of an account, or ErrNotFound.
func (r Rows) Account(id ID) (Record, error) { return getRecord(r.tx, id) }

// Bucket returns a bucket by name.
func (r Rows) Bucket(name string) Bucket {
	return Bucket{tx: r.tx, name: []byte(name), b: r.tx.Bucket([]byte(name))}
}

// Bucket is a bucket of sealed rows in a transaction. Until its first row is put it need not exist.
type Bucket struct {
	tx   *bolt.Tx
	name []byte
	b    *bolt.Bucket // nil: not made yet
}

// Get returns the value of a row, nil when there is none. It is valid until the transaction ends.
func (b *Bucket) Get(k []byte) ([]byte, error) {
	if b.b == nil {
		return nil, nil
	}
	v := b.b.Get(k)
	if v == nil {
		return nil, nil
	}
	return b.unseal(k, v)
}

func (b *Bucket) unseal(k, v []byte) ([]byte, error) {
	payload, err := unseal(k, v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.name, err)
	}
	return payload, nil
}

// Put stores a row.
func (b *Bucket) Put(k, v []byte) (err error) {
	if b.b == nil {
		if b.b, err = makeBucket(b.tx, b.name); err != nil {
			return err
		}
	}
	return insert(b.b, k, seal(k, v))
}

// Delete removes a row, if it is there.
func (b *Bucket) Delete(k []byte) error {
	if b.b == nil {
		return nil
	}
	return remove(b.b, k)
}

// Each calls fn for the rows whose keys have a prefix, in order of key, until fn returns false or an error. Keys
// and values are valid until the transaction ends. fn must not change the bucket.
func (b *Bucket) Each(prefix []byte, fn func(k, v []byte) (more bool, err error)) error {
	if b.b == nil {
		return nil
	}
	c := b.b.Cursor()
	for k, v := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
		payload, err := b.unseal(k, v)
		if err != nil {
			return err
		}
		if more, err := fn(k, payload); !more || err != nil {
			return err
		}
	}
	return nil
}

// DeletePrefix removes the rows whose keys have a prefix.
func (b *Bucket) DeletePrefix(prefix []byte) error {
	var keys [][]byte // a cursor must not be moved over rows that are being removed
	err := b.Each(prefix, func(k, _ []byte) (bool, error) {
		keys = append(keys, bytes.Clone(k))
		return true, nil
	})
	for _, k := range keys {
		if err == nil {
			err = b.Delete(k)
		}
	}
	return err
}

// removeOwned removes the rows of package hooks that belong to an account.
func removeOwned(tx *bolt.Tx, id ID) error {
	for _, name := range ownedBuckets {
		b := Rows{tx}.Bucket(name)
		if err := b.DeletePrefix(id.key()); err != nil {
			return err
		}
	}
	return nil
}
