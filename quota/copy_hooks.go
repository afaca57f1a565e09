package quota

import (
	"bytes"
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// exportHooks implements hookPortable. Without a webhook there is nothing to copy: what was
// announced matters to webhooks alone.
func (l *Ledger) exportHooks(ctx context.Context, fn func(HookRow) error) error {
	return l.viewHooks(ctx, func(tx *hookTx) error {
		if !tx.made() {
			return nil
		}
		if k, _ := tx.hooks.Cursor().First(); k == nil {
			return nil
		}
		for _, name := range hookBuckets {
			b, rows := tx.Bucket(name), uint64(0)
			err := b.ForEach(func(k, v []byte) error {
				rows++
				if _, err := unseal(k, v); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				if err := fn(HookRow{string(name), bytes.Clone(k), bytes.Clone(v)}); err != nil {
					return &answer{err}
				}
				return nil
			})
			if err == nil {
				err = checkRows(string(name), b, rows)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// importHooks implements hookPortable, in one transaction.
func (l *Ledger) importHooks(ctx context.Context, rows []HookRow) error {
	return l.update(ctx, "writing", func(tx *bolt.Tx) error {
		if _, err := makeHookBuckets(tx); err != nil {
			return err
		}
		for _, r := range rows {
			if err := insert(tx.Bucket([]byte(r.Bucket)), r.Key, r.Value); err != nil {
				return err
			}
		}
		return nil
	})
}
