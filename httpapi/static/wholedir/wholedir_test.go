package wholedir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// put writes a file that says something.
func put(t *testing.T, tr *Tree, name, text string) {
	t.Helper()
	if err := tr.Write(name, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(b)
}

// TestTree: a directory that is not there, is empty or is ours is replaced as a whole, by a link
// too; until then it is as it was, and nothing is left beside it.
func TestTree(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "site")
	const mark = "ours"
	ours := func(dir string) error {
		if _, err := os.Stat(filepath.Join(dir, mark)); err != nil {
			return fmt.Errorf("not ours: %w", err)
		}
		return nil
	}
	export := func(to, text string) {
		t.Helper()
		tr, err := New(to, ours)
		if err != nil {
			t.Fatal(err)
		}
		before := read(t, dir, "a/b")
		put(t, tr, "a/b", text)
		put(t, tr, mark, "yes")
		if read(t, dir, "a/b") != before {
			t.Error("the directory changed before it was replaced")
		}
		if err := errors.Join(tr.Publish(), tr.Discard()); err != nil {
			t.Fatal(err)
		}
		if got := read(t, dir, "a/b"); got != text {
			t.Errorf("a/b is %q, want %q", got, text)
		}
	}
	export(dir, "one")
	export(dir, "two")
	link := filepath.Join(parent, "link")
	if err := os.Symlink("site", link); err != nil {
		t.Fatal(err)
	}
	export(link, "three")
	if st, err := os.Lstat(link); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced, not what it leads to")
	}
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	export(dir, "four")

	// A killed export, and one that fails.
	if err := os.Mkdir(filepath.Join(parent, ".site.export-1"), 0o755); err != nil {
		t.Fatal(err)
	}
	tr, err := New(dir, ours)
	if err != nil {
		t.Fatal(err)
	}
	put(t, tr, "a/b", "five")
	if err := tr.Write("a/b", func(io.Writer) error { return nil }); err == nil {
		t.Error("a file was written twice")
	}
	if err := tr.Write("../outside", func(io.Writer) error { return nil }); err == nil {
		t.Error("a file was written outside")
	}
	if err := tr.Discard(); err != nil || read(t, dir, "a/b") != "four" {
		t.Errorf("after a failure: %q, %v", read(t, dir, "a/b"), err)
	}
	if left, _ := filepath.Glob(filepath.Join(parent, ".*")); left != nil {
		t.Errorf("left behind: %q", left)
	}

	if err := os.Remove(filepath.Join(dir, mark)); err != nil {
		t.Fatal(err)
	}
	if _, err := New(dir, ours); err == nil || !strings.Contains(err.Error(), "not ours") {
		t.Errorf("a directory of someone else: %v", err)
	}
}
