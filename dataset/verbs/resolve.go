package verbs

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"modeldex/dataset/resolve"
)

// Resolve says which records names mean.
type Resolve struct {
	Dataset
	Format
	Kind  string   `help:"Kind of record: model, hardware or tool; default all." enum:",model,hardware,tool" default:""`
	Names []string `arg:"" optional:"" help:"Names as drivers, hubs and files spell them; without any, the command reads one per line from standard input."`

	in io.Reader // standard input where nil
}

// Run prints one line for each name: slug, confidence and reason, with the candidates below it.
func (c *Resolve) Run(env *Env) error {
	set, _, err := c.Load(env)
	if err != nil {
		return err
	}
	names := resolve.New(set)
	var all []resolve.Answer
	err = c.each(func(name string) {
		a := names.Resolve(resolve.Kind(c.Kind), name)
		if c.JSON() {
			a.Candidates = append([]resolve.Candidate{}, a.Candidates...)
			all = append(all, a)
			return
		}
		printAnswer(env.Stdout, a)
	})
	if err == nil && c.JSON() {
		return env.PrintJSON(all)
	}
	return err
}

func (c *Resolve) each(visit func(name string)) error {
	for _, name := range c.Names {
		visit(name)
	}
	if len(c.Names) > 0 {
		return nil
	}
	in := c.in
	if in == nil {
		in = os.Stdin
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if name := strings.TrimSpace(lines.Text()); name != "" {
			visit(name)
		}
	}
	return lines.Err()
}

func printAnswer(w io.Writer, a resolve.Answer) {
	slug, how := string(a.Slug), string(a.Confidence)
	switch {
	case a.Ambiguous:
		how = "ambiguous"
	case how == "":
		how = "unknown"
	}
	if slug == "" {
		slug = "-"
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", a.Input, slug, how, a.Reason)
	for _, c := range a.Candidates {
		fmt.Fprintf(w, "\t%s\t%s\n", c.Slug, c.Reason)
	}
}
