package mirror

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/archive"
	"modeldex/dataset/wholefile"
)

// place is where a mirror keeps its directories: in a folder beside the dataset directory, which
// is a link to the newest of them. Each is named by the SHA-256 of its archive.
type place struct{ link, store string }

func placeOf(dir string) place {
	dir = filepath.Clean(dir)
	return place{dir, filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+".mirror")}
}

const (
	partPrefix  = "part-"
	lockName    = "lock"    // held by the process that mirrors
	checkedName = "checked" // changed when the origin said that the directory is in step
)

// prepare makes the folder, takes it for this process as long as the file it returns is open, and
// removes what an interrupted run left in it.
func (p place) prepare() (lock *os.File, err error) {
	if st, err := os.Lstat(p.link); err == nil && st.Mode()&fs.ModeSymlink == 0 {
		return nil, fmt.Errorf("%s: exists and was not made by a mirror; name a directory that does not exist yet", p.link)
	}
	if _, err := os.Stat(filepath.Dir(p.store)); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: does not exist", filepath.Dir(p.link)) // it is probably misspelt, so that it is not made
	}
	if err := os.Mkdir(p.store, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	name := filepath.Join(p.store, lockName)
	if lock, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, err
	}
	if err := wholefile.Lock(lock); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: another process mirrors to it: %w", p.link, err), lock.Close())
	}
	if !isStill(lock, name) {
		return nil, errors.Join(fmt.Errorf("%s: another process has just ended and removed its lock: try again", p.link), lock.Close())
	}
	left, err := filepath.Glob(filepath.Join(p.store, partPrefix+"*"))
	for _, name := range left {
		err = errors.Join(err, os.RemoveAll(name))
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// isStill reports whether an open file is still what the name leads to: see leave.
func isStill(f *os.File, name string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(name)
	return err == nil && os.SameFile(opened, named)
}

// leave removes the folder if no dataset was ever put in it, so that a mistyped address leaves nothing behind. The lock
// must be held.
func (p place) leave() {
	if p.current() != "" {
		return
	}
	entries, err := os.ReadDir(p.store)
	if err != nil || len(entries) != 1 || entries[0].Name() != lockName {
		return // something of an earlier run
	}
	if os.Remove(filepath.Join(p.store, lockName)) == nil {
		_ = os.Remove(p.store) // an empty folder does no harm
	}
}

// check notes when the origin said that the directory is in step. It is for the next start alone, so
// that a disk that is full does not matter.
func (p place) check(at time.Time) {
	name := filepath.Join(p.store, checkedName)
	if os.Chtimes(name, at, at) != nil {
		_ = os.WriteFile(name, nil, 0o644)
	}
}

// checked is when that was; zero where it is not known.
func (p place) checked() time.Time {
	st, err := os.Stat(filepath.Join(p.store, checkedName))
	if err != nil || p.current() == "" {
		return time.Time{}
	}
	return st.ModTime().UTC()
}

// current is the SHA-256 of the archive that the dataset directory was made of, empty for none.
func (p place) current() string {
	to, err := os.Readlink(p.link)
	if err != nil || filepath.Base(filepath.Dir(to)) != filepath.Base(p.store) {
		return ""
	}
	if _, err := os.Stat(p.link); err != nil {
		return ""
	}
	return filepath.Base(to)
}

// fetch loads an archive, checks it and puts it in place.
func (m *Mirror) fetch(ctx context.Context, f file, digest string) error {
	part, err := os.MkdirTemp(m.place.store, partPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(part) //nolint:errcheck // the next start tries again
	packed := filepath.Join(part, archiveName)
	if err := m.download(ctx, f, packed); err != nil {
		return fmt.Errorf("%s: %w", archiveName, err)
	}
	files := filepath.Join(part, "files")
	if err := unpack(packed, files); err != nil {
		return fmt.Errorf("%s: %w", archiveName, err)
	}
	if m.cfg.BeforeLoad != nil {
		m.cfg.BeforeLoad()
	}
	var opt dataset.Options
	if m.cfg.Last != nil {
		opt.Last = m.cfg.Last()
	}
	set, err := dataset.Load(ctx, dataset.Dir(files), opt)
	if err != nil {
		return fmt.Errorf("%s: the dataset in it is rejected: %w", archiveName, err)
	}
	if set.Digest.String() != digest {
		return fmt.Errorf("%s: the records have the digest %s, the list says %s", archiveName, set.Digest, digest)
	}
	return m.place.put(files, f.SHA256)
}

// download writes the archive to a file if it has the size and the SHA-256 of the list.
func (m *Mirror) download(ctx context.Context, f file, to string) (err error) {
	address, err := m.origin.Parse(f.URL)
	if err != nil || address.Scheme != m.origin.Scheme || address.Host != m.origin.Host || address.User != nil {
		return fmt.Errorf("the address %q leaves the origin", f.URL)
	}
	resp, err := m.get(ctx, (&url.URL{Scheme: address.Scheme, Host: address.Host, Path: address.Path, RawQuery: address.RawQuery}).String(), "")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, hash), io.LimitReader(resp.Body, f.Bytes+1))
	switch {
	case err != nil:
		return err
	case n > f.Bytes:
		return fmt.Errorf("has more bytes than the %d of the list", f.Bytes)
	case n < f.Bytes:
		return fmt.Errorf("has %d bytes, the list says %d", n, f.Bytes)
	case hex.EncodeToString(hash.Sum(nil)) != f.SHA256:
		return fmt.Errorf("has the SHA-256 %x, the list says %s", hash.Sum(nil), f.SHA256)
	}
	return nil
}

func unpack(packed, dir string) error {
	in, err := os.Open(packed)
	if err != nil {
		return err
	}
	defer in.Close()
	return archive.Unpack(in, dir)
}

// put lets the dataset directory lead to new files, in one step, and removes all but the ones before.
func (p place) put(files, sum string) error {
	before, to := p.current(), filepath.Join(p.store, sum)
	if err := os.RemoveAll(to); err != nil { // left by a run that ended before the link was put
		return err
	}
	if err := os.Rename(files, to); err != nil {
		return err
	}
	link := filepath.Join(p.store, partPrefix+"link")
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Symlink(filepath.Join(filepath.Base(p.store), sum), link); err != nil {
		return err
	}
	if err := os.Rename(link, p.link); err != nil {
		return err
	}
	entries, err := os.ReadDir(p.store)
	for _, e := range entries {
		if name := e.Name(); e.IsDir() && name != sum && name != before && !strings.HasPrefix(name, partPrefix) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(p.store, name)))
		}
	}
	return err
}
