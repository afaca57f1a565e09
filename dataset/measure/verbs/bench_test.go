package verbs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/datasettest"
	"modeldex/dataset/here"
	"modeldex/dataset/verbs"
)

func TestMain(m *testing.M) { datasettest.Main(m) }

// machine has some RTX 4090.
func machine(cards int) here.Machine {
	return here.Machine{OS: "linux", Run: func(name string, _ ...string) ([]byte, error) {
		if name == "nvidia-smi" {
			return []byte(strings.Repeat("NVIDIA GeForce RTX 4090, 24564 MiB\n", cards)), nil
		}
		return nil, errors.New("not found")
	}}
}

// recorded is a file of testdata: what llama-bench and llama-server of llama.cpp de3ff81 answered here, measuring a file with
// random weights on a processor. Numbers and names of members that a fake measures otherwise are replaced.
func recorded(name string, replace map[string]any) string {
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		panic(err)
	}
	for member, v := range replace {
		text, _ := json.Marshal(v)
		b = regexp.MustCompile(`("`+member+`": ?)("[^"]*"|-?[0-9.]+)`).ReplaceAll(b, append([]byte("${1}"), text...))
	}
	return string(b)
}

// fake is what a fake runner measures.
type fake struct {
	speeds  []float64 // of generation, by repetition; the last one holds for all after
	layers  int       // on the graphics
	vram    float64   // share of the model, of Ollama
	timings bool      // of llama-server
	cached  bool
	deepest int // tokens; a longer prompt fails
	asked   []string
}

func (f *fake) speed(repetition int) float64 {
	return f.speeds[min(max(repetition, 0), len(f.speeds)-1)]
}

// tokens counts a prompt as a tokenizer would: five for every four words.
func tokens(prompt string) int { return len(strings.Fields(prompt)) * 5 / 4 }

// ollama speaks the API of Ollama 0.12.
func (f *fake) ollama(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model, Prompt string
		Raw           bool
		Options       struct {
			Predict int `json:"num_predict"`
			Context int `json:"num_ctx"`
		}
	}
	if r.Method == http.MethodPost {
		_ = json.NewDecoder(r.Body).Decode(&in)
	}
	size := 1_321_098_329.0
	switch r.URL.Path {
	case "/api/version":
		fmt.Fprint(w, `{"version":"0.12.6"}`)
	case "/api/tags":
		fmt.Fprint(w, `{"models":[{"name":"llama3.2:1b","size":1321098329}]}`)
	case "/api/show":
		fmt.Fprint(w, `{"details":{"format":"gguf","family":"llama","parameter_size":"1.2B","quantization_level":"Q8_0"},"model_info":{}}`)
	case "/api/ps":
		fmt.Fprintf(w, `{"models":[{"name":"llama3.2:1b","size":%.0f,"size_vram":%.0f}]}`, size, size*f.vram)
	case "/api/generate":
		n := tokens(in.Prompt)
		if f.deepest > 0 && n > f.deepest {
			http.Error(w, `{"error":"model requires more system memory than is available"}`, http.StatusInternalServerError)
			return
		}
		if n+in.Options.Predict > in.Options.Context || !in.Raw {
			n = in.Options.Context / 2 // as it cuts a prompt off
		}
		speed := f.speed(len(f.asked) - 1)
		f.asked = append(f.asked, in.Prompt)
		fmt.Fprintf(w, `{"model":"llama3.2:1b","response":"x","done":true,"prompt_eval_count":%d,"prompt_eval_duration":%.0f,"eval_count":%d,"eval_duration":%.0f}`,
			n, float64(n)/9000*1e9, in.Options.Predict, float64(in.Options.Predict)/speed*1e9)
	default:
		http.NotFound(w, r)
	}
}

// openAI streams completions as llama-server (with timings) and vLLM do.
func (f *fake) openAI(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/v1/models":
		if f.timings {
			fmt.Fprint(w, recorded("llama-server-models.json", nil))
			return
		}
		fmt.Fprint(w, `{"object":"list","data":[{"id":"meta-llama/Llama-3.2-1B-Instruct","object":"model","owned_by":"vllm"}]}`)
	case "/props":
		fmt.Fprint(w, recorded("llama-server-props.json", nil))
	case "/version":
		fmt.Fprint(w, `{"version":"0.11.0"}`)
	case "/v1/completions":
		var in struct {
			Prompt        string
			MaxTokens     int  `json:"max_tokens"`
			Stream        bool `json:"stream"`
			StreamOptions struct {
				Usage bool `json:"include_usage"`
			} `json:"stream_options"`
		}
		_ = json.NewDecoder(r.Body).Decode(&in)
		speed := f.speed(len(f.asked) - 1)
		f.asked = append(f.asked, in.Prompt)
		if !in.Stream || !in.StreamOptions.Usage {
			http.Error(w, "no stream", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		n := tokens(in.Prompt)
		if f.timings {
			read := n
			if f.cached {
				read = 1
			}
			events := strings.Split(recorded("llama-server-stream.txt", map[string]any{
				"prompt_tokens": n, "completion_tokens": in.MaxTokens, "prompt_n": read, "prompt_per_second": 9000, "predicted_n": in.MaxTokens, "predicted_per_second": speed,
			}), "\n\n")
			fmt.Fprint(w, strings.Repeat(events[0]+"\n\n", in.MaxTokens), strings.Join(events[2:], "\n\n"))
			return
		}
		for i := range in.MaxTokens {
			if i > 0 {
				time.Sleep(time.Duration(float64(time.Second) / speed))
			}
			fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"text\":\" a\",\"finish_reason\":null}]}\n\n")
			w.(http.Flusher).Flush()
		}
		fmt.Fprintf(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d,\"total_tokens\":%d}}\n\n", n, in.MaxTokens, n+in.MaxTokens)
		fmt.Fprint(w, "data: [DONE]\n\n")
	default:
		http.NotFound(w, r)
	}
}

// llamaBench writes a script that prints what llama-bench -o json does, and fails beyond the deepest depth.
func (f *fake) llamaBench(t *testing.T) string {
	if runtime.GOOS == "windows" {
		t.Skip("the script needs a shell")
	}
	var rows []map[string]any
	datasettest.Must(t, json.Unmarshal([]byte(recorded("llama-bench.json", nil)), &rows))
	mean := 0.0
	for _, v := range f.speeds {
		mean += v / float64(len(f.speeds))
	}
	for i, lengths := range [][2]int{{512, 0}, {0, 128}} {
		for name, v := range map[string]any{
			"cpu_info": "AMD Ryzen 9 7950X 16-Core Processor", "gpu_info": "NVIDIA GeForce RTX 4090", "backends": "CUDA", "model_type": "llama 1B Q8_0",
			"model_size": 1313251456, "model_n_params": 1235814432, "n_gpu_layers": f.layers, "n_prompt": lengths[0], "n_gen": lengths[1], "n_depth": 987654321,
			"avg_ts": []float64{9000, mean}[i], "samples_ts": [][]float64{{9000, 9000}, f.speeds}[i],
		} {
			rows[i][name] = v
		}
	}
	printed, err := json.Marshal(rows)
	datasettest.Must(t, err)
	dir := t.TempDir()
	datasettest.PutFile(t, filepath.Join(dir, "out"), string(printed))
	datasettest.PutFile(t, filepath.Join(dir, "err"), recorded("llama-bench.stderr", nil))
	script := "#!/bin/sh\ncat '" + dir + "/err' >&2\n" +
		fmt.Sprintf("if [ \"$8\" -gt %d ]; then echo '['; echo \"llama_bench: error: failed to create context with model '$2'\" >&2; exit 1; fi\n", f.deepest) +
		"sed \"s/987654321/$8/g\" '" + dir + "/out'\n"
	file := filepath.Join(dir, "llama-bench")
	datasettest.Must(t, os.WriteFile(file, []byte(script), 0o700)) //nolint:gosec // it is run
	return file
}

// TestBench: what a user sees of a run with each runner, and that every printed line passes check unchanged.
func TestBench(t *testing.T) {
	files := datasettest.Sample(t, "models/llama-3.2-1b-instruct.json", "tools/ollama.json", "tools/vllm.json", "tools/llama.cpp.json")
	equal := ""
	for i, speed := range []float64{400, 420, 440, 100, 110} { // equal runs of Ollama: three behind a short prompt, two behind 4k
		equal += fmt.Sprintf(`{"id":"bm-equal-%d","model":"llama-3.2-1b-instruct","model_raw":"llama3.2:1b","quantization":"Q8_0","hardware":"nvidia-rtx-4090","hardware_raw":"RTX 4090",`+
			`"hardware_count":1,"tool":"ollama","n_prompt":%d,"n_gen":128,"context_depth":0,"concurrency":1,"generation_tps":%g,"rate_basis":"decode","source":"owner","source_url":null,"run_date":"2026-01-0%d","date_basis":"run"}`+"\n", i, 500+i/3*4000+i, speed, i+1)
	}
	name := "benchmarks/2026.ndjson"
	if files[name] == nil {
		t.Fatalf("the sample has no %s", name)
	}
	files[name].Data = append(files[name].Data, equal...)
	dir := t.TempDir()
	datasettest.WriteFiles(t, dir, files)
	_, err := dataset.Format(dir)
	datasettest.Must(t, err)
	for _, tt := range []struct {
		name   string
		runner string
		cards  int // 0 is one
		fake   fake
		change func(c *Bench)
		lines  int
		line   []string // in every line
		said   []string
		lacks  string
		fails  string
	}{
		{
			name: "an honest speed of a small model", runner: "ollama", fake: fake{speeds: []float64{430}, vram: 1}, lines: 1, lacks: "warning: ",
			line: []string{`"generation_tps":430`, `"hardware":"nvidia-rtx-4090"`, `"model":"llama-3.2-1b-instruct"`, `"quantization":"Q8_0"`, `"tool_version":"0.12.6"`, `"prompt_tps":9000`, `"context_depth":0`, `"n_gen":128`},
			said: []string{"among 3 comparable runs with a median of 420.0", "400.0 1", "^ 430.0", "repetition 2 of 2"},
		},
		{name: "throttling", runner: "ollama", fake: fake{speeds: []float64{430, 350}, vram: 1}, lines: 1, said: []string{"the last repetition (350.0 tokens/s) is more than 15 % slower than the first (430.0)"}},
		{name: "offload of Ollama", runner: "ollama", fake: fake{speeds: []float64{60}, vram: 0.6}, lines: 1, line: []string{`"partial_offload":true`, `"compute_unit":"mixed"`}, said: []string{"part of the weights is in main memory"}},
		{name: "all on the processor", runner: "ollama", fake: fake{speeds: []float64{60}}, change: func(c *Bench) { c.Hardware = "RTX 4090" }, fails: "no depth could be measured", said: []string{"did not use the graphics"}},
		{name: "hidden offload", runner: "ollama", fake: fake{speeds: []float64{40}, vram: 1}, lines: 1, said: []string{"the median of runs with the same settings is 420.0 tokens/s, this run has 40.0"}},
		{
			name: "a depth that fails", runner: "ollama", fake: fake{speeds: []float64{430}, vram: 1, deepest: 6000}, change: func(c *Bench) { c.Depths = []int{0, 4096, 16384} }, lines: 2,
			said: []string{"depth 16384: skipped: ", "model requires more system memory"},
		},
		{name: "beyond the context", runner: "ollama", fake: fake{speeds: []float64{430}, vram: 1}, change: func(c *Bench) { c.Depths = []int{1 << 20} }, fails: "no depth could be measured", said: []string{"exceed the context length of Llama 3.2 1B"}},
		{
			name: "vLLM", runner: "openai", fake: fake{speeds: []float64{400}}, change: func(c *Bench) { c.Quantization = "BF16" }, lines: 1,
			line: []string{`"tool":"vllm"`, `"tool_version":"0.11.0"`, `"rate_basis":"decode"`, `"ttft_ms":`, `"model_raw":"meta-llama/Llama-3.2-1B-Instruct"`, `"n_gen":128`},
		},
		{
			name: "llama-server", runner: "openai", fake: fake{speeds: []float64{430}, timings: true}, lines: 1,
			line: []string{`"tool":"llama.cpp"`, `"generation_tps":430`, `"prompt_tps":9000`, `"tool_version":"b1 (de3ff81)"`, `"model_raw":"Llama-3.2-1B-Instruct-Q8_0"`, `"quantization":"Q8_0"`},
		},
		{name: "too slow for the memory", runner: "openai", fake: fake{speeds: []float64{20}, timings: true}, lines: 1, said: []string{"% of the memory bandwidth: part of the weights may be in main memory"}},
		{name: "a cached prompt", runner: "openai", fake: fake{speeds: []float64{430}, timings: true, cached: true}, fails: "no depth could be measured", said: []string{"cache"}},
		{
			name: "llama-bench", runner: "llama-bench", fake: fake{speeds: []float64{431, 429}, layers: 99, deepest: 5000}, change: func(c *Bench) { c.Depths = []int{0, 4096, 16384} }, lines: 2,
			line: []string{`"generation_tps":430`, `"n_prompt":512`, `"model_raw":"Llama-3.2-1B-Instruct-Q8_0"`, `"reproduce":"llama-bench -m Llama-3.2-1B-Instruct-Q8_0.gguf -p 512`},
			said: []string{"depth 0: test 2/2: generation run 2/2", "depth 16384: skipped: llama-bench failed (exit status 1): llama_bench: error: failed to create context"}, lacks: "warning: ",
		},
		{name: "a model that is not known", runner: "llama-bench", fake: fake{speeds: []float64{60, 60}, layers: 99}, change: func(c *Bench) { c.Model = "nothing-9b" }, fails: `"nothing-9b" is not known`, lacks: "depth 0"},
		{name: "layers in main memory", runner: "llama-bench", fake: fake{speeds: []float64{60, 60}, layers: 10}, lines: 1, line: []string{`"partial_offload":true`}, said: []string{"part of the weights is in main memory"}},
		{name: "no memory allows it", runner: "llama-bench", fake: fake{speeds: []float64{4000, 4000}, layers: 99}, fails: "no line passes the dataset checks", said: []string{"times what the memory bandwidth allows"}},
		{
			name: "a form", runner: "ollama", fake: fake{speeds: []float64{430}, vram: 1}, change: func(c *Bench) { c.Submit, c.RepositoryURL = true, "https://github.com/owner/name" }, lines: 1,
			said: []string{"https://github.com/owner/name/issues/new?", "template=measurement.yml"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &Bench{Depths: []int{0}, Repetitions: 2}
			c.Data = dir
			switch tt.runner {
			case "ollama":
				server := httptest.NewServer(http.HandlerFunc(tt.fake.ollama))
				defer server.Close()
				c.OllamaURL = server.URL
			case "openai":
				server := httptest.NewServer(http.HandlerFunc(tt.fake.openAI))
				defer server.Close()
				c.URL = server.URL + "/v1"
			default:
				c.LlamaBench, c.ModelFile = tt.fake.llamaBench(t), "/home/jane/models/Llama-3.2-1B-Instruct-Q8_0.gguf"
			}
			if tt.change != nil {
				tt.change(c)
			}
			var out, errs bytes.Buffer
			err := errors.Join(c.Validate(), c.run(&verbs.Env{Stdout: &out, Stderr: &errs}, machine(max(1, tt.cards))))
			if (err == nil) != (tt.fails == "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
				t.Fatalf("error %v, want %q\n%s", err, tt.fails, &errs)
			}
			for _, want := range tt.said {
				if !strings.Contains(errs.String(), want) {
					t.Errorf("standard error lacks %q:\n%s", want, &errs)
				}
			}
			if tt.lacks != "" && strings.Contains(errs.String(), tt.lacks) {
				t.Errorf("standard error must lack %q:\n%s", tt.lacks, &errs)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if n := strings.Count(out.String(), "\n"); n != tt.lines {
				t.Fatalf("%d lines, want %d:\n%s%s", n, tt.lines, &out, &errs)
			}
			host, _ := os.Hostname()
			for _, line := range lines[:tt.lines] {
				for _, want := range tt.line {
					if !strings.Contains(line, want) {
						t.Errorf("the line lacks %s:\n%s", want, line)
					}
				}
				if strings.Contains(line, "jane") || strings.Contains(line, "/home") || strings.Contains(line, host) || strings.Contains(line, "127.0.0.1") {
					t.Errorf("the line tells of the machine:\n%s", line)
				}
			}
			for i := range tt.fake.asked {
				if i > 0 && tt.fake.asked[i][:100] == tt.fake.asked[i-1][:100] {
					t.Error("two requests begin alike: the second may come from a cache")
				}
			}
			checked := datasettest.Sample(t, "models/llama-3.2-1b-instruct.json", "tools/ollama.json", "tools/vllm.json", "tools/llama.cpp.json")
			checked[name].Data = append(checked[name].Data, out.Bytes()...)
			if _, err := dataset.Load(t.Context(), checked, dataset.Options{}); err != nil {
				t.Errorf("check rejects the line: %v", err)
			}
			if c.Submit {
				checkForm(t, errs.String())
			}
		})
	}
}

// checkForm looks the fields of a filled form up in the form of the repository.
func checkForm(t *testing.T, said string) {
	form, err := os.ReadFile("../../../.github/ISSUE_TEMPLATE/measurement.yml")
	datasettest.Must(t, err)
	address, err := url.Parse(regexp.MustCompile(`https://\S+`).FindString(said))
	datasettest.Must(t, err)
	query := address.Query()
	for field, want := range map[string]string{
		"generation_tps": "430", "rate_basis": "generation only, one request", "source": "a user (community)", "speculative_decoding": "no", "date_basis": "the day of the benchmark",
	} {
		if query.Get(field) != want || !strings.Contains(string(form), "id: "+field) || field != "generation_tps" && !strings.Contains(string(form), `"`+want+`"`) {
			t.Errorf("%s of the form is %q, want %q", field, query.Get(field), want)
		}
	}
}
