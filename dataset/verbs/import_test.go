package verbs

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"modeldex/dataset/datasettest"
)

// TestImportFlags: what is wrong with the flags alone is a usage error.
func TestImportFlags(t *testing.T) {
	for _, tt := range []struct {
		c    Import
		want string
	}{
		{Import{Source: "owner"}, ""},
		{Import{Source: "community", SourceURL: "https://example.com/"}, ""},
		{Import{Source: "community"}, "--source-url: must be given"},
		{Import{Source: "owner", RunDate: "2026-02-30"}, "--run-date: must be a date"},
		{Import{Source: "owner", RunDate: "2999-01-01"}, `--run-date: must not be in the future, got "2999-01-01"`},
		{Import{Source: "owner", RunDate: "1970-01-01"}, "--run-date: must not be before 1990"},
		{Import{Source: "owner", SourceURL: "example.com"}, "--source-url: must start with"},
	} {
		if err := tt.c.Validate(); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Validate of %+v = %v, want %q", tt.c, err, tt.want)
		}
	}
}

// TestImportFails: nothing imported is a failure, and one bad file leaves the others.
func TestImportFails(t *testing.T) {
	dir, data := t.TempDir(), t.TempDir()
	datasettest.WriteFiles(t, data, datasettest.Sample(t))
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const table = "ggml_cuda_init: found 1 CUDA devices:\n  Device 0: NVIDIA GeForce RTX 4090, compute capability 8.9, VMM: yes\n" +
		"| model | size | params | backend | ngl | test | t/s |\n| llama 8B Q4_K - Medium | 4.58 GiB | 8.03 B | CUDA | 99 | tg128 | 124.65 ± 0.08 |\n"
	good, bad := write("good.md", table), write("bad.md", "nothing here\n")
	fast := write("fast.md", strings.ReplaceAll(table, "124.65 ± 0.08", "1246.5 ± 0.08"))
	slow := write("slow.md", strings.ReplaceAll(table, "124.65 ± 0.08", "12.465 ± 0.08"))
	late := write("late.jsonl", `{"build_commit":"a1b2c3d4e","build_number":9000,"gpu_info":"NVIDIA GeForce RTX 4090","backends":"CUDA","model_filename":"m.gguf","model_type":"llama 8B Q4_K - Medium","n_gpu_layers":99,"n_prompt":0,"n_gen":128,"test_time":"2999-01-02T03:04:05Z","avg_ts":60.5}`)
	unknown := write("unknown.md", strings.ReplaceAll(table, "4090", "4095"))
	for _, tt := range []struct {
		name  string
		files []string
		lines int
		want  string // in the error, empty for none
		said  string // on standard error
	}{
		{"one file", []string{good}, 1, "", "1 line, 0 rows skipped"},
		{"a bad file first", []string{bad, good}, 1, "bad.md: has no result of llama-bench", ""},
		{"the same file twice", []string{good, good}, 1, "", "good.md: 1 line already printed"},
		{"warnings of two pages", []string{good, slow}, 2, "", "slow.md: llama 8B Q4_K - Medium on NVIDIA GeForce RTX 4090: warning: source_key"},
		{"none", []string{filepath.Join(dir, "none.md")}, 0, "none.md: does not exist", ""},
		{"a directory", []string{dir}, 0, ": must be a file, got a directory", ""},
		{"nothing mapped", []string{unknown}, 0, "no rows were imported: all were skipped", "0 lines, 1 row skipped"},
		{"a speed no memory allows", []string{fast, good}, 1, "", "fast.md: llama 8B Q4_K - Medium on NVIDIA GeForce RTX 4090: generation_tps: is 6.0813 times what the memory bandwidth allows"},
		{"a clock that is ahead", []string{late}, 0, "no rows were imported", `late.jsonl: m on NVIDIA GeForce RTX 4090: run_date: must not be in the future, got "2999-01-02"`},
	} {
		var out, errs bytes.Buffer
		env := &Env{Stdout: &out, Stderr: &errs}
		c := Import{Format: "llama-bench", Files: tt.files, Source: "community", SourceURL: "https://example.com/run", Model: "llama-3-8b"}
		c.Data = data
		err := c.Run(env)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
		if !strings.Contains(errs.String(), tt.said) {
			t.Errorf("%s: standard error has not %q:\n%s", tt.name, tt.said, errs.String())
		}
		if n := strings.Count(out.String(), "\n"); n != tt.lines {
			t.Errorf("%s: %d lines, want %d:\n%s", tt.name, n, tt.lines, out.String())
		}
	}
}

// TestImportExplain: --explain says of each field of a line where it comes from, beside the lines.
func TestImportExplain(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	datasettest.WriteFiles(t, data, datasettest.Sample(t))
	file := filepath.Join(dir, "run.md")
	datasettest.PutFile(t, file, "ggml_cuda_init: found 1 CUDA devices:\n  Device 0: NVIDIA GeForce RTX 4090, compute capability 8.9, VMM: yes\n"+
		"| model | size | params | backend | ngl | test | t/s |\n| llama 8B Q4_K - Medium | 4.58 GiB | 8.03 B | CUDA | 99 | tg128 | 124.65 ± 0.08 |\n")
	var out, errs bytes.Buffer
	c := Import{Format: "llama-bench", Files: []string{file}, Source: "community", SourceURL: "https://example.com/run", Model: "Meta-Llama-3-8B", Hardware: "RTX 4090", Explain: true}
	c.Data = data
	if err := c.Run(&Env{Stdout: &out, Stderr: &errs}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`: hardware "nvidia-rtx-4090": line 2, Device 0: NVIDIA GeForce RTX 4090, compute capability 8.9`,
		`: generation_tps 124.65: line 4, t/s`, `: model "llama-3-8b": the option model`,
	} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("standard error has not %q:\n%s", want, errs.String())
		}
	}
	if strings.Count(out.String(), "\n") != 1 {
		t.Errorf("standard output has not one line: %s", out.String())
	}
}
