package dataset

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden parts of fixtures and pages")

// plainSet is all there is to a set, its benchmarks as values.
type plainSet struct {
	*Set
	Benchmarks []Benchmark
}

func unpacked(s *Set) plainSet {
	out, rest := plainSet{Benchmarks: s.Benchmarks.All()}, *s
	rest.Benchmarks = Pack{}
	out.Set = &rest
	return out
}

// shipped reads the shipped data into memory.
func shipped(tb testing.TB) fstest.MapFS {
	tb.Helper()
	out, src := fstest.MapFS{}, os.DirFS("../data")
	err := fs.WalkDir(src, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(src, name)
		out[name] = &fstest.MapFile{Data: b}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// sample is the shipped data with one benchmark in sixteen, the models these refer to, and no
// snapshots: enough for tests that load it many times.
func sample(tb testing.TB) fstest.MapFS {
	tb.Helper()
	out := shipped(tb)
	used := map[string]bool{}
	for name, f := range out {
		if kindOf(name) != benchmarksDir {
			continue
		}
		var kept []byte
		for i, line := range bytes.SplitAfter(f.Data, []byte{'\n'}) {
			if i%16 != 0 {
				continue
			}
			kept = append(kept, line...)
			var refs struct{ Model string }
			if len(line) > 0 {
				must(tb, json.Unmarshal(line, &refs))
			}
			used[refs.Model+".json"] = true
		}
		out[name] = &fstest.MapFile{Data: kept}
	}
	for name := range out {
		if dir, file := path.Split(name); dir == modelsDir+"/" && !used[file] || strings.HasPrefix(dir, "snapshots/") {
			delete(out, name)
		}
	}
	return out
}

// shippedSet is the shipped data, loaded once for all tests that only read it.
var shippedSet = sync.OnceValues(func() (*Set, error) { return Load(os.DirFS("../data"), Options{}) })

func mustShipped(tb testing.TB) *Set {
	tb.Helper()
	set, err := shippedSet()
	must(tb, err)
	return set
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func putFile(tb testing.TB, name, text string) {
	tb.Helper()
	must(tb, os.MkdirAll(filepath.Dir(name), 0o755))
	must(tb, os.WriteFile(name, []byte(text), 0o644))
}

// writeBase writes the base dataset below dir.
func writeBase(tb testing.TB, dir string) {
	tb.Helper()
	fsys, _ := fixtureFS(tb, &txtar.Archive{})
	for name, f := range fsys {
		putFile(tb, filepath.Join(dir, name), string(f.Data))
	}
}

// info is dataset.json with a version.
func info(version string) string {
	return fmt.Sprintf(`{"schema_version": 1, "version": %q, "released": "2026-01-02", "title": "fixture", "licence": "CC-BY-SA-4.0"}`, version)
}
