package verbs

import (
	"bytes"
	"strings"
	"testing"

	"modeldex/dataset/datasettest"
)

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
