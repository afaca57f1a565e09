package quota

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	jsonv2 "github.com/goccy/go-json/v2"
)

// Exported is everything a ledger has of one account.
type Exported struct {
	Record Record       `json:"record"`
	Person Person       `json:"person"` // zero for one that was erased
	Months []MonthCalls `json:"months"` // oldest first
	Days   []DayUsage   `json:"days"`   // oldest first
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
	ErrNotEmpty = errors.New("the target has accounts already; name a ledger that has none, or move this file away")
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
	source, err := sumSource(ctx, from, to)
	if err != nil {
		return CopyReport{}, err
	}
	return fill(ctx, from, to, source)
}

// CopyFile is Copy to a ledger file. It is written beside path and renamed, so that after an error or a kill path is as
// it was before: missing, or a ledger without accounts.
func CopyFile(ctx context.Context, from Portable, path string, opt Options) (report CopyReport, err error) {
	_, err = os.Stat(path)
	made := errors.Is(err, os.ErrNotExist)
	held, err := Open(path, opt) // for its lock: no server may start on it meanwhile
	if err != nil {
		return report, err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil { // a link stays a link
		return report, errors.Join(err, held.Close())
	}
	defer func() {
		if made && err != nil {
			err = errors.Join(err, os.Remove(path)) // it is still locked
		}
		err = errors.Join(err, held.Close())
	}()
	source, err := sumSource(ctx, from, held)
	if err != nil {
		return report, err
	}
	opt.MustExist = false // for a file that is empty yet
	err = writeWhole(path, func(f *os.File) error {
		to, err := Open(f.Name(), opt)
		if err != nil {
			return err
		}
		report, err = fill(ctx, from, to, source)
		return errors.Join(err, to.Close())
	})
	return report, err
}

// sumSource reads all of from, once it is known that to has no account and can keep what from has.
func sumSource(ctx context.Context, from, to Portable) (CopyReport, error) {
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
	return source, nil
}

// fill imports all of from into to, which is empty, and compares it with the source.
func fill(ctx context.Context, from, to Portable, source CopyReport) (CopyReport, error) {
	if err := transfer(ctx, from, to); err != nil {
		return CopyReport{}, err
	}
	target, err := Sum(ctx, to)
	if err != nil {
		return CopyReport{}, err
	}
	if source != target {
		return target, fmt.Errorf("the copy differs from the source: accounts %d, calls %d (%s), those of the source %d and %d (%s)",
			target.Accounts, target.Calls, target.SHA256, source.Accounts, source.Calls, source.SHA256)
	}
	return target, nil
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
	if err != nil {
		return err
	}
	source, ok := from.(*Ledger)
	target, keeps := to.(*Ledger)
	if !ok || !keeps {
		return nil
	}
	return source.ViewRows(ctx, func(old Rows) error {
		return target.UpdateRows(ctx, func(rows Rows) error { return copyHooks(old, rows) })
	})
}

// copyHooks copies the buckets of package hooks.
func copyHooks(from, to Rows) error {
	for _, name := range hookBuckets {
		old, b := from.Bucket(name), to.Bucket(name)
		if err := old.Each(nil, func(k, v []byte) (bool, error) { return true, b.Put(k, v) }); err != nil {
			return err
		}
	}
	return nil
}

// Sum reads a whole ledger and adds it up.
func Sum(ctx context.Context, l Portable) (CopyReport, error) {
	var r CopyReport
	sum := sha256.New()
	add := func(v any) error { return jsonv2.MarshalWrite(sum, v) }
	err := l.Export(ctx, func(a Exported) error {
		r.Accounts++
		for _, m := range a.Months {
			r.Calls += m.Calls
		}
		return add(a)
	})
	if file, ok := l.(*Ledger); ok && err == nil {
		err = file.ViewRows(ctx, func(rows Rows) error { return sumHooks(rows, &r, add) })
	}
	r.SHA256 = fmt.Sprintf("%x", sum.Sum(nil))
	return r, err
}

// sumHooks adds up the buckets of package hooks.
func sumHooks(rows Rows, r *CopyReport, add func(any) error) error {
	for _, name := range hookBuckets {
		b, n := rows.Bucket(name), uint64(0)
		if b.b == nil {
			continue
		}
		err := b.Each(nil, func(k, v []byte) (bool, error) { n++; return true, add([][]byte{k, v}) })
		if err == nil {
			err = checkRows(name, b.b, n)
		}
		if err != nil {
			return err
		}
		if name == BucketHooks {
			r.Webhooks = int(n)
		}
	}
	return nil
}

// Export implements Portable, in one read transaction.
func (l *Ledger) Export(ctx context.Context, fn func(Exported) error) error {
	return l.view(ctx, "reading", func(tx *bolt.Tx) error {
		return eachAfter(tx, 0, func(r Record) (bool, error) {
			if err := ctx.Err(); err != nil {
				return false, &answer{err}
			}
			p, err := getPerson(tx, r.ID)
			if err != nil {
				return false, err
			}
			months, err := usageOf(tx, r.ID)
			if err != nil {
				return false, err
			}
			days, err := getDays(tx.Bucket(daysBucket), r.ID)
			if err != nil {
				return false, err
			}
			if err := fn(Exported{Record: r, Person: p, Months: months, Days: days}); err != nil {
				return false, &answer{err}
			}
			return true, nil
		})
	})
}

// Import implements Portable, in one transaction.
func (l *Ledger) Import(ctx context.Context, accounts []Exported) error {
	return l.update(ctx, "writing", func(tx *bolt.Tx) error {
		for _, a := range accounts {
			if err := importOne(tx, a); err != nil {
				return err
			}
		}
		return nil
	})
}

func importOne(tx *bolt.Tx, a Exported) error {
	if err := a.Record.Check(); err != nil {
		return &answer{fmt.Errorf("account %s: %w", a.Record.ID, err)}
	}
	if tx.Bucket(accountsBucket).Get(a.Record.ID.key()) != nil {
		return &answer{fmt.Errorf("account %s: %w", a.Record.ID, ErrTaken)}
	}
	if err := putRecord(tx, &a.Record); err != nil {
		return err
	}
	if err := putPerson(tx, a.Record.ID, a.Person); err != nil {
		return err
	}
	for _, m := range a.Months {
		if err := reserve(tx, Count{ID: a.Record.ID, Month: m.Month, Own: m.Calls, Limit: MaxLimit}, &Count{}); err != nil {
			return err
		}
	}
	if len(a.Days) == 0 {
		return nil
	}
	b, err := makeBucket(tx, daysBucket)
	if err != nil {
		return err
	}
	return putDays(b, a.Record.ID, a.Days)
}
