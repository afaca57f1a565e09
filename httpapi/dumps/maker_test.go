package dumps

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"modeldex/dataset/datasettest"
	"modeldex/httpapi/export"
	"modeldex/index"
)

// sources are those of a dataset of one file.
func sources(t *testing.T, digest string) *export.Sources {
	t.Helper()
	const text = `{"version":"1"}`
	return &export.Sources{
		About: export.About{Version: "1", Digest: strings.Repeat(digest, 64)}, Released: "2026-11-22", Dir: t.TempDir(),
		FS:        fstest.MapFS{"dataset.json": {Data: []byte(text)}},
		Originals: []export.Original{{Name: "dataset.json", Size: int64(len(text)), Digest: sha256.Sum256([]byte(text))}},
	}
}

// TestMaker: the newest dumps are kept, newest first, and one that is made again is kept once.
func TestMaker(t *testing.T) {
	t.Parallel()
	var src *export.Sources
	d := New(Config{Sources: func(*index.Generation) *export.Sources { return src }, Log: slog.New(slog.DiscardHandler)})
	var made []string
	for _, digest := range []string{"0", "1", "2", "3", "1"} {
		src = sources(t, digest)
		datasettest.Must(t, d.Make(context.Background(), &index.Generation{}))
		made = append(made, digest)
	}
	got := ""
	for _, dump := range d.List() {
		got += dump.Digest[:1]
	}
	if got != "132" {
		t.Errorf("after dumps of %v those of %s are kept, want 132", made, got)
	}
}

// TestChangedFiles: files that were changed since they were loaded are no fault of the server, and callers who
// ask for the dump again and again do not have it tried again and again.
func TestChangedFiles(t *testing.T) {
	t.Parallel()
	src := sources(t, "0")
	src.FS.(fstest.MapFS)["dataset.json"].Data = []byte("{}")
	var log bytes.Buffer
	tried := make(chan bool, 100)
	d := New(Config{
		Current: func() (*index.Generation, [16]byte) { return &index.Generation{}, [16]byte{1} },
		Sources: func(*index.Generation) *export.Sources { return src },
		Worked:  func() { tried <- true }, Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	stop := d.Start()
	d.Ask()
	<-tried
	for range 10 {
		d.Ask()
		time.Sleep(20 * time.Millisecond)
	}
	stop()
	if len(tried) > 0 {
		t.Errorf("tried %d times more", len(tried))
	}
	if text := fmt.Sprint(&log); strings.Count(text, "\n") != 1 || !strings.Contains(text, "level=INFO") || !strings.Contains(text, "dataset.json") {
		t.Errorf("the log has %s", text)
	}
}
