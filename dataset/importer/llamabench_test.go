package importer

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"modeldex/dataset"

	"github.com/google/go-cmp/cmp"

	"modeldex/dataset/datasettest"
	"modeldex/dataset/record"
)

func TestMain(m *testing.M) { datasettest.Main(m) }

var update = flag.Bool("update", false, "rewrite the golden files")

// shipped is the data beside the code, whose names the samples are mapped by.
var shipped = sync.OnceValues(func() (*dataset.Set, error) {
	return dataset.Load(context.Background(), os.DirFS("../../data"), dataset.Options{})
})

var community = Options{SourceURL: "https://example.com/run"}

var (
	importers   = map[Options]*Importer{} // made once for each, for they read the names of all records
	importersMu sync.Mutex
)

func importer(t testing.TB, opt Options) *Importer {
	t.Helper()
	importersMu.Lock()
	defer importersMu.Unlock()
	if im := importers[opt]; im != nil {
		return im
	}
	set, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	im, err := New(LlamaBench, set, opt)
	if err != nil {
		t.Fatal(err)
	}
	importers[opt] = im
	return im
}

// samples are the files of testdata with what their output does not say.
var samples = map[string]Options{
	"json-metal-m4-llama-3.2-3b.json":           community,
	"csv-vulkan-strix-halo-qwen3-coder-30b.csv": community,
	"md-vulkan-rx-7900-xtx.txt":                 {SourceURL: community.SourceURL, Model: "llama-2-7b", RunDate: "2025-12-11"},
	"md-cuda-2x-rtx-4090-old-style.txt":         {SourceURL: community.SourceURL, Model: "llama-3-8b", RunDate: "2024-05-11"},
}

// TestSamples imports real outputs and compares with the lines that are kept.
func TestSamples(t *testing.T) {
	for name, opt := range samples {
		t.Run(name, func(t *testing.T) {
			got := written(t, read(t, importer(t, opt), name))
			golden := filepath.Join("testdata", name+".want")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("import of %s (-want +got):\n%s", name, diff)
			}
		})
	}
}

func read(t *testing.T, im *Importer, name string) Result {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	result, err := im.Read(name, b)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// written gives a result as lines, the skipped rows last.
func written(t *testing.T, r Result) string {
	t.Helper()
	var out strings.Builder
	for i := range r.Benchmarks {
		line, err := record.Line(&r.Benchmarks[i])
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	for _, s := range r.Skipped {
		fmt.Fprintln(&out, s)
	}
	return out.String()
}

// TestResultPasses: what an import prints can be appended to the data as it is.
func TestResultPasses(t *testing.T) {
	var lines bytes.Buffer
	for name, opt := range samples {
		lines.WriteString(written(t, read(t, importer(t, opt), name)))
	}
	files := fstest.MapFS{"benchmarks/0001.ndjson": {Data: lines.Bytes()}}
	root := os.DirFS("../../data")
	for _, dir := range []string{"models", "hardware", "tools", "benchmarks"} {
		entries, err := os.ReadDir(filepath.Join("../../data", dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			copyFile(t, files, root.(interface{ ReadFile(string) ([]byte, error) }), dir+"/"+e.Name())
		}
	}
	copyFile(t, files, root.(interface{ ReadFile(string) ([]byte, error) }), "dataset.json")
	copyFile(t, files, root.(interface{ ReadFile(string) ([]byte, error) }), "quantizations.json")
	copyFile(t, files, root.(interface{ ReadFile(string) ([]byte, error) }), "sources.json")
	set, err := dataset.Load(context.Background(), files, dataset.Options{})
	if err != nil {
		t.Fatalf("the data with the imported lines is refused:\n%v", err)
	}
	base, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(set.Benchmarks)-len(base.Benchmarks), bytes.Count(lines.Bytes(), []byte{'\n'}); got != want || want == 0 {
		t.Errorf("%d benchmarks more, want %d", got, want)
	}
}

func copyFile(t *testing.T, to fstest.MapFS, from interface{ ReadFile(string) ([]byte, error) }, name string) {
	t.Helper()
	b, err := from.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	to[name] = &fstest.MapFile{Data: b}
}

const heading = "| model | size | params | backend | ngl | test | t/s |\n| --- | ---: | ---: | --- | --: | ---: | ---: |\n"

// cuda is what a run on one card prints before its table.
const cuda = "ggml_cuda_init: found 1 CUDA devices:\n  Device 0: NVIDIA GeForce RTX 4090, compute capability 8.9, VMM: yes\n"

// radeon is what a run on one card prints with Vulkan.
const radeon = "ggml_vulkan: Found 1 Vulkan devices:\nggml_vulkan: 0 = AMD Radeon RX 7900 XTX (RADV NAVI31) (radv) | uma: 0 | fp16: 1 | warp size: 64\n"

// TestTables reads what people paste, and checks one line of what comes out.
func TestTables(t *testing.T) {
	opt := Options{SourceURL: community.SourceURL, Model: "llama-3-8b", RunDate: "2025-01-02"}
	const row = "| llama 8B Q4_K - Medium | 4.58 GiB | 8.03 B | CUDA | 99 | tg128 | 124.65 ± 0.08 |\n"
	other := strings.Replace(cuda, "found 1", "found 2", 1) + "  Device 1: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes\n"
	const shared = "| model | size | params | backend | ngl | ts | test | t/s |\n| llama 8B Q4_K - Medium | 4.58 GiB | 8.03 B | CUDA | 99 | SHARES | tg128 | 50 ± 1 |\n"
	for _, tt := range []struct {
		name, text string
		want       []string // parts of the lines and reasons, in order
	}{
		{"one row", cuda + heading + row, []string{`"quantization":"Q4_K_M","hardware":"nvidia-rtx-4090"`}},
		{"no blank before the deviation", cuda + heading + strings.Replace(row, " ± ", "±", 1), []string{`"generation_tps":124.65,"generation_tps_stddev":0.08`}},
		{"no deviation", cuda + heading + strings.Replace(row, " ± 0.08", "", 1), []string{`"generation_tps":124.65,"generation_tps_stddev":null`}},
		{"size in MiB", cuda + heading + strings.Replace(row, "4.58 GiB", "512.00 MiB", 1), []string{`"model_size_gib":0.5`}},
		{"depth", cuda + heading + strings.Replace(row, "tg128", "tg128 @ d4096", 1), []string{`"n_gen":128,"context_depth":4096`}},
		{"depths are runs of their own", cuda + heading + strings.Replace(row, "tg128", "pp512 @ d4096", 1) + row, []string{`"n_prompt":512,"n_gen":null,"context_depth":4096`, `"n_prompt":null,"n_gen":128,"context_depth":0`}},
		{"combined test", cuda + heading + strings.Replace(row, "tg128", "pp4096+tg128", 1), []string{"f:5: llama 8B Q4_K - Medium pp4096+tg128: a combined test of prompt and generation gives neither speed"}},
		{"old prefix", cuda + heading + strings.Replace(row, "llama 8B Q4_K - Medium", "llama 8B mostly Q4_0", 1), []string{`"quantization":"Q4_0"`}},
		{"bits in words", cuda + heading + strings.Replace(row, "Q4_K - Medium", "IQ2_XXS - 2.0625 bpw", 1), []string{`"quantization":"IQ2_XXS"`}},
		{"build after the table", cuda + heading + row + "\nbuild: 4426e298 (2824)\n", []string{`"tool_version":"b2824 (4426e298)"`}},
		{"build of the next table", cuda + heading + row + "\nbuild: 4426e298 (2824)\n" + cuda + heading + strings.Replace(row, "124.65", "125.65", 1), []string{`"tool_version":"b2824 (4426e298)"`, `"tool_version":null`}},
		{
			"columns there only with their option", cuda + "| model | size | params | backend | ngl | threads | n_batch | n_ubatch | type_k | fa | test | t/s |\n" + "| llama 8B Q8_0 | 8 GiB | 8.03 B | CUDA | 99 | 8 | 1024 | 256 | q8_0 | 1 | tg128 | 50 ± 1 |\n",
			[]string{`"batch_size":1024,"concurrency":1,"n_gpu_layers":99,"flash_attention":true,"speculative_decoding":false,"threads":8`},
		},
		{"experts on the processor", cuda + "| model | size | params | backend | ngl | n_cpu_moe | test | t/s |\n" + "| llama 8B Q4_K - Medium | 4.58 GiB | 8.03 B | CUDA | 99 | 12 | tg128 | 50 ± 1 |\n", []string{`"partial_offload":true`}},
		{"two devices of a kind", strings.Replace(cuda, "found 1", "found 2", 1) + "  Device 1: NVIDIA GeForce RTX 4090, compute capability 8.9, VMM: yes\n" + heading + row, []string{`"hardware_count":2`}},
		{"all layers on the card", cuda + heading + row, []string{`"compute_unit":"gpu"`}},
		{"rate of decoding", cuda + heading + row, []string{`"rate_basis":"decode"`}},
		{"prompts have no rate of decoding", cuda + heading + strings.Replace(row, "tg128", "pp512", 1), []string{`"rate_basis":null`}},
		{"some layers on the card", cuda + heading + strings.Replace(row, "| 99 |", "| 12 |", 1), []string{`"compute_unit":"mixed","n_prompt":null,"n_gen":128`}},
		{"some layers are a partial offload", cuda + heading + strings.Replace(row, "| 99 |", "| 12 |", 1), []string{`"partial_offload":true`}},
		{"all layers but not the output", cuda + heading + strings.Replace(row, "| 99 |", "| 32 |", 1), []string{`"compute_unit":null`}},
		{"layers left to the program", cuda + heading + strings.Replace(row, "| 99 |", "| -1 |", 1), []string{`"compute_unit":null`}},
		{"size of ten to the power of nine, or not", cuda + heading + strings.Replace(row, "4.58 GiB", "4.92 GB", 1), []string{`size: must be a number in the form llama-bench prints, got "4.92 GB"`}},
		{"no share for the second device", other + strings.Replace(shared, "SHARES", "1.00/0.00", 1), []string{`"hardware":"nvidia-rtx-4090","hardware_raw":"NVIDIA GeForce RTX 4090","hardware_count":1`}},
		{"zeros at the end are left out", other + strings.Replace(shared, "SHARES", "1.00", 1), []string{`"hardware":"nvidia-rtx-4090","hardware_raw":"NVIDIA GeForce RTX 4090","hardware_count":1`}},
		{"no share for the first device", other + strings.Replace(shared, "SHARES", "0.00/1.00", 1), []string{`"hardware":"nvidia-rtx-3090","hardware_raw":"NVIDIA GeForce RTX 3090","hardware_count":1`}},
		{"zeros alone leave it to the program", other + strings.Replace(shared, "SHARES", "0.00", 1), []string{"different devices worked together"}},
		{"shares for both", other + strings.Replace(shared, "SHARES", "3.00/1.00", 1), []string{"different devices worked together"}},
		{"shares for a third device", other + strings.Replace(shared, "SHARES", "1.00/0.00/1.00", 1), []string{`tensor split "1.00/0.00/1.00" has more shares than the 2 listed devices`}},
		{"shares in words", other + strings.Replace(shared, "SHARES", "half/half", 1), []string{`tensor split "half/half" cannot be read`}},
		{"two different devices", strings.Replace(cuda, "found 1", "found 2", 1) + "  Device 1: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes\n" + heading + row, []string{"different devices worked together: NVIDIA GeForce RTX 4090, NVIDIA GeForce RTX 3090"}},
		{"rocm", "ggml_cuda_init: found 1 ROCm devices:\n  Device 0: AMD Radeon RX 7900 XTX, gfx1100 (0x1100), VMM: no, Wave Size: 32\n" + heading + strings.Replace(row, "CUDA", "ROCm", 1), []string{`"hardware":"amd-rx-7900-xtx"`}},
		{"metal", "ggml_metal_init: found device: Apple M2 Ultra\n" + heading + strings.Replace(row, "CUDA", "MTL,BLAS", 1), []string{`"hardware":"apple-m2-ultra"`}},
		{"no device line", heading + row, []string{"the output names no device; name the hardware"}},
		{"unknown device", strings.Replace(cuda, "4090", "4095", 1) + heading + row, []string{`no hardware is named "NVIDIA GeForce RTX 4095"; similar names: nvidia-rtx-4090`}},
		{"quoted in a mail", "> " + strings.ReplaceAll(strings.TrimSpace(cuda+heading+row), "\n", "\n> "), []string{`"generation_tps":124.65`}},
		{"dos lines", strings.ReplaceAll(cuda+heading+row, "\n", "\r\n"), []string{`"generation_tps":124.65`}},
		{"other tables around", "| a | b |\n|---|---|\n| 1 | 2 |\n\n" + cuda + heading + row, []string{`"generation_tps":124.65`}},
		{"twice the same", cuda + heading + row + "\n" + cuda + heading + row, []string{`"generation_tps":124.65`, "duplicate of an earlier row"}},
		{"no quantization printed", cuda + heading + strings.Replace(row, "llama 8B Q4_K - Medium", "llama 8B", 1), []string{`"quantization":null`}},
	} {
		t.Run(tt.name, func(t *testing.T) { gives(t, opt, tt.text, tt.want) })
	}
}

// TestPairing: how rows of one run become lines.
func TestPairing(t *testing.T) {
	for _, tt := range []struct {
		tests, want string
	}{
		{"pp512 tg128", "512+128"},
		{"tg128 pp512", "512+128"},
		{"pp512 pp1024 tg512 tg1024", "512+512 1024+1024"},
		{"pp512 pp2048 tg128", "512+128 2048+0"},
		{"pp256 tg64", "256+64"},
		{"pp256 pp2048 tg64", "256+0 2048+0 0+64"},
		{"pp512", "512+0"},
		{"tg32", "0+32"},
		{"pp512 tg128 pp512 tg128", "512+128 512+128"},
	} {
		var rows []*row
		for i, test := range strings.Fields(tt.tests) {
			r := &row{line: i + 1, values: map[string]value{"test": {text: test}, "avg_ts": {text: "1"}}}
			if r.read(); r.bad != "" {
				t.Fatal(r.bad)
			}
			rows = append(rows, r)
		}
		var got []string
		for _, p := range pair(rows) {
			var prompt, gen int64
			for _, r := range p {
				prompt, gen = prompt+r.prompt, gen+r.gen
			}
			got = append(got, fmt.Sprintf("%d+%d", prompt, gen))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("pair(%s) = %s, want %s", tt.tests, strings.Join(got, " "), tt.want)
		}
	}
}

func TestQuantization(t *testing.T) {
	for _, tt := range []struct{ kind, file, want string }{
		{"llama 8B Q4_K - Medium", "", "Q4_K_M"},
		{"llama 8B Q4_K - Small", "", "Q4_K_S"},
		{"llama 7B Q3_K - Large", "", "Q3_K_L"},
		{"llama 7B Q2_K - Medium", "", "Q2_K"},
		{"llama 8B IQ3_S mix - 3.66 bpw", "", "IQ3_M"},
		{"llama 8B IQ1_S - 1.5625 bpw", "", "IQ1_S"},
		{"bitnet TQ1_0 - 1.69 bpw ternary", "", "TQ1_0"},
		{"llama 8B Q8_0 (guessed)", "", "Q8_0"},
		{"gpt-oss 20B MXFP4 MoE", "", "MXFP4"},
		{"llama 8B BF16", "", "BF16"},
		{"llama 8B all F32", "", "F32"},
		{"qwen3 8B", "x-Q5_K_M", "Q5_K_M"},
		{"qwen3moe 30B.A3B Q4_K - Medium", "x-UD-Q4_K_XL", "UD-Q4_K_XL"},
		{"qwen3 8B", "", ""},
		{"", "Llama-3.2-3B-Instruct-Q8_0.gguf", "Q8_0"},
		{"", "/models/gpt-oss-120b-mxfp4-00001-of-00003.gguf", "MXFP4"},
		{"", "phi-4.F16.gguf", "F16"},
		{"", `C:\models\Phi-4-IQ4_XS.gguf`, "IQ4_XS"},
		{"", "bitnet-TQ1_0.gguf", "TQ1_0"},
		{"", "qwen2.5:0.5b-instruct-fp16", "FP16"},
		{"", "model-16.gguf", ""},
	} {
		r := &row{values: map[string]value{"model_type": {text: tt.kind}, "model_filename": {text: tt.file}}}
		if got := r.quantization(); got != tt.want {
			t.Errorf("quantization of %q in %q = %q, want %q", tt.kind, tt.file, got, tt.want)
		}
	}
}

const object = `{"build_commit":"a1b2c3d4e","build_number":9000,"cpu_info":"AMD Ryzen 9 7950X 16-Core Processor","gpu_info":"NVIDIA GeForce RTX 4090","backends":"CUDA","model_filename":"phi-4-Q8_0.gguf","model_type":"phi3 14B Q8_0","model_size":15580500000,"n_batch":2048,"n_ubatch":512,"n_threads":16,"type_k":"f16","type_v":"f16","n_gpu_layers":99,"flash_attn":true,"n_prompt":0,"n_gen":128,"test_time":"2026-01-02T03:04:05Z","avg_ts":60.5,"stddev_ts":0.25}`

// TestObjects reads the structured forms.
func TestObjects(t *testing.T) {
	csv := "build_commit,n_prompt,n_gen,avg_ts,model_filename,model_type,gpu_info,backends,n_gpu_layers\n"
	for _, tt := range []struct{ name, text, want string }{
		{"jsonl", object + "\n", `"hardware":"nvidia-rtx-4090","hardware_raw":"NVIDIA GeForce RTX 4090","hardware_count":1`},
		{"jsonl among logs", object + "\nllama_model_load: done\n", `"run_date":"2026-01-02","date_basis":"run"`},
		{"two cards", strings.Replace(object, `RTX 4090"`, `RTX 4090, NVIDIA GeForce RTX 4090"`, 1), `"hardware_count":2`},
		{"processor only", strings.NewReplacer(`"backends":"CUDA"`, `"backends":"CPU"`, `"gpu_info":"NVIDIA GeForce RTX 4090"`, `"gpu_info":""`).Replace(object), `"hardware":"amd-ryzen-9-7950x"`},
		{"layers for a card that is not there", strings.NewReplacer(`"backends":"CUDA"`, `"backends":"CPU"`, `"gpu_info":"NVIDIA GeForce RTX 4090"`, `"gpu_info":""`).Replace(object), `"n_gpu_layers":null`},
		{"nothing on the card", strings.Replace(object, `"n_gpu_layers":99`, `"n_gpu_layers":0`, 1), "no layer was on a device of CUDA, but it may still have processed the prompts"},
		{"flash attention left to the program", strings.Replace(object, `"flash_attn":true`, `"flash_attn":-1`, 1), `"flash_attention":null`},
		{"cache types", strings.Replace(object, `"type_k":"f16"`, `"type_k":"q8_0"`, 1), `"notes":"llama-bench; key cache q8_0"`},
		{"no share for the second device", strings.Replace(object, `"n_gpu_layers"`, `"tensor_split":"1.00","n_gpu_layers"`, 1), `"hardware_count":1`},
		{"experts on the processor", strings.Replace(object, `"n_gpu_layers"`, `"n_cpu_moe":8,"n_gpu_layers"`, 1), `"partial_offload":true`},
		{"unknown model", strings.Replace(object, "phi-4-Q8_0", "phi-5-Q8_0", 1), `no model is named "phi-5-Q8_0"; similar names: phi-`},
		{"no test", strings.Replace(object, `"n_gen":128`, `"n_gen":0`, 1), "pp0: no tokens were measured"},
		{"csv", csv + "x,512,0,100.5,phi-4-Q8_0.gguf,phi3 14B Q8_0,NVIDIA GeForce RTX 4090,CUDA,99\n", `"prompt_tps":100.5`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			result, err := importer(t, community).Read("f", []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := written(t, result); !strings.Contains(got, tt.want) || strings.Count(got, "\n") != 1 {
				t.Errorf("import gives\n%s\nwant in it\n%s", got, tt.want)
			}
		})
	}
}

// TestUnreadable: what is broken or no output of llama-bench is an error with its place.
func TestUnreadable(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", "f: has no result of llama-bench"},
		{"prose", "hello\n", "f: has no result of llama-bench"},
		{"a model", "{\n  \"slug\": \"a\"\n}\n", "f: has no result of llama-bench"},
		{"a benchmark", `{"id":"bm-1","model":"a"}`, "f: has no result of llama-bench"},
		{"UTF-16", "\xff\xfe|\x00 \x00m\x00", "f: has no result of llama-bench; the file must be in UTF-8"},
		{"broken json", "[{", "f: "},
		{"heading alone", "build_commit,avg_ts\n", "f: has no result of llama-bench"},
		{"a quote too many", "build_commit,n_gen,avg_ts,model_filename,gpu_info,backends\nx,\"1\"2,5,phi-4-Q8_0.gguf,y,CUDA\nx,128,100.5,phi-4-Q8_0.gguf,NVIDIA GeForce RTX 4090,CUDA\n", "f: parse error on line 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := importer(t, community).Read("f", []byte(tt.text))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("Read = %v, want %q", err, tt.want)
			}
		})
	}
}

// TestBadRows: a row that cannot be read is skipped with its reason, and the others are imported.
func TestBadRows(t *testing.T) {
	const good = "| llama 8B Q4_K - Medium | 4.58 GiB | 8.03 B | CUDA | 99 | tg128 | 124.65 ± 0.08 |\n"
	table := func(row string) string { return cuda + heading + row + good }
	for _, tt := range []struct{ name, text, why string }{
		{"broken line", "{\n" + object + "\n", "f:1:  pp0: not a JSON object"},
		{"no speed", strings.Replace(object, `"avg_ts":60.5`, `"avg_ts":null`, 1) + "\n" + object, `f:1: phi-4-Q8_0 tg128: avg_ts: must be a number above 0, got ""`},
		{"speed not a number", "[" + strings.Replace(object, "60.5", `"nan"`, 1) + "," + object + "]", `avg_ts: must be a number in the form llama-bench prints, got "nan"`},
		{"cells missing", table("| llama | 1 GiB |\n"), "f:5: llama pp0: must have 7 cells like its header, got 2"},
		{"last cell missing", table("| llama 8B Q8_0 | 7.95 GiB | 8.03 B | CUDA | 99 | pp512 |\n"), "f:5: llama 8B Q8_0 pp512: must have 7 cells like its header, got 6"},
		{"rate in words", table("| llama | 1 GiB | 1 B | CUDA | 99 | tg128 | fast |\n"), `f:5: llama tg128: t/s: must be a number in the form llama-bench prints, got "fast"`},
		{"test in words", table("| llama | 1 GiB | 1 B | CUDA | 99 | all | 5 ± 1 |\n"), `f:5: llama pp0: test: must be like pp512 or tg128, got "all"`},
		{"size in another unit", table("| llama | 1 hand | 1 B | CUDA | 99 | tg128 | 5 ± 1 |\n"), `size: must be a number in the form llama-bench prints, got "1 hand"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			opt := community
			if strings.Contains(tt.text, "|") {
				opt.Model = "llama-3-8b"
			}
			result, err := importer(t, opt).Read("f", []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if len(result.Benchmarks) != 1 || len(result.Skipped) != 1 || !strings.Contains(result.Skipped[0].String(), tt.why) {
				t.Errorf("import gives\n%s\nwant one line and %q", written(t, result), tt.why)
			}
		})
	}
}

// TestForms: numbers and Markdown in the forms people paste.
func TestForms(t *testing.T) {
	const row = "| llama 8B Q4_K - Medium | 4.58 GiB | 8.03 B | CUDA | 99 | pp512 | 11000.55 ± 3.10 |\n"
	opt := Options{SourceURL: community.SourceURL, Model: "llama-3-8b"}
	const speed, dev = `"prompt_tps":11000.55,"prompt_tps_stddev":3.1,`, `"prompt_tps":11000.55,"prompt_tps_stddev":null,`
	all := func(old, new string) string { return cuda + heading + strings.Replace(row, old, new, 1) }
	indented := strings.ReplaceAll(strings.TrimSpace(cuda+heading+row+"\nbuild: 4426e298 (2824)\n"), "\n", "\n    ")
	for _, tt := range []struct{ name, text, want string }{
		{"bold test", all("pp512", "**pp512**"), `"n_prompt":512`},
		{"bold speed", all("11000.55 ± 3.10", "**11000.55** ± 3.10"), speed},
		{"code", all("pp512", "`pp512`"), `"n_prompt":512`},
		{"depth without blanks", all("pp512", "pp512@d8192"), `"context_depth":8192`},
		{"depth with blanks", all("pp512", "pp512 @ d8192"), `"context_depth":8192`},
		{"blank in the test", all("pp512", "PP 512"), `"n_prompt":512`},
		{"entity", all("±", "&plusmn;"), speed},
		{"numeric entity", all("±", "&#177;"), speed},
		{"no deviation known", all("± 3.10", "± nan"), dev},
		{"hard blanks", all("11000.55 ± 3.10", "11000.55\u00a0±\u00a03.10"), speed},
		{"indented", indented, `"tool_version":"b2824 (4426e298)"`},
		{"quoted twice", "> > " + strings.ReplaceAll(strings.TrimSpace(cuda+heading+row+"\nbuild: 4426e298 (2824)"), "\n", "\n> > "), `"tool_version":"b2824 (4426e298)"`},
		{"build in code", cuda + heading + row + "\n`build: 4426e298 (2824)`\n", `"tool_version":"b2824 (4426e298)"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			result, err := importer(t, opt).Read("f", []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := written(t, result); !strings.Contains(got, tt.want) || len(result.Skipped) > 0 {
				t.Errorf("import gives\n%s\nwant in it\n%s", got, tt.want)
			}
		})
	}
}

// TestMachines: the name of the processor decides between machines, graphics and their processor
// are one thing, and a name that many machines print is none.
func TestMachines(t *testing.T) {
	const halo = `"cpu_info":"AMD RYZEN AI MAX+ 395 w/ Radeon 8060S"`
	with := func(cpu, gpu, backend string) string {
		return strings.NewReplacer(`"cpu_info":"AMD Ryzen 9 7950X 16-Core Processor"`, cpu, "NVIDIA GeForce RTX 4090", gpu, `"CUDA"`, `"`+backend+`"`).Replace(object)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"generic graphics and their processor", with(halo, "AMD Radeon Graphics", "ROCm"), `"hardware":"amd-ryzen-ai-max-395","hardware_raw":"AMD Radeon Graphics"`},
		{"named graphics and their processor", with(halo, "Radeon 8060S Graphics (RADV STRIX_HALO)", "Vulkan"), `"hardware":"amd-ryzen-ai-max-395"`},
		{"a card in that machine", with(halo, "AMD Radeon RX 7900 XTX", "ROCm"), `"hardware":"amd-rx-7900-xtx"`},
		{"generic graphics, unknown processor", with(`"cpu_info":"AMD Ryzen 7 9999G"`, "AMD Radeon Graphics", "ROCm"), `"AMD Radeon Graphics" matches several records`},
		{"generic graphics, no processor", with(`"cpu_info":""`, "AMD Radeon Graphics", "ROCm"), `"AMD Radeon Graphics" matches several records`},
		{"named graphics, no processor", with(`"cpu_info":""`, "Radeon 8060S Graphics (RADV STRIX_HALO)", "Vulkan"), `is inside a processor that the output does not name; name the hardware (on the command line: --hardware): amd-ryzen-ai-max-395, or amd-radeon-8060s`},
		{"a stranger's virtual machine", strings.NewReplacer(`"backends":"CUDA"`, `"backends":"CPU"`, `"gpu_info":"NVIDIA GeForce RTX 4090"`, `"gpu_info":""`, "AMD Ryzen 9 7950X 16-Core Processor", "AMD EPYC", `"n_threads":16`, `"n_threads":128`).Replace(object), `"AMD EPYC" matches several records`},
		{"two sizes of a card", with(`"cpu_info":""`, "NVIDIA GeForce RTX 5060 Ti", "CUDA"), `matches several records: the name does not state the memory size: 16 GB or 8 GB`},
		{"a chip whose cores are not stated", with(`"cpu_info":"Accelerate, Apple M2 Ultra"`, "Apple M2 Ultra", "MTL,BLAS"), `"hardware":"apple-m2-ultra"`},
		{"split mode none", strings.NewReplacer(`RTX 4090"`, `RTX 4090, NVIDIA GeForce RTX 4090"`, `"n_gen"`, `"split_mode":"none","main_gpu":0,"n_gen"`).Replace(object), `"hardware_count":1`},
		{"split mode none on the second of two", strings.NewReplacer(`RTX 4090"`, `RTX 4090, NVIDIA GeForce RTX 3090"`, `"n_gen"`, `"split_mode":"none","main_gpu":1,"n_gen"`).Replace(object), `"hardware":"nvidia-rtx-3090"`},
		{"main device that is not there", strings.NewReplacer(`RTX 4090"`, `RTX 4090, NVIDIA GeForce RTX 4090"`, `"n_gen"`, `"split_mode":"none","main_gpu":5,"n_gen"`).Replace(object), "main device 5 is not one of the 2 listed"},
		{"one of two chosen", strings.NewReplacer(`RTX 4090"`, `RTX 4090, NVIDIA GeForce RTX 3090"`, `"n_gen"`, `"devices":"CUDA1","n_gen"`).Replace(object), `"hardware":"nvidia-rtx-3090"`},
		{"other machines", strings.Replace(object, `"CUDA"`, `"CUDA,RPC"`, 1), `"notes":"llama-bench; RPC: other machines may have taken part"`},
		{"a backend of another maker", strings.Replace(object, `"CUDA"`, `"MTL,BLAS"`, 1), "the output has backend MTL,BLAS, which does not run on nvidia-rtx-4090"},
		{"another model under that name", strings.Replace(object, `"model_size"`, `"model_n_params":72706203648,"model_size"`, 1), "the output is not from phi-4: phi3 14B Q8_0 prints 72.71 B parameters, the dataset has 14.66 B"},
		{"a file of a repackager", strings.Replace(object, "phi-4-Q8_0.gguf", "Qwen_Qwen3-4B-Instruct-2507-Q4_K_M.gguf", 1), `"model":"qwen3-4b-instruct-2507"`},
		{"a model made of another", strings.Replace(object, "phi-4-Q8_0.gguf", "phi-4-abliterated-Q8_0.gguf", 1), `no model is named "phi-4-abliterated-Q8_0"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			result, err := importer(t, community).Read("f", []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := written(t, result); !strings.Contains(got, tt.want) || strings.Count(got, "\n") != 1 {
				t.Errorf("import gives\n%s\nwant in it\n%s", got, tt.want)
			}
		})
	}
}

// TestContradictions: options do not override what the output prints.
func TestContradictions(t *testing.T) {
	const metal = "ggml_metal_init: found device: Apple M2 Ultra\n"
	const row = "| gpt-oss 20B MXFP4 MoE | 11.27 GiB | 20.91 B | MTL,BLAS | 99 | tg128 | 115.52 ± 0.26 |\n"
	for _, tt := range []struct {
		name, text      string
		model, hardware string
		want            string
	}{
		{"as printed", metal + heading + row, "gpt-oss-20b", "apple-m2-ultra-76gpu", `"hardware":"apple-m2-ultra-76gpu","hardware_raw":"Apple M2 Ultra"`},
		{"a machine with that chip", metal + heading + row, "gpt-oss-20b", "apple-mac-studio-m2-ultra", `"hardware":"apple-mac-studio-m2-ultra"`},
		{"no device line", heading + row, "gpt-oss-20b", "apple-m2-ultra", `"hardware":"apple-m2-ultra"`},
		{"type that names a release", metal + heading + row, "", "", `"model":"gpt-oss-20b"`},
		{"another size", metal + heading + row, "gpt-oss-120b", "apple-m2-ultra", "the output is not from gpt-oss-120b: gpt-oss 20B MXFP4 MoE prints 20.91 B parameters, the dataset has 116.83 B"},
		{"a card under Metal", heading + row, "gpt-oss-20b", "nvidia-rtx-4090", "the output has backend MTL,BLAS, which does not run on nvidia-rtx-4090"},
		{"another device", metal + heading + row, "gpt-oss-20b", "apple-m3-ultra", `the output names "Apple M2 Ultra", which is not apple-m3-ultra`},
		{"another family", heading + "| qwen2 72B Q4_K - Medium | 44.16 GiB | 72.71 B | CUDA | 99 | tg128 | 5 ± 1 |\n", "llama-2-7b", "nvidia-rtx-4090", "the output is not from llama-2-7b"},
		{"a card that did nothing", heading + strings.Replace(row, "MTL,BLAS", "CPU", 1), "gpt-oss-20b", "nvidia-rtx-4090", "the output has backend CPU, which does not run on nvidia-rtx-4090"},
		{"without the vision tower", cuda + heading + "| gemma3 4B Q4_0 | 2.35 GiB | 3.88 B | CUDA | 99 | tg128 | 5 ± 1 |\n", "gemma-3-4b-it", "", `"model":"gemma-3-4b-it"`},
		{"output matrix beside the embedding", cuda + heading + "| qwen2 1B Q8_0 | 638.74 MiB | 630.17 M | CUDA | 99 | tg128 | 5 ± 1 |\n", "qwen2.5-0.5b-instruct", "", `"model":"qwen2.5-0.5b-instruct"`},
		{"split mode none", strings.Replace(cuda, "found 1", "found 2", 1) + "  Device 1: NVIDIA GeForce RTX 4090, compute capability 8.9, VMM: yes\n" + "| model | size | params | backend | ngl | sm | test | t/s |\n| llama 8B Q4_0 | 4 GiB | 8.03 B | CUDA | 99 | none | tg128 | 5 ± 1 |\n", "llama-3-8b", "", `"hardware_count":1`},
		{"split mode none on the second", strings.Replace(cuda, "found 1", "found 2", 1) + "  Device 1: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes\n" + "| model | size | params | backend | ngl | sm | mg | test | t/s |\n| llama 8B Q4_0 | 4 GiB | 8.03 B | CUDA | 99 | none | 1 | tg128 | 5 ± 1 |\n", "llama-3-8b", "", `"hardware":"nvidia-rtx-3090"`},
		{"other machines", "ggml_vulkan: 0 = AMD Radeon RX 7900 XTX (RADV NAVI31) (radv) | uma: 0\n" + heading + "| llama 8B Q4_0 | 4 GiB | 8.03 B | Vulkan,RPC | 99 | tg128 | 5 ± 1 |\n", "llama-3-8b", "", "RPC: other machines may have taken part"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			result, err := importer(t, Options{SourceURL: community.SourceURL, Model: tt.model, Hardware: tt.hardware}).Read("f", []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := written(t, result); !strings.Contains(got, tt.want) || strings.Count(got, "\n") != 1 {
				t.Errorf("import gives\n%s\nwant in it\n%s", got, tt.want)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	set, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		opt  Options
		want string // empty: accepted
	}{
		{"community with a page", community, ""},
		{"owner without a page", Options{Source: dataset.Owner}, ""},
		{"community without a page", Options{}, `source_url: must be given if source is "community"`},
		{"no address", Options{SourceURL: "example.com"}, "source_url: must start with https:// or http://"},
		{"no date", Options{Source: dataset.Owner, RunDate: "yesterday"}, "run_date: must be a date"},
		{"a date in the future", Options{Source: dataset.Owner, RunDate: "2999-01-01"}, `run_date: must not be in the future, got "2999-01-01"`},
		{"unknown model", Options{Source: dataset.Owner, Model: "phi-5"}, `model: "phi-5" is not known; similar names: phi-`},
		{"names", Options{Source: dataset.Owner, Model: "Qwen/Qwen3-8B", Hardware: "RTX 4090"}, ""},
		{"a name of several cards", Options{Source: dataset.Owner, Hardware: "geforce 40"}, `hardware: "geforce 40" `},
		{"unknown hardware", Options{Source: dataset.Owner, Hardware: "nvidia-rtx-4095"}, `hardware: "nvidia-rtx-4095" is not known; similar names: nvidia-rtx-4`},
		{"two faults", Options{RunDate: "x"}, "source_url: must be given if source is \"community\"\nrun_date: "},
	} {
		_, err := New(LlamaBench, set, tt.opt)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: New = %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestAgain(t *testing.T) {
	set, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	first, err := importer(t, community).Read("f", []byte(object))
	if err != nil || len(first.Benchmarks) != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	grown := *set
	grown.Benchmarks = dataset.Pointers(first.Benchmarks)
	im, err := New(LlamaBench, &grown, community)
	if err != nil {
		t.Fatal(err)
	}
	again, err := im.Read("f", []byte(object))
	if err != nil || len(again.Skipped) != 1 || !strings.HasPrefix(again.Skipped[0].Why, "is already in the dataset as bm-") {
		t.Errorf("a second import = %+v, %v", again, err)
	}
}

// FuzzRead: whatever the text, an import ends, and what it gives passes the rules of a record.
func FuzzRead(f *testing.F) {
	for name := range samples {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b[:min(len(b), 4000)])
	}
	f.Add([]byte(object))
	f.Add([]byte("[" + object + "]"))
	f.Add([]byte(cuda + heading + "| llama 8B Q4_0 | 1 GiB | 1 B | CUDA | 99 | pp512 @ d10 | 5 ± 1 |\nbuild: 1234567 (1)\n"))
	im := importer(f, Options{SourceURL: community.SourceURL, Model: "phi-4", Hardware: "nvidia-rtx-4090"})
	byName := importer(f, community)
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, im := range []*Importer{im, byName} {
			result, err := im.Read("f", b)
			if err != nil {
				continue
			}
			for i := range result.Benchmarks {
				if err := record.Validate(&result.Benchmarks[i]); err != nil {
					t.Errorf("%+v: %v", result.Benchmarks[i], err)
				}
			}
		}
	})
}

// TestOriginKey: a page of a known origin gives its lines the key of it.
func TestOriginKey(t *testing.T) {
	set, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	known := string(set.Origins[len(set.Origins)/2].URL) + "/x"
	for page, want := range map[dataset.URL]bool{dataset.URL(known): true, "https://unheard-of.example/run": false} {
		result := read(t, importer(t, Options{SourceURL: page}), "json-metal-m4-llama-3.2-3b.json")
		for i := range result.Benchmarks {
			if got := result.Benchmarks[i].SourceKey; (got != nil) != want || want && *got != page.OriginKey() {
				t.Errorf("lines of %s have the key %v", page, got)
			}
		}
		if len(result.Benchmarks) == 0 {
			t.Errorf("no line of %s", page)
		}
	}
}

// TestNothingGuessed: what a careful reader would not record is skipped with the reason, or left unknown.
func TestNothingGuessed(t *testing.T) {
	const row = "| llama 8B Q4_K - Medium | 4.58 GiB | 8.03 B | CUDA | 99 | tg128 | 124.65 ± 0.08 |\n"
	with := func(old, new string) string { return cuda + heading + strings.Replace(row, old, new, 1) }
	column := func(before, name, value string) string { // one more column in front
		lines := strings.SplitAfter(heading+row, "\n")
		return before + "| " + name + " " + lines[0] + "| --- " + lines[1] + "| " + value + " " + lines[2]
	}
	two := strings.Replace(cuda, "found 1", "found 2", 1)
	for _, tt := range []struct {
		name, text string
		want       []string // parts of the lines and reasons, in order
	}{
		{"a comma that may be decimal", with("124.65 ± 0.08", "5,123 ± 12"), []string{`t/s: must be a number in the form llama-bench prints, got "5,123"`}},
		{"decimal commas", with("124.65 ± 0.08", "5,123 ± 0,012"), []string{`t/s: must be a number in the form llama-bench prints, got "5,123"`}},
		{"decimal comma of a size", with("4.58 GiB", "4,583 GiB"), []string{`size: must be a number in the form llama-bench prints, got "4,583 GiB"`}},
		{"decimal comma of a deviation", with("124.65 ± 0.08", "5123 ± 0,012"), []string{`t/s: must be a number in the form llama-bench prints, got "0,012"`}},
		{"groups of two digits", with("124.65", "12,34,567.00"), []string{"t/s: must be a number in the form llama-bench prints"}},
		{"hexadecimal", with("124.65 ± 0.08", "0x1p5"), []string{"t/s: must be a number in the form llama-bench prints"}},
		{"struck out", with("124.65 ± 0.08", "~~124.65 ± 0.08~~"), []string{"is struck out"}},
		{"struck-out model", with("llama 8B Q4_K - Medium", "~~llama 8B Q4_K - Medium~~"), []string{"is struck out"}},
		{"two columns of speeds", strings.ReplaceAll(strings.ReplaceAll(cuda+heading+row, "| t/s |", "| t/s | t/s |"), " 0.08 |", " 0.08 | 200 ± 1 |"), []string{`the table has the column "t/s" twice`}},
		{"a column of devices", column(cuda, "GPU", "RTX 3090"), []string{`the table has a column "GPU", which llama-bench does not print`}},
		{"a column of storage types", column(cuda, "quant", "Q4_K_M"), []string{`the table has a column "quant", which llama-bench does not print`}},
		{"flash attention on", column(cuda, "fa", "on"), []string{`"flash_attention":true`}},
		{"flash attention left to the program", column(cuda, "fa", "auto"), []string{`"flash_attention":null`}},
		{"flash attention 2", column(cuda, "fa", "2"), []string{`fa: must be 0, 1 or -1, got "2"`}},
		{"operations stay on the processor", column(cuda, "nopo", "1"), []string{`"notes":"llama-bench; operations on weights in main memory run on the processor"`}},
		{"a device that is not listed", two + heading + row, []string{"devices found: 2, listed: 1"}},
		{"a table under another headline", cuda + heading + row + "\n### RTX 3060\n\n" + heading + strings.Replace(row, "124.65", "55.5", 1), []string{`"hardware":"nvidia-rtx-4090"`, "the output names no device"}},
		{"two tables of one machine", cuda + heading + row + "\n" + heading + strings.Replace(row, "124.65", "125.5", 1), []string{`"hardware":"nvidia-rtx-4090"`, `"hardware":"nvidia-rtx-4090"`}},
		{"builds before their tables", "build: 4426e298 (2824)\n" + cuda + heading + row + "build: 5555e298 (3000)\n" + cuda + heading + strings.Replace(row, "124.65", "125.65", 1), []string{`"tool_version":null`, `"tool_version":null`}},
		{"one build before all tables", "build: 4426e298 (2824)\n" + cuda + heading + row, []string{`"tool_version":null`}},
		{"two backends", with("CUDA", "CUDA,Vulkan"), []string{"any of the backends CUDA, Vulkan may have been used"}},
		{"a device of two backends", strings.Replace(column(cuda+radeon, "dev", "Vulkan0"), "| CUDA |", "| CUDA,Vulkan |", 1), []string{`"hardware":"amd-rx-7900-xtx"`}},
		{"the backend of that device", strings.Replace(column(cuda+radeon, "dev", "Vulkan0"), "| CUDA |", "| CUDA,Vulkan |", 1), []string{`"backend":"vulkan"`}},
		{"a device that is not listed for its backend", strings.Replace(column(cuda, "dev", "Vulkan0"), "| CUDA |", "| CUDA,Vulkan |", 1), []string{`device "Vulkan0" is not one of the 0 listed for a backend`}},
		{"devices of two backends", strings.Replace(column(cuda+radeon, "dev", "CUDA0/Vulkan0"), "| CUDA |", "| CUDA,Vulkan |", 1), []string{`device "Vulkan0" is not one of the 1 listed for a backend`}},
		{"a backend and a library", with("CUDA", "CUDA,BLAS"), []string{`"backend":"cuda"`}},
		{"line numbers after empty lines", "\n\n \n" + with("tg128", "all"), []string{"f:8: llama 8B Q4_K - Medium pp0: test: must be like pp512 or tg128"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			gives(t, Options{SourceURL: community.SourceURL, Model: "llama-3-8b"}, tt.text, tt.want)
		})
	}
	csv := "build_commit,n_prompt,n_gen,n_depth,avg_ts,model_filename,model_type,gpu_info,backends,n_gpu_layers\n"
	line := "x,512,0,0,100.5,phi-4-Q8_0.gguf,phi3 14B Q8_0,NVIDIA GeForce RTX 4090,CUDA,99\n"
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"whole numbers with a point", csv + strings.Replace(line, "512,0,0,", "512.0,0.0,4096.0,", 1), []string{`"context_depth":4096`}},
		{"a depth that is not a number", csv + strings.Replace(line, "512,0,0,", "512,0,4k,", 1), []string{`n_depth: must be a whole number, got "4k"`}},
		{"a depth no number can hold", csv + strings.Replace(line, "512,0,0,", "512,0,99999999999999999999,", 1), []string{"n_depth: must be a whole number"}},
		{"flash attention 2", strings.Replace(object, `"flash_attn":true`, `"flash_attn":2`, 1), []string{`flash_attn: must be 0, 1 or -1, got "2"`}},
		{"flash attention in words", strings.Replace(object, `"flash_attn":true`, `"flash_attn":"on"`, 1), []string{`"flash_attention":true`}},
		{"two backends that list a card each", strings.NewReplacer(`RTX 4090"`, `RTX 4090, NVIDIA GeForce RTX 4090"`, `"CUDA"`, `"CUDA,Vulkan"`).Replace(object), []string{"any of the backends CUDA, Vulkan may have been used"}},
		{"one of them chosen", strings.NewReplacer(`RTX 4090"`, `RTX 4090, NVIDIA GeForce RTX 4090"`, `"CUDA"`, `"CUDA,Vulkan"`, `"n_gen"`, `"devices":"Vulkan0","n_gen"`).Replace(object), []string{"gpu_info does not assign devices to backends"}},
		{"one of different ones chosen", strings.NewReplacer(`RTX 4090"`, `RTX 4090, NVIDIA GeForce RTX 3090"`, `"CUDA"`, `"CUDA,Vulkan"`, `"n_gen"`, `"devices":"Vulkan0","n_gen"`).Replace(object), []string{"gpu_info does not assign devices to backends"}},
		{"embeddings", strings.Replace(object, `"n_prompt":0`, `"embeddings":true,"n_prompt":0`, 1), []string{`"notes":"llama-bench; embeddings"`}},
		{"objects after a log", "ggml_cuda_init: found 1 CUDA devices:\n[\n  " + object + "\n]\n", []string{`"hardware":"nvidia-rtx-4090"`}},
		{"lines after a log", "ggml_cuda_init: found 1 CUDA devices:\n" + object + "\n{\n", []string{`"hardware":"nvidia-rtx-4090"`, "f:3:  pp0: not a JSON object"}},
		{"values after a log", "ggml_cuda_init: found 1 CUDA devices:\n" + csv + line + "x\n", []string{`"prompt_tps":100.5`, "f:4:  pp0: avg_ts: must be a number above 0"}},
	} {
		t.Run(tt.name, func(t *testing.T) { gives(t, community, tt.text, tt.want) })
	}
}

// gives imports a text and compares the lines and reasons with parts of them.
func gives(t *testing.T, opt Options, text string, want []string) {
	t.Helper()
	result, err := importer(t, opt).Read("f", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(written(t, result)), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), len(want), strings.Join(lines, "\n"))
	}
	for i, part := range want {
		if !strings.Contains(lines[i], part) {
			t.Errorf("line %d is\n%s\nwant in it\n%s", i+1, lines[i], part)
		}
	}
}

// published are facts of outputs that people published, in the forms they were printed in.
var published = []struct {
	name, text      string
	model, hardware string
	want            []string // parts of the lines and reasons, in order
}{
	{
		name: "OpenCL names its device twice", model: "qwen3-1.7b", hardware: "Snapdragon 8 Elite Gen 5",
		text: "ggml_opencl: device: 'QUALCOMM Adreno(TM) 840 (OpenCL 3.0 Adreno(TM) 840)'\n" +
			"ggml_opencl: OpenCL driver: OpenCL 3.0 QUALCOMM build: 0842.27.1\n" +
			"ggml_opencl: default device: 'QUALCOMM Adreno(TM) 840 (OpenCL 3.0 Adreno(TM) 840)'\n\n" + heading +
			"| qwen3 1.7B F16 | 3.78 GiB | 2.03 B | OpenCL | 99 | pp512 | 394.43 ± 24.45 |\n" +
			"| qwen3 1.7B F16 | 3.78 GiB | 2.03 B | OpenCL | 99 | tg128 | 13.60 ± 0.08 |\n",
		want: []string{`"hardware_count":1`},
	},
	{
		name: "a table of another program",
		text: cuda + "| model | quant | size | params | backend | test | t/s |\n| - | - | - | - | - | - | - |\n" +
			"| Qwen3-4B | FP16 | 7.50 GiB | 4.02 B | CUDA | tg64 | 35.45 ± 0.06 |\n",
		want: []string{`the table has a column "quant", which llama-bench does not print: it comes from another program or was edited`},
	},
	{
		name: "no layer on the card", model: "llama-2-13b", hardware: "amd-rx-6800-xt",
		text: heading + "| llama 13B Q6_K | 9.95 GiB | 13.02 B | OpenCL | 0 | pp 512 | 103.91 ± 13.10 |\n" +
			"| llama 13B Q6_K | 9.95 GiB | 13.02 B | Vulkan | 0 | tg 128 | 4.46 ± 0.05 |\n" +
			"| llama 13B Q6_K | 9.95 GiB | 13.02 B | ROCm | 99 | pp 512 | 684.11 ± 3.10 |\n",
		want: []string{`"backend":"rocm"`, "no layer was on a device of OpenCL", "no layer was on a device of Vulkan"},
	},
	{
		name: "a chip family",
		text: strings.Replace(cuda, "NVIDIA GeForce RTX 4090, compute capability 8.9", "Orin, compute capability 8.7", 1) + heading +
			"| gpt-oss 20B MXFP4 MoE | 11.27 GiB | 20.91 B | CUDA | 99 | tg128 | 12.00 ± 0.10 |\n",
		want: []string{`"Orin" is a chip used on several boards; name the hardware (on the command line: --hardware): ` +
			"nvidia-jetson-agx-orin, nvidia-jetson-agx-orin-32gb, nvidia-jetson-agx-orin-64gb, nvidia-jetson-orin-nano-4gb"},
	},
	{
		name: "a board of that chip family", hardware: "Jetson Orin NX 16GB",
		text: strings.Replace(cuda, "NVIDIA GeForce RTX 4090, compute capability 8.9", "Orin, compute capability 8.7", 1) + heading +
			"| gpt-oss 20B MXFP4 MoE | 11.27 GiB | 20.91 B | CUDA | 99 | tg128 | 12.00 ± 0.10 |\n",
		want: []string{`"hardware":"nvidia-jetson-orin-nx-16gb","hardware_raw":"Orin"`},
	},
	{
		name: "the model file in the command line", hardware: "Intel Arc B580",
		text: "GPU: Intel Arc B580\n./llama-bench -m D:\\Data\\Models-GGUF\\DeepSeek-R1-Distill-Qwen-7B-Q4_K_M.gguf -t 16 -p 512,1024 -n 128\n" +
			heading + "| qwen2 7B Q4_K - Medium | 4.36 GiB | 7.62 B | SYCL | 99 | tg128 | 66.48 ± 0.22 |\n",
		want: []string{`"model":"deepseek-r1-distill-qwen-7b","model_raw":"DeepSeek-R1-Distill-Qwen-7B-Q4_K_M","quantization":"Q4_K_M"`},
	},
	{
		name: "an architecture is not a model", hardware: "Intel Arc B580",
		text: heading + "| qwen2 7B Q4_K - Medium | 4.36 GiB | 7.62 B | SYCL | 99 | tg128 | 66.48 ± 0.22 |\n",
		want: []string{`the type "qwen2 7B Q4_K - Medium" gives an architecture and a file size, not a model`},
	},
	{
		name: "a repository in the command line",
		text: "$ llama-bench -hf unsloth/Qwen3-8B-GGUF:Q4_K_M -fa 1\n" + cuda + heading +
			"| qwen3 8B Q4_K - Medium | 4.68 GiB | 8.19 B | CUDA | 99 | tg128 | 120.00 ± 0.10 |\n",
		want: []string{`"model":"qwen3-8b"`},
	},
	{
		name: "two devices that are not listed", model: "qwen3-4b", hardware: "nvidia-rtx-3090",
		text: "| model | size | params | backend | ngl | dev | test | t/s |\n|-|-|-|-|-|-|-|-|\n" +
			"| qwen3 4B Q4_K - Medium | 2.32 GiB | 4.02 B | CUDA | 99 | CUDA0/CUDA1 | tg128 | 150.00 ± 0.10 |\n",
		want: []string{`device "CUDA0" is not one of the 0 listed for a backend`},
	},
	{
		name: "two model files",
		text: "$ llama-bench -m a/Llama-3.2-3B-Instruct-Q4_K_M.gguf -m b/Qwen3-4B-Q4_K_M.gguf\n" + cuda + heading +
			"| llama 3B Q4_K - Medium | 1.87 GiB | 3.21 B | CUDA | 99 | tg128 | 76.49 ± 0.27 |\n",
		want: []string{`the type "llama 3B Q4_K - Medium" gives an architecture`},
	},
	{
		name: "Metal with a label before the name", model: "gpt-oss 20B",
		text: "ggml_metal_device_init: GPU name:   MTL0 (Apple M2 Ultra)\nggml_metal_device_init: GPU family: MTLGPUFamilyApple8  (1008)\n" +
			heading + "| gpt-oss 20B MXFP4 MoE | 11.27 GiB | 20.91 B | MTL,BLAS | 99 | tg128 | 120.00 ± 0.10 |\n\nbuild: 15fa3c493 (8900)\n",
		want: []string{`"hardware":"apple-m2-ultra","hardware_raw":"Apple M2 Ultra","hardware_count":1`},
	},
	{
		name: "batched-bench before the table", hardware: "apple-m2-ultra", model: "qwen2.5-7b-instruct",
		text: "| PP | TG | B | N_KV | T_PP s | S_PP t/s | T_TG s | S_TG t/s | T s | S t/s |\n|-|-|-|-|-|-|-|-|-|-|\n" +
			"| 512 | 32 | 1 | 544 | 0.337 | 1518.90 | 0.405 | 79.04 | 0.742 | 733.22 |\n\n" +
			"| model | size | params | backend | threads | n_ubatch | fa | mmap | test | t/s |\n|-|-|-|-|-|-|-|-|-|-|\n" +
			"| qwen2 7B Q8_0 | 7.54 GiB | 7.62 B | Metal,BLAS | 16 | 2048 | 1 | 0 | tg32 | 79.10 ± 0.10 |\n",
		want: []string{`"notes":"llama-bench; ubatch 2048"`},
	},
}

// TestPublished: none of these outputs may give a wrong row.
func TestPublished(t *testing.T) {
	for _, tt := range published {
		t.Run(tt.name, func(t *testing.T) {
			gives(t, Options{SourceURL: community.SourceURL, Model: tt.model, Hardware: tt.hardware}, tt.text, tt.want)
		})
	}
}

// TestHeaderLines: a line above a table that is printed twice, or in another order, changes no row.
func TestHeaderLines(t *testing.T) {
	texts := map[string]Options{}
	for _, tt := range published {
		texts[tt.text] = Options{SourceURL: community.SourceURL, Model: tt.model, Hardware: tt.hardware}
	}
	const row = "| llama 8B Q4_K - Medium | 4.58 GiB | 8.03 B | CUDA | 99 | tg128 | 124.65 ± 0.08 |\n"
	two := strings.Replace(cuda, "found 1", "found 2", 1) + "  Device 1: NVIDIA GeForce RTX 4090, compute capability 8.9, VMM: yes\n"
	texts[two+radeon+heading+row] = Options{SourceURL: community.SourceURL, Model: "llama-3-8b"}
	for text, opt := range texts {
		im := importer(t, opt)
		at := strings.Index(text, "| model |")
		above, table := strings.SplitAfter(text[:at], "\n"), text[at:]
		rows := func(above []string) string {
			result, err := im.Read("f", []byte(strings.Join(above, "")+table))
			if err != nil {
				t.Fatal(err)
			}
			for i := range result.Skipped {
				result.Skipped[i].Line = 0 // more lines above
			}
			return written(t, result)
		}
		want := rows(above)
		for i := range above {
			twice := slices.Insert(slices.Clone(above), i, above[i])
			if diff := cmp.Diff(want, rows(twice)); diff != "" {
				t.Errorf("%q printed twice (-want +got):\n%s", above[i], diff)
			}
			turned := slices.Clone(above)
			slices.Reverse(turned[i:])
			if diff := cmp.Diff(want, rows(turned)); diff != "" {
				t.Errorf("the lines from %q in reverse order (-want +got):\n%s", above[i], diff)
			}
		}
	}
}

// TestFrom: every field of a row says where it comes from.
func TestFrom(t *testing.T) {
	check := func(result Result) {
		for i := range result.Benchmarks {
			line, err := record.Line(&result.Benchmarks[i])
			if err != nil {
				t.Fatal(err)
			}
			var fields map[string]any
			if err := json.Unmarshal(line, &fields); err != nil {
				t.Fatal(err)
			}
			for name, v := range fields {
				if v != nil && result.From[i][name] == "" {
					t.Errorf("%s does not say where %s = %v comes from", result.Benchmarks[i].ID, name, v)
				}
			}
		}
	}
	for name, opt := range samples {
		check(read(t, importer(t, opt), name))
	}
	for _, tt := range published {
		result, err := importer(t, Options{SourceURL: community.SourceURL, Model: tt.model, Hardware: tt.hardware}).Read("f", []byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		check(result)
	}
	result, err := importer(t, Options{SourceURL: community.SourceURL, Model: "llama-3-8b", RunDate: "2025-01-02"}).Read("f", []byte(cuda+heading+
		"| llama 8B Q4_K - Medium | 4.58 GiB | 8.03 B | CUDA | 99 | tg128 | 124.65 ± 0.08 |\n"))
	if err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]string{
		"hardware": "line 2, Device 0: NVIDIA GeForce RTX 4090, compute capability 8.9, VMM: yes", "generation_tps": "line 5, t/s", "n_gen": "line 5, test",
		"model": "the option model", "n_gpu_layers": "line 5, ngl", "run_date": "the options",
	} {
		if got := result.From[0][field]; got != want {
			t.Errorf("%s comes from %q, want %q", field, got, want)
		}
	}
}
