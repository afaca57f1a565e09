package verbs

import (
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

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/record"
	"modeldex/dataset/text"
	"modeldex/dataset/verbs"
)

// Settings are the flags of a query.
type Settings struct {
	verbs.Dataset
	verbs.Format
	Context      tokens `help:"Context to reserve memory for, in tokens, such as 65536 or 64k; default 8192, or the model's limit if that is lower. The speed with that many tokens in the cache is shown too." placeholder:"TOKENS"`
	PromptTokens tokens `help:"Length of the prompt in tokens, for the time to the first token." placeholder:"TOKENS"`
	AnswerTokens tokens `help:"Length of the answer in tokens, for the time to its end; needs --prompt-tokens." placeholder:"TOKENS"`
	fit.Query
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
	q := s.Query
	q.Context, q.PromptTokens, q.AnswerTokens, q.Today = int64(s.Context), int64(s.PromptTokens), int64(s.AnswerTokens), time.Now()
	return q
}

// on runs a verb on the dataset.
func (s *Settings) on(env *verbs.Env, answer func(*verbs.Env, *dataset.Set) error) error {
	set, _, err := s.Load(env)
	if err != nil {
		return err
	}
	return answer(env, set)
}

// table prints rows under a heading, of both the columns between tabs.
func table(w io.Writer, heading string, rows []string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([]string{heading}, rows...) {
		fmt.Fprintln(t, row)
	}
	return t.Flush()
}

// Fit answers whether a model runs on a machine.
type Fit struct {
	Model    string `arg:"" help:"Model: slug, name or alias."`
	Hardware string `arg:"" help:"Hardware: slug, name or alias."`
	Settings
}

// Run prints a table of the sizes, best first, with speed and evidence.
func (c *Fit) Run(env *verbs.Env) error { return c.on(env, c.answer) }

func (c *Fit) answer(env *verbs.Env, set *dataset.Set) (err error) {
	q, known := c.query(), newNames(env, set)
	if q.Model, err = known.model(dataset.Slug(c.Model)); err != nil {
		return err
	}
	if err = known.machine(c.Hardware, &q); err != nil {
		return err
	}
	if q.Draft != "" {
		if q.Draft, err = known.model(q.Draft); err != nil {
			return err
		}
	}
	a, fault := fit.New(set).Fit(q)
	if fault != nil {
		return fault
	}
	if c.JSON() {
		return env.PrintJSON(a)
	}
	return printAnswer(env.Stdout, a, c.Context > 0)
}

const gib = 1 << 30

// mostPlaced is of how many sizes the terminal says where their weights lie.
const mostPlaced = 3

// printAnswer prints a table of the sizes; deep says that the caller asked for a context.
func printAnswer(w io.Writer, a *fit.Answer, deep bool) error {
	on := "a machine described by its memory"
	if a.Hardware != nil {
		on = string(*a.Hardware)
	}
	fmt.Fprintf(w, "%s on %s", a.Model, on)
	if a.Count > 1 {
		fmt.Fprintf(w, " x %d", a.Count)
	}
	for _, slug := range a.Beside {
		fmt.Fprintf(w, " + %s", slug)
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
	var rows []string
	for i := range a.Sizes {
		s := &a.Sizes[i]
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s", s.Quantization, s.Verdict, bytesText(s.Memory.Weights.Bytes),
			bytesText(s.Memory.Cache.Bytes.Bytes), bytesText(s.Memory.Total), longestText(a, s), speedText(s.Speed, deep)))
	}
	err := table(w, "SIZE\tVERDICT\tWEIGHTS\tCACHE\tTOTAL\tLONGEST\t"+speedHeading(deep, a.Context), rows)
	notes(w, a)
	return err
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
		say("lists leave out %s and the rows below it: no file is known, or the size is within 10 %% of a row above", a.Sizes[first].Quantization)
	}
	for _, r := range a.Remedies {
		price := ""
		if r.USD != nil {
			price = fmt.Sprintf(", %.0f dollars more", *r.USD)
		}
		say("%s %s %s (--%s %s%s)", r.Quantization, r.Verdict, r.Text, strings.ReplaceAll(r.Change, "_", "-"), r.Value, price)
	}
	for i := range a.Sizes[:min(len(a.Sizes), mostPlaced)] {
		if p := a.Sizes[i].Placement; p != nil && p.Flags != "" && (a.Sizes[i].Verdict == fit.Offload || len(p.Devices) > 1) {
			say("%s: %s, with %s in main memory", a.Sizes[i].Quantization, p.Flags, bytesText(p.Host))
		}
		if s := &a.Sizes[i]; s.CacheTokens != nil {
			say("%s: cache for %d tokens, %s requests of %d tokens at once", s.Quantization, *s.CacheTokens, numberText(s.Requests), a.Context)
		}
	}
	for i := range a.Sizes {
		s := &a.Sizes[i]
		for _, c := range s.Memory.Companions {
			say("total with %s: %s (%s)", c.Kind, bytesText(c.Bytes.Bytes), c.Basis)
		}
		if len(s.Missing) > 0 {
			say("not known: %s", strings.Join(s.Missing, ", "))
		}
		if speed := s.Speed; speed != nil {
			if e := speed.Estimate; e != nil {
				if v := e.Checked; v != nil {
					say("estimates: median error %.0f %%, %.0f %% inside the range; tested on %s of class %s from hidden sources", v.MedianError*100, v.Coverage*100, record.Counted(v.Rows, "measurement"), v.Class)
				}
				for _, assumed := range e.Assumes {
					say("estimates assume: %s", assumed)
				}
			}
			if t := speed.TTFT; t != nil {
				say("%s: first token after %.1f s (%.1f to %.1f)", s.Quantization, t.Median, t.P05, t.P95)
			}
			if t := speed.Total; t != nil {
				say("%s: last token after %.1f s (%.1f to %.1f)", s.Quantization, t.Median, t.P05, t.P95)
			}
			if l := speed.Load; l != nil {
				say("%s: %d requests at once: %s tokens/s in total (%s to %s), %s each", s.Quantization, l.Requests, text.Estimate(l.Total.Median), text.Estimate(l.Total.P05), text.Estimate(l.Total.P95), text.Estimate(l.Each))
			}
		}
		for _, e := range s.Evidence {
			say("%s ran in %.1f GiB, less than the %.1f GiB of the formula", e.ID, float64(e.Memory)/gib, float64(e.Formula)/gib)
		}
		if c := s.Cost; c != nil && c.USDPerMTok != nil {
			say("%s: %.2f dollars per million tokens (%s W, %s)", s.Quantization, *c.USDPerMTok, numberText(c.Watts), *c.PriceBasis)
		}
	}
}

func bytesText(n int64) string { return fmt.Sprintf("%.1f GiB", float64(n)/gib) }

// longestText is the longest context with the cache of the query: of a tight size, which needs the reserve, that context.
func longestText(a *fit.Answer, s *fit.Size) string {
	n := s.MaxContext.Asked
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
			filled = text.Estimate(s.Filled.TPS) + "\t"
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
	evidence := "-"
	if len(e.Evidence) > 0 {
		evidence = "mostly " + string(e.Evidence[0].ID)
	}
	return fmt.Sprintf("%s%s\t%s to %s\testimate\t%s", filled, text.Estimate(e.Median), text.Estimate(e.P05), text.Estimate(e.P95), evidence)
}

// Evaluate compares estimates with measurements of sources that are hidden from them.
type Evaluate struct {
	verbs.DatasetArg
	verbs.Format
	Write  string `help:"Write the results to this file for the build: dataset/fit/validated.json." placeholder:"FILE"`
	Report string `help:"Write the results to this file as a readable page: bench/results/fit.md." placeholder:"FILE"`
}

// Run prints the scores by class.
func (c *Evaluate) Run(env *verbs.Env) error {
	set, src, err := c.Load(env)
	if err != nil {
		return err
	}
	_, end := verbs.Progress("evaluating")
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
	if c.JSON() {
		return env.PrintJSON(v)
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
