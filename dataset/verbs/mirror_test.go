package verbs

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestReadKey: the key of an origin is read from a file, also behind a link to another directory; a named pipe is an error
// that names it, and nothing waits for a writer.
func TestReadKey(t *testing.T) {
	dir := t.TempDir()
	file, link, empty, pipe := filepath.Join(dir, "key"), filepath.Join(t.TempDir(), "link"), filepath.Join(dir, "empty"), filepath.Join(dir, "pipe")
	for name, text := range map[string]string{file: "secret\n", empty: "\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ path, key, fault string }{
		{file, "secret", ""},
		{link, "secret", ""},
		{empty, "", empty + ": has no key"},
		{filepath.Join(dir, "none"), "", filepath.Join(dir, "none") + ": no such file or directory"},
		{pipe, "", pipe + ": not a regular file"},
		{dir, "", dir + ": is a directory"},
		{"/dev/zero", "", "/dev/zero: not a regular file"},
	} {
		key, err := Origin{OriginKeyFile: tt.path}.ReadKey()
		if key != tt.key || (err == nil) != (tt.fault == "") || err != nil && !strings.HasSuffix(err.Error(), tt.fault) {
			t.Errorf("ReadKey of %s = %q, %v, want %q, %q", tt.path, key, err, tt.key, tt.fault)
		}
	}
}
