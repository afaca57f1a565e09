//go:build linux

package main

import (
	"cmp"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
)

// String is one line a person can follow a run by.
func (c *Case) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-8s %-17s %9.0f/s %7.1f us", c.Data, c.Name, median(c.Rates[0].PerSec), median(c.Rates[0].CPU))
	for _, r := range c.Rates[1:] {
		fmt.Fprintf(&b, "   %s %s", r.Target, ratio(r.Ratios))
	}
	return b.String()
}

func (g *Growth) String() string {
	return fmt.Sprintf("%-8s load %.2f s, swap %.2f s, resident %d MB, peak %d MB, while swapping %d MB, hits %.0f%%, %v",
		g.Data, g.Load, g.Swap, g.Settled>>20, g.Peak>>20, g.Swapped>>20, 100*g.Hits, g.CPU)
}

// ratio is "median (least-most)".
func ratio(v []float64) string {
	if len(v) == 0 {
		return "-"
	}
	return fmt.Sprintf("%s (%s-%s)", short(median(v)), short(slices.Min(v)), short(slices.Max(v)))
}

// short is a figure with two or three digits that count.
func short(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

// tables are the report for readers, as Markdown.
func (r *Report) tables() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s. %s. %d rounds of %g s, %d connections.\n", r.Machine, r.Nginx, r.Rounds, r.Round, r.Conns)
	for _, name := range slices.Sorted(maps.Keys(r.Skipped)) {
		fmt.Fprintf(&b, "\nNot measured: %s: %s.\n", name, r.Skipped[name])
	}
	r.caseTable(&b, "shipped", []string{"nginx", "fasthttp"})
	r.caseTable(&b, "1e5", rivalNames)
	r.openTable(&b)
	r.growthTable(&b)
	return b.String()
}

// caseTable is the cases of one dataset: what we give, and how many times what others give.
func (r *Report) caseTable(b *strings.Builder, data string, rivals []string) {
	cases := slices.DeleteFunc(slices.Clone(r.Cases), func(c *Case) bool { return c.Data != data })
	if len(cases) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### %s data, %d benchmarks: modeldex / rival, responses per second, median (least-most)\n\n", data, cases[0].Rows)
	fmt.Fprintf(b, "| case | bytes | modeldex /s | p99 ms | CPU us | %s | CPU us of them |\n|---|---|---|---|---|%s---|\n",
		strings.Join(rivals, " | "), strings.Repeat("---|", len(rivals)))
	for _, c := range cases {
		us := c.Rates[0]
		fmt.Fprintf(b, "| %s | %d | %.0f | %.2f | %.1f |", c.Title, us.Bytes, median(us.PerSec), median(us.P99)/1e3, median(us.CPU))
		var cpu []string
		for _, name := range rivals {
			them := c.of(name)
			if them == nil {
				b.WriteString(" - |")
				continue
			}
			fmt.Fprintf(b, " %s |", ratio(them.Ratios))
			cpu = append(cpu, short(median(them.CPU)))
		}
		fmt.Fprintf(b, " %s |\n", strings.Join(cpu, ", "))
	}
}

func (c *Case) of(target string) *Rates {
	for _, r := range c.Rates {
		if r.Target == target {
			return r
		}
	}
	return nil
}

func (r *Report) openTable(b *strings.Builder) {
	if len(r.Open) == 0 {
		return
	}
	b.WriteString("\n### Latency at fixed rates, first page: p50 / p99 / p99.9 in ms, medians of rounds\n\n")
	b.WriteString("| requests per second | of our most | modeldex | nginx | fasthttp |\n|---|---|---|---|---|\n")
	for _, share := range shares {
		cells := map[string]string{}
		var rate float64
		for _, o := range r.Open {
			if o.Share == share {
				rate = o.Rate
				cells[o.Target] = fmt.Sprintf("%.2f / %.2f / %.2f", median(o.P50)/1e3, median(o.P99)/1e3, median(o.P999)/1e3)
			}
		}
		fmt.Fprintf(b, "| %.0f | %.0f%% | %s | %s | %s |\n", rate, 100*share, cells[ours], cmp.Or(cells["nginx"], "-"), cmp.Or(cells["fasthttp"], "-"))
	}
}

func (r *Report) growthTable(b *strings.Builder) {
	if len(r.Growth) > 0 {
		b.WriteString("\n### Growth: microseconds of processor time per response, with a cache too small to help; load, memory and swap\n\n")
		growthLines(b, r.Growth)
	}
	if len(r.Lean) > 0 {
		b.WriteString("\n### Lines of 330 bytes: load, memory and swap\n\n")
		growthLines(b, r.Lean)
	}
}

// growthLines writes a table with one column per size.
func growthLines(b *strings.Builder, sizes []*Growth) {
	line := func(name string, cell func(g *Growth) string) {
		fmt.Fprintf(b, "| %s |", name)
		for _, g := range sizes {
			fmt.Fprintf(b, " %s |", cell(g))
		}
		b.WriteString("\n")
	}
	line("", func(g *Growth) string { return g.Data })
	b.WriteString("|---|" + strings.Repeat("---|", len(sizes)) + "\n")
	line("benchmarks", func(g *Growth) string { return fmt.Sprint(g.Rows) })
	for _, name := range slices.Sorted(maps.Keys(sizes[0].CPU)) {
		line(name, func(g *Growth) string { return short(g.CPU[name]) })
	}
	mb := func(n int64) string { return fmt.Sprintf("%d MB", n>>20) }
	times := func(n int64, g *Growth) string {
		return fmt.Sprintf("%s (%.2f)", mb(n), float64(n)/float64(max(1, g.Rendered)))
	}
	line("start to serving (processor)", func(g *Growth) string { return short(g.Load) + " s (" + short(g.LoadCPU) + " s)" })
	line("finished records", func(g *Growth) string { return mb(g.Rendered) })
	line("resident after the start (of those)", func(g *Growth) string { return times(g.Settled, g) })
	line("bytes per benchmark", func(g *Growth) string { return fmt.Sprint(g.Settled / int64(max(1, g.Rows))) })
	line("most resident while loading", func(g *Growth) string { return times(g.Peak, g) })
	line("swap after a change of two files", func(g *Growth) string { return short(g.Swap) + " s" })
	line("most resident while swapping", func(g *Growth) string { return times(g.Swapped, g) })
	if sizes[0].CPU != nil {
		line("responses from the small cache", func(g *Growth) string { return fmt.Sprintf("%.0f%%", 100*g.Hits) })
	}
}

func nginxVersion() string {
	name, err := exec.LookPath("nginx")
	if err != nil {
		name = "/usr/sbin/nginx"
	}
	out, err := exec.Command(name, "-v").CombinedOutput()
	if err != nil {
		return "no nginx"
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "nginx version: ")
}
