package verbs

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"modeldex/dataset/datasettest"
)

// TestCheckNames: check reads names as printed, which the room below cannot.
func TestCheckNames(t *testing.T) {
	files, dir := datasettest.Sample(t), t.TempDir()
	raw := regexp.MustCompile(`"model_raw":"[^"]*"`)
	first, rest, _ := bytes.Cut(files["benchmarks/2023.ndjson"].Data, []byte{'\n'})
	first = raw.ReplaceAll(first, []byte(`"model_raw":"Llama-3.3-70B-Instruct"`))
	files["benchmarks/2023.ndjson"].Data = bytes.Join([][]byte{first, rest}, []byte{'\n'})
	datasettest.WriteFiles(t, dir, files)
	var out, errs bytes.Buffer
	if err := (&Check{DatasetArg: DatasetArg{Dir: dir}, Format: "text"}).Run(&Env{Stdout: &out, Stderr: &errs}); err != nil {
		t.Fatal(err)
	}
	if want := `, got "Llama-3.3-70B-Instruct"`; strings.Count(out.String(), "warning: model_raw: ") != 1 || !strings.Contains(out.String(), want) {
		t.Errorf("check printed\n%s\nwant one warning with %q", out.String(), want)
	}
}

// TestCheckPrevious: the dataset published before may be a revision.
func TestCheckPrevious(t *testing.T) {
	dir, git := gitBase(t)
	git("tag", "published")
	file := filepath.Join(dir, "benchmarks", "2026.ndjson")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	datasettest.PutFile(t, file, strings.Replace(first, `"bm-1"`, `"bm-2"`, 1)+"\n")
	for previous, want := range map[string]string{
		"published": `: id: "bm-1" was published and is gone`,
		"":          "",
		"nosuch":    "nosuch: is neither a directory nor a git revision of ",
	} {
		var out, errs bytes.Buffer
		err := (&Check{DatasetArg: DatasetArg{Dir: dir}, Format: "text", Previous: previous}).Run(&Env{Stdout: &out, Stderr: &errs})
		if (err == nil) != (want == "") || !strings.Contains(out.String()+fmt.Sprint(err), want) {
			t.Errorf("--previous %q: %v\n%s\nwant %q", previous, err, out.String(), want)
		}
	}
	git("rm", "-q", "dataset.json")
	git("commit", "-q", "-m", "without")
	git("checkout", "-q", "published", "--", "dataset.json")
	err = (&Check{DatasetArg: DatasetArg{Dir: dir}, Previous: "HEAD"}).Run(&Env{Stdout: io.Discard, Stderr: io.Discard})
	if want := "HEAD: not a dataset: it has no dataset.json"; err == nil || err.Error() != want {
		t.Errorf("of a revision without a dataset: %v, want %q", err, want)
	}
	none := t.TempDir()
	err = (&Check{DatasetArg: DatasetArg{Dir: dir}, Previous: none}).Run(&Env{Stdout: io.Discard, Stderr: io.Discard})
	if want := none + ": not a dataset: it has no dataset.json"; err == nil || err.Error() != want {
		t.Errorf("of a directory without a dataset: %v, want %q", err, want)
	}
}
