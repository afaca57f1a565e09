package verbs

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"modeldex/dataset/datasettest"
	"modeldex/dataset/verbs"
	"modeldex/snapshot/importer"
)

// folder is a folder that a build reads, of which tests change files.
func folder(t *testing.T) (dir string, read func(name string) string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../importer/testdata/small")); err != nil {
		t.Fatal(err)
	}
	return dir, func(name string) string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
}

// TestBuildModels: a build with --models writes the directory it used, and one that fails changes nothing.
func TestBuildModels(t *testing.T) {
	dir, read := folder(t)
	data, out := t.TempDir(), filepath.Join(t.TempDir(), "new.json")
	datasettest.WriteBase(t, data)
	build := func() error {
		c := Build{From: dir, Models: data, Out: out, GeneratedAt: "2026-07-01T00:00:00Z"}
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		return c.Run(&verbs.Env{Stdout: io.Discard, Stderr: io.Discard})
	}
	rows, directory := read("bench.ndjson"), read("directory.ndjson")
	datasettest.PutFile(t, filepath.Join(dir, "bench.ndjson"), "{\n")
	if err := build(); err == nil {
		t.Error("a build of a broken capture succeeded")
	}
	if got := read("directory.ndjson"); got != directory {
		t.Errorf("a build that failed wrote the directory\n%s", got)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a build that failed wrote a document")
	}
	datasettest.PutFile(t, filepath.Join(dir, "bench.ndjson"), rows)
	if err := build(); err != nil {
		t.Fatal(err)
	}
	if got := read("directory.ndjson"); got == directory || !strings.Contains(got, `"slug":`) {
		t.Errorf("the directory after a build with --models is\n%s\nwant that of the dataset", got)
	}
	first, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	again := Build{From: dir, Out: out, at: time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)}
	if err := again.Run(&verbs.Env{Stdout: io.Discard, Stderr: io.Discard}); err != nil {
		t.Fatal(err)
	}
	if second, err := os.ReadFile(out); err != nil || !bytes.Equal(first, second) {
		t.Errorf("a build with the written directory gives other bytes than the one that wrote it, %v", err)
	}
}

// TestBuildNoDirectory: without a directory no name is matched, so its absence is an error.
func TestBuildNoDirectory(t *testing.T) {
	dir, _ := folder(t)
	if err := os.Remove(filepath.Join(dir, "directory.ndjson")); err != nil {
		t.Fatal(err)
	}
	c := Build{From: dir, Out: filepath.Join(t.TempDir(), "new.json"), at: time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)}
	err := c.Run(&verbs.Env{Stdout: io.Discard, Stderr: io.Discard})
	if err == nil || !strings.HasSuffix(err.Error(), "directory.ndjson: does not exist; restore it, or make it with snapshot build --models data") {
		t.Errorf("build without directory.ndjson: %v", err)
	}
}

// TestVerifyFuture: a document of the future is rejected as check rejects it.
func TestVerifyFuture(t *testing.T) {
	doc, _, err := importer.Build(t.Context(), os.DirFS("../importer/testdata/small"), importer.Options{GeneratedAt: time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "late.json")
	datasettest.PutFile(t, file, string(doc))
	var errs bytes.Buffer
	err = (&Verify{From: file}).Run(&verbs.Env{Stdout: io.Discard, Stderr: &errs})
	if want := file + `#/generated_at: must not be in the future, got "2999-01-01"`; err == nil || !strings.HasPrefix(errs.String(), want) {
		t.Errorf("verify: %v, said %q, want %q", err, errs.String(), want)
	}
}

// TestCheckFuture: a document of the future is a finding, because it would be the newest for good.
func TestCheckFuture(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	for _, tt := range []struct {
		at   time.Time
		want string
	}{
		{now, ""},
		{now.AddDate(500, 0, 0), "snapshots/snapshot-1.json: /generated_at: must not be in the future"},
	} {
		doc, _, err := importer.Build(t.Context(), os.DirFS("../importer/testdata/small"), importer.Options{GeneratedAt: tt.at})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range Check(fstest.MapFS{"snapshots/snapshot-1.json": {Data: doc}}) {
			got += f.String()
		}
		if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("Check of a document of %s: %q, want %q", tt.at, got, tt.want)
		}
	}
}
