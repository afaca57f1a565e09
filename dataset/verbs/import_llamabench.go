package verbs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"

	"modeldex/dataset"
	"modeldex/dataset/importer/llamabench"
	"modeldex/dataset/record"
	"modeldex/dataset/resolve"
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
		printed       = printedLines{set: set, ids: map[dataset.Slug]bool{}}
	)
	for _, file := range c.Files { // a file that cannot be read does not keep the others from it
		good, bad, err := printed.read(env, im, file)
		failed = append(failed, err)
		read, skipped = read+good, skipped+bad
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

// printedLines are the lines that were printed so far.
type printedLines struct {
	set  *dataset.Set
	ids  map[dataset.Slug]bool
	text []byte
}

// read prints what one file gives and the files before it did not, and counts the lines and what was skipped. A line that
// check would reject beside those of the dataset is not printed.
func (p *printedLines) read(env *Env, im *llamabench.Importer, file string) (good, bad int, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, 0, err
	}
	result, err := im.Read(file, b)
	if err != nil {
		return 0, 0, err
	}
	for _, s := range result.Skipped {
		fmt.Fprintln(env.Stderr, s)
	}
	again := len(result.Benchmarks)
	fresh := slices.DeleteFunc(result.Benchmarks, func(b dataset.Benchmark) bool { return p.ids[b.ID] })
	if again -= len(fresh); again > 0 {
		fmt.Fprintf(env.Stderr, "%s: %s printed already, from a file before it\n", file, record.Counted(again, "line"))
	}
	good, err = p.print(env, file, fresh)
	return good, len(fresh) - good + len(result.Skipped), err
}

// print prints the lines that pass the checks, and says what the checks find in the others.
func (p *printedLines) print(env *Env, file string, fresh []dataset.Benchmark) (good int, err error) {
	before, lines := bytes.Count(p.text, []byte{'\n'}), make([][]byte, len(fresh))
	all := slices.Clone(p.text)
	for i := range fresh {
		p.ids[fresh[i].ID] = true
		line, err := dataset.Line(&fresh[i])
		if err != nil {
			return 0, err
		}
		lines[i] = append(line, '\n')
		all = append(all, lines[i]...)
	}
	findings, err := dataset.Propose(p.set, all, dataset.Options{Review: resolve.Review})
	if err != nil {
		return 0, err
	}
	rejected, said := make([]bool, len(fresh)), map[string]bool{}
	for _, f := range findings {
		i := f.Line - 1 - before
		if i < 0 {
			continue // said with the file it is from
		}
		rejected[i] = rejected[i] || f.Severity == dataset.Fault
		text := f.Field + f.Text
		if f.Severity == dataset.Warning && said[text] {
			continue // of the page, so of every line
		}
		said[text] = true
		f.Path, f.Line, f.Col = fmt.Sprintf("%s: %s on %s", file, fresh[i].ModelRaw, fresh[i].HardwareRaw), 0, 0
		fmt.Fprintln(env.Stderr, f)
	}
	for i, line := range lines {
		if rejected[i] {
			continue
		}
		good++
		p.text = append(p.text, line...)
		if _, err := env.Stdout.Write(line); err != nil {
			return good, err
		}
	}
	return good, nil
}
