package quota

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	jsonv2 "github.com/goccy/go-json/v2"
)

// Exported is everything a ledger has of one account.
type Exported struct {
	Record Record       `json:"record"`
	Person Person       `json:"person"` // zero for one that was erased
	Months []MonthCalls `json:"months"` // oldest first
}

// Portable is a ledger that can be checked, backed up and copied to another one. Ledger and the store in package
// quota/etcd are.
type Portable interface {
	Store

	// Export calls fn for every account in order of id, all as they were at one moment. It stops
	// at fn's first error and returns it.
	Export(ctx context.Context, fn func(Exported) error) error
	// Import stores accounts with their counts as they are. The ids must not be in use.
	Import(ctx context.Context, accounts []Exported) error
	// Check reports what is damaged or does not fit together.
	Check(ctx context.Context) (Report, error)
	// BackupFile writes a ledger file at path, which must not exist, as the ledger was when BackupFile began, while
	// calls and changes go on: leased calls are counted as charged. The file appears complete or not at all.
	// BackupFile returns its size in bytes.
	BackupFile(ctx context.Context, path string) (int64, error)
	// Alone returns an error with the names of other processes that use the ledger, if there are any.
	Alone(ctx context.Context) error
	// Close releases the ledger.
	Close() error
}

// Errors of Copy.
var (
	// ErrNotEmpty is returned when the target has accounts.
	ErrNotEmpty = errors.New("the target already has accounts; name an empty ledger")
	// ErrNoHooks is returned when the source has webhooks and the target cannot keep any.
	ErrNoHooks = errors.New("the source has webhooks, which only a ledger file can store; delete them first")
)

// CopyReport says what a copy has.
type CopyReport struct {
	Accounts int    `json:"accounts"`
	Calls    uint64 `json:"calls"`    // over all accounts and months
	Webhooks int    `json:"webhooks"` // with their messages
	SHA256   string `json:"sha256"`   // of all accounts in order of id, as JSON
}

// Copy copies every account and every count from one ledger to an empty one, then reads the copy and compares. The
// source is read to its end before anything is written, so that a damaged one changes nothing. No server may use
// either; who opens them sees to that. Leased calls of a server that was killed are copied as counted. Webhooks are only
// copied by CopyFile.
func Copy(ctx context.Context, from, to Portable) (CopyReport, error) {
	used := false
	if err := to.Find(ctx, Filter{}, func(Record, Person) bool { used = true; return false }); err != nil {
		return CopyReport{}, err
	}
	if used {
		return CopyReport{}, ErrNotEmpty
	}
	source, err := Sum(ctx, from)
	if err != nil {
		return CopyReport{}, OfSource(err)
	}
	if source.Webhooks > 0 {
		return CopyReport{}, ErrNoHooks
	}
	if err := transfer(ctx, from, to); err != nil {
		return CopyReport{}, err
	}
	return source, compare(ctx, source, to)
}

// CopyFile is Copy to a new ledger file at path, which must not exist. After an error it is not there.
func CopyFile(ctx context.Context, from Portable, path string) (CopyReport, error) {
	source, err := Sum(ctx, from)
	if err != nil {
		return CopyReport{}, OfSource(err)
	}
	if _, err = from.BackupFile(ctx, path); err != nil {
		return CopyReport{}, err
	}
	to, err := Open(path, Options{ReadOnly: true})
	if err == nil {
		err = errors.Join(compare(ctx, source, to), to.Close())
	}
	if err != nil {
		err = errors.Join(err, os.Remove(path))
	}
	return source, err
}

func compare(ctx context.Context, source CopyReport, to Portable) error {
	copied, err := Sum(ctx, to)
	if err == nil && copied != source {
		err = fmt.Errorf("the copy has %+v, the source %+v", copied, source)
	}
	return err
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
			b := rows.Bucket(BucketHooks)
			return b.Each(nil, func(_, _ []byte) (bool, error) { r.Webhooks++; return true, nil })
		})
	}
	r.SHA256 = fmt.Sprintf("%x", sum.Sum(nil))
	return r, err
}

// OfSource adds advice to an error of reading a damaged ledger that is being copied or restored. Other errors are
// returned unchanged.
func OfSource(err error) error {
	if !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrCorrupt) {
		return err
	}
	return fmt.Errorf("%w; try another backup", err)
}

const importBatch = 500

// transfer imports all of from into to. It keeps all accounts in memory meanwhile, some 500 bytes for each.
func transfer(ctx context.Context, from, to Portable) error {
	var all []Exported
	err := from.Export(ctx, func(a Exported) error { all = append(all, a); return nil })
	for part := range slices.Chunk(all, importBatch) {
		if err == nil {
			err = to.Import(ctx, part)
		}
	}
	return err
}

// Export implements Portable, in one read transaction.
func (l *Ledger) Export(ctx context.Context, fn func(Exported) error) error {
	return l.ViewRows(ctx, func(rows Rows) error {
		accounts := rows.Bucket(accountsBucket)
		return accounts.all(func(k, _ []byte) (err error) {
			var a Exported
			if a.Record, a.Person, err = rows.account(idFromKey(k)); err == nil {
				a.Months, err = rows.usage(a.Record.ID)
			}
			if err != nil {
				return err
			}
			return answered(errors.Join(ctx.Err(), fn(a)))
		})
	})
}

// Import implements Portable, in one transaction.
func (l *Ledger) Import(ctx context.Context, accounts []Exported) error {
	return l.UpdateRows(ctx, func(rows Rows) error {
		for _, a := range accounts {
			err := rows.create(a.Record, a.Person)
			for _, m := range a.Months {
				err = errors.Join(err, rows.reserve(&Count{ID: a.Record.ID, Month: m.Month, Own: m.Calls, Limit: MaxLimit}))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Alone implements Portable: the lock of the file has no other process open it.
func (l *Ledger) Alone(context.Context) error { return nil }

// BackupFile implements Portable. It returns ErrRemoved when the ledger's own file is gone.
func (l *Ledger) BackupFile(ctx context.Context, path string) (int64, error) {
	if err := l.checkFile(); err != nil {
		return 0, explain("backing up", l.path, err)
	}
	return writeNew(path, func(f *os.File) error { return errors.Join(l.rewrite(f), ctx.Err()) })
}

// BackupTo is BackupFile of a ledger that is not a file.
func BackupTo(ctx context.Context, from Portable, path string) (int64, error) {
	return writeNew(path, func(f *os.File) error {
		to, err := Open(f.Name(), Options{})
		if err != nil {
			return err
		}
		return errors.Join(transfer(ctx, from, to), to.Close())
	})
}

// Compact rewrites the ledger at path, which no running server may hold, without its free space. It returns the file's
// size before and after. The old file stays until the new one is on the disk.
func Compact(path string) (before, after int64, err error) {
	l, err := Open(path, Options{MustExist: true})
	if err != nil {
		return 0, 0, err
	}
	info, err := l.file.Stat()
	if err == nil {
		before = info.Size()
		after, err = writeWhole(path, l.rewrite)
	}
	return before, after, errors.Join(explain("compacting", path, err), l.Close())
}

// compactTx is how many bytes one transaction of a rewriting copies.
const compactTx = 16 << 20

// rewrite copies the ledger, as it is at one moment and without its free space, into an empty file. It commits once more
// without a change, so that both copies of the file's head describe the whole ledger. Otherwise the older one describes a
// part of it, or an empty file.
func (l *Ledger) rewrite(f *os.File) error {
	return guard(func() error {
		dst, err := bolt.Open(f.Name(), 0o600, nil)
		if err != nil {
			return err
		}
		again := func() error { return dst.Update(func(*bolt.Tx) error { return nil }) }
		var size int64
		used := func(tx *bolt.Tx) error { size = tx.Size(); return nil }
		if err := errors.Join(bolt.Compact(dst, l.db, compactTx), again(), dst.View(used), dst.Close()); err != nil {
			return err
		}
		return f.Truncate(size) // bbolt makes files longer than they need to be
	})
}

func writeNew(path string, write func(*os.File) error) (int64, error) {
	if _, err := os.Lstat(path); err == nil {
		return 0, fmt.Errorf("%s: cannot be written: %w; name another file, or move this one away", path, os.ErrExist)
	}
	if info, err := os.Stat(filepath.Dir(path)); errors.Is(err, os.ErrNotExist) || err == nil && !info.IsDir() {
		return 0, fmt.Errorf("%s: cannot be written: %w", path, ErrNoDirectory)
	}
	size, err := writeWhole(path, write)
	if err != nil {
		return 0, fmt.Errorf("writing ledger %s: %w", path, translate(err))
	}
	return size, nil
}

// tempMark is what the names of unfinished files have between the ledger's name and a random
// number. A killed process leaves such a file behind.
const tempMark = ".unfinished-"

// removeLeftovers removes the unfinished files that a killed compaction or backup left beside the
// ledger. They hold names and e-mail addresses, so they must not stay. The caller holds the
// ledger's lock, which a compaction of the same file holds too.
func removeLeftovers(ledger string) error {
	entries, _ := os.ReadDir(filepath.Dir(ledger)) // a directory that cannot be listed does not keep the server from serving
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), filepath.Base(ledger)+tempMark) {
			continue
		}
		if err := os.Remove(filepath.Join(filepath.Dir(ledger), e.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// writeWhole lets fn write a file beside path, of mode 0600, and renames it to path once it is on the disk. It returns
// the size of the file in bytes.
func writeWhole(path string, fn func(*os.File) error) (int64, error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+tempMark+"*") // mode 0600
	if at, ok := errors.AsType[*os.PathError](err); ok {
		return 0, &os.PathError{Op: at.Op, Path: path, Err: at.Err} // not the name with a random number
	}
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name()) // gone already when all went well
	err = errors.Join(fn(f), f.Sync())
	info, errStat := f.Stat()
	if err = errors.Join(err, errStat, f.Close()); err != nil {
		return 0, err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return 0, err
	}
	return info.Size(), syncDir(filepath.Dir(path))
}

// syncDir makes a rename durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
