package verbs

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"modeldex/dataset/importer/facts"
	"modeldex/dataset/record"
)

// ImportFacts lays tables of facts over a dataset.
type ImportFacts struct {
	From      string `arg:"" help:"Directory of the tables."`
	Data      string `help:"Dataset directory to write. It may be empty or missing." default:"data" placeholder:"DIR"`
	Overwrite bool   `help:"Change and remove files that are there; without it they are listed and nothing is written."`
}

// Run prints how much was imported.
func (c *ImportFacts) Run(env *Env) error {
	if err := CheckDirectory(c.From); err != nil {
		return err
	}
	report, err := facts.Import(os.DirFS(c.From), c.Data, c.Overwrite)
	if err != nil {
		return fmt.Errorf("importing facts: %w", err)
	}
	fmt.Fprintf(env.Stdout, "imported %s, %d hardware, %s, %s, %s\n", record.Counted(report.Models, "model"), report.Hardware,
		record.Counted(report.Tools, "tool"), record.Counted(report.Benchmarks, "benchmark"), record.Counted(report.Quantizations, "quantization type"))
	for _, name := range slices.Sorted(maps.Keys(report.LeftOut)) {
		fmt.Fprintf(env.Stdout, "left out %s: no table has %s\n", record.Counted(report.LeftOut[name], "benchmark"), name)
	}
	return nil
}
