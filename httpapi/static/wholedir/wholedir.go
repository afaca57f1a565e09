// Package wholedir replaces a directory as a whole. Everything is written beside it, in a directory with a lock,
// and put in its place when it is complete: a program that ends early leaves the old directory as it was. The
// next one removes what a killed one left.
package wholedir

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
)

// Tree is a directory that is written beside the one it will replace.
type Tree struct {
	dir string
	// beside is a directory next to dir for all that an export writes until it is complete: the new
	// files, in part, and what is kept aside meanwhile, in aside. Its lock is held.
	beside, part, aside string
	lock                *os.File
	root                *os.Root
	made                sync.Map // folders by name
}

// New checks the directory to replace, removes what a killed export left, and makes a new one beside it.
// replaceable says whether a directory with files may be replaced; nil means yes. It is an error while another
// export to the same directory is under way.
func New(dir string, replaceable func(dir string) error) (*Tree, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if to, err := filepath.EvalSymlinks(dir); err == nil {
		dir = to
	}
	if err := free(dir, replaceable); err != nil {
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
	t := &Tree{dir: dir, beside: beside, part: filepath.Join(beside, "files"), aside: filepath.Join(beside, "aside")}
	if t.lock, err = locked(beside); err == nil {
		err = errors.Join(os.Mkdir(t.part, 0o755), os.Mkdir(t.aside, 0o700)) // a web server reads the files
	}
	if err == nil {
		t.root, err = os.OpenRoot(t.part)
	}
	if err != nil {
		return nil, errors.Join(err, t.Discard())
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

// free says whether a directory is not there or empty; of any other one replaceable decides.
func free(dir string, replaceable func(dir string) error) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(entries) == 0:
		return nil
	}
	return replaceable(dir)
}

// Aside is a directory for what is needed until the new one is complete. Discard removes it.
func (t *Tree) Aside() string { return t.aside }

// Write writes a file that must not be there yet. Safe for concurrent use.
func (t *Tree) Write(name string, body func(io.Writer) error) error {
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

// Publish puts the new directory in the place of the old one.
func (t *Tree) Publish() error {
	if _, err := os.Lstat(t.dir); errors.Is(err, fs.ErrNotExist) {
		return os.Rename(t.part, t.dir)
	}
	return exchange(t.part, t.dir) // Discard then removes the old one
}

// Discard removes what is beside the directory.
func (t *Tree) Discard() error {
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
