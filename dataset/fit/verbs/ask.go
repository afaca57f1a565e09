package verbs

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

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
	fmt.Fprintln(env.Stderr, readingText(q))
	call := ask.Meant(q, fit.New(set).HasSize)
	number := func(name string) float64 {
		v, _ := strconv.ParseFloat(call.Params.Get(name), 64)
		return v
	}
	s := Settings{Dataset: c.Dataset, Format: c.Format, Context: tokens(number("context")), Query: fit.Query{
		Rules: fit.Rules(call.Params.Get("engine")), Quantization: call.Params.Get("quantization"), Count: int(number("count")),
		MemoryGB: number("memory_gb"), SystemMemoryGB: number("system_memory_gb"), MinTPS: number("min_tps"),
	}}
	if call.Left != "" {
		fmt.Fprintln(env.Stderr, call.Left)
	}
	listed := strings.FieldsFunc(call.Params.Get("slug"), func(c rune) bool { return c == ',' })
	machine, model := call.Params.Get("fits"), call.Params.Get("runs")
	switch {
	case call.Of == ask.Fit:
		pair := Fit{Model: call.Params.Get("model"), Hardware: call.Params.Get("hardware"), Settings: s}
		return pair.answer(env, set)
	case len(listed) > 0 && machine+model != "":
		compare := Compare{Names: append(listed, machine+model), Settings: s}
		return compare.answer(env, set)
	case machine != "":
		runs := Runs{Hardware: machine, Settings: s, Limit: c.Limit}
		return runs.answer(env, set)
	case model != "":
		return c.hardwareFor(env, set, model, &s, q.MaxPriceUSD)
	}
	return errors.New("no model with hardware, or either of them, was found in the question")
}

// readingText says how a question was read.
func readingText(q *resolve.Question) string {
	var parts []string
	say := func(format string, v any, said bool) {
		if said {
			parts = append(parts, fmt.Sprintf(format, v))
		}
	}
	for i := range q.Models {
		say("model %v", cmp.Or(string(q.Models[i].Slug), "unknown"), true)
	}
	for i := range q.Hardware {
		say("hardware %v", cmp.Or(string(q.Hardware[i].Slug), "unknown"), true)
	}
	if q.Host != nil {
		say("beside %v", q.Host.Slug, true)
	}
	if q.Tool != nil {
		say("tool %v", q.Tool.Slug, true)
	}
	say("%d devices", q.Count, q.Count > 0)
	say("%v GB of memory", q.MemoryGB, q.MemoryGB > 0)
	say("%v GB of main memory", q.HostMemoryGB, q.HostMemoryGB > 0)
	say("quantization %v", q.Quantization, q.Quantization != "")
	say("%d tokens of context", q.Context, q.Context > 0)
	say("at most %v USD", q.MaxPriceUSD, q.MaxPriceUSD > 0)
	say("at least %v tokens/s", q.MinTPS, q.MinTPS > 0)
	say("%v billion parameters", q.SizeB, q.SizeB > 0)
	text := fmt.Sprintf("read as %s: %s", q.Intent, strings.Join(parts, ", "))
	if len(q.Unused) > 0 {
		text += "; not used: " + strings.Join(q.Unused, ", ")
	}
	return text
}

// hardwareFor prints the hardware that a model runs on, the cheapest first; hardware without a price is last.
func (c *Ask) hardwareFor(env *verbs.Env, set *dataset.Set, model string, s *Settings, maxPrice float64) error {
	q := s.query()
	q.Model = dataset.Slug(model)
	list, fault := s.rule(env, set).Hardware(q)
	if fault != nil {
		return fault
	}
	price := func(b *fit.Best) float64 {
		if b.TotalPriceUSD == nil {
			return math.Inf(1)
		}
		return *b.TotalPriceUSD
	}
	found := slices.DeleteFunc(list.Found, func(b fit.Best) bool { return maxPrice > 0 && price(&b) > maxPrice })
	slices.SortStableFunc(found, func(a, b fit.Best) int { return cmp.Compare(price(&a), price(&b)) })
	if c.Limit > 0 {
		found = found[:min(c.Limit, len(found))]
	}
	if c.JSON() {
		return env.PrintJSON(found)
	}
	t := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "HARDWARE\tUSD\tSEEN\tQUANTIZATION\tMEMORY\tWHY")
	for _, b := range found {
		name, usd, seen := string(b.Hardware), "-", "-"
		if b.Count > 1 {
			name = fmt.Sprintf("%d x %s", b.Count, name)
		}
		if b.TotalPriceUSD != nil {
			usd = fmt.Sprintf("%.0f", *b.TotalPriceUSD)
		}
		if b.PriceDate != nil {
			seen = string(*b.PriceDate)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", name, usd, seen, b.Quantization, bytesText(&b.Total), b.Why)
	}
	return t.Flush()
}
