//go:build unix

package dataset

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// strangeFiles are files that must not be opened or not be read to their end, and the finding.
var strangeFiles = []struct {
	name, file, want string
	make             func(name string) error
}{
	{"named pipe", "tools/x.json", "tools/x.json: must be a regular file, got a named pipe", func(name string) error { return syscall.Mkfifo(name, 0o644) }},
	{"named pipe as dataset.json", "dataset.json", "dataset.json: must be a regular file, got a named pipe", func(name string) error {
		return errors.Join(os.Remove(name), syscall.Mkfifo(name, 0o644))
	}},
	{"socket", "tools/x.json", "tools/x.json: must be a regular file, got a socket", func(name string) error {
		return syscall.Mknod(name, syscall.S_IFSOCK|0o644, 0)
	}},
	{"device", "tools/x.ndjson", "tools/x.ndjson: must be a regular file, got a device", func(name string) error {
		const zero = 1<<8 | 5 // the numbers of /dev/zero
		return syscall.Mknod(name, syscall.S_IFCHR|0o644, zero)
	}},
	{"link to a device", "models/x.ndjson", "models/x.ndjson: a link must not point outside the dataset directory", func(name string) error {
		return os.Symlink("/dev/zero", name)
	}},
	{"link to a secret", "models/x.json", "models/x.json: a link must not point outside the dataset directory", func(name string) error {
		return os.Symlink("../../../../../../../../etc/passwd", name)
	}},
	{"linked folder", "models", "models: a link must not point outside the dataset directory", func(name string) error {
		return errors.Join(os.RemoveAll(name), os.Symlink("/etc", name))
	}},
	{"dangling link", "hardware/x.json", "hardware/x.json: cannot be read: no such file or directory", func(name string) error { return os.Symlink("nowhere", name) }},
	{"dangling dataset.json", "dataset.json", "dataset.json: cannot be read: no such file or directory", func(name string) error {
		return errors.Join(os.Remove(name), os.Symlink("nowhere", name))
	}},
	{"link to itself", "hardware/x.json", "hardware/x.json: cannot be read: too many levels of symbolic links", func(name string) error { return os.Symlink(filepath.Base(name), name) }},
	{"linked folder as a file", "hardware/x.json", "hardware/x.json: must be a regular file, got a folder", func(name string) error { return os.Symlink("../tools", name) }},
	{"large .json", "models/x.json", "models/x.json: the file must have at most 32 MiB, got 2048", sparse(2 << 30)},
	{"large .ndjson", "benchmarks/0001.ndjson", "benchmarks/0001.ndjson: the file must have at most 2048 MiB, got 4096", sparse(4 << 30)},
	{"zeros", "benchmarks/0001.ndjson", "benchmarks/0001.ndjson:1: the line has more than 1 MiB", sparse(1 << 30)},
}

func sparse(size int64) func(name string) error {
	return func(name string) error {
		f, err := os.Create(name)
		if err != nil {
			return err
		}
		return errors.Join(f.Truncate(size), f.Close())
	}
}

// TestStrangeFiles: no file makes a check wait, end early or fill the memory; each is a finding
// at its path, beside the findings of the other files.
func TestStrangeFiles(t *testing.T) {
	for _, tt := range strangeFiles {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			writeBase(t, dir)
			putFile(t, filepath.Join(dir, "tools", "zz.json"), "{}")
			if err := tt.make(filepath.Join(dir, filepath.FromSlash(tt.file))); err != nil {
				t.Skipf("cannot be made here: %v", err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			findings, err := Check(Dir(dir), Options{Now: fixtureDay})
			must(t, err)
			runtime.ReadMemStats(&after)
			if text := findings.Error(); !strings.Contains(text+"\n", tt.want+"\n") || !strings.Contains(text, "tools/zz.json:1:1: slug: is required") {
				t.Errorf("findings\n%s\nwant also %s and those of tools/zz.json", text, tt.want)
			}
			if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 50 {
				t.Errorf("the check allocated %d MiB", used)
			}
		})
	}
}

// TestInnerLink: a link inside the dataset is followed, as mounts of Kubernetes need.
func TestInnerLink(t *testing.T) {
	dir := t.TempDir()
	writeBase(t, filepath.Join(dir, "..v1"))
	must(t, os.Symlink("..v1", filepath.Join(dir, "..data")))
	files, folders := Layout()
	for _, name := range append(files, folders...) {
		if _, err := os.Stat(filepath.Join(dir, "..data", name)); err == nil { // sources.json may be missing
			must(t, os.Symlink("..data/"+name, filepath.Join(dir, name)))
		}
	}
	if _, err := Load(context.Background(), Dir(dir), Options{Now: fixtureDay}); err != nil {
		t.Error(err)
	}
}

// TestManyFindings: a report is bounded, however many faults there are.
func TestManyFindings(t *testing.T) {
	dir := t.TempDir()
	writeBase(t, dir)
	putFile(t, filepath.Join(dir, "benchmarks", "0001.ndjson"), string(bytes.Repeat([]byte("{}\n"), 100_000)))
	findings, err := Check(Dir(dir), Options{Now: fixtureDay})
	must(t, err)
	if n := len(findings); n != maxFindings+1 || !strings.Contains(findings.Error(), "more than 10000 findings") {
		t.Errorf("%d findings, want %d and that there are more", n, maxFindings)
	}
}
