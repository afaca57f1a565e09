package verbs

import (
	"fmt"
	"slices"

	"modeldex/dataset"
	"modeldex/dataset/record"
	"modeldex/dataset/resolve"
)

// Check lists the findings of a dataset.
type Check struct {
	DatasetArg
	Format string `help:"text for people, json for programs, github for annotations of a pull request; default text." enum:",text,json,github" default:"" placeholder:"FORM"`
	AsJSON bool   `name:"json" help:"The same as --format=json."`
	Quiet  bool   `short:"q" help:"Print findings only, no warnings."`
	Rules  bool   `help:"List the rules instead, with the ids that accepted.json uses."`
}

// Validate checks what contradicts itself.
func (c *Check) Validate() error { return oneForm(c.Format, c.AsJSON) }

// Run prints every finding, then every warning; warnings do not reject a dataset.
func (c *Check) Run(env *Env) error {
	if c.Rules {
		for _, r := range dataset.Rules() {
			fmt.Fprintf(env.Stdout, "%-22s %-14s %s\n", r.ID, r.Table, r.About)
		}
		return nil
	}
	src, err := c.FindDir(env)
	if err != nil {
		return err
	}
	update, end := Progress("checking")
	findings, err := dataset.Check(src.Files, dataset.Options{Progress: update, Review: resolve.Review})
	end()
	if err != nil {
		return err
	}
	if env.CheckSnapshots != nil {
		findings = append(findings, env.CheckSnapshots(src.Files)...)
	}
	if src.Dir != "" {
		findings = findings.Under(src.Dir)
	}
	faults, warnings := split(findings)
	shown := append(slices.Clip(faults), warnings...)
	if c.Quiet {
		shown = faults
	}
	if err := shown.Report(env.Stdout, formOf(c.Format, c.AsJSON)); err != nil {
		return err
	}
	if len(faults) > 0 {
		return fmt.Errorf("%s: %s; the dataset would be rejected", src.Where, record.Counted(len(faults), "finding"))
	}
	fmt.Fprintf(env.Stderr, "%s: clean, %s\n", src.Where, record.Counted(len(warnings), "warning"))
	return nil
}

// split separates what rejects a dataset from what does not; both stay in the order of places.
func split(findings dataset.Findings) (faults, warnings dataset.Findings) {
	for _, f := range findings {
		if f.Severity == dataset.Fault {
			faults = append(faults, f)
		} else {
			warnings = append(warnings, f)
		}
	}
	return faults, warnings
}
