// Package datasettest is the test kit of dataset and its rooms: the base dataset that fixtures change, the shipped data
// in memory, and what tests write files with. It knows files only, so that the tests inside package dataset can use it.
package datasettest

import (
	"bytes"
	_ "embed"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

//go:embed base.txtar
var base []byte

// Base is the smallest dataset without findings, as an archive of the caller's own.
func Base() *txtar.Archive { return txtar.Parse(bytes.Clone(base)) } // the files are parts of what is parsed

// Day is the day on which the fixtures are judged.
func Day() time.Time { return time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC) }

// Fixture lays the files of an archive over the base dataset. The file called removed lists base
// files to leave out; rest is the files that are not dataset files: removed and findings.
func Fixture(over *txtar.Archive) (fsys fstest.MapFS, rest map[string]string) {
	fsys, rest = fstest.MapFS{}, map[string]string{}
	for _, f := range append(Base().Files, over.Files...) {
		if f.Name == "findings" || f.Name == "removed" {
			rest[f.Name] = string(f.Data)
			continue
		}
		fsys[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	for name := range strings.FieldsSeq(rest["removed"]) {
		delete(fsys, name)
	}
	return fsys, rest
}

// WriteBase writes the base dataset below dir.
func WriteBase(tb testing.TB, dir string) {
	tb.Helper()
	for _, f := range Base().Files {
		PutFile(tb, filepath.Join(dir, f.Name), string(f.Data))
	}
}

// Info is dataset.json with a version.
func Info(version string) string {
	return `{"schema_version": 1, "version": "` + version + `", "released": "2026-01-02", "title": "fixture", "licence": "CC-BY-SA-4.0"}`
}

// ShippedDir is the directory of the shipped data, as a test of any package of the module finds it.
func ShippedDir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	Must(tb, err)
	for below := ""; dir != below; dir, below = filepath.Dir(dir), dir {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "data")
		}
	}
	tb.Fatal("no go.mod above the directory of the test")
	return ""
}

// Shipped reads the shipped data into memory.
func Shipped(tb testing.TB) fstest.MapFS {
	tb.Helper()
	return shipped(tb, "")
}

func shipped(tb testing.TB, without string) fstest.MapFS {
	tb.Helper()
	out, src := fstest.MapFS{}, os.DirFS(ShippedDir(tb))
	Must(tb, fs.WalkDir(src, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name == without:
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		b, err := fs.ReadFile(src, name)
		out[name] = &fstest.MapFile{Data: b}
		return err
	}))
	return out
}

var (
	samplesMu sync.Mutex
	samples   = map[string]fstest.MapFS{} // by the names of the records a caller wants more, made once
)

// Sample is a small part of the shipped data, for tests that load it many times. It has one
// benchmark and measurement of quality in sixty-four (one in sixteen in the long form), the records these refer to, and the
// records a caller names by their paths. It has every release, without its changes, and no snapshots. The files are the
// caller's own.
func Sample(tb testing.TB, more ...string) fstest.MapFS {
	tb.Helper()
	samplesMu.Lock()
	defer samplesMu.Unlock()
	key := strings.Join(more, " ")
	if samples[key] == nil {
		samples[key] = makeSample(tb, more)
	}
	out := fstest.MapFS{}
	for name, f := range samples[key] {
		out[name] = &fstest.MapFile{Data: bytes.Clone(f.Data)}
	}
	return out
}

func makeSample(tb testing.TB, more []string) fstest.MapFS {
	tb.Helper()
	out, every := shipped(tb, "snapshots"), Rounds(64, 16)
	used := map[string]bool{}
	var use func(text []byte)
	use = func(text []byte) {
		for _, word := range bytes.Split(text, []byte{'"'}) {
			for _, name := range []string{"models/" + string(word) + ".json", "hardware/" + string(word) + ".json"} {
				if f := out[name]; f != nil && !used[name] {
					used[name] = true
					use(f.Data)
				}
			}
		}
	}
	for _, name := range more {
		used[name] = true
		use(out[name].Data)
	}
	for name, f := range out {
		dir := path.Dir(name)
		if dir != "benchmarks" && dir != "changes" && dir != "quality" {
			continue
		}
		var kept []byte
		for i, line := range bytes.SplitAfter(f.Data, []byte{'\n'}) {
			if dir != "changes" && i%every == 0 || bytes.HasPrefix(line, []byte(`{"release"`)) {
				kept = append(kept, line...)
			}
		}
		use(kept)
		out[name] = &fstest.MapFile{Data: kept}
	}
	for name := range out {
		if dir := path.Dir(name); (dir == "models" || dir == "hardware") && !used[name] {
			delete(out, name)
		}
	}
	return out
}

// Must ends the test where there is an error.
func Must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// PutFile writes a file and makes the folders above it.
func PutFile(tb testing.TB, name, text string) {
	tb.Helper()
	Must(tb, os.MkdirAll(filepath.Dir(name), 0o755))
	Must(tb, os.WriteFile(name, []byte(text), 0o644))
}

// Long reports whether tests run in their long form: MODELDEX_LONG_TESTS=1, as in CI. The short form
// tests the same with fewer rounds or smaller data, so that all tests of the module take a minute.
func Long() bool { return os.Getenv("MODELDEX_LONG_TESTS") == "1" }

// Main is TestMain of a package whose tests hold much data or make much garbage. In the short form the
// collector runs when the heap is five times what is in use. That takes a fifth less processor time. Long
// form, benchmarks and GOGC in the environment have what they would have without it.
func Main(m *testing.M) {
	flag.Parse()
	RareCollections()
	m.Run()
}

// RareCollections is what Main sets, for a TestMain that does more. Flags must be parsed.
func RareCollections() {
	if !Long() && os.Getenv("GOGC") == "" && flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(400)
	}
}

// Rounds is how often a test repeats what it does: short, or long in the long form.
func Rounds(short, long int) int {
	if Long() {
		return long
	}
	return short
}

// NeedLong skips a test in the short form; what says why it has no short one.
func NeedLong(tb testing.TB, what string) {
	tb.Helper()
	if !Long() {
		tb.Skip(what + "; MODELDEX_LONG_TESTS=1 runs it")
	}
}

// WriteFiles writes files below dir.
func WriteFiles(tb testing.TB, dir string, files fstest.MapFS) {
	tb.Helper()
	for name, f := range files {
		PutFile(tb, filepath.Join(dir, filepath.FromSlash(name)), string(f.Data))
	}
}

// Program builds the program of this module, whose root is given, and returns its path in dir. It is a copy of the
// executable that go run keeps in the build cache. So it is linked once for the tests of all packages, and again only
// when its code has changed. It has no information for debuggers: no test debugs it, and linking takes half as long.
func Program(root, dir string, flags ...string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "modeldex")
	cmd := exec.Command("go", append(append([]string{"run", "-ldflags=-w", "-exec=cp"}, flags...), ".", path)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the program: %w\n%s", err, out)
	}
	return path, nil
}
