package verbs

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"modeldex/dataset/datasettest"
)

// TestFind: the copy inside the binary is for a place without ./data, and never hides one that is broken.
func TestFind(t *testing.T) {
	env := &Env{Stdout: io.Discard, Stderr: io.Discard, Shipped: fstest.MapFS{}}
	const broken = "./data: not a dataset: it has no dataset.json; restore it, or name a directory with --data"
	for _, tt := range []struct {
		name        string
		make        func(t *testing.T)
		flag        string
		where, want string
	}{
		{"nothing", func(*testing.T) {}, "", "the copy inside the binary", ""},
		{"a file", func(t *testing.T) { datasettest.PutFile(t, "data", "") }, "", "the copy inside the binary", ""},
		{"a dataset", func(t *testing.T) { datasettest.WriteBase(t, "data") }, "", "data", ""},
		{"a dataset without dataset.json", withoutInfo, "", "", broken},
		{"another directory", func(t *testing.T) { datasettest.PutFile(t, "data/x.csv", "") }, "", "", broken},
		{"a link to nothing", linkToNothing, "", "", "./data: does not exist; restore it, or name a directory with --data"},
		{"a flag, nothing there", func(*testing.T) {}, "nowhere", "", "nowhere: does not exist"},
		{"a flag, a file", func(t *testing.T) { datasettest.PutFile(t, "file", "") }, "file", "", "file: not a directory"},
		{"a flag, a folder of records", func(t *testing.T) { datasettest.WriteBase(t, "data") }, "data/models", "", "data/models: not a dataset: it has no dataset.json"},
		{"a flag, the directory above", func(t *testing.T) { datasettest.WriteBase(t, "data") }, ".", "", ".: not a dataset: it has no dataset.json; did you mean ./data"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			tt.make(t)
			src, err := Dataset{Data: tt.flag}.Find(env)
			if src.Where != tt.where || (err == nil) != (tt.want == "") || err != nil && err.Error() != tt.want {
				t.Errorf("Find with %q = %q, %v, want %q, %s", tt.flag, src.Where, err, tt.where, tt.want)
			}
		})
	}
}

func withoutInfo(t *testing.T) {
	datasettest.WriteBase(t, "data")
	if err := os.Remove(filepath.Join("data", "dataset.json")); err != nil {
		t.Fatal(err)
	}
}

func linkToNothing(t *testing.T) {
	if err := os.Symlink("nothing", "data"); err != nil {
		t.Fatal(err)
	}
}

// TestEditedNowhere: what people edit is never the copy inside the binary.
func TestEditedNowhere(t *testing.T) {
	t.Chdir(t.TempDir())
	env := &Env{Stdout: io.Discard, Stderr: io.Discard, Shipped: fstest.MapFS{}}
	for name, run := range map[string]func(*Env) error{"check": new(Check).Run, "fmt": new(Fmt).Run} {
		if err := run(env); err == nil || err.Error() != "no dataset in ./data: name a directory" {
			t.Errorf("%s: %v, want that it needs a directory", name, err)
		}
	}
}
