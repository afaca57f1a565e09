// Package verbs has the verb `modeldex bench`, which measures a model on this machine.
package verbs

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/contribute"
	"modeldex/dataset/here"
	"modeldex/dataset/measure"
	"modeldex/dataset/record"
	"modeldex/dataset/resolve"
	"modeldex/dataset/verbs"
)

// Bench measures a model on this machine and prints the finished lines.
type Bench struct {
	verbs.Dataset
	LlamaBench    string `help:"Path of llama-bench, if it is not on PATH." placeholder:"FILE"`
	ModelFile     string `help:"GGUF file that llama-bench measures." placeholder:"FILE"`
	Model         string `help:"Model to measure: an Ollama tag, a model on the server, or a name for the model file." placeholder:"NAME"`
	URL           string `name:"url" help:"Address of an OpenAI-compatible server: llama-server, LM Studio, vLLM, MLX." placeholder:"URL"`
	OllamaURL     string `help:"Address of Ollama." default:"http://127.0.0.1:11434" placeholder:"URL"`
	Tool          string `help:"Program behind --url, if it does not identify itself." placeholder:"SLUG"`
	Quantization  string `help:"Quantization of the model behind --url, if its name does not say." placeholder:"NAME"`
	Hardware      string `help:"Hardware the model runs on, if detection finds no device or more than one; \"2x RTX 3090\" also sets the number of devices." placeholder:"NAME"`
	Depths        []int  `help:"Tokens in the cache before the prompt." default:"0,4096,16384"`
	Repetitions   int    `help:"Repetitions of each measurement." default:"5"`
	SourceURL     string `help:"Page where you publish the numbers. Without it, the line counts as a measurement by the owner of the dataset." placeholder:"URL"`
	Submit        bool   `help:"For each line, print a link to the repository's issue form, already filled in, to standard error."`
	RepositoryURL string `help:"Repository of the dataset, for --submit." env:"MODELDEX_REPOSITORY_URL" placeholder:"URL"`
}

// Validate checks the flags that need no records.
func (c *Bench) Validate() error {
	var errs []error
	add := func(wrong bool, text string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(text, args...))
		}
	}
	for _, depth := range c.Depths {
		add(depth < 0 || depth > 1<<20, "--depths: must be 0 to %d, got %d", 1<<20, depth)
	}
	add(c.Repetitions < 1 || c.Repetitions > 100, "--repetitions: must be 1 to 100, got %d", c.Repetitions)
	add(c.Submit && c.RepositoryURL == "", "--submit: needs --repository-url")
	add(c.SourceURL != "" && !dataset.URL(c.SourceURL).Valid(), "--source-url: must start with https:// or http://, got %q", c.SourceURL)
	add(c.LlamaBench != "" && c.ModelFile == "", "--llama-bench: needs --model-file")
	add(c.URL != "" && c.ModelFile != "", "--url: cannot be used with --model-file")
	u, err := url.Parse(c.URL)
	own := err == nil && (u.Hostname() == "localhost" || strings.HasPrefix(u.Hostname(), "127.") || u.Hostname() == "::1")
	add(c.Hardware == "" && c.URL != "" && !own, "--hardware: is required if --url is another machine")
	return errors.Join(errs...)
}

// runner is the one that the flags ask for. Without flags it is Ollama, which has its models itself.
func (c *Bench) runner() measure.Runner {
	switch {
	case c.URL != "":
		return &measure.OpenAI{URL: c.URL, Tool: c.Tool, Quantization: c.Quantization}
	case c.ModelFile != "":
		return &measure.LlamaBench{Program: cmp.Or(c.LlamaBench, "llama-bench"), ModelFile: c.ModelFile}
	}
	return &measure.Ollama{URL: strings.TrimRight(c.OllamaURL, "/")}
}

// Run measures, and prints the lines that the rules of the dataset accept.
func (c *Bench) Run(env *verbs.Env) error { return c.run(env, here.This()) }

func (c *Bench) run(env *verbs.Env, machine here.Machine) error {
	set, _, err := c.Load(env)
	if err != nil {
		return err
	}
	ctx, stop := verbs.UntilSignal()
	defer stop()
	say := func(format string, args ...any) { fmt.Fprintf(env.Stderr, format+"\n", args...) }
	names := resolve.New(set)
	b := &measure.Bench{
		Set: set, Names: names, Report: here.Inspect(machine, names), Model: c.Model, Hardware: c.Hardware, Depths: c.Depths, Repetitions: c.Repetitions,
		SourceURL: dataset.URL(c.SourceURL), RunDate: dataset.Date(time.Now().UTC().Format(time.DateOnly)), Say: say,
	}
	say("hardware: %s", cmp.Or(c.Hardware, b.Report.Main, "unknown"))
	runs, err := b.All(ctx, c.runner())
	if err != nil {
		return err
	}
	printed := 0
	for i := range runs {
		accepted, err := c.report(env, set, &runs[i])
		if err != nil {
			return err
		}
		if accepted {
			printed++
		}
	}
	if printed == 0 {
		return errors.New("no line passes the dataset checks")
	}
	return nil
}

// report prints the line of a run, where it is among equal ones, and what may be wrong with it. The checks may reject it.
func (c *Bench) report(env *verbs.Env, set *dataset.Set, r *measure.Run) (accepted bool, err error) {
	line, err := record.Line(&r.Benchmark)
	if err != nil {
		return false, err
	}
	line = append(line, '\n')
	findings, err := dataset.Propose(set, line, dataset.Options{Review: resolve.Review})
	if err != nil {
		return false, err
	}
	fmt.Fprintf(env.Stderr, "\n%s on %s\n%s", r.Model, r.Hardware, measure.Picture(set, &r.Benchmark))
	for _, w := range measure.Warnings(set, r) {
		fmt.Fprintf(env.Stderr, "warning: %s\n", w)
	}
	for _, f := range findings {
		f.Path, f.Line, f.Col = string(r.ID), 0, 0
		fmt.Fprintln(env.Stderr, f)
	}
	if len(findings.Faults()) > 0 {
		return false, nil
	}
	if c.Submit {
		values, err := contribute.ValuesOf(line)
		if err != nil {
			return false, err
		}
		values.Set("source", string(dataset.Community)) // the line of an owner needs no form
		address, _ := contribute.IssueAddress(c.RepositoryURL, values)
		fmt.Fprintf(env.Stderr, "propose it, and add the page where you publish the numbers: %s\n", address)
	}
	_, err = env.Stdout.Write(line)
	return true, err
}
