package quota

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// The ledger's buckets; doc.go draws them.
const (
	metaBucket     = "meta"
	accountsBucket = "accounts"
	peopleBucket   = "people"
	emailsBucket   = "emails"
	usageBucket    = "usage"
	historyBucket  = "history"
)

var (
	ledgerBuckets = []string{metaBucket, accountsBucket, peopleBucket, emailsBucket, usageBucket, historyBucket} // of every ledger

	formatKey = []byte("format")
)

// formatVersion is the layout of the buckets. A ledger with a higher one is rejected.
const formatVersion = 1

// Options tune Open. The zero value is right for a server.
type Options struct {
	// Timeout is how long to wait for the file lock; zero: one second.
	Timeout time.Duration

	// MustExist makes Open return ErrMissing instead of creating a file, and ErrNotLedger instead of making a ledger of
	// an empty file.
	MustExist bool

	// ReadOnly opens without the right to write; several processes may do so at once.
	ReadOnly bool

	// OpenFile is os.OpenFile when nil; a seam for tests that break the file.
	OpenFile func(name string, flag int, perm os.FileMode) (*os.File, error)
}

// Ledger is a Store in one bbolt file, which one process holds at a time. Safe for concurrent use. Every method returns
// an error wrapping one of the package's sentinels, and the file's name, when the file fails it.
type Ledger struct {
	path     string
	db       *bolt.DB
	file     *os.File
	opened   os.FileInfo // which file that is
	warnings []string    // see Warnings; not changed after Open
}

var _ Store = (*Ledger)(nil)

// Open opens the ledger at path, creating the file (but no directory) when it is missing. It waits at most opt.Timeout
// for the file lock, then returns ErrLocked. Other errors by name: ErrNoDirectory, ErrNotLedger, ErrVersion,
// ErrTruncated, ErrCorrupt, ErrReadOnly, ErrPermission, ErrDiskFull.
func Open(path string, opt Options) (*Ledger, error) {
	l := &Ledger{path: path}
	if err := l.open(opt); err != nil {
		if l.file != nil {
			_ = l.file.Close() // the lock must not outlive a failure; closing twice is harmless
		}
		return nil, explain("opening", path, err)
	}
	return l, nil
}

func (l *Ledger) open(opt Options) error {
	missing, err := checkPlace(l.path, opt)
	if err != nil {
		return err
	}
	fresh := false
	err = guard(func() (err error) {
		if err = l.openBolt(opt); err == nil {
			fresh, err = l.prepare(!opt.ReadOnly && !opt.MustExist)
		}
		return err
	})
	switch {
	case err == nil && !opt.ReadOnly:
		return removeLeftovers(l.path)
	case err == nil || l.db == nil:
		return err
	case fresh && missing: // it was made here, nothing was ever in it, and it is still locked
		_ = os.Remove(l.path)
	}
	_ = guard(l.db.Close)
	return err
}

const olderHead = "one of the two copies of the file header is damaged, and the other was used: the last change may be lost; run a ledger check, and restore a backup if something is missing"

// Warnings lists what Open found that does not keep the ledger from serving but that an operator has to know, a sentence
// each. It stays the same until the ledger is closed.
func (l *Ledger) Warnings() []string { return slices.Clone(l.warnings) }

// openBolt also notes which file is opened.
func (l *Ledger) openBolt(opt Options) (err error) {
	openFile := opt.OpenFile
	if openFile == nil {
		openFile = os.OpenFile
	}
	l.db, err = bolt.Open(l.path, 0o600, &bolt.Options{
		Timeout:         orDefault(opt.Timeout, time.Second),
		ReadOnly:        opt.ReadOnly,
		PreLoadFreelist: true, // a read-only check wants it
		FreelistType:    bolt.FreelistMapType,
		InitialMmapSize: 64 << 20, // growing the map stops all readers; half a million accounts
		OpenFile: func(name string, flag int, perm os.FileMode) (_ *os.File, err error) {
			if l.file, err = openFile(name, flag, perm); err == nil {
				l.opened, err = l.file.Stat()
			}
			return l.file, err
		},
	})
	return err
}

// checkPlace rejects a path on which opening would fail in less clear words, and says whether nothing is there. An empty
// file made beforehand, or one whose creation was interrupted, becomes one for the owner of this process alone.
func checkPlace(path string, opt Options) (missing bool, err error) {
	dir, existing := filepath.Dir(path), opt.MustExist || opt.ReadOnly
	if info, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) || err == nil && !info.IsDir() {
		return false, fmt.Errorf("%w: %s", ErrNoDirectory, dir)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && existing:
		return true, ErrMissing
	case err != nil:
		return true, nil //nolint:nilerr // if it is there, bbolt meets the same error
	case !info.Mode().IsRegular():
		return false, fmt.Errorf("%w: it is not a regular file", ErrNotLedger) // opening a FIFO waits without end
	case info.Size() == 0 && existing:
		return false, fmt.Errorf("%w: it is empty", ErrNotLedger)
	case info.Size() > 0:
		err = inspect(path, info.Size())
	}
	if info.Size() == 0 || !existing && errors.Is(err, errUnborn) {
		err = errors.Join(os.Truncate(path, 0), os.Chmod(path, 0o600))
	}
	return false, err
}

// prepare makes the buckets of a new file, and checks that an old one is a ledger. fresh says that nothing was ever in it.
func (l *Ledger) prepare(creates bool) (fresh bool, err error) {
	if err := l.checkFile(); err != nil {
		return false, err // a compaction replaced the file while this process waited for the lock
	}
	err = l.db.View(func(tx *bolt.Tx) error {
		if err := walkPages(l.file, uint64(tx.ID())); err != nil {
			return err
		}
		first, _ := tx.Cursor().First()
		both := bothMetas(l.file)
		if fresh = first == nil && tx.ID() <= lastInitTx && both; fresh {
			return nil
		}
		if !both {
			l.warnings = append(l.warnings, olderHead)
		}
		return checkFormat(tx)
	})
	switch {
	case err != nil || !fresh:
		return fresh, err
	case !creates:
		return fresh, fmt.Errorf("%w: it is empty because the start that created it failed; the next start creates it again", ErrNotLedger)
	}
	if err := l.db.Update(makeBuckets); err != nil {
		return fresh, err
	}
	return fresh, syncDir(filepath.Dir(l.path)) // the file's name has to last as long as what is in it
}

func checkFormat(tx *bolt.Tx) error {
	if first, _ := tx.Cursor().First(); first == nil {
		return fmt.Errorf("%w: it has no buckets", ErrCorrupt)
	}
	meta := tx.Bucket([]byte(metaBucket))
	if meta == nil {
		return ErrNotLedger
	}
	format, err := unseal(formatKey, meta.Get(formatKey))
	if err != nil {
		return err
	}
	if len(format) != 1 || format[0] > formatVersion {
		return fmt.Errorf("%w: %v, this program supports %d", ErrVersion, format, formatVersion)
	}
	names := slices.Clone(ledgerBuckets)
	c := meta.Cursor()
	for k, v := c.Seek(bucketPrefix); bytes.HasPrefix(k, bucketPrefix); k, v = c.Next() {
		if _, err := unseal(k, v); err != nil {
			return fmt.Errorf("meta: %w", err)
		}
		names = append(names, string(k[len(bucketPrefix):]))
	}
	for _, name := range names {
		if tx.Bucket([]byte(name)) == nil {
			return fmt.Errorf("%w: bucket %s is missing", ErrCorrupt, name)
		}
	}
	return nil
}

func makeBuckets(tx *bolt.Tx) error {
	for _, name := range ledgerBuckets {
		if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
			return err
		}
	}
	return tx.Bucket([]byte(metaBucket)).Put(formatKey, seal(formatKey, []byte{formatVersion}))
}

// Close releases the file and its lock. It waits for transactions under way.
func (l *Ledger) Close() error {
	return explain("closing", l.path, guard(l.db.Close))
}

// Ping reads the ledger and checks that its file is still at its path.
func (l *Ledger) Ping(ctx context.Context) error {
	return l.ViewRows(ctx, func(rows Rows) error {
		if err := checkFormat(rows.tx); err != nil {
			return err
		}
		return l.checkFile()
	})
}

// checkFile notices a file that was removed or replaced while the process runs. Without it the
// process would go on writing to a file that has no path. It costs one system call: which file
// was opened never changes, so that is noted once, by open.
func (l *Ledger) checkFile() error {
	here, err := os.Stat(l.path)
	if errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(here, l.opened) {
		return ErrRemoved
	}
	return err
}

// Watch waits for ctx to end: no other process can change a file that this one has locked.
func (l *Ledger) Watch(ctx context.Context, _ func(Record)) error {
	<-ctx.Done()
	return ctx.Err()
}

// faults are the errors of a ledger, what to do about each, and the errors of bbolt and the system that mean it.
var faults = []struct {
	err    error
	advice string
	causes []error
}{
	{ErrLocked, "stop that process, or let it do the work", []error{berrors.ErrTimeout}},
	{ErrNoDirectory, "create it, or choose another path", nil},
	{ErrMissing, "check the path", nil},
	{ErrClosed, "", []error{berrors.ErrDatabaseNotOpen}},
	{ErrNotLedger, "choose another path", []error{berrors.ErrInvalid}},
	{ErrVersion, "use the program that wrote it, or a newer one", nil},
	{ErrTruncated, "restore a backup", nil},
	{ErrCorrupt, "run a ledger check and restore a backup", []error{berrors.ErrChecksum, berrors.ErrVersionMismatch, berrors.ErrInvalidMapping}},
	{ErrDiskFull, "free some space", []error{syscall.ENOSPC, syscall.EFBIG, syscall.EDQUOT}},
	{ErrReadOnly, "make file and directory writable for this user", []error{syscall.EROFS, syscall.EBADF, berrors.ErrDatabaseReadOnly}},
	{ErrPermission, "run the command as the user of the server", []error{syscall.EACCES, syscall.EPERM}},
	{ErrRemoved, "put the right file back and restart", nil},
}

// reason is what is wrong with a store and what to do, without the place of its file.
func reason(err error) string {
	for _, f := range faults {
		if errors.Is(err, f.err) {
			return f.err.Error() + "; " + f.advice
		}
	}
	return "the ledger does not answer"
}

// explain names the act and the file, translates what the system says, and adds what to do.
// Other errors are returned unchanged.
func explain(act, path string, err error) error {
	if a, ok := errors.AsType[*answer](err); ok {
		return a.err
	}
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s ledger %s: %w", act, path, translate(err))
	for _, f := range faults {
		if errors.Is(err, f.err) && f.advice != "" {
			return fmt.Errorf("%w; %s", err, f.advice)
		}
	}
	return err
}

// answer marks an error about an account. It is not a fault of the file; it passes through a
// transaction only to roll it back.
type answer struct{ err error }

func (a *answer) Error() string { return a.err.Error() }

func answered(err error) error {
	if err == nil {
		return nil
	}
	return &answer{err}
}

// translate adds to an error of bbolt or the system the one of this package that it means.
func translate(err error) error {
	for _, f := range faults {
		for _, cause := range f.causes {
			if errors.Is(err, f.err) {
				return err
			}
			// bbolt puts what the system says while the file grows into words only.
			if errors.Is(err, cause) || strings.Contains(err.Error(), cause.Error()) {
				return fmt.Errorf("%w (%w)", f.err, err)
			}
		}
	}
	return err
}
