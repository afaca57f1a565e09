//go:build linux

package main

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"modeldex/snapshot/svg"
)

type report struct {
	Machine  string
	Options  *options
	Start    start
	Resident int      // MiB of our server after all cases
	Missing  []string // rivals that did not take part, and why
	Cases    []*measured
}

func describeMachine() string {
	commit, _ := exec.Command("git", "describe", "--always", "--dirty", "--abbrev=12").Output()
	return fmt.Sprintf("%s, %d cores, %s, commit %s, %s", processor(), runtime.NumCPU(), runtime.Version(),
		strings.TrimSpace(string(commit)), time.Now().UTC().Format(time.DateOnly))
}

func processor() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	defer f.Close() // only read
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}

func (r *report) write(dir string) error {
	fmt.Print(r.tables())
	if err := os.WriteFile(filepath.Join(dir, "speed.md"), []byte(r.tables()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "speed.svg"), []byte(r.plot()), 0o644)
}

func (r *report) tables() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Speed\n\n`go run ./bench`. %s. %d rounds of %s, %d connections, medians.\n", r.Machine, r.Options.rounds, r.Options.round, r.Options.conns)
	for _, why := range r.Missing {
		fmt.Fprintf(&b, "\nNot measured: %s.\n", why)
	}
	fmt.Fprintf(&b, "\nA start took %.2f s until it served, %.2f s of processor time, and %d MiB of memory; after all cases it had %d MiB.\n",
		r.Start.Wall.Seconds(), r.Start.Processor.Seconds(), r.Start.Resident, r.Resident)
	b.WriteString("\n| case | server | bytes | responses per second | p99, ms | processor time of the server, µs per response |\n|---|---|---:|---:|---:|---:|\n")
	for _, c := range r.Cases {
		title := c.title
		for _, res := range c.Results {
			fmt.Fprintf(&b, "| %s | %s | %d | %.0f | %.2f | %.1f |\n", title, res.Target, res.Bytes, res.PerSecond,
				res.P99.Seconds()*1e3, res.Processor.Seconds()*1e6)
			title = ""
		}
	}
	return b.String()
}

var colours = map[string]string{
	"modeldex": "#d95f02", "before": "#e6ab02", "nginx": "#1f77b4", "fasthttp": "#17becf", "sqlite": "#9467bd", "duckdb": "#8c564b",
}

func (r *report) plot() string {
	const width, left, right, top, row, least, most = 900, 330.0, 130.0, 46.0, 15.0, 10.0, 200_000.0
	rows := 0
	for _, c := range r.Cases {
		rows += len(c.Results)
	}
	d := &svg.Drawing{Width: width, Height: int(top + row*float64(rows) + 10*float64(len(r.Cases)) + 40)}
	x := func(v float64) float64 {
		return left + math.Log10(max(v, least)/least)/math.Log10(most/least)*(width-left-right)
	}
	bottom := float64(d.Height) - 34
	d.Text(left, 18, fmt.Sprintf("Responses per second, %d connections, server and client on the same cores", r.Options.conns), svg.Style{})
	for v := least; v <= most; v *= 10 {
		d.Line(x(v), top-8, x(v), bottom, svg.Style{Stroke: 0.4})
		d.Text(x(v), top-12, fmt.Sprintf("%.0f", v), svg.Style{Anchor: "middle", Class: "soft"})
	}
	y := top
	for _, c := range r.Cases {
		d.Text(left-10, y+11, c.title, svg.Style{Anchor: "end"})
		for _, res := range c.Results {
			d.Rect(left, y+2, x(res.PerSecond)-left, row-4, svg.Style{Colour: colours[res.Target]})
			d.Text(x(res.PerSecond)+6, y+11, fmt.Sprintf("%.0f %s", res.PerSecond, res.Target), svg.Style{})
			y += row
		}
		y += 10
	}
	d.Text(left, bottom+20, r.Machine, svg.Style{Class: "soft"})
	return d.String()
}
