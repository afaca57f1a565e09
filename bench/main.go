//go:build linux

// Command bench compares the program with nginx, bare fasthttp, SQLite and DuckDB. The load comes from wrk. It
// writes a table and a plot into bench/results. Run it in the folder of the repository:
//
//	go run ./bench
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
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
