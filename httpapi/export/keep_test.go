package export

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"modeldex/dataset/datasettest"
)

func TestMain(m *testing.M) { datasettest.Main(m) }

func mustMake(t *testing.T, src *Sources) (*Dump, bool) {
	t.Helper()
	d, reused, err := Make(context.Background(), src)
	if err != nil {
		t.Fatal(err)
	}
	return d, reused
}

// namesIn is the names in a directory.
func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestMake: a dump is made once for the same sources, is then the same in every byte, and is made again
// when anything it depends on changes.
func TestMake(t *testing.T) {
	rows := randomRows(t, 300)
	src := sources(t, rows)
	made, reused := mustMake(t, src)
	if reused {
		t.Error("a dump was found in an empty directory")
	}
	built, err := Build(context.Background(), src)
	if err != nil {
		t.Fatal(err)
	}
	src.Tables[0].Rows = func() Rows { t.Error("the rows were asked for again"); return func() []byte { return nil } }
	found, reused := mustMake(t, src)
	if !reused {
		t.Error("the dump was made again")
	}
	for _, d := range []*Dump{made, found} {
		if d.Edition != built.Edition || len(d.Files) != len(built.Files) || d.About != built.About {
			t.Fatalf("got %+v, want %+v", d, built)
		}
		for i, f := range d.Files {
			w := *built.Files[i]
			w.data = f.data
			if *f != w || !bytes.Equal(bytesOf(t, d, f.Name), bytesOf(t, built, f.Name)) {
				t.Errorf("file %+v, want %+v", *f, w)
			}
		}
	}
	src.Tables[0].Rows = func() Rows { return rowsOf(rows) }
	for what, change := range map[string]func(){
		"digest":   func() { src.Digest = strings.Repeat("1", 64) },
		"version":  func() { src.Version = "2" },
		"released": func() { src.Released = "2026-11-23" },
		"content":  func() { src.Content = []byte("another snapshot") },
		"original": func() { src.Originals = src.Originals[1:] },
		"extra":    func() { src.FS.(fstest.MapFS)["snapshots/snapshot-1.json"] = &fstest.MapFile{Data: []byte("[1]")} },
		"extras":   func() { src.FS.(fstest.MapFS)["snapshots/snapshot-2.json"] = &fstest.MapFile{Data: []byte("[]")} },
	} {
		change()
		if _, reused := mustMake(t, src); reused {
			t.Errorf("with another %s the dump of before was used", what)
		}
	}
}

// TestMakeDamaged: a dump of which a file was changed, cut, emptied or removed is not used.
func TestMakeDamaged(t *testing.T) {
	src := sources(t, randomRows(t, 30))
	made, _ := mustMake(t, src)
	dir := filepath.Join(src.Dir, namesIn(t, src.Dir)[0])
	change := map[string]func(string) error{
		"removed": os.Remove,
		"emptied": func(path string) error { return os.Truncate(path, 0) },
		"longer": func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("x")
			return errors.Join(err, f.Close())
		},
		"changed": func(path string) error {
			datasettest.Damage(t, path)
			return nil
		},
	}
	for _, name := range namesIn(t, dir) {
		for what, do := range change {
			if name == manifestName && what == "longer" {
				continue // JSON with something after it, which is read as damaged or as the same
			}
			if err := do(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			if d, reused := mustMake(t, src); reused || d.Edition != made.Edition {
				t.Errorf("%s %s: reused %v, edition %s, want %s", name, what, reused, d.Edition, made.Edition)
			}
			if _, reused := mustMake(t, src); !reused {
				t.Errorf("%s %s: what was made anew is not found", name, what)
			}
		}
	}
}

// TestMakeIsUse: a dump that is made is newer than what was used just before.
func TestMakeIsUse(t *testing.T) {
	src := sources(t, nil)
	for i := range 50 {
		src.Content = []byte{byte(i)}
		before := time.Now()
		d, err := buildKept(t.Context(), src, filepath.Join(t.TempDir(), "dump"))
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(d.dir)
		if err != nil || info.ModTime().Before(before) {
			t.Errorf("a dump made after %v is of %v, %v", before, info.ModTime(), err)
		}
		if err := d.close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMakeKeepsFew: a directory keeps the dumps that were used last and nothing of processes that were
// killed, and no file that is not its own is removed. A dump that was removed can still be read.
func TestMakeKeepsFew(t *testing.T) {
	src := sources(t, randomRows(t, 30))
	if err := os.MkdirAll(src.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	foreign := []string{"notes", strings.Repeat("a", 32), makingPrefix + "now"}
	killed := makingPrefix + "then"
	for _, name := range append(foreign, killed) {
		if err := os.Mkdir(filepath.Join(src.Dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-2 * makingFor)
	if err := os.Chtimes(filepath.Join(src.Dir, killed), old, old); err != nil {
		t.Fatal(err)
	}
	first, _ := mustMake(t, src)
	for i := range 2 * keptOnDisk {
		src.Content = []byte{byte(i)}
		mustMake(t, src)
		src.Content = []byte{0} // is used each time, and stays
		if _, reused := mustMake(t, src); !reused {
			t.Errorf("after %d others the dump in use is gone", i)
		}
	}
	if names := namesIn(t, src.Dir); len(names) != keptOnDisk+len(foreign) {
		t.Errorf("the directory has %v", names)
	}
	for _, name := range foreign {
		if _, err := os.Stat(filepath.Join(src.Dir, name)); err != nil {
			t.Error(err)
		}
	}
	if b := bytesOf(t, first, "samples.parquet"); len(b) == 0 {
		t.Error("a removed dump cannot be read")
	}
}

// TestMakeAtOnce: servers that make the same dump at once have the same one, and leave one.
func TestMakeAtOnce(t *testing.T) {
	rows := randomRows(t, 300)
	src := sources(t, rows)
	var work sync.WaitGroup
	editions := make([]string, 4)
	for i := range editions {
		work.Go(func() {
			if d, _, err := Make(context.Background(), src); err != nil {
				t.Error(err)
			} else {
				editions[i] = d.Edition
			}
		})
	}
	work.Wait()
	for _, e := range editions {
		if e != editions[0] {
			t.Errorf("editions %v", editions)
		}
	}
	if names := namesIn(t, src.Dir); len(names) != 1 {
		t.Errorf("the directory has %v", names)
	}
}

// TestMakeFails: a dump that cannot be made, or is not to be any more, leaves nothing.
func TestMakeFails(t *testing.T) {
	src := sources(t, randomRows(t, 30))
	src.Originals[0].Digest[0] ^= 1
	if _, _, err := Make(context.Background(), src); !errors.Is(err, ErrChanged) {
		t.Errorf("of a changed dataset: %v", err)
	}
	if names := namesIn(t, src.Dir); len(names) != 0 {
		t.Errorf("the directory has %v", names)
	}
	src = sources(t, randomRows(t, 30))
	mustMake(t, src)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Make(ctx, src); !errors.Is(err, context.Canceled) {
		t.Errorf("of an ended context: %v", err)
	}
	if _, reused := mustMake(t, src); !reused {
		t.Error("an ended context removed a dump")
	}
	src.Dir = filepath.Join(src.Dir, namesIn(t, src.Dir)[0], manifestName) // a file
	if _, _, err := Make(context.Background(), src); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("below a file: %v", err)
	}
}
