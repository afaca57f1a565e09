package quota

import (
	"bytes"
	"context"
	"fmt"
	"slices"

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

// Rows is a transaction over the buckets of a ledger.
type Rows struct{ tx *bolt.Tx }

// ViewRows runs fn in a read transaction. fn must not change anything and must not use the ledger otherwise.
func (l *Ledger) ViewRows(ctx context.Context, fn func(Rows) error) error {
	return l.run(ctx, "reading", l.db.View, fn)
}

// UpdateRows runs fn in a write transaction: all of it is durable when UpdateRows returns nil, and nothing is changed
// when fn returns an error. What was written to a removed file is not durable and must not be acknowledged. Not
// db.Batch: it may commit on a goroutine of its own, where a damaged page would end the process.
func (l *Ledger) UpdateRows(ctx context.Context, fn func(Rows) error) error {
	if err := l.run(ctx, "writing", l.db.Update, fn); err != nil {
		return err
	}
	return explain("writing", l.path, l.checkFile())
}

func (l *Ledger) run(ctx context.Context, act string, do func(func(*bolt.Tx) error) error, fn func(Rows) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return explain(act, l.path, guard(func() error { return do(func(tx *bolt.Tx) error { return fn(Rows{tx}) }) }))
}

// Bucket returns a bucket by name.
func (r Rows) Bucket(name string) Bucket { return Bucket{r.tx, name, r.tx.Bucket([]byte(name))} }

// Bucket is a bucket of sealed rows in a transaction. Until its first row is put it need not exist. Its sequence is the
// number of its rows: the rows are sealed, but the pages between them are not, and a damaged page could hide some.
type Bucket struct {
	tx   *bolt.Tx
	name string
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
	switch {
	case err != nil && len(k) == 8:
		err = fmt.Errorf("%s: account %s: %w", b.name, idFromKey(k), err)
	case err != nil:
		err = fmt.Errorf("%s: row %x: %w", b.name, k, err)
	}
	return payload, err
}

// Put stores a row.
func (b *Bucket) Put(k, v []byte) (err error) {
	if b.b == nil {
		if b.b, err = makeBucket(b.tx, b.name); err != nil {
			return err
		}
	}
	if b.b.Get(k) == nil {
		err = b.b.SetSequence(b.b.Sequence() + 1)
	}
	if err != nil {
		return err
	}
	return b.b.Put(k, seal(k, v))
}

// Delete removes a row, if it is there.
func (b *Bucket) Delete(k []byte) error {
	if b.b == nil || b.b.Get(k) == nil {
		return nil
	}
	if err := b.b.SetSequence(b.b.Sequence() - 1); err != nil {
		return err
	}
	return b.b.Delete(k)
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

// all calls fn for every row, and checks that none is missing.
func (b *Bucket) all(fn func(k, v []byte) error) error {
	rows := uint64(0)
	err := b.Each(nil, func(k, v []byte) (bool, error) { rows++; return true, fn(k, v) })
	if err != nil {
		return err
	}
	return b.checkRows(rows)
}

// checkRows holds a number of rows against what the bucket should have.
func (b *Bucket) checkRows(rows uint64) error {
	if b.b != nil && rows != b.b.Sequence() {
		return fmt.Errorf("%w: %s: rows %d, written %d", ErrCorrupt, b.name, rows, b.b.Sequence())
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

// bucketPrefix is before the name of a bucket in the key of the row of meta that says that it is there.
var bucketPrefix = []byte("bucket ")

// makeBucket makes a bucket that not every ledger has, and the row that says so. The name of a bucket has no checksum, and
// a damaged one would look as if it had never been made.
func makeBucket(tx *bolt.Tx, name string) (*bolt.Bucket, error) {
	b, err := tx.CreateBucketIfNotExists([]byte(name))
	if err != nil {
		return nil, err
	}
	k := slices.Concat(bucketPrefix, []byte(name))
	return b, tx.Bucket([]byte(metaBucket)).Put(k, seal(k, nil))
}
