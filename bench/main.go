//go:build linux

package main

import (
	"fmt"
	"os"
	"slices"
	"time"

	"modeldex/bench/generate"

	"github.com/alecthomas/kong"
)

// cli is the table of verbs and their flags.
type cli struct {
	Compare  compareCmd  `cmd:"" default:"withargs" help:"Measure the program against rivals and against itself on larger data, and keep the results."`
	Before   beforeCmd   `cmd:"" help:"Measure the program beside the program of an earlier commit, on the dataset of that commit."`
	Generate generateCmd `cmd:"" help:"Make a dataset of any number of benchmarks."`
	Bare     bareCmd     `cmd:"" hidden:"" help:"Serve bytes with fasthttp alone."`
	Wire     wireCmd     `cmd:"" help:"Attack the connections of a server and check every response."`
	Fuzz     fuzzCmd     `cmd:"" help:"Run every fuzz target for a while."`
	Start    startCmd    `cmd:"" help:"Measure time and memory from files to a generation."`
	Memory   memoryCmd   `cmd:"" help:"Measure resident memory after the start and under traffic, against the goals."`
	Ledgers  ledgersCmd  `cmd:"" help:"Compare a ledger in etcd with one in a file."`
	Stats    statsCmd    `cmd:"" help:"Measure statistics of a million benchmarks on one core, beside DuckDB."`
	Files    filesCmd    `cmd:"" help:"Measure the memory of the program while it streams every row to one caller, by format."`
	Worst    worstCmd    `cmd:"" help:"Measure the processor time of requests that were made to cost as much as a request can."`
	Load     loadCmd     `cmd:"" help:"Measure time and memory of starts of the program on a million benchmarks, against the goals."`
	Redraw   redrawCmd   `cmd:"" help:"Write the tables and plots again from the stored results."`
}

type generateCmd struct {
	Rows int    `default:"100000" help:"Benchmarks to make."`
	Out  string `required:"" placeholder:"DIR" help:"Directory to make; must be empty or missing."`
	From string `default:"data" placeholder:"DIR" help:"Dataset to go by."`
	Seed uint64 `default:"1" help:"Equal seeds give equal files."`
	Lean bool   `help:"Lines of about 330 bytes: without unknown fields and fields that are not filters."`
}

// Run makes the dataset.
func (c *generateCmd) Run() error {
	began := time.Now()
	size, err := generate.Write(c.Out, os.DirFS(c.From), generate.Options{Rows: c.Rows, Seed: c.Seed, Lean: c.Lean})
	if err != nil {
		return fmt.Errorf("generating: %w", err)
	}
	fmt.Printf("%d benchmarks of %d bytes in %s, in %.1f s\n", c.Rows, size/int64(max(1, c.Rows)), c.Out, time.Since(began).Seconds())
	return nil
}

func main() {
	parser := kong.Must(&cli{}, kong.Name("bench"), kong.Description("Makes datasets and measures the program on them."), kong.UsageOnError())
	ctx, err := parser.Parse(doubleDashes(os.Args[1:]))
	parser.FatalIfErrorf(err)
	ctx.FatalIfErrorf(ctx.Run())
}

// doubleDashes takes flags in the spelling of the go command too: -rows is --rows.
func doubleDashes(args []string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		if len(a) > 2 && a[0] == '-' && a[1] != '-' && (a[1] < '0' || a[1] > '9') {
			out[i] = "-" + a
		}
	}
	return out
}
