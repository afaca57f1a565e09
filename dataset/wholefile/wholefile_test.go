package wholefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func holds(t *testing.T, path, want string, mode os.FileMode) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil || string(b) != want {
		t.Errorf("%s holds %q, %v; want %q", filepath.Base(path), b, err, want)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != mode {
		t.Errorf("%s: mode %v, %v; want %v", filepath.Base(path), st.Mode(), err, mode)
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a.json"), filepath.Join(dir, "link.json")
	if err := WriteBytes(path, []byte("one")); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "one", 0o644)
	if err := errors.Join(os.Chmod(path, 0o600), os.Symlink("a.json", link), WriteBytes(link, []byte("two"))); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "two", 0o600)
	if st, err := os.Lstat(link); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v; want a link still", st.Mode(), err)
	}
}

// TestWriteFails: where writing fails the old file stays and nothing is left behind.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	broken := errors.New("broken")
	half := func(w io.Writer) error {
		_, err := io.WriteString(w, "half")
		return errors.Join(err, broken)
	}
	if err := Write(path, half); !errors.Is(err, broken) || len(names(t, dir)) > 0 {
		t.Errorf("Write = %v, left %q; want the error and no file", err, names(t, dir))
	}
	if err := WriteBytes(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, half); !errors.Is(err, broken) || len(names(t, dir)) != 1 {
		t.Errorf("Write = %v, left %q; want the error and the old file alone", err, names(t, dir))
	}
	holds(t, path, "old", 0o644)
}

// TestWriteThrough: what is not a regular file is written to and stays what it is, also behind a link that names nothing, as
// /dev/stdout does where a program reads it.
func TestWriteThrough(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	dir := t.TempDir()
	link := filepath.Join(dir, "stdout")
	if err := os.Symlink(fmt.Sprintf("/proc/self/fd/%d", w.Fd()), link); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(link); err != nil {
		t.Skip("no /proc here")
	}
	if err := WriteBytes(link, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); err != nil || string(b) != "one" {
		t.Errorf("the pipe has %q, %v", b, err)
	}
	if st, err := os.Lstat(link); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is now %v, %v", st.Mode(), err)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("the directory has %q", got)
	}
	if err := WriteBytes(dir, []byte("one")); err == nil {
		t.Error("a directory was written")
	}
}

// TestWriteNames: an error names the file that was asked for, and not the one beside it.
func TestWriteNames(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "none", "a.json")
	err := WriteBytes(path, []byte("one"))
	if want := path + ": cannot be written: directory does not exist"; err == nil || err.Error() != want || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("WriteBytes = %v, want %s", err, want)
	}
	file := filepath.Join(dir, "file")
	if err := WriteBytes(file, nil); err != nil {
		t.Fatal(err)
	}
	err = WriteBytes(filepath.Join(file, "a.json"), nil)
	if want := filepath.Join(file, "a.json") + ": cannot be written: not a directory"; err == nil || err.Error() != want {
		t.Errorf("WriteBytes = %v, want %s", err, want)
	}
}
