package verbs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ReadFile reads a file that a command line names; - is standard input. The error begins with the name.
func ReadFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(os.Stdin)
	}
	b, err := os.ReadFile(name)
	return b, fileError(name, err)
}

// OpenFile opens a file that a command line names, as ReadFile does.
func OpenFile(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(os.Stdin), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fileError(name, err)
	}
	if st, err := f.Stat(); err == nil && st.IsDir() {
		return nil, errors.Join(fileError(name, syscall.EISDIR), f.Close())
	}
	return f, nil
}

// CheckOutput is the error of a file that cannot be written where a command line wants it, to be asked before the work.
func CheckOutput(name string) error {
	if st, err := os.Stat(name); err == nil && st.IsDir() {
		return fileError(name, syscall.EISDIR)
	}
	return CheckDirectory(filepath.Dir(name))
}

// fileError words an error of opening or reading a file that a command line names; nil is none.
func fileError(name string, err error) error {
	var at *fs.PathError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: does not exist", name)
	case errors.Is(err, syscall.EISDIR):
		return fmt.Errorf("%s: must be a file, got a directory", name)
	case errors.As(err, &at):
		return fmt.Errorf("%s: %w", name, at.Err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// CheckDirectory is the error of what a command line names as a directory and is none.
func CheckDirectory(name string) error {
	st, err := os.Stat(name)
	if err == nil && !st.IsDir() {
		return fmt.Errorf("%s: not a directory", name)
	}
	return fileError(name, err)
}
