package verbs

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"modeldex/dataset/fit"
	"modeldex/dataset/record"
	"modeldex/dataset/verbs"
)

// Settings are the flags of a query.
type Settings struct {
	verbs.Dataset
	verbs.Format
	Quantization   string   `help:"One size by name, such as Q4_K_M; all of them without it." short:"q" placeholder:"SIZE"`
	Count          int      `help:"Number of devices, 1 to 8; without it the number in the name of the hardware, such as 2x3090, or 1." placeholder:"N"`
	Context        tokens   `help:"Tokens to keep room for, such as 65536 or 64k; 8192, or the limit of the model where that is less, without it. The speed with so many in the cache is shown too." placeholder:"TOKENS"`
	KV             string   `name:"kv" help:"Storage type of the key-value cache: f16, q8_0 or q4_0." enum:"f16,q8_0,q4_0" default:"f16"`
	Engine         string   `help:"Whose memory rules apply: llama.cpp, vllm or mlx." enum:"llama.cpp,vllm,mlx" default:"llama.cpp"`
	MinTPS         float64  `name:"min-tps" help:"Least generation speed, in tokens per second." placeholder:"SPEED"`
	AllowExtended  bool     `help:"Accept a context above the limit of the model."`
	MemoryGB       float64  `name:"memory-gb" help:"Memory of one device in GiB, where the hardware is sold with several sizes; without it the size in the name of the hardware, if it says one." placeholder:"GB"`
	SystemMemoryGB float64  `name:"system-memory-gb" help:"Main memory beside a card, for offload." placeholder:"GB"`
	UnifiedShare   float64  `help:"Part of unified memory a model may use, 0 to 1." placeholder:"PART"`
	USDPerKWh      *float64 `name:"usd-per-kwh" help:"Price of energy in US dollars per kWh, for costs." placeholder:"USD"`
	HoursPerDay    *float64 `help:"Hours of use per day, for costs." placeholder:"HOURS"`
	Years          *float64 `help:"Years of use, for costs." placeholder:"N"`
	USDPerHour     *float64 `name:"usd-per-hour" help:"Rent of the hardware in US dollars per hour, for costs." placeholder:"USD"`
}

// tokens is a number of tokens: 65536 or 64k.
type tokens int64

// UnmarshalText reads the value of a flag.
func (n *tokens) UnmarshalText(text []byte) error {
	digits, thousands := strings.CutSuffix(strings.ToLower(string(text)), "k")
	v, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || thousands && v > math.MaxInt64>>10 {
		return fmt.Errorf("must be a number of tokens such as 65536 or 64k, got %q", text)
	}
	if thousands {
		v <<= 10
	}
	*n = tokens(v)
	return nil
}

func (s *Settings) query() fit.Query {
	q := fit.Query{
		Quantization: s.Quantization, Count: s.Count, Context: int64(s.Context), KV: fit.KVType(s.KV), Rules: fit.Rules(s.Engine),
		AllowExtended: s.AllowExtended, MemoryGB: s.MemoryGB, SystemMemoryGB: s.SystemMemoryGB, UnifiedShare: s.UnifiedShare,
	}
	if s.USDPerKWh != nil || s.USDPerHour != nil || s.HoursPerDay != nil || s.Years != nil {
		q.Costs = &fit.Costs{USDPerKWh: s.USDPerKWh, HoursPerDay: s.HoursPerDay, Years: s.Years, USDPerHour: s.USDPerHour, Today: time.Now()}
	}
	return q
}

// Fit answers whether a model runs on a machine.
type Fit struct {
	Model    string `arg:"" help:"Model: slug, name or alias."`
	Hardware string `arg:"" help:"Hardware: slug, name or alias."`
	Settings
}

// Run prints a table of the sizes, best first, with speed and evidence.
func (c *Fit) Run(env *verbs.Env) error {
	set, _, err := c.Load(env)
	if err != nil {
		return err
	}
	q := c.query()
	known := newNames(set)
	if q.Model, err = known.model(env, c.Model); err != nil {
		return err
	}
	on, err := known.machine(env, c.Hardware, &q)
	if err != nil {
		return err
	}
	a, fault := fit.New(set).Fit(on.ask(q))
	if fault != nil {
		return fault
	}
	if c.JSON() {
		return env.PrintJSON(a)
	}
	printAnswer(env.Stdout, a, c.Context > 0)
	return nil
}

const gib = 1 << 30

// printAnswer prints a table of the sizes; deep says that the caller asked for a context.
func printAnswer(w io.Writer, a *fit.Answer, deep bool) {
	fmt.Fprintf(w, "%s on %s", a.Model, *a.Hardware)
	if a.Count > 1 {
		fmt.Fprintf(w, " x %d", a.Count)
	}
	fmt.Fprintf(w, ": %s\n", a.Verdict)
	if a.Available != nil {
		fmt.Fprintf(w, "%.1f GiB of memory", float64(a.Available.Usable)/gib)
		if s := a.Available.Share; s != nil {
			fmt.Fprintf(w, " of %.1f (%s)", float64(a.Available.Memory)/gib, s.Basis)
		}
		fmt.Fprintf(w, ", %d tokens of context, %s cache, rules of %s\n", a.Context, a.KV, a.Rules)
	}
	if len(a.Missing) > 0 {
		fmt.Fprintf(w, "not known: %s\n", strings.Join(a.Missing, ", "))
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SIZE\tVERDICT\tWEIGHTS\tCACHE\tTOTAL\tLONGEST\t"+speedHeading(deep, a.Context))
	for i := range a.Sizes {
		s := &a.Sizes[i]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.Quantization, s.Verdict, bytesText(&s.Memory.Weights.Bytes), cacheText(s),
			bytesText(s.Memory.Total), longestText(a, s), speedText(s.Speed, deep))
	}
	_ = t.Flush()
	notes(w, a)
}

// notes prints what qualifies the table.
func notes(w io.Writer, a *fit.Answer) {
	seen := map[string]bool{}
	say := func(format string, args ...any) {
		if line := fmt.Sprintf(format, args...); !seen[line] {
			seen[line] = true
			fmt.Fprintln(w, line)
		}
	}
	if first := slices.IndexFunc(a.Sizes, func(s fit.Size) bool { return !s.Listed }); first > 0 {
		say("lists do not name %s and the sizes below it: they differ by less than a tenth from one above, or no file of them is known", a.Sizes[first].Quantization)
	}
	for i := range a.Sizes {
		s := &a.Sizes[i]
		if len(s.Missing) > 0 {
			say("not known: %s", strings.Join(s.Missing, ", "))
		}
		if s.Speed != nil && s.Speed.Estimate != nil && s.Speed.Estimate.Checked != nil {
			v := s.Speed.Estimate.Checked
			say("estimates: median error %.0f %% and %.0f %% inside the range, over %s of class %s that were hidden by %s", v.MedianError*100, v.Coverage*100, record.Counted(v.Rows, "measurement"), v.Class, v.Holdout)
		}
		for _, e := range s.Evidence {
			say("%s ran in %.1f GiB where the formula asks for %.1f", e.ID, float64(e.Memory)/gib, float64(e.Formula)/gib)
		}
		if c := s.Cost; c != nil && c.USDPerMTok != nil {
			say("%s: %.2f dollars for a million tokens (%s W, %s)", s.Quantization, *c.USDPerMTok, numberText(c.Watts), *c.PriceBasis)
		}
	}
}

func bytesText(n *int64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f GiB", float64(*n)/gib)
}

func cacheText(s *fit.Size) string {
	if s.Memory.Cache == nil {
		return "-"
	}
	return bytesText(&s.Memory.Cache.Bytes.Bytes)
}

// longestText is the longest context with the cache that was asked for. A size that is tight needs the reserve for the
// context of the answer, and has no more.
func longestText(a *fit.Answer, s *fit.Size) string {
	n := map[fit.KVType]*int64{fit.F16: s.MaxContext.F16, fit.Q80: s.MaxContext.Q80, fit.Q40: s.MaxContext.Q40}[a.KV]
	switch {
	case n == nil:
		return "-"
	case s.Verdict == fit.Tight:
		return fmt.Sprint(max(*n, a.Context))
	}
	return fmt.Sprint(*n)
}

func numberText(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.4g", *v)
}

// speedHeading names the columns of speedText. Speeds with a filled cache come first where a context was asked for.
func speedHeading(deep bool, context int64) string {
	if deep {
		return fmt.Sprintf("TOKENS/S AT %d\tEMPTY\tRANGE\tBASIS\tEVIDENCE", context)
	}
	return "TOKENS/S\tRANGE\tBASIS\tEVIDENCE"
}

// speedText is the last columns of a size.
func speedText(s *fit.Speed, deep bool) string {
	filled := ""
	if deep {
		filled = "-\t"
		if s != nil && s.Filled != nil {
			filled = estimateText(s.Filled.TPS) + "\t"
		}
	}
	if s == nil || s.Use == nil {
		return filled + "-\t-\t-\t-"
	}
	if m := s.Measured; *s.Use != fit.UseEstimate {
		return fmt.Sprintf("%s%.4g\t%.4g to %.4g\t%s\t%s on %s, %s", filled, m.Median, m.P10, m.P90, *s.Use,
			record.Counted(m.N, "run"), record.Counted(m.Pages, "page"), m.Runs[0])
	}
	e := s.Estimate
	return fmt.Sprintf("%s%s\t%s to %s\testimate\tnearest %s", filled, estimateText(e.Median), estimateText(e.P05), estimateText(e.P95), e.Evidence[0].ID)
}

// estimateText is a speed with two or three digits: an estimate is no more exact.
func estimateText(v float64) string {
	decimals := 0
	switch {
	case v >= 1000:
		v = math.Round(v/10) * 10
	case v < 1:
		decimals = 2
	case v < 100:
		decimals = 1
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// Evaluate compares estimates with measurements that are hidden from them.
type Evaluate struct {
	verbs.DatasetArg
	verbs.Format
	Write  string             `help:"Write the results for the build to this file, dataset/fit/validated.json." placeholder:"FILE"`
	Report string             `help:"Write the results as a page for people to this file, bench/results/fit.md." placeholder:"FILE"`
	Most   map[string]float64 `help:"Fail where the median error of a holdout is larger: page=0.11;hardware=0.2;model=0.11." placeholder:"HOLDOUT=ERROR;..."`
	Covers []float64          `help:"Fail where the 90 % band of a holdout covers less than the first part of the measurements, or more than the second." placeholder:"LEAST,MOST"`
}

// Run prints the scores by holdout and class.
func (c *Evaluate) Run(env *verbs.Env) error {
	set, src, err := c.Load(env)
	if err != nil {
		return err
	}
	_, end := verbs.Progress("evaluating")
	v := fit.Evaluate(set)
	end()
	if c.Write != "" {
		file, err := fit.EncodeValidated(v)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Clean(c.Write), file, 0o644); err != nil { //nolint:gosec // a page of the project
			return err
		}
	}
	var page strings.Builder
	printEvaluation(&page, v)
	if c.Report != "" {
		if err := os.WriteFile(filepath.Clean(c.Report), []byte(page.String()), 0o644); err != nil { //nolint:gosec // a page of the project
			return err
		}
	}
	if c.JSON() {
		return errors.Join(env.PrintJSON(v), c.bounds(&v.Evaluation))
	}
	if _, err := io.WriteString(env.Stdout, page.String()); err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "%s: %s of %s\n", src.Where, record.Counted(v.Rows, "comparable measurement"), record.Counted(v.Pages, "page"))
	return c.bounds(&v.Evaluation)
}

// bounds says where an evaluation is worse than was asked for.
func (c *Evaluate) bounds(ev *fit.Evaluation) error {
	var errs []error
	for name, most := range c.Most {
		s, ok := ev.Of(fit.Holdout(name), "all")
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("most: unknown holdout %q", name))
		case s.Estimated == 0 || s.MedianError > most:
			errs = append(errs, fmt.Errorf("holdout %s: the median error is %.3f, at most %v is asked for", name, s.MedianError, most))
		}
	}
	if len(c.Covers) == 2 {
		for _, h := range fit.Holdouts {
			if s, _ := ev.Of(h, "all"); s.Coverage < c.Covers[0] || s.Coverage > c.Covers[1] {
				errs = append(errs, fmt.Errorf("holdout %s: the band covers %.3f of the measurements, %v to %v is asked for", h, s.Coverage, c.Covers[0], c.Covers[1]))
			}
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

func printEvaluation(w *strings.Builder, v *fit.Validated) {
	fmt.Fprintf(w, `# Speed estimates against hidden measurements

Command: `+"`modeldex fit evaluate data`"+`. Dataset %s (digest %s): %d comparable single-stream measurements of %d source pages.
Each measurement is estimated without what the holdout hides: *page* its source page; *hardware* its silicon and page; *model* the
model on that silicon. "Estimated" counts the rows with something near enough. The constant rule uses %.3f of the bandwidth, the best
constant for these rows.

`, v.DatasetVersion, v.Digest[:12], v.Rows, v.Pages, v.ConstantShare)
	printScores(w, v.Scores)
	w.WriteString(`
## Pages that took no part in the search

The numbers in the estimates (distances, pulls, parts of the trend) were searched for on three of four source pages, chosen by a hash
of the address. These are the measurements of the others, with bands that were fitted to the first three as well. An earlier search,
from which this one started, had seen all pages.

`)
	printScores(w, v.Apart)
	w.WriteString(`
## With the backend an answer chooses

The tables above ask for the backend of the measurement. A caller seldom names one: these are the same estimates for the backend that is
usual in the other measurements, and for comparison with that of the measurement. Rows count that name their backend, where the same part
of the machine does the work.

| holdout | rows | the backend chosen is that of the row | estimated | median error | within 25 % | within 1.5 x | given backend: median error | within 25 % | within 1.5 x |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
`)
	for _, c := range v.Chosen {
		fmt.Fprintf(w, "| %s | %d | %.1f %% | %d | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n", c.Holdout, c.Rows, 100*float64(c.Same)/float64(max(c.Rows, 1)), c.Estimated,
			c.MedianError*100, c.Within25*100, c.Within50*100, c.Given*100, c.GivenWithin25*100, c.GivenWithin50*100)
	}
	w.WriteString(`
## Slowdown with a filled cache

Each measured slowdown by a cache of a tenth of the weights or more is predicted from those of other source pages: of the same kernels
and backend, of the class, of all. "Ignored" is the error where the speed is left as it is with an empty cache. A group that is not better
than that is not applied. With a smaller cache any prediction is near.

| group | rows | median error | within 25 % | ignored: median error |
|---|---:|---:|---:|---:|
`)
	for _, d := range v.Depth {
		fmt.Fprintf(w, "| %s | %d | %.1f %% | %.1f %% | %.1f %% |\n", d.Group, d.Rows, d.MedianError*100, d.Within25*100, d.Ignored*100)
	}
}

func printScores(w *strings.Builder, scores []fit.Score) {
	w.WriteString(`| holdout | class | rows | estimated | median error | within 25 % | within 1.5 x | 90 % band covers | band width | constant: median error | within 25 % | within 1.5 x |
|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
`)
	for _, s := range scores {
		if s.Estimated == 0 {
			fmt.Fprintf(w, "| %s | %s | %d | 0 | | | | | | | | |\n", s.Holdout, s.Class, s.Rows)
			continue
		}
		fmt.Fprintf(w, "| %s | %s | %d | %d | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.2f x | %.1f %% | %.1f %% | %.1f %% |\n",
			s.Holdout, s.Class, s.Rows, s.Estimated, s.MedianError*100, s.Within25*100, s.Within50*100, s.Coverage*100, s.Width,
			s.Constant*100, s.ConstantWithin25*100, s.ConstantWithin50*100)
	}
}

// Findings lists the runs that contradict the memory formulas.
type Findings struct {
	verbs.DatasetArg
	verbs.Format
}

// Run prints a line for each run.
func (c *Findings) Run(env *verbs.Env) error {
	set, _, err := c.Load(env)
	if err != nil {
		return err
	}
	found := fit.New(set).Findings()
	if c.JSON() {
		return env.PrintJSON(found)
	}
	for _, f := range found {
		fmt.Fprintln(env.Stdout, f)
	}
	return nil
}
