package verbs

import (
	"errors"
	"fmt"
	"path/filepath"

	"modeldex/dataset"
	"modeldex/dataset/record"
)

// Fmt writes dataset files in the canonical format.
type Fmt struct {
	DatasetArg
	Check bool `help:"Change nothing; list the files that would change. The exit code is 1 if there are any."`
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

// leftAlone prints the findings of files that have no format because they have faults. The other files were written.
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
