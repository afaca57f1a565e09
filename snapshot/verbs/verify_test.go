package verbs

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"modeldex/dataset/datasettest"
	"modeldex/dataset/verbs"
	"modeldex/snapshot/importer"
)

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
