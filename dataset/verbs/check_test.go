package verbs

import (
	"bytes"
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
