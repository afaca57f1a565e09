package verbs

import (
	"fmt"
	"maps"
	"slices"
	"text/tabwriter"

	"modeldex/dataset"
	"modeldex/dataset/best"
	"modeldex/dataset/fit"
	"modeldex/dataset/record"
	"modeldex/dataset/resolve"
	"modeldex/dataset/verbs"
)

// rule is the rule of a dataset and of its snapshots.
func (s *Settings) rule(env *verbs.Env, set *dataset.Set) *best.Rule {
	src, err := s.Find(env)
	if err != nil || env.Evidence == nil {
		return best.RuleOf(set, nil)
	}
	return best.RuleOf(set, env.Evidence(src.Files))
}

// Runs lists the models that run on a machine.
type Runs struct {
	Hardware string `arg:"" help:"Hardware: slug, name or alias."`
	Settings
	Explain bool `help:"Show the points behind the order."`
	Limit   int  `help:"Maximum number of rows to print, best first; 0 for all." default:"40"`
}

// Run prints a table of the models that are recommended, the best first.
func (c *Runs) Run(env *verbs.Env) error {
	set, _, err := c.Load(env)
	if err != nil {
		return err
	}
	return c.answer(env, set)
}

func (c *Runs) answer(env *verbs.Env, set *dataset.Set) error {
	q := c.query()
	if err := newNames(set).machine(env, c.Hardware, &q); err != nil {
		return err
	}
	on := machineText(q.Hardware, q.Count, q.MemoryGB)
	list, fault := c.rule(env, set).Models(q)
	if fault != nil {
		return fault
	}
	found, total := list.Found, len(list.Found)
	if c.Limit > 0 {
		found = found[:min(c.Limit, total)]
	}
	if c.JSON() {
		for i := range found {
			if !c.Explain {
				found[i].Points = nil
			}
		}
		return env.PrintJSON(found)
	}
	t := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	heading := "MODEL\tQUANTIZATION\tMEMORY\tWHY"
	if c.Explain {
		heading += "\tPOINTS"
	}
	fmt.Fprintln(t, heading)
	for _, b := range found {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s", b.Model, b.Quantization, bytesText(&b.Total), b.Why)
		if c.Explain {
			fmt.Fprintf(t, "\t%s", b.Points)
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush()
	fmt.Fprintf(env.Stderr, "%d of %s recommended on %s\n", total, record.Counted(len(set.Models), "model"), on)
	for _, why := range slices.Sorted(maps.Keys(list.LeftOut)) {
		fmt.Fprintf(env.Stderr, "not listed: %s that run: %s\n", record.Counted(len(list.LeftOut[why]), "model"), why)
	}
	if n := len(list.NoSpeed); n > 0 {
		fmt.Fprintf(env.Stderr, "not listed: %s whose speed is unknown\n", record.Counted(n, "model"))
	}
	if n := len(list.Undecided); n > 0 {
		fmt.Fprintf(env.Stderr, "not listed: %s: a fact that decides whether %s is not published; fit names it\n", record.Counted(n, "model"), record.Noun(n, "it runs", "they run"))
	}
	return nil
}

// Compare puts machines beside each other for one model, or models for one machine.
type Compare struct {
	Names []string `arg:"" help:"Two or more models and the hardware to run them on, or a model and two or more names of hardware, in any order."`
	Settings
}

// Validate asks for something to compare.
func (c *Compare) Validate() error {
	if len(c.Names) < 3 {
		return fmt.Errorf("needs at least three names, two of one kind and one of the other, got %d", len(c.Names))
	}
	if len(c.Names) > 20 {
		return fmt.Errorf("takes at most 20 names, got %d", len(c.Names))
	}
	return nil
}

// Run prints a row for each pair: the size asked for, or the best that runs.
func (c *Compare) Run(env *verbs.Env) error {
	set, _, err := c.Load(env)
	if err != nil {
		return err
	}
	return c.answer(env, set)
}

func (c *Compare) answer(env *verbs.Env, set *dataset.Set) error {
	q := c.query()
	models, hardware, err := c.find(env, newNames(set), &q)
	if err != nil {
		return err
	}
	if len(models) == 0 || len(hardware) == 0 {
		return fmt.Errorf("compare needs a model and hardware, got %s and %s of hardware", record.Counted(len(models), "model"), record.Counted(len(hardware), "piece"))
	}
	answers, err := pairs(c.rule(env, set), models, hardware)
	if err != nil {
		return err
	}
	if c.JSON() {
		return env.PrintJSON(answers)
	}
	t := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	deep, missing := c.Context > 0, "-\t-\t-\t-\t-\t-"
	if deep {
		missing += "\t-"
	}
	fmt.Fprintln(t, "MODEL\tHARDWARE\tSIZE\tVERDICT\tTOTAL\tLONGEST\t"+speedHeading(deep, int64(c.Context)))
	for _, a := range answers {
		if len(a.Sizes) == 0 {
			fmt.Fprintf(t, "%s\t%s\t-\t%s\t%s\n", a.Model, answerMachine(a), a.Verdict, missing)
			continue
		}
		s := &a.Sizes[0]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", a.Model, answerMachine(a), s.Quantization, s.Verdict, bytesText(&s.Memory.Total), longestText(a, s), speedText(s.Speed, deep))
	}
	return t.Flush()
}

// find finds the models and the hardware that the names mean.
func (c *Compare) find(env *verbs.Env, known names, q *fit.Query) (models []dataset.Slug, hardware []fit.Query, err error) {
	for _, name := range c.Names {
		a := known.Resolve(resolve.Model, name)
		if a.Slug != "" {
			sayRead(env, &a, string(a.Slug))
			models = append(models, a.Slug)
			continue
		}
		h := *q
		err := known.machine(env, name, &h)
		switch {
		case err == nil:
			hardware = append(hardware, h)
		case a.Ambiguous: // it is clearly the name of a model
			_, err = known.find(resolve.Model, name)
			return nil, nil, err
		default:
			return nil, nil, fmt.Errorf("no model has this name, and %w", err)
		}
	}
	return models, hardware, nil
}

// answerMachine is the machine of an answer.
func answerMachine(a *fit.Answer) string { return machineText(*a.Hardware, a.Count, 0) }

// pairs answers for every model on every machine, with one size only: the best that was measured, if
// one of those is preferred, else the best.
func pairs(e *best.Rule, models []dataset.Slug, hardware []fit.Query) (out []*fit.Answer, err error) {
	for _, m := range models {
		for _, q := range hardware {
			q.Model, q.BestOnly = m, true
			a, fault := e.Fit(q)
			if fault != nil {
				return nil, fmt.Errorf("%s on %s: %w", m, q.Hardware, fault)
			}
			out = append(out, a)
		}
	}
	return out, nil
}
