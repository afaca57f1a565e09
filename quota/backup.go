package quota

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"modeldex/quota/boltfile"

	bolt "go.etcd.io/bbolt"
)

// compactTx is how many bytes one transaction of a compaction copies.
const compactTx = 16 << 20

// Backup writes a copy of the ledger to w, as it was when Backup began, while calls and
// changes go on. The copy is itself a ledger; it counts leased calls as charged. Backup returns
// the bytes written, and ErrRemoved when the ledger's own file is gone.
func (l *Ledger) Backup(ctx context.Context, w io.Writer) (n int64, err error) {
	err = l.view(ctx, "backing up", func(tx *bolt.Tx) error {
		if err := l.checkFile(); err != nil {
			return err
		}
		n, err = tx.WriteTo(w)
		return err
	})
	return n, err
}

// BackupFile makes a backup at path, which must not exist. It appears there complete or not
// at all.
func (l *Ledger) BackupFile(ctx context.Context, path string) (int64, error) {
	return backup(path, func(f *os.File) error {
		_, err := l.Backup(ctx, f)
		return err
	})
}

// BackupTo copies a ledger into a new ledger file at path, which must not exist, and returns its size
// in bytes. The file appears there complete or not at all.
func BackupTo(ctx context.Context, from Portable, path string) (int64, error) {
	return backup(path, func(f *os.File) error {
		to, err := Open(f.Name(), Options{})
		if err != nil {
			return err
		}
		return errors.Join(transfer(ctx, from, to), to.Close())
	})
}

// backup has a new file at path written, and returns its size in bytes.
func backup(path string, write func(*os.File) error) (int64, error) {
	if err := checkTarget(path); err != nil {
		return 0, err
	}
	if err := writeWhole(path, write); err != nil {
		return 0, fmt.Errorf("backing up ledger to %s: %w", path, translate(err))
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, fmt.Errorf("backing up ledger to %s: %w", path, err)
	}
	return info.Size(), nil
}

// checkTarget rejects the name of a backup that cannot be written, before anything is read.
func checkTarget(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: cannot be written: %w; name another file", path, os.ErrExist)
	}
	if info, err := os.Stat(filepath.Dir(path)); errors.Is(err, os.ErrNotExist) || err == nil && !info.IsDir() {
		return fmt.Errorf("%s: cannot be written: %w", path, ErrNoDirectory)
	}
	return nil
}

// tempMark is what the names of unfinished files have between the ledger's name and a random
// number. A killed process leaves such a file behind.
const tempMark = ".unfinished-"

// removeLeftovers removes the unfinished files that a killed compaction or backup left beside the
// ledger. They hold names and e-mail addresses, so they must not stay. The caller holds the
// ledger's lock, which a compaction of the same file holds too; a backup to another name beside
// the ledger has a mark of its own name.
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

// writeWhole lets fn write a file beside path and renames it to path once it is on the disk.
// Dataset files have a package of their own for this, wholefile. A ledger differs: mode 0600, a
// directory that is synced too, and a name that removeLeftovers recognizes; and quota imports
// nothing of the dataset.
func writeWhole(path string, fn func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+tempMark+"*") // mode 0600
	if at, ok := errors.AsType[*os.PathError](err); ok {
		return &os.PathError{Op: at.Op, Path: path, Err: at.Err} // not the name with a random number
	}
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already when all went well
	if err := errors.Join(fn(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes a rename durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Compact rewrites the ledger at path, which no running server may hold, without its free
// space and with every month but the newest folded into one line per account. It returns the
// file's size before and after. The old file stays until the new one is on the disk.
func Compact(path string) (before, after int64, err error) {
	l, err := Open(path, Options{MustExist: true})
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	info, err := l.file.Stat()
	if err != nil {
		return 0, 0, explain("compacting", path, err)
	}
	before = info.Size()
	if err := fold(context.Background(), l); err != nil {
		return before, 0, err
	}
	if err := boltfile.Guard(func() error { return rewrite(l) }); err != nil {
		return before, 0, explain("compacting", path, err)
	}
	if info, err = os.Stat(path); err != nil {
		return before, 0, explain("compacting", path, err)
	}
	return before, info.Size(), nil
}

// fold moves the counts of every month but the newest into the history, one month per transaction.
// The ledger says which month is newest, not the clock.
func fold(ctx context.Context, l *Ledger) error {
	var list []Month
	err := l.view(ctx, "compacting", func(tx *bolt.Tx) (err error) {
		list, err = months(tx)
		return err
	})
	if err != nil || len(list) < 2 {
		return err
	}
	for _, m := range list[:len(list)-1] {
		err := l.update(ctx, "compacting", func(tx *bolt.Tx) error { return foldMonth(tx, m) })
		if err != nil {
			return err
		}
	}
	return nil
}

func foldMonth(tx *bolt.Tx, m Month) error {
	err := monthBucket(tx, m).ForEach(func(k, v []byte) error {
		calls, err := readCount(k, v)
		if err != nil {
			return err
		}
		past, err := getHistory(tx, idFromKey(k))
		if err != nil {
			return err
		}
		return putHistory(tx, idFromKey(k), setMonth(past, m, calls))
	})
	if err != nil {
		return err
	}
	return removeMonth(tx, m)
}

// rewrite copies the ledger page by page into a new file and puts that in its place.
func rewrite(l *Ledger) error {
	return writeWhole(l.path, func(f *os.File) error {
		dst, err := bolt.Open(f.Name(), 0o600, nil)
		if err != nil {
			return err
		}
		return errors.Join(bolt.Compact(dst, l.db, compactTx), commitBothHeads(dst), dst.Close())
	})
}

// commitBothHeads commits once more without a change, so that both copies of the file's head describe
// the whole ledger. Otherwise the older one describes a part of it, or an empty file.
func commitBothHeads(db *bolt.DB) error {
	return db.Update(func(*bolt.Tx) error { return nil })
}
