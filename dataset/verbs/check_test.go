package verbs

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

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

func TestMain(m *testing.M) { datasettest.Main(m) }

func TestResolve(t *testing.T) {
	dir := t.TempDir()
	datasettest.WriteFiles(t, dir, datasettest.Sample(t, "models/qwen3-8b.json", "hardware/nvidia-rtx-4090.json",
		"hardware/nvidia-rtx-4060-ti.json", "hardware/nvidia-rtx-4060-ti-8gb.json", "hardware/nvidia-rtx-4060-ti-16gb.json"))
	for _, tt := range []struct {
		name string
		verb Resolve
		want string
	}{
		{"arguments", Resolve{Names: []string{"10de:2684", "unsloth/Qwen3-8B-GGUF:Q4_K_M"}}, "10de:2684\tnvidia-rtx-4090\tparsed\t"},
		{"standard input", Resolve{in: strings.NewReader("RTX 4060 Ti\n\nnothing of this sort here\n"), Kind: "hardware"}, "RTX 4060 Ti\tnvidia-rtx-4060-ti\tambiguous\t"},
		{"unknown", Resolve{Names: []string{"zzzzzz"}}, "zzzzzz\t-\tunknown\t"},
		{"json", Resolve{Names: []string{"qwen3:8b"}, Format: Format{AsJSON: true}}, `"slug": "qwen3-8b"`},
	} {
		var out bytes.Buffer
		tt.verb.Data = dir
		if err := tt.verb.Run(&Env{Stdout: &out}); err != nil || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%s: %v, prints\n%s\nwant in it %q", tt.name, err, out.String(), tt.want)
		}
	}
}

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
		{"a flag, the directory above", func(t *testing.T) { datasettest.WriteBase(t, "data") }, ".", "", ".: not a dataset: it has no dataset.json; did you mean ./data?"},
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
