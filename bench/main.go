//go:build linux

// Command bench compares the program with nginx, bare fasthttp, SQLite and DuckDB. The load comes from wrk. It
// writes a table and a plot into bench/results. Run it in the folder of the repository:
//
//	go run ./bench
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"modeldex/snapshot/svg"
)

type options struct {
	rounds int
	round  time.Duration
	conns  int
	cases  *regexp.Regexp
	beside string
	out    string
	dir    string // temporary files
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "bare" { // started by startBare
		exitOn(serveBare(os.Args[2], os.Args[3]))
	}
	var o options
	cases := flag.String("cases", ".", "cases to measure, a regular `expression` of their names")
	flag.IntVar(&o.rounds, "rounds", 5, "rounds; figures are medians of them")
	flag.DurationVar(&o.round, "round", 2*time.Second, "how long a round asks one server")
	flag.IntVar(&o.conns, "conns", 32, "connections")
	flag.StringVar(&o.beside, "beside", "", "another modeldex `program` to measure in the same rounds")
	flag.StringVar(&o.out, "out", "bench/results", "where speed.md and speed.svg go")
	flag.Parse()
	var err error
	o.cases, err = regexp.Compile(*cases)
	exitOn(err)
	exitOn(o.run())
}

// settling is how long the program takes to return the memory that only its start needed.
const settling = 15 * time.Second

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (o *options) run() (err error) {
	if o.dir, err = os.MkdirTemp("", "modeldex-bench"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.dir)) }()
	if err := os.Chmod(o.dir, 0o755); err != nil { // nginx may serve as another user
		return err
	}
	r := &report{Machine: describeMachine(), Options: o}
	program := filepath.Join(o.dir, "modeldex")
	if err := build(".", program, "."); err != nil {
		return err
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	us, err := startServer(program, o.dir, filepath.Join(root, "data"))
	if err != nil {
		return err
	}
	defer us.stop()
	time.Sleep(settling)
	if us.loaded.Resident, err = us.resident(); err != nil {
		return err
	}
	r.Start = us.loaded
	questions, err := us.questions()
	if err != nil {
		return err
	}
	targets := []*target{{name: "modeldex", process: us.process, key: us.key, path: func(q *question) string { return q.path }}}
	if o.beside != "" {
		before, err := startServer(o.beside, o.dir, filepath.Join(root, "data"))
		if err != nil {
			return err
		}
		defer before.stop()
		targets = append(targets, &target{name: "before", process: before.process, key: before.key, path: targets[0].path})
	}
	rivals, missing, err := o.startRivals(questions, root)
	r.Missing = missing
	for _, t := range rivals {
		defer t.stop()
	}
	if err != nil {
		return err
	}
	for _, q := range questions {
		if !o.cases.MatchString(q.name) {
			continue
		}
		c, err := o.measure(q, append(targets, rivals...))
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		r.Cases = append(r.Cases, c)
		fmt.Fprintln(os.Stderr, c)
	}
	if r.Resident, err = us.resident(); err != nil {
		return err
	}
	return r.write(o.out)
}

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

const plainStyle = "svg{font:12px system-ui,sans-serif}text{fill:#222}line{stroke:#888}.soft{fill:#666}" +
	"@media(prefers-color-scheme:dark){text{fill:#ddd}.soft{fill:#aaa}}"

func (r *report) plot() string {
	const width, left, right, top, row, least, most = 900, 330.0, 130.0, 46.0, 15.0, 10.0, 200_000.0
	rows := 0
	for _, c := range r.Cases {
		rows += len(c.Results)
	}
	d := &svg.Drawing{CSS: plainStyle, Width: width, Height: int(top + row*float64(rows) + 10*float64(len(r.Cases)) + 40)}
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
