//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// compareCmd measures the real program against rivals and against itself on larger datasets.
type compareCmd struct {
	Rows   []float64     `default:"1e4,1e5,1e6" help:"Sizes of made-up datasets, in benchmarks."`
	Lean   []float64     `default:"1e6" help:"Sizes to load and swap in lines of about 330 bytes."`
	Round  time.Duration `default:"1s" help:"How long one round asks one server."`
	Rounds int           `default:"5" help:"Rounds; figures are medians of them."`
	Conns  int           `default:"32" help:"Connections."`
	Cases  string        `default:"." placeholder:"REGEXP" help:"Cases to measure, by name."`
	Parts  []string      `default:"warm,cold,open,growth" enum:"warm,cold,open,growth" help:"What to measure: rivals on the shipped data, rivals on 1e5 rows, latency at fixed rates, growth."`
	Cache  string        `placeholder:"DIR" help:"Where made-up datasets are kept between runs; default in the user's cache."`
	Out    string        `default:"bench/results" placeholder:"DIR" help:"Where speed.json, speed.md and the plots go."`
}

// options is what measuring needs to know.
type options struct {
	compareCmd
	program, dir, root string
	cases              *regexp.Regexp
}

// Report is everything a run gave.
type Report struct {
	Machine Machine           `json:"machine"`
	Nginx   string            `json:"nginx,omitzero"`
	Round   float64           `json:"round_s"`
	Rounds  int               `json:"rounds"`
	Conns   int               `json:"conns"`
	Skipped map[string]string `json:"skipped"` // rivals that did not take part, by why
	Cases   []*Case           `json:"cases"`
	Open    []*Open           `json:"open"`
	Growth  []*Growth         `json:"growth"`
	Lean    []*Growth         `json:"lean"` // lines of about 330 bytes, nothing asked
}

// rivalRows is the size rivals that hold the rows are measured at.
const rivalRows = 100_000

// Run measures and writes the report.
func (c *compareCmd) Run() (err error) {
	o := &options{compareCmd: *c}
	if o.cases, err = regexp.Compile(c.Cases); err != nil {
		return fmt.Errorf("--cases: %w", err)
	}
	if o.root, err = os.Getwd(); err != nil {
		return err
	}
	if _, err := os.Stat("data/dataset.json"); err != nil {
		return fmt.Errorf("run it in the folder of the repository: %w", err)
	}
	if o.Cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		o.Cache = filepath.Join(user, "modeldex-bench")
	}
	if o.dir, err = os.MkdirTemp("", "modeldex-bench"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.dir)) }()
	if o.program, err = buildProgram(o.root, o.dir); err != nil {
		return err
	}
	return o.run()
}

func (o *options) run() error {
	r := &Report{Machine: describeMachine(o.root), Round: o.Round.Seconds(), Rounds: o.Rounds, Conns: o.Conns, Skipped: map[string]string{}}
	say("%s", r.Machine)
	shipped := filepath.Join(o.dir, "shipped")
	if err := os.CopyFS(shipped, os.DirFS(filepath.Join(o.root, "data"))); err != nil {
		return err
	}
	for _, part := range []struct {
		names []string
		do    func(r *Report, shipped string) error
	}{{[]string{"warm", "open"}, o.warm}, {[]string{"cold"}, o.cold}, {[]string{"growth"}, o.growth}} {
		if !slices.ContainsFunc(part.names, func(name string) bool { return slices.Contains(o.Parts, name) }) {
			continue
		}
		if err := part.do(r, shipped); err != nil {
			return err
		}
	}
	r.Nginx = nginxVersion()
	return r.write(o.Out)
}

// redrawCmd writes tables and plots again, after a change of how they are drawn.
type redrawCmd struct {
	Out string `default:"bench/results" placeholder:"DIR" help:"Where speed.json is, and the rest goes."`
}

// Run reads and writes.
func (c *redrawCmd) Run() error {
	b, err := os.ReadFile(filepath.Join(c.Out, "speed.json"))
	if err != nil {
		return err
	}
	var r Report
	if err := jsonv2.Unmarshal(b, &r); err != nil {
		return fmt.Errorf("speed.json: %w", err)
	}
	return r.write(c.Out)
}

func say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// warm measures every case on the shipped data against rivals that send the same bytes, and
// latency at fixed rates.
func (o *options) warm(r *Report, data string) error {
	s, err := startServer(o.program, o.dir, data, 10_000)
	if err != nil {
		return err
	}
	defer s.stop()
	qs, err := questions(s, true)
	if err != nil {
		return err
	}
	rivals, err := o.rivals(r, s, qs, nil)
	defer stopAll(rivals)
	if err != nil {
		return err
	}
	if slices.Contains(o.Parts, "warm") {
		if err := o.compare(r, "shipped", data, s, qs, rivals); err != nil {
			return err
		}
	}
	if !slices.Contains(o.Parts, "open") {
		return nil
	}
	at := targets(qs[0], s, rivals)
	full, err := o.measure(qs[0], at[:1])
	if err != nil {
		return err
	}
	r.Open, err = o.openLoop(qs[0], at, median(full[0].PerSec))
	return err
}

// cold measures filtered pages on made-up data against all rivals.
func (o *options) cold(r *Report, shipped string) error {
	data, err := made(o.Cache, shipped, rivalRows, false)
	if err != nil {
		return err
	}
	s, err := startServer(o.program, o.dir, data, 1)
	if err != nil {
		return err
	}
	defer s.stop()
	qs, err := questions(s, false)
	if err != nil {
		return err
	}
	rivals, err := o.rivals(r, s, qs, map[string]func() (*rival, error){
		"sqlite":      func() (*rival, error) { return startModule("sqlite", o.root, o.dir, data, sqlitePath) },
		"pocketbase":  func() (*rival, error) { return startModule("pocketbase", o.root, o.dir, data, pocketbasePath) },
		"json-server": func() (*rival, error) { return startJSONServer(o.dir, data) },
	})
	defer stopAll(rivals)
	if err != nil {
		return err
	}
	return o.compare(r, "1e5", data, s, qs, rivals)
}

// rivals starts those that send the bytes of our answers, and more.
func (o *options) rivals(r *Report, s *server, qs []question, more map[string]func() (*rival, error)) ([]*rival, error) {
	files, err := os.MkdirTemp(o.dir, "files")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(files, 0o755); err != nil { // nginx may serve as another user
		return nil, err
	}
	if err := os.Chmod(o.dir, 0o755); err != nil {
		return nil, err
	}
	if err := keepAnswers(s, qs, files); err != nil {
		return nil, err
	}
	starts := map[string]func() (*rival, error){
		"nginx":    func() (*rival, error) { return startNginx(o.dir, files) },
		"fasthttp": func() (*rival, error) { return startBare(o.dir, files) },
	}
	for name, start := range more {
		starts[name] = start
	}
	rivals, skipped, err := startRivals(starts, say)
	for name, why := range skipped {
		r.Skipped[name] = why
	}
	return rivals, err
}

func stopAll(rivals []*rival) {
	for _, r := range rivals {
		r.stop()
	}
}

// compare measures the questions chosen.
func (o *options) compare(r *Report, name, data string, s *server, qs []question, rivals []*rival) error {
	rows, err := countLines(data)
	if err != nil {
		return err
	}
	for _, q := range qs {
		if !o.cases.MatchString(q.name) {
			continue
		}
		ts := targets(q, s, rivals)
		if err := check(q, ts, rivals); err != nil {
			return err
		}
		rates, err := o.measure(q, ts)
		if err != nil {
			return err
		}
		c := &Case{Data: name, Rows: rows, Name: q.name, Title: q.title, Rates: rates}
		r.Cases = append(r.Cases, c)
		say("%s", c)
	}
	return nil
}

// growth measures our server alone on every size.
func (o *options) growth(r *Report, shipped string) error {
	sizes := []struct{ name, data string }{{"shipped", shipped}}
	for _, rows := range o.Rows {
		data, err := made(o.Cache, shipped, int(rows), false)
		if err != nil {
			return err
		}
		sizes = append(sizes, struct{ name, data string }{exponent(rows), data})
	}
	for _, size := range sizes {
		rows, err := countLines(size.data)
		if err != nil {
			return err
		}
		g, err := o.grow(o.program, o.dir, size.name, size.data, rows)
		if err != nil {
			return fmt.Errorf("%s: %w", size.name, err)
		}
		r.Growth = append(r.Growth, g)
		say("%s", g)
	}
	for _, rows := range o.Lean {
		g, err := o.lean(shipped, rows)
		if err != nil {
			return fmt.Errorf("%s lean: %w", exponent(rows), err)
		}
		r.Lean = append(r.Lean, g)
		say("%s", g)
	}
	return nil
}

// lean measures loading and swapping a size in lines of about 330 bytes.
func (o *options) lean(source string, rows float64) (*Growth, error) {
	data, err := made(o.Cache, source, int(rows), true)
	if err != nil {
		return nil, err
	}
	s, err := startServer(o.program, o.dir, data, 1)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	g := &Growth{Data: exponent(rows), Rows: int(rows)}
	if err := g.begin(s); err != nil {
		return nil, err
	}
	return g, s.swap(data, g)
}

// exponent is a size as 1e6.
func exponent(rows float64) string { return strings.Replace(fmt.Sprintf("%.0e", rows), "e+0", "e", 1) }

// countLines is the number of benchmarks of a dataset.
func countLines(data string) (int, error) {
	files, err := filepath.Glob(filepath.Join(data, "benchmarks", "*.ndjson"))
	if err != nil {
		return 0, err
	}
	n := 0
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		n += strings.Count(string(b), "\n")
	}
	return n, nil
}

// write keeps the report as JSON, as tables and as plots.
func (r *Report) write(dir string) error {
	b, err := jsonv2.Marshal(r, jsonv2.Deterministic(true), jsonv2.FormatNilSliceAsNull(true), jsonv2.FormatNilMapAsNull(true), jsontext.WithIndent("\t"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	table := r.tables()
	fmt.Print(table)
	for name, text := range map[string]string{"speed.json": string(b) + "\n", "speed.md": table, "speed.svg": r.ratioPlot(), "growth.svg": r.growthPlot()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
