package quota

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"

	bolt "go.etcd.io/bbolt"

	jsonv2 "github.com/goccy/go-json/v2"
)

// Exported is everything a ledger has of one account.
type Exported struct {
	Record Record       `json:"record"`
	Person Person       `json:"person"` // zero for one that was erased
	Months []MonthCalls `json:"months"` // oldest first
}

// Portable is a ledger that can be copied to another one. Ledger and the store in package
// quota/etcd are.
type Portable interface {
	Store

	// Export calls fn for every account in order of id, all as they were at one moment. It stops
	// at fn's first error and returns it.
	Export(ctx context.Context, fn func(Exported) error) error

	// Import stores accounts with their counts as they are. The ids must not be in use.
	Import(ctx context.Context, accounts []Exported) error
}

// Errors of Copy.
var (
	// ErrNotEmpty is returned when the target has accounts.
	ErrNotEmpty = errors.New("the target has accounts already; name a ledger that has none")
	// ErrNoHooks is returned when the source has webhooks and the target cannot keep any.
	ErrNoHooks = errors.New("the source has webhooks, and only a ledger file can keep webhooks; delete them first")
)

// CopyReport says what a copy has.
type CopyReport struct {
	Accounts int    `json:"accounts"`
	Calls    uint64 `json:"calls"`    // over all accounts and months
	Webhooks int    `json:"webhooks"` // with their messages and logs
	SHA256   string `json:"sha256"`   // of all accounts in order of id, as JSON, and of the rows of webhooks
}

// importBatch is how many accounts Copy writes at a time.
const importBatch = 500

// Copy copies every account and every count from one ledger to an empty one, then reads the copy and
// compares. The source is read to its end before anything is written, so that a damaged one changes nothing. No server
// may use either; who opens them sees to that. Leased calls of a server that was killed are copied as counted. CopyFile
// is for a target that is a file.
func Copy(ctx context.Context, from, to Portable) (CopyReport, error) {
	empty := errors.New("not empty")
	if err := to.Export(ctx, func(Exported) error { return empty }); errors.Is(err, empty) {
		return CopyReport{}, ErrNotEmpty
	} else if err != nil {
		return CopyReport{}, err
	}
	source, err := Sum(ctx, from)
	if err != nil {
		return CopyReport{}, OfSource(err)
	}
	if _, ok := to.(*Ledger); !ok && source.Webhooks > 0 {
		return CopyReport{}, ErrNoHooks
	}
	if err := transfer(ctx, from, to); err != nil {
		return CopyReport{}, err
	}
	target, err := Sum(ctx, to)
	if err == nil && source != target {
		err = fmt.Errorf("the copy differs from the source: accounts %d, calls %d (%s), those of the source %d and %d (%s)",
			target.Accounts, target.Calls, target.SHA256, source.Accounts, source.Calls, source.SHA256)
	}
	return target, err
}

// CopyFile is Copy to a new ledger file at path, which must not exist. It appears there complete or not at all.
func CopyFile(ctx context.Context, from Portable, path string) (report CopyReport, err error) {
	_, err = writeNew(path, func(f *os.File) error {
		to, err := Open(f.Name(), Options{})
		if err != nil {
			return err
		}
		report, err = Copy(ctx, from, to)
		return errors.Join(err, to.Close())
	})
	return report, err
}

// BackupTo is CopyFile for a ledger that servers use. It returns the size of the file in bytes, and compares nothing.
func BackupTo(ctx context.Context, from Portable, path string) (int64, error) {
	return writeNew(path, func(f *os.File) error {
		to, err := Open(f.Name(), Options{})
		if err != nil {
			return err
		}
		return errors.Join(transfer(ctx, from, to), to.Close())
	})
}

// OfSource words an error of reading a ledger that is being copied or restored: who restores a damaged backup needs
// another one. Other errors are returned unchanged.
func OfSource(err error) error {
	if !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrCorrupt) {
		return err
	}
	return fmt.Errorf("%w; try another backup", err)
}

// transfer imports all of from into to, a batch at a time.
func transfer(ctx context.Context, from, to Portable) error {
	var batch []Exported
	err := from.Export(ctx, func(a Exported) error {
		if batch = append(batch, a); len(batch) < importBatch {
			return nil
		}
		err := to.Import(ctx, batch)
		batch = batch[:0]
		return err
	})
	if err == nil && len(batch) > 0 {
		err = to.Import(ctx, batch)
	}
	source, ok := from.(*Ledger)
	target, keeps := to.(*Ledger)
	if err != nil || !ok || !keeps {
		return err
	}
	return source.ViewRows(ctx, func(old Rows) error {
		return target.UpdateRows(ctx, func(rows Rows) error {
			return eachHookRow(old, func(name string, k, v []byte) error {
				b := rows.Bucket(name)
				return b.Put(k, v)
			})
		})
	})
}

// eachHookRow calls fn for all rows of the buckets of package hooks.
func eachHookRow(rows Rows, fn func(bucket string, k, v []byte) error) error {
	for _, name := range hookBuckets {
		b, n := rows.Bucket(name), uint64(0)
		err := b.Each(nil, func(k, v []byte) (bool, error) { n++; return true, fn(name, k, v) })
		if err == nil && b.b != nil {
			err = checkRows(name, b.b, n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Sum reads a whole ledger and adds it up.
func Sum(ctx context.Context, l Portable) (CopyReport, error) {
	var r CopyReport
	sum := sha256.New()
	err := l.Export(ctx, func(a Exported) error {
		r.Accounts++
		for _, m := range a.Months {
			r.Calls += m.Calls
		}
		return jsonv2.MarshalWrite(sum, a)
	})
	if file, ok := l.(*Ledger); ok && err == nil {
		err = file.ViewRows(ctx, func(rows Rows) error {
			return eachHookRow(rows, func(name string, k, v []byte) error {
				if name == BucketHooks {
					r.Webhooks++
				}
				return jsonv2.MarshalWrite(sum, [][]byte{k, v})
			})
		})
	}
	r.SHA256 = fmt.Sprintf("%x", sum.Sum(nil))
	return r, err
}

// Export implements Portable, in one read transaction.
func (l *Ledger) Export(ctx context.Context, fn func(Exported) error) error {
	return l.view(ctx, "reading", func(tx *bolt.Tx) error {
		return eachRow("accounts", tx.Bucket(accountsBucket), func(k, _ []byte) error {
			if err := ctx.Err(); err != nil {
				return &answer{err}
			}
			var a Exported
			var err error
			if a.Record, a.Person, err = getAccount(tx, idFromKey(k)); err == nil {
				a.Months, err = usageOf(tx, a.Record.ID)
			}
			if err != nil {
				return err
			}
			if err := fn(a); err != nil {
				return &answer{err}
			}
			return nil
		})
	})
}

// Import implements Portable, in one transaction.
func (l *Ledger) Import(ctx context.Context, accounts []Exported) error {
	return l.update(ctx, func(tx *bolt.Tx) error {
		for _, a := range accounts {
			if err := importOne(tx, a); err != nil {
				return err
			}
		}
		return nil
	})
}

func importOne(tx *bolt.Tx, a Exported) error {
	id, err := a.Record.ID, a.Record.Check()
	if err == nil && tx.Bucket(accountsBucket).Get(id.key()) != nil {
		err = ErrTaken
	}
	if err != nil {
		return &answer{fmt.Errorf("account %s: %w", id, err)}
	}
	err = errors.Join(putRecord(tx, &a.Record), putPerson(tx, id, a.Person))
	for _, m := range a.Months {
		err = errors.Join(err, reserve(tx, Count{ID: id, Month: m.Month, Own: m.Calls, Limit: MaxLimit}, &Count{}))
	}
	return err
}
