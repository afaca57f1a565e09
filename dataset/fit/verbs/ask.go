package verbs

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/ask"
	"modeldex/dataset/fit"
	"modeldex/dataset/resolve"
	"modeldex/dataset/verbs"
)

// Ask answers a question in people's words.
type Ask struct {
	verbs.Dataset
	verbs.Format
	Question []string `arg:"" help:"The question, such as \"what runs on two 3090s with 64 GB of RAM?\"."`
	Limit    int      `help:"Maximum number of rows to print; 0 for all." default:"15"`
}

// Run says how the question was read, and answers as the verb that it means.
func (c *Ask) Run(env *verbs.Env) error {
	set, _, err := c.Load(env)
	if err != nil {
		return err
	}
	q := resolve.New(set).Read(strings.Join(c.Question, " "))
	call := ask.Meant(q, fit.New(set).HasSize)
	asked, _ := url.QueryUnescape(call.Params.Encode()) // made by this program
	read := fmt.Sprintf("read as %s: %s", q.Intent, strings.ReplaceAll(asked, "&", ", "))
	if len(q.Unused) > 0 {
		read += "; not used: " + strings.Join(q.Unused, ", ")
	}
	fmt.Fprintln(env.Stderr, read)
	if call.Left != "" {
		fmt.Fprintln(env.Stderr, call.Left)
	}
	number := func(name string) float64 {
		v, _ := strconv.ParseFloat(call.Params.Get(name), 64)
		return v
	}
	s := Settings{Dataset: c.Dataset, Format: c.Format, Context: tokens(number("context")), Query: fit.Query{
		Rules: fit.Rules(call.Params.Get("engine")), Quantization: call.Params.Get("quantization"), Count: int(number("count")),
		MemoryGB: number("memory_gb"), SystemMemoryGB: number("system_memory_gb"), MinTPS: number("min_tps"),
	}}
	listed := strings.FieldsFunc(call.Params.Get("slug"), func(c rune) bool { return c == ',' })
	machine, model := call.Params.Get("fits"), call.Params.Get("runs")
	switch {
	case call.Of == ask.Fit:
		return (&Fit{Model: call.Params.Get("model"), Hardware: call.Params.Get("hardware"), Settings: s}).answer(env, set)
	case len(listed) > 0 && machine+model != "":
		return (&Compare{Names: append(listed, machine+model), Settings: s}).answer(env, set)
	case machine != "":
		return (&Runs{Hardware: machine, Settings: s, Limit: c.Limit}).answer(env, set)
	case model != "":
		return c.hardwareFor(env, set, model, &s, q.MaxPriceUSD)
	}
	return errors.New("no model or hardware was found in the question")
}

// hardwareFor prints the hardware that a model runs on, the best first.
func (c *Ask) hardwareFor(env *verbs.Env, set *dataset.Set, model string, s *Settings, maxPrice float64) error {
	q := s.query()
	q.Model = dataset.Slug(model)
	list, fault := s.rule(env, set).Hardware(q)
	if fault != nil {
		return fault
	}
	found := slices.DeleteFunc(list.Found, func(b fit.Best) bool { return maxPrice > 0 && (b.TotalPriceUSD == nil || *b.TotalPriceUSD > maxPrice) })
	return s.list(env, found, c.Limit, false, "HARDWARE\tUSD\tSEEN\tQUANTIZATION\tMEMORY\tWHY", func(b *fit.Best) string {
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
