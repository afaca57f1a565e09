package measure

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/importer"
	"modeldex/dataset/resolve"

	jsonv2 "github.com/goccy/go-json/v2"
)

const most = 16 << 20

var common = strings.Fields("time people way water words line house light hand place right work city tree story point world school state night")

func words(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(common[rand.IntN(len(common))] + " ") //nolint:gosec // not a secret
	}
	return b.String()
}

func call(ctx context.Context, address string, body any) (*http.Response, error) {
	method, sent := http.MethodGet, io.Reader(http.NoBody)
	if body != nil {
		text, err := jsonv2.Marshal(body)
		if err != nil {
			return nil, err
		}
		method, sent = http.MethodPost, bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, sent)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 500))
		return nil, fmt.Errorf("%s: %s: %s", address, resp.Status, strings.TrimSpace(string(text)))
	}
	return resp, nil
}

func get(ctx context.Context, address string, body, into any) error {
	resp, err := call(ctx, address, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return jsonv2.UnmarshalRead(io.LimitReader(resp.Body, most), into)
}

// Ollama measures with the times that Ollama itself reports.
type Ollama struct {
	URL string // without the path
	tag string
	server
}

// ollamaAnswer has the fields of all answers of Ollama that are read. Times are in nanoseconds.
type ollamaAnswer struct {
	Version string `json:"version"`
	Details struct {
		Quantization string `json:"quantization_level"`
	} `json:"details"`
	Models []struct {
		Name string `json:"name"`
		Size int64  `json:"size"`
		VRAM int64  `json:"size_vram"`
	} `json:"models"`
	Prompt     int   `json:"prompt_eval_count"`
	PromptTime int64 `json:"prompt_eval_duration"`
	Eval       int   `json:"eval_count"`
	EvalTime   int64 `json:"eval_duration"`
}

// Start finds the version, the model and its quantization.
func (o *Ollama) Start(ctx context.Context, b *Bench) error {
	var about ollamaAnswer
	if err := get(ctx, o.URL+"/api/version", nil, &about); err != nil {
		return fmt.Errorf("ollama: %w\nname a model file for llama-bench (--model-file) or a server (--url) where there is no Ollama", err)
	}
	if b.Model == "" {
		if err := get(ctx, o.URL+"/api/tags", nil, &about); err != nil {
			return err
		}
		if len(about.Models) != 1 {
			return fmt.Errorf("ollama has %d models; choose one with --model", len(about.Models))
		}
		b.Model = about.Models[0].Name
	}
	if err := get(ctx, o.URL+"/api/show", map[string]any{"model": b.Model}, &about); err != nil {
		return fmt.Errorf("ollama: %w", err)
	}
	o.tag, o.server = b.Model, server{tool: "ollama", version: about.Version, quantization: about.Details.Quantization}
	b.Say("Ollama %s with %s", about.Version, b.Model)
	return nil
}

// Measure asks for repetitions, each with a context that has just the room it needs.
func (o *Ollama) Measure(ctx context.Context, b *Bench, depth int) (Run, error) {
	s := o.server
	return b.repeat(&s, depth, func(text string, tokens int) (sample, error) {
		var a, loaded ollamaAnswer
		err := get(ctx, o.URL+"/api/generate", map[string]any{
			"model": o.tag, "prompt": text, "raw": true, "stream": false,
			"options": map[string]any{"num_predict": tokens, "num_ctx": (depth+prompt)*5/4 + generation + 64, "temperature": 0.8},
		}, &a)
		if err != nil {
			return nil, err
		}
		if err := get(ctx, o.URL+"/api/ps", nil, &loaded); err != nil {
			return nil, err
		}
		for _, m := range loaded.Models {
			if m.Name == o.tag || m.Name == o.tag+":latest" {
				s.onProcessor, s.partly = m.VRAM == 0, m.VRAM > 0 && m.VRAM < m.Size
			}
		}
		return sample{
			"n_prompt": float64(a.Prompt), "prompt_tps": rate(a.Prompt, a.PromptTime), "n_gen": float64(a.Eval), "generation_tps": rate(a.Eval, a.EvalTime),
		}, nil
	})
}

func rate(tokens int, took int64) float64 {
	if took <= 0 {
		return 0
	}
	return float64(tokens) / time.Duration(took).Seconds()
}

// OpenAI measures a server that speaks the OpenAI protocol: by the times that llama-server reports, else by arrival.
type OpenAI struct {
	URL          string // with or without /v1 at its end
	Tool         string // slug; where it is empty the server must say it
	Quantization string
	model        string // as the server calls it
	server
}

var buildName = regexp.MustCompile(`^(b[0-9]+)-([0-9a-f]+)$`)

// Start finds what serves which model.
func (o *OpenAI) Start(ctx context.Context, b *Bench) error {
	o.URL = strings.TrimSuffix(strings.TrimRight(o.URL, "/"), "/v1")
	var models struct {
		Data []struct {
			ID      string `json:"id"`
			OwnedBy string `json:"owned_by"`
			Meta    struct {
				Type string `json:"ftype"` // of llama-server
			} `json:"meta"`
		} `json:"data"`
	}
	if err := get(ctx, o.URL+"/v1/models", nil, &models); err != nil {
		return err
	}
	if len(models.Data) == 0 {
		return fmt.Errorf("%s serves no model", o.URL)
	}
	one := models.Data[0]
	for _, m := range models.Data {
		if m.ID == b.Model {
			one = m
		}
	}
	known := map[string]string{"llamacpp": "llama.cpp", "vllm": "vllm", "sglang": "sglang", "organization_owner": "lm-studio"}
	o.tool = dataset.Slug(cmp.Or(o.Tool, known[one.OwnedBy]))
	if o.tool == "" {
		return errors.New("the server does not identify itself; name the program with --tool, such as mlx-lm")
	}
	_, printed := resolve.TypeQuantization("model " + one.Meta.Type)
	named := b.Names.Strict(resolve.Model, one.ID).Quantization
	o.model, o.quantization, b.Model = one.ID, cmp.Or(o.Quantization, named, printed), cmp.Or(b.Model, PlainName(one.ID))
	var about struct {
		Version string `json:"version"`
		Build   string `json:"build_info"`
	}
	switch o.tool { // a server that does not say its version is measured all the same
	case "llama.cpp":
		_ = get(ctx, o.URL+"/props", nil, &about)
	case "vllm":
		_ = get(ctx, o.URL+"/version", nil, &about)
	}
	o.version = cmp.Or(about.Version, buildName.ReplaceAllString(about.Build, "$1 ($2)"))
	b.Say("%s with %s", o.tool, PlainName(b.Model))
	return nil
}

type chunk struct {
	Choices []struct {
		Text string `json:"text"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	} `json:"usage"`
	Timings *struct {
		PromptN      float64 `json:"prompt_n"`
		PromptTPS    float64 `json:"prompt_per_second"`
		PredictedN   float64 `json:"predicted_n"`
		PredictedTPS float64 `json:"predicted_per_second"`
	} `json:"timings"`
}

// Measure asks for repetitions.
func (o *OpenAI) Measure(ctx context.Context, b *Bench, depth int) (Run, error) {
	return b.repeat(&o.server, depth, func(text string, tokens int) (sample, error) { return o.stream(ctx, text, tokens) })
}

func (o *OpenAI) stream(ctx context.Context, text string, tokens int) (sample, error) {
	sent := time.Now()
	resp, err := call(ctx, o.URL+"/v1/completions", map[string]any{
		"model": o.model, "prompt": text, "max_tokens": tokens, "temperature": 0.8, "stream": true,
		"stream_options": map[string]any{"include_usage": true}, "ignore_eos": true, "cache_prompt": false,
	})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var first, last time.Time
	var read, generated int
	lines := bufio.NewScanner(io.LimitReader(resp.Body, most))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if data = strings.TrimSpace(data); !ok || data == "[DONE]" {
			continue
		}
		now := time.Now()
		var c chunk
		if err := jsonv2.Unmarshal([]byte(data), &c); err != nil {
			return nil, fmt.Errorf("the stream does not follow the OpenAI protocol: %w", err)
		}
		if len(c.Choices) > 0 && c.Choices[0].Text != "" {
			if last = now; first.IsZero() {
				first = now
			}
		}
		if c.Usage != nil {
			read, generated = c.Usage.Prompt, c.Usage.Completion
		}
		if t := c.Timings; t != nil && t.PredictedN > 0 {
			return sample{"n_prompt": t.PromptN, "prompt_tps": t.PromptTPS, "n_gen": t.PredictedN, "generation_tps": t.PredictedTPS}, nil
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if first.IsZero() || generated < 2 {
		return nil, errors.New("the server sent no tokens, or no usage counts")
	}
	return sample{
		"n_prompt": float64(read), "n_gen": float64(generated), "ttft_ms": float64(first.Sub(sent).Microseconds()) / 1000,
		"generation_tps": rate(generated-1, last.Sub(first).Nanoseconds()),
	}, nil
}

// LlamaBench measures with llama-bench, which warms up by itself.
type LlamaBench struct {
	Program   string // its file, or a name that is looked for on PATH
	ModelFile string // a GGUF file
}

// Start looks for the program and measures one token, so that problems show before measuring for minutes.
func (l *LlamaBench) Start(ctx context.Context, b *Bench) error {
	if _, err := exec.LookPath(l.Program); err != nil {
		return fmt.Errorf("llama-bench: %w", err)
	}
	b.Model = cmp.Or(b.Model, PlainName(l.ModelFile))
	b.Say("llama-bench with %s", filepath.Base(l.ModelFile))
	_, err := l.run(ctx, b, func(string) {}, 1, 1, 0, 1)
	return err
}

// Measure runs the program once.
func (l *LlamaBench) Measure(ctx context.Context, b *Bench, depth int) (Run, error) {
	return l.run(ctx, b, func(line string) { b.Say("depth %d: %s", depth, line) }, prompt, generation, depth, b.Repetitions)
}

func (l *LlamaBench) run(ctx context.Context, b *Bench, say func(string), prompt, generation, depth, repetitions int) (Run, error) {
	args := fmt.Sprintf("-p %d -n %d -d %d -r %d -o json", prompt, generation, depth, repetitions)
	cmd := exec.CommandContext(ctx, l.Program, append(append([]string{"-m", l.ModelFile}, strings.Fields(args)...), "--progress")...) //nolint:gosec // the user names the program
	var out bytes.Buffer
	cmd.Stdout = &out
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return Run{}, fmt.Errorf("llama-bench: %w", err)
	}
	last := ""
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		last = lines.Text()
		if _, test, ok := strings.Cut(last, "llama-bench: benchmark "); ok && strings.Contains(test, " run ") {
			say("test " + test)
		}
	}
	if err := cmd.Wait(); err != nil {
		return Run{}, fmt.Errorf("llama-bench failed (%w): %s", err, last)
	}
	im, err := importer.New(importer.LlamaBench, b.Set, b.options())
	if err != nil {
		return Run{}, err
	}
	result, err := im.Read("llama-bench", out.Bytes())
	switch {
	case err != nil:
		return Run{}, err
	case len(result.Skipped) > 0:
		return Run{}, errors.New(result.Skipped[0].Why)
	case len(result.Benchmarks) != 1:
		return Run{}, fmt.Errorf("llama-bench printed %d results, want 1", len(result.Benchmarks))
	}
	var rows []struct {
		Gen     int       `json:"n_gen"`
		Samples []float64 `json:"samples_ts"`
	}
	if err := jsonv2.Unmarshal(out.Bytes(), &rows); err != nil {
		return Run{}, err
	}
	again := "llama-bench -m " + filepath.Base(l.ModelFile) + " " + args
	run := Run{Benchmark: result.Benchmarks[0]}
	run.Reproduce = &again
	for _, r := range rows {
		if r.Gen > 0 {
			run.Repetitions = r.Samples
		}
	}
	return run, nil
}
