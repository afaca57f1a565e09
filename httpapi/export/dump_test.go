package export

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"
)

// sources is a dataset of two files and one table.
func sources(t *testing.T, rows [][]byte) *Sources {
	t.Helper()
	files := fstest.MapFS{
		"tools/b.json": {Data: []byte("{}\n")}, "dataset.json": {Data: []byte(`{"version":"1"}`)}, "snapshots/snapshot-1.json": {Data: []byte("[]")}, "README.md": {Data: []byte("not loaded")},
	}
	src := &Sources{
		About: about(), FS: files, Extras: []string{"snapshots/snapshot-*.json"},
		Tables: []Table{{Schema: sampleSchema, Count: len(rows), Rows: func() Rows { return rowsOf(rows) }}},
	}
	for _, name := range []string{"tools/b.json", "dataset.json"} {
		src.Originals = append(src.Originals, Original{name, sha256.Sum256(files[name].Data)})
	}
	return src
}

func bytesOf(t *testing.T, d *Dump, name string) []byte {
	t.Helper()
	f := d.Find(name)
	if f == nil {
		t.Fatalf("no file %s", name)
	}
	b, err := io.ReadAll(f.Section(0, f.Size))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func unpacked(t *testing.T, b []byte) []byte {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestBuild: a dump has every table in every form, the dataset as it was loaded, and sums that are
// right; built again it is the same, and nothing is left in its directory.
func TestBuild(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	rows := randomRows(t, 300)
	src := sources(t, rows)
	d, err := Build(context.Background(), src)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []Format{CSV, NDJSON} {
		if got := unpacked(t, bytesOf(t, d, "samples."+f.String()+".zst")); !bytes.Equal(got, fileOf(t, f, rows)) {
			t.Errorf("%s is another file than the encoder makes", f)
		}
	}
	if !bytes.Equal(bytesOf(t, d, "samples.parquet"), fileOf(t, Parquet, rows)) {
		t.Error("parquet is another file than the encoder makes")
	}
	var sums string
	for _, f := range d.Files {
		b := bytesOf(t, d, f.Name)
		sum := sha256.Sum256(b)
		if f.SHA256 != hex.EncodeToString(sum[:]) || f.Size != int64(len(b)) {
			t.Errorf("%s: %d bytes with SHA-256 %x, said are %d and %s", f.Name, len(b), sum, f.Size, f.SHA256)
		}
		if f.Name != "SHA256SUMS" {
			sums += fmt.Sprintf("%x  %s\n", sum, f.Name)
		}
	}
	if got := string(bytesOf(t, d, "SHA256SUMS")); got != sums {
		t.Errorf("SHA256SUMS:\n%s\nwant\n%s", got, sums)
	}
	if got := *d.Find("samples.csv.zst").Rows; got != 300 {
		t.Errorf("%d rows are said, want 300", got)
	}
	again, err := Build(context.Background(), sources(t, rows))
	if err != nil {
		t.Fatal(err)
	}
	if again.Edition != d.Edition {
		t.Errorf("the same sources gave edition %s, then %s", d.Edition, again.Edition)
	}
	other, err := Build(context.Background(), sources(t, rows[1:]))
	if err != nil {
		t.Fatal(err)
	}
	if other.Edition == d.Edition {
		t.Error("other rows gave the same edition")
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("the directory has %v, %v", left, err)
	}
}

// TestArchive: the dataset is archived as it was loaded, without owners and times.
func TestArchive(t *testing.T) {
	d, err := Build(context.Background(), sources(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(bytes.NewReader(unpacked(t, bytesOf(t, d, "dataset.tar.zst"))))
	var got []string
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %o %d %d %s %q", h.Name, h.Mode, h.Uid, h.ModTime.Unix(), h.Uname, body))
	}
	want := []string{`dataset.json 644 0 0  "{\"version\":\"1\"}"`, `snapshots/snapshot-1.json 644 0 0  "[]"`, `tools/b.json 644 0 0  "{}\n"`}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the archive has\n%q\nwant\n%q", got, want)
	}
}

// TestChangedFile: a file that was changed after it was loaded is not passed off as the dataset.
func TestChangedFile(t *testing.T) {
	for name, body := range map[string]string{"as long": "[]\n", "shorter": "{", "longer": "{}\n{}\n"} {
		src := sources(t, nil)
		src.FS.(fstest.MapFS)["tools/b.json"].Data = []byte(body)
		if _, err := Build(context.Background(), src); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v, want ErrChanged", name, err)
		}
	}
	src := sources(t, nil)
	delete(src.FS.(fstest.MapFS), "tools/b.json")
	if _, err := Build(context.Background(), src); !errors.Is(err, ErrChanged) {
		t.Errorf("a file is gone: %v, want ErrChanged", err)
	}
}

// TestBuildEnds: a dump is given up with its context.
func TestBuildEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Build(ctx, sources(t, randomRows(t, 3))); !errors.Is(err, context.Canceled) {
		t.Errorf("Build = %v, want canceled", err)
	}
}
