package verbs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"modeldex/dataset"
	"modeldex/dataset/diff"
	"modeldex/dataset/record"
	"modeldex/dataset/resolve"
)

// Check lists the findings of a dataset.
type Check struct {
	DatasetArg
	Format string `help:"text for people, json for programs, github for pull-request annotations." enum:"text,json,github" default:"text" placeholder:"FORMAT"`
	AsJSON bool   `name:"json" help:"The same as --format=json."`
	Quiet  bool   `short:"q" help:"Print only errors, no warnings."`
	Rules  bool   `help:"List the rules instead, with the ids that accepted.json uses."`
}

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
	end := Progress("checking")
	findings, err := dataset.Check(src.Files, dataset.Options{Review: resolve.Review})
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
	faults := findings.Faults()
	warnings := slices.DeleteFunc(slices.Clone(findings), func(f dataset.Finding) bool { return f.Severity == dataset.Fault })
	shown := slices.Concat(faults, warnings)
	if c.Quiet {
		shown = faults
	}
	if c.AsJSON {
		c.Format = "json"
	}
	if err := shown.Report(env.Stdout, c.Format); err != nil {
		return err
	}
	if len(faults) > 0 {
		return fmt.Errorf("%s: %s; the dataset would be rejected", src.Where, record.Counted(len(faults), "finding"))
	}
	fmt.Fprintf(env.Stderr, "%s: clean, %s\n", src.Where, record.Counted(len(warnings), "warning"))
	return nil
}

// Fmt writes dataset files in the canonical format.
type Fmt struct {
	DatasetArg
	Check bool `help:"Only list the files that would change, and exit with 1 if there are any."`
}

// Run lists the files that it changed.
func (c *Fmt) Run(env *Env) error {
	src, err := c.FindDir(env)
	if err != nil {
		return err
	}
	if !c.Check {
		changed, err := dataset.Format(src.Dir)
		printPaths(env, src.Dir, changed)
		return leftAlone(env, src.place(err))
	}
	would, err := dataset.FormatCheck(dataset.Dir(src.Dir))
	printPaths(env, src.Dir, would)
	if err == nil && len(would) > 0 {
		err = fmt.Errorf("%s not in the canonical format; run modeldex fmt %s", record.Counted(len(would), "file"), src.Dir)
	}
	return leftAlone(env, src.place(err))
}

func leftAlone(env *Env, err error) error {
	var findings dataset.Findings
	if !errors.As(err, &findings) {
		return err
	}
	files := map[string]bool{}
	for _, f := range findings {
		files[f.Path] = true
		fmt.Fprintln(env.Stderr, f)
	}
	left := "that file was left as it is"
	if len(files) > 1 {
		left = "those files were left as they are"
	}
	return fmt.Errorf("%s; %s", record.Counted(len(findings), "finding"), left)
}

func printPaths(env *Env, dir string, names []string) {
	for _, name := range names {
		fmt.Fprintln(env.Stdout, filepath.Join(dir, name))
	}
}

// Diff lists what differs between two datasets.
type Diff struct {
	Old    string `arg:"" help:"Dataset directory, or a git revision of the one in --data."`
	New    string `arg:"" help:"Newer dataset: a directory or a git revision."`
	Format string `help:"text for people, json for programs, markdown for a comment on a pull request." enum:"text,json,markdown" default:"text" placeholder:"FORMAT"`
	AsJSON bool   `name:"json" help:"The same as --format=json."`
	Data   string `help:"Dataset directory that revisions refer to." env:"MODELDEX_DATA" default:"data" placeholder:"DIR"`
}

// Run prints what differs. Only datasets without findings can be compared.
func (c *Diff) Run(env *Env) error {
	from, err := loadFrom(c.Data, c.Old)
	if err != nil {
		return err
	}
	to, err := loadFrom(c.Data, c.New)
	if err != nil {
		return err
	}
	if c.AsJSON {
		c.Format = "json"
	}
	return diff.Compare(from, to).Report(env.Stdout, c.Format)
}

func loadFrom(data, name string) (*dataset.Set, error) {
	files, err := filesOf(data, name)
	if err != nil {
		return nil, err
	}
	set, err := dataset.Load(context.Background(), files, dataset.Options{})
	return set, Source{Dir: name}.place(err)
}

func filesOf(data, name string) (fs.FS, error) {
	if st, err := os.Stat(name); err == nil && st.IsDir() {
		return dataset.Dir(name), datasetIn(name)
	}
	files, err := dataset.Revision(context.Background(), data, name)
	if err != nil {
		return nil, err
	}
	if _, err := fs.Stat(files, infoFile); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: not a dataset: it has no %s", name, infoFile)
	}
	return files, nil
}
