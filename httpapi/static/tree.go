package static

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"modeldex/dataset/wholefile"

	jsonv2 "github.com/goccy/go-json/v2"
)

// tree is a directory that is written beside the one it will replace.
type tree struct {
	dir string
	// beside is a directory next to dir for all that an export writes until it is complete: the new
	// files, in part, and what is kept aside meanwhile, in aside. Its lock is held.
	beside, part, aside string
	lock                *os.File
	root                *os.Root
	made                sync.Map // folders by name
}

// newTree checks the directory to replace, removes what a killed export left, and makes a new one
// beside it.
func newTree(dir string) (*tree, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if to, err := filepath.EvalSymlinks(dir); err == nil {
		dir = to
	}
	if err := replaceable(dir); err != nil {
		return nil, err
	}
	parent, prefix := filepath.Dir(dir), "."+filepath.Base(dir)+".export-"
	if err := removeLeft(parent, prefix); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	beside, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return nil, err
	}
	t := &tree{dir: dir, beside: beside, part: filepath.Join(beside, "files"), aside: filepath.Join(beside, "aside")}
	if t.lock, err = locked(beside); err == nil {
		err = errors.Join(os.Mkdir(t.part, 0o755), os.Mkdir(t.aside, 0o700)) // a web server reads the files
	}
	if err == nil {
		t.root, err = os.OpenRoot(t.part)
	}
	if err != nil {
		return nil, errors.Join(err, t.discard())
	}
	return t, nil
}

// removeLeft removes what killed exports left in a directory. It is an error if one is under way.
func removeLeft(parent, prefix string) error {
	entries, err := os.ReadDir(parent)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		left := filepath.Join(parent, e.Name())
		lock, lockErr := locked(left)
		if lockErr != nil {
			return fmt.Errorf("another export to it is under way, in %s: %w", left, lockErr)
		}
		err = errors.Join(err, os.RemoveAll(left), lock.Close())
	}
	return err
}

// locked opens a directory and takes its lock.
func locked(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := wholefile.Lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// replaceable says whether a directory may be replaced: one that is not there, is empty, or is an
// export.
func replaceable(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(entries) == 0:
		return nil
	}
	var sum Summary
	b, err := os.ReadFile(filepath.Join(dir, summaryFile))
	if err == nil {
		err = jsonv2.Unmarshal(b, &sum)
	}
	if err != nil || sum.Format != layout {
		return fmt.Errorf("%s: has files and is not an export; name a directory that does not exist, is empty, or was written by export", dir)
	}
	return nil
}

// write writes a file that must not be there yet. Safe for concurrent use.
func (t *tree) write(name string, body func(io.Writer) error) error {
	folder := path.Dir(name)
	if _, made := t.made.Load(folder); !made && folder != "." {
		if err := t.root.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		t.made.Store(folder, true)
	}
	f, err := t.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	if err = body(w); err == nil {
		err = w.Flush()
	}
	return errors.Join(err, f.Close())
}

// publish puts the new directory in the place of the old one.
func (t *tree) publish() error {
	if _, err := os.Lstat(t.dir); errors.Is(err, fs.ErrNotExist) {
		return os.Rename(t.part, t.dir)
	}
	return exchange(t.part, t.dir) // discard then removes the old one
}

// discard removes what is beside the directory.
func (t *tree) discard() error {
	var err error
	if t.root != nil {
		err = t.root.Close()
	}
	err = errors.Join(err, os.RemoveAll(t.beside))
	if t.lock != nil {
		err = errors.Join(err, t.lock.Close())
	}
	return err
}
