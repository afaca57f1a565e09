package dataset

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// Dir returns the files below a directory for Load and Check, as os.DirFS does, but is safe with
// files that strangers wrote. It never follows a link out of the directory, never waits for the
// other end of a pipe, and opens regular files and folders only. Safe for concurrent use.
func Dir(name string) fs.FS { return dirFS(name) }

type dirFS string

var (
	errNotRegular = errors.New("not a regular file")
	errOutside    = errors.New("a link must not lead out of the dataset directory")
)

// in calls do with the directory, which is opened again: another may have taken its place.
func (d dirFS) in(op, name string, do func(r *os.Root) error) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return err
	}
	defer root.Close()
	err = do(root)
	var at *fs.PathError
	if errors.As(err, &at) && strings.Contains(at.Err.Error(), "path escapes from parent") { // os has no name for it
		return &fs.PathError{Op: op, Path: name, Err: errOutside}
	}
	return err
}

// Open opens a regular file or a folder.
func (d dirFS) Open(name string) (f fs.File, err error) {
	err = d.in("open", name, func(r *os.Root) error {
		// Without O_NONBLOCK, opening a named pipe waits until somebody writes to it.
		opened, err := r.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		st, err := opened.Stat()
		if err == nil && !st.Mode().IsRegular() && !st.IsDir() {
			err = &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
		}
		if err != nil {
			return errors.Join(err, opened.Close())
		}
		f = opened
		return nil
	})
	return f, err
}

// Stat describes what a name leads to.
func (d dirFS) Stat(name string) (st fs.FileInfo, err error) {
	err = d.in("stat", name, func(r *os.Root) (err error) { st, err = r.Stat(name); return err })
	return st, err
}

// Lstat describes a name itself, which may be a link.
func (d dirFS) Lstat(name string) (st fs.FileInfo, err error) {
	err = d.in("lstat", name, func(r *os.Root) (err error) { st, err = r.Lstat(name); return err })
	return st, err
}

// ReadLink returns where a link leads.
func (d dirFS) ReadLink(name string) (to string, err error) {
	err = d.in("readlink", name, func(r *os.Root) (err error) { to, err = r.Readlink(name); return err })
	return to, err
}
