//go:build linux

package main

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/httpapi/rows"
	"modeldex/index"

	jsonv2 "github.com/goccy/go-json/v2"
)

// statsCmd measures statistics on one core, and DuckDB on the same question and rows.
type statsCmd struct {
	Rows       int    `default:"1000000" help:"Benchmarks to make, in lean lines."`
	Data       string `placeholder:"DIR" help:"Dataset to use instead of making one."`
	Rounds     int    `default:"11" help:"Rounds; the figure is the median."`
	DuckDB     bool   `name:"duckdb" default:"true" negatable:"" help:"Install DuckDB from npm and compare answers and times."`
	CPUProfile string `placeholder:"FILE" help:"Write a CPU profile of the rounds."`
	Out        string `placeholder:"FILE" help:"Also write the table to this file, such as bench/results/stats.md."`
}

// duckDB is the package that is measured, and duckStats the program that asks it.
const duckDB = "@duckdb/node-api@1.5.6-r.1"

//go:embed duckdb/stats.mjs
var duckStats []byte

// statsQuestions are the groups that are asked for.
var statsQuestions = [][]index.Field{{index.Hardware}, {index.Hardware, index.Model}}

// statsGoalMS is the goal for one core: less than so many milliseconds.
const statsGoalMS = 50

// Run measures and prints a table; it ends with 1 if the goal is missed or an answer differs.
func (c *statsCmd) Run() error {
	dir, err := os.MkdirTemp("", "bench-stats")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if c.Data == "" {
		c.Data = filepath.Join(dir, "data")
		if err := makeLean(c.Data, c.Rows); err != nil {
			return err
		}
	}
	gen, err := loadAndBuild(c.Data)
	if err != nil {
		return err
	}
	var duck *duckAnswer
	if c.DuckDB {
		if duck, err = c.askDuckDB(dir); err != nil {
			return err
		}
	}
	stop, err := profile(c.CPUProfile)
	if err != nil {
		return err
	}
	table, err := c.measure(gen, duck)
	stop()
	fmt.Print(table)
	if c.Out != "" && table != "" {
		err = cmp.Or(err, os.WriteFile(c.Out, []byte(table), 0o644))
	}
	return err
}

// loadAndBuild makes the generation of a dataset.
func loadAndBuild(data string) (*index.Generation, error) {
	set, err := dataset.Load(context.Background(), dataset.Dir(data), dataset.Options{})
	if err != nil {
		return nil, err
	}
	return index.Build(context.Background(), set, rows.Renderers)
}

// measure asks all questions on one core. Nothing is kept between two rounds: the table has no cache.
func (c *statsCmd) measure(gen *index.Generation, duck *duckAnswer) (string, error) {
	runtime.GOMAXPROCS(1)
	var out strings.Builder
	version := "not measured"
	if duck != nil {
		version = "DuckDB " + duck.Version
	}
	fmt.Fprintf(&out, "# Statistics of %d benchmarks on one core\n\nCommand: `go run ./bench stats`. Median of %d rounds, least and most in brackets, in milliseconds of processor time.\n", gen.Benchmarks.Len(), c.Rounds)
	fmt.Fprintf(&out, "%s.\n\n", describeMachine("."))
	fmt.Fprintf(&out, "| by | groups | modeldex | %s, one thread, Parquet | answers |\n|---|---:|---:|---:|---|\n", version)
	var missed error
	for i, by := range statsQuestions {
		q := index.StatsQuery{By: by, Metric: index.GenerationTPS, MaxGroups: math.MaxInt}
		var stats *index.Stats
		times := make([]float64, c.Rounds)
		for n := range times {
			runtime.GC()
			began := cpuTime()
			var err error
			if stats, err = gen.Benchmarks.Stats(q); err != nil {
				return "", err
			}
			times[n] = (cpuTime() - began).Seconds()
		}
		theirs, same := "", ""
		if duck != nil {
			theirs = spread(duck.Questions[i].Seconds)
			if err := duck.Questions[i].compare(stats); err != nil {
				return "", fmt.Errorf("by %v: %w", by, err)
			}
			same = "equal"
		}
		fmt.Fprintf(&out, "| %s | %d | %s | %s | %s |\n", joinFields(by), len(stats.Groups), spread(times), theirs, same)
		if slices.Sort(times); times[len(times)/2]*1000 >= statsGoalMS {
			missed = fmt.Errorf("statistics by %s take %.0f ms, the goal is less than %d", joinFields(by), times[len(times)/2]*1000, statsGoalMS)
		}
	}
	return out.String(), missed
}

func joinFields(fields []index.Field) string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = string(f)
	}
	return strings.Join(out, ",")
}

// spread is the median, least and most of times in seconds, as milliseconds.
func spread(seconds []float64) string {
	s := slices.Sorted(slices.Values(seconds))
	return fmt.Sprintf("%.1f (%.1f-%.1f)", s[len(s)/2]*1000, s[0]*1000, s[len(s)-1]*1000)
}

// duckAnswer is what stats.mjs prints.
type duckAnswer struct {
	Version   string         `json:"version"`
	Questions []duckQuestion `json:"questions"`
}

type duckQuestion struct {
	Seconds []float64 `json:"seconds"`
	Groups  map[string]struct {
		N         int       `json:"n"`
		Pages     int       `json:"pages"`
		Quantiles []float64 `json:"quantiles"`
		Differ    []string  `json:"differ"`
	} `json:"groups"`
}

// askDuckDB installs DuckDB below dir and asks it.
func (c *statsCmd) askDuckDB(dir string) (*duckAnswer, error) {
	own := filepath.Join(dir, "duckdb")
	if err := os.MkdirAll(own, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(own, "stats.mjs"), duckStats, 0o644); err != nil {
		return nil, err
	}
	install := exec.Command("npm", "install", "--no-audit", "--no-fund", "--prefix", own, duckDB)
	install.Dir = own
	if out, err := install.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("installing %s: %s (--no-duckdb leaves it out)", duckDB, lastLine(string(out)))
	}
	folder, err := filepath.Abs(filepath.Join(c.Data, "benchmarks"))
	if err != nil {
		return nil, err
	}
	args := []string{"stats.mjs", folder, filepath.Join(own, "rows.parquet"), fmt.Sprint(c.Rounds)}
	for _, by := range statsQuestions {
		args = append(args, joinFields(by))
	}
	run := exec.Command("node", args...)
	run.Dir, run.Stderr = own, os.Stderr
	out, err := run.Output()
	if err != nil {
		return nil, fmt.Errorf("asking DuckDB: %w", err)
	}
	var a duckAnswer
	return &a, jsonv2.Unmarshal(out, &a)
}

// compare checks that both answers are the same, quantiles to a billionth.
func (q *duckQuestion) compare(stats *index.Stats) error {
	if len(stats.Groups) != len(q.Groups) {
		return fmt.Errorf("%d groups, DuckDB has %d", len(stats.Groups), len(q.Groups))
	}
	for i := range stats.Groups {
		g := &stats.Groups[i]
		key := strings.Join(g.Key(), "|")
		theirs, ok := q.Groups[key]
		if !ok || theirs.N != g.N || theirs.Pages != g.Pages {
			return fmt.Errorf("%s: %d rows of %d pages, DuckDB has %d of %d", key, g.N, g.Pages, theirs.N, theirs.Pages)
		}
		for k, v := range []float64{g.Min, g.P10, g.P25, g.Median, g.P75, g.P90, g.Max} {
			if w := theirs.Quantiles[k]; math.Abs(v-w) > 1e-9*max(1, math.Abs(w)) {
				return fmt.Errorf("%s: quantile %d is %v, DuckDB has %v", key, k, v, w)
			}
		}
		names := joinFields(g.Differing())
		slices.Sort(theirs.Differ)
		mine := strings.Split(names, ",")
		if slices.Sort(mine); names != "" && !slices.Equal(mine, theirs.Differ) || names == "" && len(theirs.Differ) > 0 {
			return fmt.Errorf("%s: settings %v differ, DuckDB has %v", key, mine, theirs.Differ)
		}
	}
	return nil
}
