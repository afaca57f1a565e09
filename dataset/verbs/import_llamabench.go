package verbs

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"modeldex/dataset"
	"modeldex/dataset/importer/llamabench"
	"modeldex/dataset/record"
)

// ImportLlamaBench turns outputs of llama-bench into benchmark lines.
type ImportLlamaBench struct {
	Dataset
	Files     []string `arg:"" help:"What llama-bench printed: -o json, jsonl, csv or md, or a Markdown table pasted from anywhere." type:"existingfile"`
	Source    string   `help:"Who measured." enum:"owner,community,official" default:"community"`
	SourceURL string   `help:"Page the output was published on; required unless --source is owner." placeholder:"URL"`
	RunDate   string   `help:"Day of the run, where the output prints none." placeholder:"YYYY-MM-DD"`
	Model     string   `help:"Slug of what was measured, for tables that print only a size." placeholder:"SLUG"`
	Hardware  string   `help:"Slug of what it ran on, for tables without device lines." placeholder:"SLUG"`
}

// Validate checks the flags that need no records.
func (c *ImportLlamaBench) Validate() error { return c.options().Validate() }

func (c *ImportLlamaBench) options() llamabench.Options {
	return llamabench.Options{
		Source: dataset.Source(c.Source), SourceURL: dataset.URL(c.SourceURL), RunDate: dataset.Date(c.RunDate),
		Model: dataset.Slug(c.Model), Hardware: dataset.Slug(c.Hardware),
	}
}

// Run prints benchmark lines ready to append, and on standard error what could not be mapped. It
// fails where no row of any file could be.
func (c *ImportLlamaBench) Run(env *Env) error {
	set, _, err := c.Load(env)
	if err != nil {
		return err
	}
	im, err := llamabench.New(set, c.options())
	if err != nil {
		return err
	}
	var (
		read, skipped int
		failed        []error
		printed       = map[dataset.Slug]bool{}
	)
	for _, file := range c.Files { // a file that cannot be read does not keep the others from it
		result, err := c.read(env, im, file, printed)
		failed = append(failed, err)
		read, skipped = read+len(result.Benchmarks), skipped+len(result.Skipped)
	}
	fmt.Fprintf(env.Stderr, "%s, %s skipped\n", record.Counted(read, "line"), record.Counted(skipped, "row"))
	if err := errors.Join(failed...); err != nil {
		return err
	}
	if read == 0 {
		return errors.New("nothing was imported: every row was skipped")
	}
	return nil
}

// read prints what one file gives and the files before it, whose ids are in printed, did not.
func (c *ImportLlamaBench) read(env *Env, im *llamabench.Importer, file string, printed map[dataset.Slug]bool) (result llamabench.Result, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return result, err
	}
	if result, err = im.Read(file, b); err != nil {
		return result, err
	}
	for _, s := range result.Skipped {
		fmt.Fprintln(env.Stderr, s)
	}
	again := len(result.Benchmarks)
	result.Benchmarks = slices.DeleteFunc(result.Benchmarks, func(b dataset.Benchmark) bool { return printed[b.ID] })
	if again -= len(result.Benchmarks); again > 0 {
		fmt.Fprintf(env.Stderr, "%s: %s printed already, from a file before it\n", file, record.Counted(again, "line"))
	}
	for i := range result.Benchmarks {
		printed[result.Benchmarks[i].ID] = true
		line, err := dataset.Line(&result.Benchmarks[i])
		if err != nil {
			return result, err
		}
		fmt.Fprintf(env.Stdout, "%s\n", line)
	}
	return result, nil
}
