package verbs

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"modeldex/dataset/fit"
	"modeldex/dataset/record"
	"modeldex/dataset/verbs"
)

// Evaluate compares estimates with measurements of sources that are hidden from them.
type Evaluate struct {
	verbs.DatasetArg
	Write  string `help:"Write the results to this file for the build: dataset/fit/validated.json." placeholder:"FILE"`
	Report string `help:"Write the results to this file as a readable page: bench/results/fit.md." placeholder:"FILE"`
}

// Run prints the scores by class.
func (c *Evaluate) Run(env *verbs.Env) error {
	set, src, err := c.Load(env)
	if err != nil {
		return err
	}
	end := verbs.Progress("evaluating")
	v := fit.Evaluate(set)
	end()
	page := evaluation(v)
	file, err := fit.EncodeValidated(v)
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{c.Write: file, c.Report: []byte(page)} {
		if name == "" {
			continue
		}
		if err := os.WriteFile(filepath.Clean(name), text, 0o644); err != nil { //nolint:gosec // a page of the project
			return err
		}
	}
	fmt.Fprintf(env.Stderr, "%s: %s of %s\n", src.Where, record.Counted(v.Generation.Rows, "measurement"), record.Counted(v.Generation.Sources, "source"))
	_, err = io.WriteString(env.Stdout, page)
	return err
}

// evaluation is the page of an evaluation.
func evaluation(v *fit.Validated) string {
	w := &strings.Builder{}
	fmt.Fprintf(w, `# Speed estimates against hidden sources

Command: `+"`modeldex fit evaluate data`"+`. Dataset %s (digest %s). Each measurement is estimated without any
measurement of its source, which is a repository or a site. The rule of thumb is %.2f of the bandwidth over the bytes
of the weights that a token reads.
`, v.DatasetVersion, v.Digest[:min(len(v.Digest), 12)], fit.SimpleShare)
	for _, part := range []struct {
		name string
		of   *fit.Quality
	}{{"Generation", &v.Generation}, {"Generation with weights in main memory", &v.Split}, {"Prompts", &v.Prompt}, {"Several requests at once", &v.Load}} {
		fmt.Fprintf(w, "\n## %s\n\n%s of %s.\n\n", part.name, record.Counted(part.of.Rows, "measurement"), record.Counted(part.of.Sources, "source"))
		w.WriteString("| class | rows | median error | within 25 % | within 1.5 x | within 2 x | 90 % band covers | band width | width at most 4 x | rule of thumb: median error |\n")
		w.WriteString("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
		for i := range part.of.Scores {
			s := &part.of.Scores[i]
			fmt.Fprintf(w, "| %s | %d | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.2f x | %.1f %% | %.1f %% |\n", s.Class, s.Rows, s.MedianError*100,
				s.Within25*100, s.Within50*100, s.Within100*100, s.Coverage*100, s.Width, s.Narrow*100, s.Simple*100)
		}
	}
	return w.String()
}
