package importer

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// adapters are the programs whose outputs can be read, by format. The forms are those of their sources:
// tools/llama-bench and tools/batched-bench of llama.cpp, examples/sweep-bench of ik_llama.cpp, api/types.go of Ollama,
// vllm/benchmarks/serve.py of vLLM, mlx_lm/benchmark.py of mlx-lm, and koboldcpp.py of KoboldCpp.
var adapters = map[string]adapter{
	LlamaBench:      {"llama.cpp", map[string]string{"concurrency": "1", "speculative_decoding": "false"}, llamaBench},
	"batched-bench": {"llama.cpp", single, text(func(s string) []run { return table(s, "B", "N_KV", "T_PP s") })},
	"sweep-bench":   {"ik-llama.cpp", single, text(func(s string) []run { return table(s, "N_KV", "T_PP s") })},
	"ollama":        {"ollama", single, text(ollama)},
	"vllm":          {"vllm", nil, text(vllm)},
	"mlx":           {"mlx-lm", single, text(mlx)},
	"koboldcpp":     {"koboldcpp", single, text(koboldcpp)},
}

func text(read func(text string) []run) func(*Importer, []byte) ([]run, error) {
	return func(im *Importer, b []byte) ([]run, error) {
		return read(strings.ReplaceAll(string(b), "\r\n", "\n")), nil
	}
}

var single = map[string]string{"concurrency": "1", "context_depth": "0", "speculative_decoding": "false", "rate_basis": "decode"}

var printed = regexp.MustCompile(`\b(n_batch|flash_attn|n_gpu_layers|n_threads|n_ubatch|is_pp_shared) = (-?[0-9]+)`)

func table(text string, more ...string) (runs []run) {
	var columns []string
	settings := map[string]value{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		at := fmt.Sprintf("line %d", number)
		for _, m := range printed.FindAllStringSubmatch(line, -1) {
			settings[m[1]] = value{m[2], at + ", " + m[1]}
		}
		line = strings.TrimRight(strings.TrimSpace(line), "\\")
		if !strings.HasPrefix(line, "|") {
			columns = nil
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case cells[0] == "PP":
			if columns = cells; len(cells) < 2+len(more) || strings.Join(cells[2:2+len(more)], " ") != strings.Join(more, " ") {
				columns = nil // of the other program
			}
		case columns == nil, strings.HasPrefix(cells[0], "--"):
		case len(cells) != len(columns):
			runs = append(runs, run{rows: []place{{line: number}}, bad: fmt.Sprintf("has %d columns, but the header has %d", len(cells), len(columns))})
		default:
			runs = append(runs, tableRun(number, columns, cells, settings))
		}
	}
	return runs
}

func tableRun(number int, columns, cells []string, settings map[string]value) run {
	r := run{rows: []place{{line: number}}, values: map[string]value{}}
	fields := map[string]string{"PP": "n_prompt", "TG": "n_gen", "S_PP t/s": "prompt_tps", "S_TG t/s": "generation_tps", "B": "concurrency"}
	if !strings.Contains(strings.Join(columns, "|"), "|B|") {
		fields["N_KV"] = "context_depth"
	}
	for i, column := range columns {
		n, err := strconv.ParseFloat(cells[i], 64)
		if err != nil || n < 0 || math.IsInf(n, 0) {
			r.bad = fmt.Sprintf("%s: must be a number, got %q", column, cells[i])
			return r
		}
		if field := fields[column]; field != "" && (n > 0 || field == "context_depth") {
			r.values[field] = value{strconv.FormatFloat(n, 'f', -1, 64), fmt.Sprintf("line %d, %s", number, column)}
		}
	}
	if b := r.values["concurrency"].text; b != "" && b != "1" {
		delete(r.values, "prompt_tps")
		r.values["rate_basis"] = value{"total", "the column B"}
	}
	for name, field := range map[string]string{"n_batch": "batch_size", "n_gpu_layers": "n_gpu_layers", "n_threads": "threads"} {
		if v, ok := settings[name]; ok && !strings.HasPrefix(v.text, "-") {
			r.values[field] = v
		}
	}
	if v, ok := settings["flash_attn"]; ok && v.text != "-1" {
		r.values["flash_attention"] = value{strconv.FormatBool(v.text == "1"), v.from}
	}
	if v, ok := settings["n_ubatch"]; ok && v.text != "512" {
		r.values["notes"] = value{"ubatch " + v.text, v.from}
	}
	if settings["is_pp_shared"].text == "1" {
		r.bad = "the sequences share one prompt, so the prompt speed and the cache differ from separate requests"
	}
	return r
}

// labelled reads labels and numbers into runs. One begins where first matches; each pattern of a field has one group.
func labelled(text string, first *regexp.Regexp, patterns map[string]*regexp.Regexp, finish func(r *run)) (runs []run) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		if first.MatchString(line) {
			runs = append(runs, run{rows: []place{{line: number}}, values: map[string]value{}})
		}
		if len(runs) == 0 {
			continue
		}
		r := &runs[len(runs)-1]
		for field, p := range patterns {
			if m := p.FindStringSubmatch(line); m != nil {
				if had, twice := r.values[field]; twice && had.text != m[1] {
					r.bad = fmt.Sprintf("%s appears twice, on %s and on line %d", field, had.from, number)
				}
				r.values[field] = value{m[1], fmt.Sprintf("line %d", number)}
			}
		}
	}
	for i := range runs {
		finish(&runs[i])
	}
	return runs
}

func (r *run) has(fields ...string) {
	for _, field := range fields {
		if r.values[field].text == "" && r.bad == "" {
			r.bad = field + " is not printed"
		}
	}
}

// at is an expression for a line that begins with a label, with or without the dash of a list.
func at(label, value string) *regexp.Regexp {
	return regexp.MustCompile(`^[\s-]*` + label + `:?\s*` + value)
}

const (
	number = `([0-9]+(?:\.[0-9]+)?)`
	whole  = `([0-9]+)`
)

func ollama(text string) []run {
	return labelled(text, at("total duration", `\S`), map[string]*regexp.Regexp{
		"n_prompt": at("prompt eval count", whole+` token`), "prompt_tps": at("prompt eval rate", number+` tokens/s`),
		"n_gen": at("eval count", whole+` token`), "generation_tps": at("eval rate", number+` tokens/s`),
	}, func(r *run) { r.has("n_gen", "generation_tps") })
}

func mlx(text string) []run {
	return labelled(text, regexp.MustCompile(`^Timing with prompt_tokens=`), map[string]*regexp.Regexp{
		"n_prompt": regexp.MustCompile(`^Timing with prompt_tokens=` + whole), "n_gen": regexp.MustCompile(`^Timing with .*generation_tokens=` + whole),
		"concurrency": regexp.MustCompile(`^Timing with .*batch_size=` + whole), "prompt_tps": regexp.MustCompile(`^Averages: .*prompt_tps=` + number),
		"generation_tps": regexp.MustCompile(`^Averages: .*generation_tps=` + number),
	}, func(r *run) {
		if r.has("n_prompt", "n_gen", "generation_tps"); r.values["concurrency"].text > "1" {
			delete(r.values, "prompt_tps")
			r.values["rate_basis"] = value{"total", "batch_size"}
		}
		r.values["backend"] = value{"mlx", "mlx: always so"}
	})
}

func koboldcpp(text string) []run {
	return labelled(text, regexp.MustCompile(`^Benchmark Completed`), map[string]*regexp.Regexp{
		"tool_version": regexp.MustCompile(`^Benchmark Completed - v?([0-9][0-9.]*)`), "model_raw": at("Model", `(\S.*\S)`), "n_gpu_layers": at("Layers", whole),
		"n_prompt": at("MaxCtx", whole), "n_gen": at("GenAmount", whole),
		"prompt_tps": at("ProcessingSpeed", number+` ?T/s`), "generation_tps": at("GenerationSpeed", number+` ?T/s`),
	}, func(r *run) {
		r.has("n_prompt", "n_gen", "generation_tps")
		most, _ := strconv.Atoi(r.values["n_prompt"].text)
		gen, _ := strconv.Atoi(r.values["n_gen"].text)
		if most <= gen && r.bad == "" {
			r.bad = "MaxCtx leaves no room for a prompt"
		}
		r.values["n_prompt"] = value{strconv.Itoa(most - gen), "MaxCtx minus GenAmount: the benchmark fills the context"}
	})
}

func vllm(text string) []run {
	return labelled(text, regexp.MustCompile(`^=+ Serving Benchmark Result =+`), map[string]*regexp.Regexp{
		"requests": at("Successful requests", whole), "failed": at("Failed requests", whole), "concurrency": at("Max(?:imum)? request concurrency", whole),
		"rate": at(`Request rate configured \(RPS\)`, number), "input": at("Total input tokens", whole), "output": at("Total generated tokens", whole),
		"request_rate": at(`Request throughput \(req/s\)`, number), "generation_tps": at(`Output token throughput \(tok/s\)`, number),
		"ttft_ms": at(`Mean TTFT \(ms\)`, number), "ttft_p50_ms": at(`Median TTFT \(ms\)`, number), "ttft_p99_ms": at(`P99 TTFT \(ms\)`, number),
		"tpot_ms": at(`Mean TPOT \(ms\)`, number), "tpot_p50_ms": at(`Median TPOT \(ms\)`, number), "tpot_p99_ms": at(`P99 TPOT \(ms\)`, number),
	}, func(r *run) {
		r.has("requests", "input", "output", "generation_tps")
		if failed := r.values["failed"].text; failed != "" && failed != "0" {
			r.bad = failed + " requests failed"
		}
		requests, _ := strconv.ParseFloat(r.values["requests"].text, 64)
		for field, total := range map[string]string{"n_prompt": "input", "n_gen": "output"} {
			tokens, _ := strconv.ParseFloat(r.values[total].text, 64)
			r.values[field] = value{strconv.FormatFloat(math.Round(tokens/max(1, requests)), 'f', -1, 64), r.values[total].from + ", over all requests"}
		}
		switch concurrency := r.values["concurrency"].text; {
		case concurrency == "1" && r.values["rate"].text == "":
			r.values["rate_basis"], r.values["context_depth"] = value{"end_to_end", "Output token throughput"}, value{"0", "vllm: always so"}
			delete(r.values, "request_rate")
		case concurrency != "" && r.values["rate"].text == "":
			r.values["rate_basis"] = value{"total", "Maximum request concurrency"}
			delete(r.values, "request_rate")
		default: // all requests at once, or arriving over time: the speed of no stream
			r.values["total_tps"] = r.values["generation_tps"]
			r.values["scenario"] = value{"offline", "the output does not show a request limit"}
			if rate, ok := r.values["rate"]; ok {
				r.values["scenario"] = value{"server", rate.from}
			}
			delete(r.values, "generation_tps")
			delete(r.values, "concurrency")
		}
		for _, name := range []string{"requests", "failed", "rate", "input", "output"} {
			delete(r.values, name)
		}
	})
}
