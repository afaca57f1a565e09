package verbs

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
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
		{filepath.Join(dir, "none"), "", filepath.Join(dir, "none") + ": does not exist"},
		{pipe, "", pipe + ": not a regular file"},
		{dir, "", dir + ": must be a file, got a directory"},
		{"/dev/zero", "", "/dev/zero: not a regular file"},
	} {
		key, err := Origin{OriginKeyFile: tt.path}.ReadKey()
		if key != tt.key || (err == nil) != (tt.fault == "") || err != nil && !strings.HasSuffix(err.Error(), tt.fault) {
			t.Errorf("ReadKey of %s = %q, %v, want %q, %q", tt.path, key, err, tt.key, tt.fault)
		}
	}
}

// TestMirrorFlags: what is wrong with the address or a flag is wrong usage, and nothing is made.
func TestMirrorFlags(t *testing.T) {
	for _, tt := range []struct {
		verb Mirror
		want string
	}{
		{Mirror{URL: "https://example.org", Every: time.Minute}, ""},
		{Mirror{URL: "foo", Every: time.Minute}, `"foo": must be the http or https address of a service`},
		{Mirror{URL: "https://example.org"}, "--every: must be at least 1s, got 0s"},
		{Mirror{URL: "https://example.org", Every: time.Minute, Origin: Origin{OriginKeyFile: "nope"}}, "--origin-key-file: nope: does not exist"},
	} {
		if err := tt.verb.Validate(); (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("Validate of %+v = %v, want %q", tt.verb, err, tt.want)
		}
	}
}
