//go:build linux

package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// beforeCmd measures the program beside the program of an earlier commit.
type beforeCmd struct {
	Rev    string        `required:"" placeholder:"COMMIT" help:"The earlier commit. Both programs serve the dataset of it, so that they have the same rows."`
	Round  time.Duration `default:"1s" help:"How long one round asks one server."`
	Rounds int           `default:"7" help:"Rounds; figures are medians of them."`
	Conns  int           `default:"32" help:"Connections."`
	Cases  string        `default:"." placeholder:"REGEXP" help:"Cases to measure, by name."`
	Out    string        `placeholder:"FILE" help:"Where the table goes; default standard output."`
}

// sourceAt writes the files of a commit into a new directory.
func sourceAt(rev, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	archive := dir + ".tar"
	for _, args := range [][]string{{"git", "archive", "--format=tar", "--output=" + archive, rev}, {"tar", "-x", "-f", archive, "-C", dir}} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(args[:2], " "), err, out)
		}
	}
	return nil
}

// Run builds both programs, asks both in turn and prints a table. Pages for people are left out: they are not part of
// what an earlier version has to have.
func (c *beforeCmd) Run() (err error) {
	o := &options{compareCmd: compareCmd{Round: c.Round, Rounds: c.Rounds, Conns: c.Conns}}
	if o.cases, err = regexp.Compile(c.Cases); err != nil {
		return fmt.Errorf("--cases: %w", err)
	}
	dir, err := os.MkdirTemp("", "bench-before")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	earlier := filepath.Join(dir, "earlier")
	if err := sourceAt(c.Rev, earlier); err != nil {
		return err
	}
	programs := [2]string{}
	for i, root := range []string{".", earlier} {
		own := filepath.Join(dir, fmt.Sprint("program-", i))
		if err := os.MkdirAll(own, 0o755); err != nil {
			return err
		}
		if programs[i], err = buildProgram(root, own); err != nil {
			return err
		}
	}
	data := filepath.Join(earlier, "data")
	now, err := startServer(programs[0], dir, data, 10_000, "--log-level", "error", "--dumps", "off")
	if err != nil {
		return err
	}
	defer now.stop()
	then, err := startEarlier(programs[1], dir, data, 10_000)
	if err != nil {
		return err
	}
	defer then.stop()
	now.idle()
	then.idle()
	cases, err := o.beside(now, then)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s. %d rounds of %g s, %d connections.\n\n%s", describeMachine("."), c.Rounds, c.Round.Seconds(), c.Conns, besideTable(cases))
	if c.Out == "" {
		fmt.Print(text)
		return nil
	}
	return os.WriteFile(c.Out, []byte(text), 0o644)
}

// beside asks both servers every question of the API. A cursor and an ETag are those of the server that is asked.
func (o *options) beside(now, then *server) ([]*Case, error) {
	ours, err := questions(now, true)
	if err != nil {
		return nil, err
	}
	theirs, err := questions(then, true)
	if err != nil {
		return nil, err
	}
	fields, err := sameFields(now, then)
	if err != nil {
		return nil, err
	}
	const like = "first-page-fields"
	ours = append(ours, question{name: like, title: "list, first page, with fields= as the earlier rows", path: first + "?fields=" + fields})
	theirs = append(theirs, question{name: like, path: first})
	var cases []*Case
	for _, q := range ours {
		at := slices.IndexFunc(theirs, func(t question) bool { return t.name == q.name })
		if at < 0 || !strings.HasPrefix(q.path, "/api/") || !o.cases.MatchString(q.name) {
			continue
		}
		ts := []*target{
			{name: "now", process: now.process, ask: now.ask(q), status: q.wants()},
			{name: "before", process: then.process, ask: then.ask(theirs[at]), status: q.wants()},
		}
		if err := check(q, ts, nil); err != nil {
			return nil, err
		}
		c := &Case{Name: q.name, Title: q.title}
		if c.Rates, err = o.measure(q, ts); err != nil {
			return nil, err
		}
		say("%s", c)
		cases = append(cases, c)
	}
	return cases, nil
}

// sameFields are the fields that the rows of both servers have, except for the key.
func sameFields(now, then *server) (string, error) {
	var names [2][]string
	for i, s := range []*server{now, then} {
		resp, err := s.get(first + "?limit=1")
		if err != nil {
			return "", err
		}
		var e struct {
			Data []jsontext.Value `json:"data"`
		}
		if err := jsonv2.Unmarshal(resp.body, &e); err != nil || len(e.Data) == 0 {
			return "", fmt.Errorf("%s: answered %d: %.200s", first, resp.status, resp.body)
		}
		row := map[string]jsontext.Value{}
		if err := jsonv2.Unmarshal(e.Data[0], &row); err != nil {
			return "", err
		}
		names[i] = slices.Sorted(maps.Keys(row))
	}
	same := slices.DeleteFunc(names[1], func(name string) bool { return name == "id" || !slices.Contains(names[0], name) })
	return strings.Join(same, ","), nil
}

// besideTable has one line per question.
func besideTable(cases []*Case) string {
	var b strings.Builder
	b.WriteString("| case | now /s | before /s | now / before, median (least-most) | bytes now, before | MB/s now, before | CPU us now, before | p99 ms now, before |\n|---|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, c := range cases {
		now, then := c.Rates[0], c.Rates[1]
		fmt.Fprintf(&b, "| %s | %.0f | %.0f | %s | %d, %d | %.0f, %.0f | %.1f, %.1f | %.2f, %.2f |\n", c.Title, median(now.PerSec), median(then.PerSec), ratio(then.Ratios),
			now.Bytes, then.Bytes, median(now.PerSec)*float64(now.Bytes)/1e6, median(then.PerSec)*float64(then.Bytes)/1e6, median(now.CPU), median(then.CPU), median(now.P99)/1e3, median(then.P99)/1e3)
	}
	return b.String()
}
