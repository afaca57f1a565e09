package quota

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestReadFile: a file is read, also behind a link; what is not a file is an error that says what it is, and
// nothing waits for a writer.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	file, link, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link} {
		if b, err := ReadFile(path); err != nil || string(b) != "text" {
			t.Errorf("ReadFile(%s) = %q, %v, want text", path, b, err)
		}
	}
	for path, want := range map[string]string{
		pipe:                       pipe + ": must be a regular file",
		dir:                        dir + ": must be a regular file",
		"/dev/zero":                "/dev/zero: must be a regular file",
		filepath.Join(dir, "none"): filepath.Join(dir, "none") + ": no such file or directory",
	} {
		if b, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadFile(%s) = %q, %v, want %q", path, b, err, want)
		}
		if _, err := LoadTiers(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("LoadTiers(%s) = %v, want %q", path, err, want)
		}
	}
}
