package quota

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"modeldex/quota/boltfile"

	bolt "go.etcd.io/bbolt"
)

// compactTx is how many bytes one transaction of a compaction copies.
const compactTx = 16 << 20

// BackupFile writes a copy of the ledger to a new file at path, as it was when BackupFile began, while calls and
// changes go on. The copy is itself a ledger; it counts leased calls as charged. It appears there complete or not
// at all. BackupFile returns its size in bytes, and ErrRemoved when the ledger's own file is gone.
func (l *Ledger) BackupFile(ctx context.Context, path string) (int64, error) {
	return writeNew(path, func(f *os.File) error {
		return l.view(ctx, "backing up", func(tx *bolt.Tx) error {
			if err := l.checkFile(); err != nil {
				return err
			}
			_, err := tx.WriteTo(f)
			return err
		})
	})
}

// writeNew has a new file at path written, and returns its size in bytes.
func writeNew(path string, write func(*os.File) error) (size int64, err error) {
	if _, err := os.Lstat(path); err == nil {
		return 0, fmt.Errorf("%s: cannot be written: %w; name another file, or move this one away", path, os.ErrExist)
	}
	if info, err := os.Stat(filepath.Dir(path)); errors.Is(err, os.ErrNotExist) || err == nil && !info.IsDir() {
		return 0, fmt.Errorf("%s: cannot be written: %w", path, ErrNoDirectory)
	}
	err = writeWhole(path, write)
	if err == nil {
		size, err = sizeOf(path)
	}
	if err != nil {
		return 0, fmt.Errorf("writing ledger %s: %w", path, translate(err))
	}
	return size, nil
}

func sizeOf(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
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
// space. It returns the file's size before and after. The old file stays until the new one is on the disk.
func Compact(path string) (before, after int64, err error) {
	l, err := Open(path, Options{MustExist: true})
	if err != nil {
		return 0, 0, err
	}
	if before, err = sizeOf(path); err == nil {
		err = boltfile.Guard(func() error { return rewrite(l) })
	}
	if err == nil {
		after, err = sizeOf(path)
	}
	return before, after, errors.Join(explain("compacting", path, err), l.Close())
}

// rewrite copies the ledger page by page into a new file and puts that in its place. It commits once more without a
// change, so that both copies of the file's head describe the whole ledger. Otherwise the older one describes a part of
// it, or an empty file.
func rewrite(l *Ledger) error {
	return writeWhole(l.path, func(f *os.File) error {
		dst, err := bolt.Open(f.Name(), 0o600, nil)
		if err != nil {
			return err
		}
		again := func() error { return dst.Update(func(*bolt.Tx) error { return nil }) }
		return errors.Join(bolt.Compact(dst, l.db, compactTx), again(), dst.Close())
	})
}
