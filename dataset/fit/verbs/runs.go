package verbs

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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

// list prints the first rows of what was found, with the cells before the size, the memory and the reason.
func (s *Settings) list(env *verbs.Env, found []fit.Best, limit int, explain bool, heading string, cells func(b *fit.Best) string) error {
	if limit > 0 {
		found = found[:min(limit, len(found))]
	}
	if explain {
		heading += "\tPOINTS"
	}
	var rows []string
	for i := range found {
		b := &found[i]
		row := fmt.Sprintf("%s\t%s\t%s\t%s", cells(b), b.Quantization, bytesText(b.Total), b.Why)
		if explain {
			row += "\t" + b.Points.String()
		} else {
			b.Points = nil
		}
		rows = append(rows, row)
	}
	if s.JSON() {
		return env.PrintJSON(found)
	}
	return table(env.Stdout, heading, rows)
}

// Runs lists the models that run on a machine.
type Runs struct {
	Hardware string `arg:"" help:"Hardware: slug, name or alias."`
	Settings
	Explain bool `help:"Show the points behind the order."`
	Limit   int  `help:"Maximum number of rows to print, best first; 0 for all." default:"40"`
}

// Run prints a table of the models that are recommended, the best first.
func (c *Runs) Run(env *verbs.Env) error { return c.on(env, c.answer) }

func (c *Runs) answer(env *verbs.Env, set *dataset.Set) error {
	q := c.query()
	if err := newNames(env, set).machine(c.Hardware, &q); err != nil {
		return err
	}
	found, fault := c.rule(env, set).Models(q)
	if fault != nil {
		return fault
	}
	err := c.list(env, found.Found, c.Limit, c.Explain, "MODEL\tQUANTIZATION\tMEMORY\tWHY", func(b *fit.Best) string { return string(b.Model) })
	if err != nil || c.JSON() {
		return err
	}
	on := machineText(fit.Unit{Hardware: q.Hardware, MemoryGB: q.MemoryGB}, q.Count)
	fmt.Fprintf(env.Stderr, "%d of %s recommended on %s\n", len(found.Found), record.Counted(len(set.Models), "model"), on)
	for _, why := range slices.Sorted(maps.Keys(found.LeftOut)) {
		fmt.Fprintf(env.Stderr, "not listed: %s that run: %s\n", record.Counted(len(found.LeftOut[why]), "model"), why)
	}
	if n := len(found.NoSpeed); n > 0 {
		fmt.Fprintf(env.Stderr, "not listed: %s whose speed is unknown\n", record.Counted(n, "model"))
	}
	if n := len(found.Undecided); n > 0 {
		fmt.Fprintf(env.Stderr, "not listed: %s: a fact needed to tell whether %s is not published; see modeldex fit\n", record.Counted(n, "model"), record.Noun(n, "it runs", "they run"))
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
func (c *Compare) Run(env *verbs.Env) error { return c.on(env, c.answer) }

func (c *Compare) answer(env *verbs.Env, set *dataset.Set) error {
	models, hardware, err := c.find(newNames(env, set))
	if err != nil {
		return err
	}
	if len(models) == 0 || len(hardware) == 0 {
		return fmt.Errorf("compare needs a model and hardware, got %s and %s of hardware", record.Counted(len(models), "model"), record.Counted(len(hardware), "piece"))
	}
	rule, deep := c.rule(env, set), c.Context > 0
	unknown := strings.Repeat("\t-", 6)
	if deep {
		unknown += "\t-"
	}
	var answers []*fit.Answer
	var rows []string
	for _, m := range models {
		for _, q := range hardware {
			q.Model, q.BestOnly = m, true
			a, fault := rule.Fit(q)
			if fault != nil {
				return fmt.Errorf("%s on %s: %w", m, q.Hardware, fault)
			}
			row := fmt.Sprintf("%s\t%s\t", a.Model, machineText(fit.Unit{Hardware: q.Hardware}, a.Count))
			if len(a.Sizes) > 0 {
				s := &a.Sizes[0]
				row += fmt.Sprintf("%s\t%s\t%s\t%s\t%s", s.Quantization, s.Verdict, bytesText(s.Memory.Total), longestText(a, s), speedText(s.Speed, deep))
			} else {
				row += "-\t" + string(a.Verdict) + unknown
			}
			answers, rows = append(answers, a), append(rows, row)
		}
	}
	if c.JSON() {
		return env.PrintJSON(answers)
	}
	return table(env.Stdout, "MODEL\tHARDWARE\tSIZE\tVERDICT\tTOTAL\tLONGEST\t"+speedHeading(deep, int64(c.Context)), rows)
}

// find finds the models and the hardware that the names mean.
func (c *Compare) find(known names) (models []dataset.Slug, hardware []fit.Query, err error) {
	for _, name := range c.Names {
		a := known.Resolve(resolve.Model, name)
		if a.Slug != "" {
			known.sayRead(&a, string(a.Slug))
			models = append(models, a.Slug)
			continue
		}
		h := c.query()
		err := known.machine(name, &h)
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
