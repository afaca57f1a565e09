package verbs

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/importer"
	"modeldex/dataset/record"
	"modeldex/dataset/resolve"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// Import turns outputs of a program into benchmark lines. Format is set by the verb.
type Import struct {
	Dataset
	Format       string   `hidden:"" default:"${format}"`
	Files        []string `arg:"" help:"Output of the program, including the lines around it; - reads standard input."`
	Model        string   `help:"Model that was measured, by any name, such as Qwen3-8B-Q4_K_M.gguf. Only llama-bench output with -m has it." placeholder:"NAME"`
	Hardware     string   `help:"Hardware it ran on, by any name; \"2x RTX 3090\" also sets the number of devices. Only llama-bench output has it." placeholder:"NAME"`
	Quantization string   `help:"Quantization of the weights, if neither the output nor the model's name gives it." placeholder:"NAME"`
	ToolVersion  string   `help:"Version of the program, if the output does not give it." placeholder:"VERSION"`
	Source       string   `help:"Who measured: owner, community or official." enum:"owner,community,official" default:"community"`
	SourceURL    string   `help:"Page where the output was published; required unless --source is owner." placeholder:"URL"`
	RunDate      string   `help:"Day of the run, if the output does not give it." placeholder:"YYYY-MM-DD"`
	Explain      bool     `help:"Explain on standard error where each field comes from."`
}

func (c *Import) options() importer.Options {
	return importer.Options{
		Source: dataset.Source(c.Source), SourceURL: dataset.URL(c.SourceURL), RunDate: dataset.Date(c.RunDate),
		Model: c.Model, Hardware: c.Hardware, Quantization: c.Quantization, ToolVersion: c.ToolVersion,
	}
}

// Validate checks the flags that need no records.
func (c *Import) Validate() error { return ofFlags(c.options().Validate()) }

func ofFlags(err error) error {
	if err == nil {
		return nil
	}
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		name, text, _ := strings.Cut(line, ": ")
		lines[i] = "--" + strings.ReplaceAll(name, "_", "-") + ": " + text
	}
	return errors.New(strings.Join(lines, "\n"))
}

// Run prints benchmark lines ready to append, and on standard error what could not be mapped. It fails if that is all.
func (c *Import) Run(env *Env) error {
	set, _, err := c.Load(env)
	if err != nil {
		return err
	}
	im, err := importer.New(c.Format, set, c.options())
	if err != nil {
		return ofFlags(err)
	}
	var found []proposed
	var failed []error
	ids, skipped := map[dataset.Slug]bool{}, 0
	for _, file := range c.Files {
		b, err := ReadFile(file)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		result, err := im.Read(file, b)
		failed = append(failed, err)
		for _, s := range result.Skipped {
			fmt.Fprintln(env.Stderr, s)
		}
		skipped += len(result.Skipped)
		again := 0
		for i := range result.Benchmarks {
			b := &result.Benchmarks[i]
			if ids[b.ID] {
				again++
				continue
			}
			ids[b.ID] = true
			text, err := record.Line(b)
			if err != nil {
				return err
			}
			found = append(found, proposed{file, b.ModelRaw + " on " + b.HardwareRaw, append(text, '\n'), false})
			var fields map[string]jsontext.Value
			if c.Explain {
				failed = append(failed, jsonv2.Unmarshal(text, &fields))
			}
			for _, name := range slices.Sorted(maps.Keys(fields)) {
				if v := fields[name]; v.Kind() != 'n' {
					fmt.Fprintf(env.Stderr, "%s: %s %s: %s\n", b.ID, name, v, result.From[i][name])
				}
			}
		}
		if again > 0 {
			fmt.Fprintf(env.Stderr, "%s: %s already printed from an earlier file\n", file, record.Counted(again, "line"))
		}
	}
	printed, err := printProposed(env, set, found)
	fmt.Fprintf(env.Stderr, "%s, %s skipped\n", record.Counted(printed, "line"), record.Counted(skipped+len(found)-printed, "row"))
	if err := errors.Join(append(failed, err)...); err != nil {
		return err
	}
	if printed == 0 {
		return errors.New("no rows were imported: all were skipped")
	}
	return nil
}

type proposed struct {
	file, what string
	text       []byte
	rejected   bool
}

// printProposed prints the lines that pass the checks, and all findings.
func printProposed(env *Env, set *dataset.Set, found []proposed) (printed int, err error) {
	var all []byte
	for _, line := range found {
		all = append(all, line.text...)
	}
	findings, err := dataset.Propose(set, all, dataset.Options{Review: resolve.Review})
	if err != nil {
		return 0, err
	}
	said := map[string]bool{}
	for _, f := range findings {
		line := &found[f.Line-1]
		line.rejected = line.rejected || f.Severity == dataset.Fault
		text := line.file + f.Field + f.Text
		if f.Severity == dataset.Warning && said[text] {
			continue // of the page, so of every line
		}
		said[text] = true
		f.Path, f.Line, f.Col = line.file+": "+line.what, 0, 0
		fmt.Fprintln(env.Stderr, f)
	}
	for _, line := range found {
		if line.rejected {
			continue
		}
		if _, err := env.Stdout.Write(line.text); err != nil {
			return printed, err
		}
		printed++
	}
	return printed, nil
}
