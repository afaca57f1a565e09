//go:build linux

package httpapi

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestStrangeFilesServed: a file that cannot be read to its end, put into the dataset of the real program,
// is a finding of check and of the next look; the last good dataset stays in service, files that are right
// again are taken, and SIGTERM ends the program with the strange file in place.
func TestStrangeFilesServed(t *testing.T) {
	t.Parallel()
	const zero = 1<<8 | 5 // the numbers of /dev/zero
	strange := []struct {
		name, file, want string
		make             func(name string) error
	}{
		{"named pipe", "tools/x.json", "must be a regular file, got a named pipe", func(name string) error { return syscall.Mkfifo(name, 0o644) }},
		{"device", "tools/x.ndjson", "must be a regular file, got a device", func(name string) error {
			return syscall.Mknod(name, syscall.S_IFCHR|0o644, zero)
		}},
		{"socket", "models/x.json", "must be a regular file, got a socket", func(name string) error {
			return syscall.Mknod(name, syscall.S_IFSOCK|0o644, 0)
		}},
		{"link to a device", "models/x.ndjson", "a link must not point outside the dataset directory", func(name string) error {
			return os.Symlink("/dev/zero", name)
		}},
		{"link to itself", "hardware/x.json", "too many levels of symbolic links", func(name string) error { return os.Symlink(filepath.Base(name), name) }},
	}
	data := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(data, os.DirFS(mustSmallData(t))); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := launch(t, dir, nil, "serve", "--addr", "127.0.0.1:0", "--data", data, "--ledger", filepath.Join(dir, "modeldex.db"), "--dumps", "off")
	if err := p.awaitServing(); err != nil {
		t.Fatal(err)
	}
	seen := 0 // of the log
	await := func(what, text string) {
		t.Helper()
		err := p.stderr.await(p.ended, func(log string) bool {
			i := strings.Index(log[min(seen, len(log)):], text)
			if i < 0 {
				return false
			}
			seen = min(seen, len(log)) + i + len(text)
			return true
		})
		if err != nil {
			t.Fatalf("%s: %q is not logged: %v\n%s", what, text, err, p.stderr)
		}
	}
	made := 0
	for _, tt := range strange {
		name := filepath.Join(data, filepath.FromSlash(tt.file))
		if err := tt.make(name); err != nil {
			t.Logf("%s cannot be made here: %v", tt.name, err)
			continue
		}
		made++
		_ = p.signal(syscall.SIGHUP)
		await(tt.name, tt.want)
		out, errs, code := runProgram(t, dir, nil, "check", data)
		if code != 1 || !strings.Contains(out+errs, tt.want) {
			t.Errorf("%s: check ends with %d: %s%s", tt.name, code, out, errs)
		}
		if resp, _ := askAlive(t, p.addr); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d", tt.name, resp.StatusCode)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		_ = p.signal(syscall.SIGHUP)
		await(tt.name+" removed", "dataset accepted again")
	}
	if made == 0 {
		t.Skip("none of the files can be made here")
	}
	for i, tt := range strange { // all that there are, at the end
		_ = tt.make(filepath.Join(data, filepath.Dir(filepath.FromSlash(tt.file)), fmt.Sprintf("end%d%s", i, filepath.Ext(tt.file))))
	}
	_ = p.signal(syscall.SIGHUP)
	await("all of them", "dataset rejected")
	if code, err := p.stop(); err != nil || code != 0 {
		t.Errorf("SIGTERM ends the program with %d, %v", code, err)
	}
}

// TestResets: a client that resets its connection inside a request is logged at debug level alone.
func TestResets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := launch(t, dir, nil, "serve", "--addr", "127.0.0.1:0", "--data", mustSmallData(t), "--ledger", filepath.Join(dir, "modeldex.db"), "--dumps", "off", "--log-level", "debug", "--log-format", "json")
	if err := p.awaitServing(); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		c, err := net.Dial("tcp", p.addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, "POST /api/v1/keys HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"na"); err != nil {
			t.Fatal(err)
		}
		_ = c.(*net.TCPConn).SetLinger(0) // closing is a reset
		_ = c.Close()
	}
	err := p.stderr.await(p.ended, func(log string) bool { return strings.Contains(log, "connection lost inside a request") })
	if err != nil {
		t.Fatalf("the resets are not logged: %v\n%s", err, p.stderr)
	}
	if code, err := p.stop(); err != nil || code != 0 {
		t.Errorf("the program ends with %d, %v", code, err)
	}
	for line := range strings.Lines(p.stderr.String()) {
		if strings.Contains(line, `"level":"ERROR"`) || strings.Contains(line, `"level":"WARN"`) || strings.Contains(line, "lost") && !strings.Contains(line, `"level":"DEBUG"`) {
			t.Errorf("logged: %s", line)
		}
	}
}
