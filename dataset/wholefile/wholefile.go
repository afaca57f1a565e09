// Package wholefile writes files that appear whole or not at all. Another program, such as a server that
// watches the directory, never reads half of one. After a crash the old file is still there.
package wholefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write writes a file beside path, syncs it and renames it to path. A link stays a link, a file keeps its permissions
// (0644 for a new one), and after an error it is as it was. A pipe or a device is written to.
func Write(path string, write func(io.Writer) error) (err error) {
	mode := os.FileMode(0o644)
	switch st, err := os.Stat(path); {
	case err == nil && !st.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0) // its name is not looked at: /dev/stdout leads to a pipe, which has none
		if err != nil {
			return err // of a directory too
		}
		return errors.Join(write(f), f.Close())
	case err == nil:
		mode = st.Mode().Perm()
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	case !errors.Is(err, os.ErrNotExist):
		return cannot(path, err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return cannot(path, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if err = write(f); err == nil {
		err = errors.Join(f.Chmod(mode), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// cannot names the file that was to be written: that beside it, which an error of the system names, has a random number.
func cannot(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &fault{path + ": cannot be written: directory does not exist", err}
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err
	}
	return fmt.Errorf("%s: cannot be written: %w", path, err)
}

// fault is an error in other words than its cause.
type fault struct {
	text  string
	cause error
}

func (f *fault) Error() string { return f.text }
func (f *fault) Unwrap() error { return f.cause }

// WriteBytes is Write for bytes in memory.
func WriteBytes(path string, b []byte) error {
	return Write(path, func(w io.Writer) error { _, err := w.Write(b); return err })
}
