package verbs

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"modeldex/dataset/fit"
	"modeldex/dataset/record"
	"modeldex/dataset/text"
)

const gib = 1 << 30

func bytesText(n int64) string { return fmt.Sprintf("%.1f GiB", float64(n)/gib) }

// table prints rows under a heading, of both the columns between tabs.
func (d *session) table(heading string, rows []string) error {
	t := tabwriter.NewWriter(d.env.Stdout, 0, 0, 2, ' ', 0)
	for _, row := range append([]string{heading}, rows...) {
		fmt.Fprintln(t, row)
	}
	return t.Flush()
}

// printAnswer prints a table of the sizes, and what qualifies it.
func (d *session) printAnswer(a *fit.Answer) error {
	w, on := d.env.Stdout, "a machine described by its memory"
	if a.Hardware != nil {
		on = string(*a.Hardware)
	}
	if a.Count > 1 {
		on += fmt.Sprintf(" x %d", a.Count)
	}
	for _, slug := range a.Beside {
		on += " + " + string(slug)
	}
	fmt.Fprintf(w, "%s on %s: %s\n", a.Model, on, a.Verdict)
	if m := a.Available; m != nil {
		of := ""
		if s := m.Share; s != nil {
			of = fmt.Sprintf(" of %.1f (%s)", float64(m.Memory)/gib, s.Basis)
		}
		fmt.Fprintf(w, "%s of memory%s, %d tokens of context, %s cache, %s rules\n", bytesText(m.Usable), of, a.Context, a.KV, a.Rules)
	}
	if len(a.Missing) > 0 {
		fmt.Fprintf(w, "not known: %s\n", strings.Join(a.Missing, ", "))
	}
	fmt.Fprintln(w)
	var rows []string
	for i := range a.Sizes {
		rows = append(rows, d.sizeText(a, &a.Sizes[i]))
	}
	err := d.table(d.sizeHeading(a.Context), rows)
	d.notes(a)
	return err
}

// notes prints what qualifies the table, and more about the first size.
func (d *session) notes(a *fit.Answer) {
	say := func(format string, args ...any) { fmt.Fprintf(d.env.Stdout, format+"\n", args...) }
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
	if len(a.Sizes) == 0 {
		return
	}
	s := &a.Sizes[0]
	name, speed := s.Quantization, s.Speed
	if p := s.Placement; p != nil && p.Flags != "" && (s.Verdict == fit.Offload || len(p.Devices) > 1) {
		say("%s: %s, with %s in main memory", name, p.Flags, bytesText(p.Host))
	}
	if s.CacheTokens != nil {
		say("%s: cache for %d tokens, %.4g requests of %d tokens at once", name, *s.CacheTokens, *s.Requests, a.Context)
	}
	for _, c := range s.Memory.Companions {
		say("total with %s: %s (%s)", c.Kind, bytesText(c.Bytes.Bytes), c.Basis)
	}
	if len(s.Missing) > 0 {
		say("not known: %s", strings.Join(s.Missing, ", "))
	}
	for _, e := range s.Evidence {
		say("%s ran in %s, less than the %s of the formula", e.ID, bytesText(e.Memory), bytesText(e.Formula))
	}
	if e := speed.Estimate; e != nil {
		if v := e.Checked; v != nil {
			say("estimates: median error %.0f %%, %.0f %% inside the range; tested on %s of class %s from hidden sources",
				v.MedianError*100, v.Coverage*100, record.Counted(v.Rows, "measurement"), v.Class)
		}
		for _, assumed := range e.Assumes {
			say("estimates assume: %s", assumed)
		}
	}
	if t := speed.TTFT; t != nil {
		say("%s: first token after %.1f s (%.1f to %.1f)", name, t.Median, t.P05, t.P95)
	}
	if t := speed.Total; t != nil {
		say("%s: last token after %.1f s (%.1f to %.1f)", name, t.Median, t.P05, t.P95)
	}
	if l := speed.Load; l != nil {
		say("%s: %d requests at once: %s tokens/s in total (%s), %s each", name, l.Requests, text.Estimate(l.Total.Median), bandText(&l.Total), text.Estimate(l.Each))
	}
	if c := s.Cost; c != nil && c.USDPerMTok != nil {
		say("%s: %.2f dollars per million tokens (%s)", name, *c.USDPerMTok, *c.PriceBasis)
	}
}

func bandText(b *fit.Band) string { return text.Estimate(b.P05) + " to " + text.Estimate(b.P95) }

// sizeHeading names the columns of sizeText. Speeds with a filled cache come first where a context was asked for.
func (d *session) sizeHeading(context int64) string {
	speed := "TOKENS/S"
	if d.Query.Context > 0 {
		speed = fmt.Sprintf("TOKENS/S AT %d\tEMPTY", context)
	}
	return "QUANTIZATION\tVERDICT\tWEIGHTS\tCACHE\tTOTAL\tMAX CONTEXT\t" + speed + "\tRANGE\tBASIS\tEVIDENCE"
}

// sizeText is the row of a size. The longest context of a tight one, which needs the reserve, is that of the query.
func (d *session) sizeText(a *fit.Answer, s *fit.Size) string {
	longest, tps, m := "-", "", &s.Memory
	if n := s.MaxContext.Asked; n != nil && s.Verdict == fit.Tight {
		longest = fmt.Sprint(max(*n, a.Context))
	} else if n != nil {
		longest = fmt.Sprint(*n)
	}
	speed := s.Speed
	switch {
	case d.Query.Context == 0:
	case speed.Filled != nil:
		tps = text.Estimate(speed.Filled.TPS) + "\t"
	default:
		tps = "-\t"
	}
	switch {
	case speed.Use == nil:
		tps += "-\t-\t-\t-"
	case *speed.Use == fit.UseEstimate:
		e, evidence := speed.Estimate, "-"
		if len(e.Evidence) > 0 {
			evidence = "mostly " + string(e.Evidence[0].ID)
		}
		tps += fmt.Sprintf("%s\t%s\testimate\t%s", text.Estimate(e.Median), bandText(&e.Band), evidence)
	default:
		of := speed.Measured
		tps += fmt.Sprintf("%.4g\t%.4g to %.4g\t%s\t%s on %s, %s", of.Median, of.P10, of.P90, *speed.Use,
			record.Counted(of.N, "run"), record.Counted(of.Pages, "page"), of.Runs[0])
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s", s.Quantization, s.Verdict, bytesText(m.Weights.Bytes), bytesText(m.Cache.Bytes.Bytes),
		bytesText(m.Total), longest, tps)
}
