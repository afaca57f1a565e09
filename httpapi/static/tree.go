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
	"sync"

	jsonv2 "github.com/goccy/go-json/v2"
)

// tree is a directory that is written beside the one it will replace.
type tree struct {
	dir, part string
	root      *os.Root
	made      sync.Map // folders by name
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
	parent, pattern := filepath.Dir(dir), "."+filepath.Base(dir)+".export-"
	left, err := filepath.Glob(filepath.Join(parent, pattern+"*"))
	for _, name := range left {
		err = errors.Join(err, os.RemoveAll(name))
	}
	if err != nil {
		return nil, err
	}
	part, err := os.MkdirTemp(parent, pattern)
	if err != nil {
		return nil, err
	}
	t := &tree{dir: dir, part: part}
	if err = os.Chmod(part, 0o755); err == nil { // of a web server
		t.root, err = os.OpenRoot(part)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(part))
	}
	return t, nil
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
func (t *tree) discard() error { return errors.Join(t.root.Close(), os.RemoveAll(t.part)) }
