package verbs

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/best"
	"modeldex/dataset/datasettest"
	"modeldex/dataset/here"
	"modeldex/dataset/verbs"
)

func TestMain(m *testing.M) { datasettest.Main(m) }

func TestHere(t *testing.T) {
	dir := t.TempDir()
	datasettest.WriteFiles(t, dir, datasettest.Sample(t))
	card := here.Machine{OS: "linux", Run: func(name string, _ ...string) ([]byte, error) {
		if name == "nvidia-smi" {
			return []byte("NVIDIA GeForce RTX 4090, 24564 MiB\n"), nil
		}
		return nil, errors.New("not found")
	}}
	none := func(fs.FS) func(dataset.Slug) []best.Evidence {
		return func(dataset.Slug) []best.Evidence { return nil }
	}
	for _, tt := range []struct {
		name    string
		machine here.Machine
		change  func(c *Here)
		want    []string
		lacks   string
	}{
		{"devices", card, func(c *Here) { c.DevicesOnly = true }, []string{"nvidia-rtx-4090", "NVIDIA GeForce RTX 4090 (nvidia-smi)"}, "what nvidia"},
		{"json", card, func(c *Here) { c.AsJSON = true }, []string{`"main": "nvidia-rtx-4090"`}, "what nvidia"},
		{"models", card, func(*Here) {}, []string{"what nvidia-rtx-4090 runs:", "fits with 8k"}, "a fact needed to tell"},
		{"measured quantizations", card, func(c *Here) { c.Limit, c.Prefer = 0, "measured" }, []string{" Q8_0 "}, "a fact needed to tell"},
		{"nothing", here.Machine{OS: "linux"}, func(*Here) {}, []string{"the directory has no hardware of this machine"}, "what "},
	} {
		var out bytes.Buffer
		c := &Here{Limit: 3}
		c.Data, c.Count, c.KV, c.Rules = dir, 1, "f16", "llama.cpp"
		tt.change(c)
		if err := c.run(&verbs.Env{Stdout: &out, Stderr: &out, Evidence: none}, tt.machine); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		for _, want := range tt.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s prints\n%s\nwant in it %q", tt.name, out.String(), want)
			}
		}
		if strings.Contains(out.String(), tt.lacks) {
			t.Errorf("%s prints\n%s\nwhich must lack %q", tt.name, out.String(), tt.lacks)
		}
	}
}
