// Package verbs has the verbs that answer from the dataset, without server or key, as tables for people or JSON for
// programs: fit, runs, compare and ask.
package verbs

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/ask"
	"modeldex/dataset/best"
	"modeldex/dataset/fit"
	"modeldex/dataset/record"
	"modeldex/dataset/resolve"
	"modeldex/dataset/verbs"
)

// Fit answers whether a model runs on a machine.
type Fit struct {
	Model    string `arg:"" help:"Model: slug, name or alias."`
	Hardware string `arg:"" help:"Hardware: slug, name or alias."`
	Settings
}

// Run prints a table of the sizes, best first, with speed and evidence.
func (c *Fit) Run(env *verbs.Env) error {
	return c.with(env, func(d *session) error { return d.fit(c.Model, c.Hardware) })
}

func (d *session) fit(model, hardware string) (err error) {
	q := d.Query
	if q.Model, err = d.model(model); err == nil {
		err = d.machine(hardware, &q)
	}
	if err == nil && q.Draft != "" {
		q.Draft, err = d.model(string(q.Draft))
	}
	if err != nil {
		return err
	}
	a, fault := d.engine.Fit(q)
	if fault != nil {
		return fault
	}
	if d.JSON() {
		return d.env.PrintJSON(a)
	}
	return d.printAnswer(a)
}

// Runs lists the models that run on a machine.
type Runs struct {
	Hardware string `arg:"" help:"Hardware: slug, name or alias."`
	Settings
	Explain bool `help:"Show the score breakdown behind the order."`
	Limit   int  `help:"Maximum number of rows to print, best first; 0 for all." default:"40"`
}

// Run prints a table of the models that are recommended, the best first.
func (c *Runs) Run(env *verbs.Env) error {
	return c.with(env, func(d *session) error { return d.models(c.Hardware, c.Limit, c.Explain) })
}

func (d *session) models(hardware string, limit int, explain bool) error {
	q := d.Query
	if err := d.machine(hardware, &q); err != nil {
		return err
	}
	found, fault := d.rule().Models(q)
	if fault != nil {
		return fault
	}
	err := d.list(found.Found, limit, explain, "MODEL", func(b *fit.Best) string { return string(b.Model) })
	if err != nil || d.JSON() {
		return err
	}
	on := machineText(fit.Unit{Hardware: q.Hardware, MemoryGB: q.MemoryGB}, q.Count)
	fmt.Fprintf(d.env.Stderr, "%d of %s recommended on %s\n", len(found.Found), record.Counted(len(d.set.Models), "model"), on)
	left := func(n int, why string) {
		if n > 0 {
			fmt.Fprintf(d.env.Stderr, "not listed: %s%s\n", record.Counted(n, "model"), why)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(found.LeftOut)) {
		left(len(found.LeftOut[why]), " that run: "+why)
	}
	left(len(found.NoSpeed), " whose speed is unknown")
	n := len(found.Undecided)
	left(n, ": a fact needed to tell whether "+record.Noun(n, "it runs", "they run")+" is not published; see modeldex fit")
	return nil
}

// hardwareFor prints the hardware that a model runs on, the best first.
func (d *session) hardwareFor(model dataset.Slug, limit int, maxPrice float64) error {
	q := d.Query
	q.Model = model
	list, fault := d.rule().Hardware(q)
	if fault != nil {
		return fault
	}
	found := slices.DeleteFunc(list.Found, func(b fit.Best) bool { return maxPrice > 0 && (b.TotalPriceUSD == nil || *b.TotalPriceUSD > maxPrice) })
	return d.list(found, limit, false, "HARDWARE\tUSD\tSEEN", func(b *fit.Best) string {
		usd, seen := "-", "-"
		if b.TotalPriceUSD != nil {
			usd = fmt.Sprintf("%.0f", *b.TotalPriceUSD)
		}
		if b.PriceDate != nil {
			seen = string(*b.PriceDate)
		}
		return machineText(fit.Unit{Hardware: b.Hardware}, b.Count) + "\t" + usd + "\t" + seen
	})
}

// rule is that of the dataset and of its snapshots.
func (d *session) rule() *best.Rule {
	return best.RuleOf(d.set, d.engine, d.env.Evidence(d.src.Files))
}

// list prints the first rows of what was found, with the cells before the size, the memory and the reason.
func (d *session) list(found []fit.Best, limit int, explain bool, heading string, cells func(b *fit.Best) string) error {
	if limit > 0 {
		found = found[:min(limit, len(found))]
	}
	if heading += "\tQUANTIZATION\tMEMORY\tWHY"; explain {
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
	if d.JSON() {
		return d.env.PrintJSON(found)
	}
	return d.table(heading, rows)
}

// Compare puts machines beside each other for one model, or models for one machine.
type Compare struct {
	Names []string `arg:"" help:"Two or more models and the hardware to run them on, or a model and two or more hardware names, in any order."`
	Settings
}

// Validate asks for something to compare.
func (c *Compare) Validate() error {
	if n := len(c.Names); n < 3 || n > 20 {
		return fmt.Errorf("needs 3 to 20 names, two of one kind and one of the other, got %d", n)
	}
	return nil
}

// Run prints a row for each pair: the size asked for, or the best that runs.
func (c *Compare) Run(env *verbs.Env) error {
	return c.with(env, func(d *session) error { return d.compare(c.Names) })
}

func (d *session) compare(names []string) error {
	var models []dataset.Slug
	var hardware []fit.Query
	for _, name := range names {
		if a := d.Resolve(resolve.Model, name); a.Slug == "" {
			q := d.Query
			err := d.machine(name, &q)
			if err == nil {
				hardware = append(hardware, q)
				continue
			}
			if !a.Ambiguous { // else it is clearly the name of a model
				return fmt.Errorf("no model has this name, and %w", err)
			}
		}
		model, err := d.model(name)
		if err != nil {
			return err
		}
		models = append(models, model)
	}
	if len(models) == 0 || len(hardware) == 0 {
		return fmt.Errorf("compare needs a model and hardware, got %s and %s of hardware", record.Counted(len(models), "model"), record.Counted(len(hardware), "piece"))
	}
	var answers []*fit.Answer
	var rows []string
	rule := d.rule()
	for _, m := range models {
		for _, q := range hardware {
			q.Model, q.BestOnly = m, true
			a, fault := rule.Fit(q)
			if fault != nil {
				return fmt.Errorf("%s on %s: %w", m, q.Hardware, fault)
			}
			row := "-\t" + string(a.Verdict)
			if len(a.Sizes) > 0 {
				row = d.sizeText(a, &a.Sizes[0])
			}
			answers = append(answers, a)
			rows = append(rows, fmt.Sprintf("%s\t%s\t%s", a.Model, machineText(fit.Unit{Hardware: q.Hardware}, a.Count), row))
		}
	}
	if d.JSON() {
		return d.env.PrintJSON(answers)
	}
	return d.table("MODEL\tHARDWARE\t"+d.sizeHeading(d.Query.Context), rows)
}

// Ask answers a question in people's words.
type Ask struct {
	verbs.Dataset
	verbs.Format
	Question []string `arg:"" help:"The question, such as \"what runs on two 3090s with 64 GB of RAM?\"."`
	Limit    int      `help:"Maximum number of rows to print; 0 for all." default:"15"`
}

// Run says how the question was read, and answers as the verb that it means.
func (c *Ask) Run(env *verbs.Env) error {
	return (&Settings{Dataset: c.Dataset, Format: c.Format}).with(env, c.answer)
}

func (c *Ask) answer(d *session) error {
	q := d.Read(strings.Join(c.Question, " "))
	call := ask.Meant(q, d.engine.HasSize)
	asked, _ := url.QueryUnescape(call.Params.Encode()) // made by this program
	read := fmt.Sprintf("read as %s: %s", q.Intent, strings.ReplaceAll(asked, "&", ", "))
	if len(q.Unused) > 0 {
		read += "; not used: " + strings.Join(q.Unused, ", ")
	}
	fmt.Fprintln(d.env.Stderr, read)
	if call.Left != "" {
		fmt.Fprintln(d.env.Stderr, call.Left)
	}
	param := call.Params.Get
	number := func(name string) float64 {
		v, _ := strconv.ParseFloat(param(name), 64)
		return v
	}
	d.Query = fit.Query{
		Context: int64(number("context")), MinTPS: number("min_tps"), Quantization: param("quantization"), Count: int(number("count")),
		MemoryGB: number("memory_gb"), SystemMemoryGB: number("system_memory_gb"), Host: dataset.Slug(param("host")),
		Rules: fit.Rules(param("engine")), Tool: dataset.Slug(param("tool")),
	}
	listed := strings.FieldsFunc(param("slug"), func(c rune) bool { return c == ',' })
	switch machine, model := param("fits"), param("runs"); {
	case call.Of == ask.Fit:
		return d.fit(param("model"), param("hardware"))
	case len(listed) > 0 && machine+model != "":
		return d.compare(append(listed, machine+model))
	case machine != "":
		return d.models(machine, c.Limit, false)
	case model != "":
		return d.hardwareFor(dataset.Slug(model), c.Limit, q.MaxPriceUSD)
	}
	return errors.New("no model or hardware was found in the question")
}
