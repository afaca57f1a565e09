//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// fuzzCmd runs every fuzz target of the module for a while: parameters, cursors, headers, bodies,
// names, lines and files of the dataset, tables of importers, snapshot documents, keys.
type fuzzCmd struct {
	For     time.Duration `default:"1m" help:"How long each target runs."`
	Targets string        `default:"." placeholder:"REGEXP" help:"Only targets whose package and name match, such as httpapi or FuzzCursor."`
	Workers int           `default:"2" help:"Processes per target."`
}

// fuzzTarget is a fuzz test of a package.
type fuzzTarget struct{ pkg, name string }

// Run runs the targets one after the other and prints one line for each. It fails if one of them
// does; go test has then written the input that failed below testdata/fuzz of the package.
func (c *fuzzCmd) Run() error {
	only, err := regexp.Compile(c.Targets)
	if err != nil {
		return fmt.Errorf("--targets: %w", err)
	}
	targets, err := fuzzTargets()
	if err != nil {
		return err
	}
	targets = slices.DeleteFunc(targets, func(t fuzzTarget) bool { return !only.MatchString(t.pkg + " " + t.name) })
	if len(targets) == 0 {
		return errors.New("no target matches")
	}
	var failed []string
	for _, t := range targets {
		execs, out, err := t.run(c.For, c.Workers)
		if err != nil {
			failed = append(failed, t.pkg+" "+t.name)
			fmt.Printf("%-36s %-20s FAILED\n%s\n", t.pkg, t.name, out)
			continue
		}
		fmt.Printf("%-36s %-20s %10s inputs, no failure\n", t.pkg, t.name, execs)
	}
	if failed != nil {
		return fmt.Errorf("%d of %d targets failed: %s", len(failed), len(targets), strings.Join(failed, ", "))
	}
	return nil
}

var targetForm = regexp.MustCompile(`(?m)^func (Fuzz\w*)\(`)

// fuzzTargets lists the fuzz tests of the module by package.
func fuzzTargets() ([]fuzzTarget, error) {
	var list []fuzzTarget
	err := filepath.WalkDir(".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, m := range targetForm.FindAllSubmatch(text, -1) {
			list = append(list, fuzzTarget{"./" + filepath.ToSlash(filepath.Dir(name)), string(m[1])})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking for fuzz tests: %w", err)
	}
	return list, nil
}

var execsForm = regexp.MustCompile(`execs: (\d+)`)

// minimizeFor bounds how many tries go test may spend on a shorter form of an input that reached new code. The
// default of go test is a minute, in which six forms of a document of megabytes were tried. A target that often
// reaches new code would spend most of its time on that.
const minimizeFor = "100x"

// run runs a target; execs is how many inputs it tried.
func (t fuzzTarget) run(d time.Duration, workers int) (execs, out string, err error) {
	cmd := exec.Command("go", "test", t.pkg, "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", d.String(), "-fuzzminimizetime", minimizeFor, "-parallel", fmt.Sprint(workers))
	cmd.Env = append(os.Environ(), "GOFLAGS=")
	text, err := cmd.CombinedOutput()
	if all := execsForm.FindAllStringSubmatch(string(text), -1); all != nil {
		execs = all[len(all)-1][1]
	}
	return execs, string(text), err
}
