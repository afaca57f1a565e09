package verbs

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"modeldex/dataset"
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
	models, err := slugsOf("model", q.Models)
	if err != nil {
		return err
	}
	devices := q.Hardware
	if len(devices) == 0 && q.Host != nil {
		devices = []resolve.Named{*q.Host}
	}
	hardware, err := slugsOf("hardware", devices)
	if err != nil {
		return err
	}
	s := Settings{Dataset: c.Dataset, Format: c.Format, Count: q.Count, Context: tokens(q.Context), KV: "f16", Engine: "llama.cpp", MinTPS: q.MinTPS, MemoryGB: q.MemoryGB, SystemMemoryGB: q.HostMemoryGB}
	if len(devices) == 1 && set.Hardware[slices.IndexFunc(set.Hardware, func(h dataset.Hardware) bool { return string(h.Slug) == hardware[0] })].Type == "cpu" {
		s.MemoryGB = cmp.Or(s.MemoryGB, q.HostMemoryGB)
	}
	if len(models) > 0 {
		e := fit.New(set)
		for _, name := range q.Quantizations() {
			if s.Quantization == "" && e.HasSize(dataset.Slug(models[0]), name) {
				s.Quantization = name
			}
		}
	}
	switch {
	case len(models) > 0 && len(hardware) > 0 && len(models)+len(hardware) > 2 && q.Intent == resolve.Compare:
		compare := Compare{Names: append(models, hardware...), Settings: s, Prefer: Prefer{"best"}}
		return compare.answer(env, set)
	case len(models) > 0 && len(hardware) > 0:
		pair := Fit{Model: models[0], Hardware: hardware[0], Settings: s}
		return pair.answer(env, set)
	case len(hardware) > 0:
		runs := Runs{Hardware: hardware[0], Settings: s, Prefer: Prefer{"best"}, Limit: c.Limit}
		return runs.answer(env, set)
	case len(models) > 0:
		return c.hardwareFor(env, set, models[0], &s, q.MaxPriceUSD)
	}
	return errors.New("no model or hardware was found in the question")
}

// slugsOf are the records that names mean, or an error with the near ones.
func slugsOf(kind string, list []resolve.Named) (out []string, err error) {
	for i := range list {
		n := &list[i]
		if n.Slug != "" {
			out = append(out, string(n.Slug))
			continue
		}
		var near []string
		for _, c := range n.Candidates {
			near = append(near, string(c.Slug))
		}
		err = fmt.Errorf("%s: %q is not known; did you mean %s", kind, n.Input, strings.Join(near, " or "))
	}
	if len(out) > 0 {
		err = nil
	}
	return out, err
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
	list, fault := s.rule(env, set).Hardware(q, s.MinTPS)
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
