package verbs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"modeldex/dataset/contribute"
	"modeldex/dataset/resolve"
	"modeldex/dataset/verbs"
)

// ImportIssue turns an issue that was made with the form for measurements into benchmark lines.
type ImportIssue struct {
	verbs.Dataset
	File   string `arg:"" help:"Text of the issue; - reads standard input."`
	Append bool   `help:"Append the lines to their files in --data instead of printing them."`
	Report string `help:"File for a report on the issue, in Markdown." placeholder:"FILE"`
}

// Run makes the lines. It fails where there is none.
func (c *ImportIssue) Run(env *verbs.Env) error {
	body, err := verbs.ReadFile(c.File)
	if err != nil {
		return err
	}
	set, _, err := c.Load(env)
	if err != nil {
		return err
	}
	desk := contribute.NewDesk(set, resolve.New(set), nil)
	values, err := contribute.ReadIssue(string(body))
	report, lines := "", []contribute.Line(nil)
	if err != nil {
		report = err.Error() + "\n"
	} else {
		result := desk.Check(values)
		report, lines = desk.Report(result), result.Lines
	}
	if c.Report == "" {
		_, err = io.WriteString(env.Stderr, report)
	} else {
		err = os.WriteFile(c.Report, []byte(report), 0o600)
	}
	if err != nil {
		return err
	}
	for _, l := range lines {
		if err := c.put(env, l); err != nil {
			return err
		}
	}
	if len(lines) == 0 {
		return errors.New("the issue gave no lines")
	}
	return nil
}

// put prints a line, or appends it to its file.
func (c *ImportIssue) put(env *verbs.Env, l contribute.Line) error {
	if !c.Append {
		fmt.Fprintln(env.Stdout, l.Text)
		return nil
	}
	if c.Data == "" {
		return errors.New("--append needs --data")
	}
	f, err := os.OpenFile(filepath.Join(c.Data, filepath.FromSlash(l.File)), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // files of the dataset are for all
	if err != nil {
		return err
	}
	_, err = f.WriteString(l.Text + "\n")
	return errors.Join(err, f.Close())
}
