package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"modeldex/dataset/importer"

	jsonv2 "github.com/goccy/go-json/v2"
)

// LlamaBench measures with llama-bench, which warms up by itself.
type LlamaBench struct {
	Program   string // its file, or a name that is looked for on PATH
	ModelFile string // a GGUF file
}

// Start looks for the program, and measures one token: what cannot become a line is said before minutes of measuring.
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

// run runs the program once, and reads what it prints as `modeldex import llama-bench` does.
func (l *LlamaBench) run(ctx context.Context, b *Bench, say func(string), prompt, generation, depth, repetitions int) (Run, error) {
	args := fmt.Sprintf("-p %d -n %d -d %d -r %d -o json", prompt, generation, depth, repetitions)
	cmd := exec.CommandContext(ctx, l.Program, append(append([]string{"-m", l.ModelFile}, strings.Fields(args)...), "--progress")...) //nolint:gosec // the user names the program
	said := progress{say: say}
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return Run{}, fmt.Errorf("llama-bench failed (%w): %s", err, said.last)
	}
	im, err := importer.New(importer.LlamaBench, b.Set, b.options())
	if err != nil {
		return Run{}, err
	}
	result, err := im.Read("llama-bench", out)
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
	if err := jsonv2.Unmarshal(out, &rows); err != nil {
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

// progress says which test llama-bench is at, of all it prints on standard error, and keeps the last line.
type progress struct {
	say  func(line string)
	rest string // of a line that has not ended
	last string
}

func (p *progress) Write(b []byte) (int, error) {
	lines := strings.Split(p.rest+string(b), "\n")
	p.rest = lines[len(lines)-1]
	for _, line := range lines[:len(lines)-1] {
		p.last = line
		if _, test, ok := strings.Cut(line, "llama-bench: benchmark "); ok && strings.Contains(test, " run ") {
			p.say("test " + test)
		}
	}
	return len(b), nil
}
