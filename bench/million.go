//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
)

// loadCmd starts the real program on made-up benchmarks and compares the start with the goals. It may take 4 s,
// and memory of at most twice the bytes of the finished records.
type loadCmd struct {
	Rows  int  `default:"1000000" help:"Benchmarks to make."`
	Long  bool `help:"Lines as long as the shipped ones, instead of about 330 bytes."`
	Times int  `default:"3" help:"Starts to measure."`
}

// Run prints a table. It fails where the median misses a goal.
func (c *loadCmd) Run() error {
	dir, err := os.MkdirTemp("", "bench-load")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	data, err := made(dir, "data", c.Rows, !c.Long)
	if err != nil {
		return err
	}
	program, data, err := programAndData(dir, data)
	if err != nil {
		return err
	}
	fmt.Printf("%s.\n\n", describeMachine("."))
	fmt.Printf("| start | s to serving | s of processor | rendered MB | resident MB | of rendered | highest MB while loading | reload s | highest MB while reloading |\n" +
		"|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	var seconds, share []float64
	for i := range c.Times {
		g, err := c.start(program, dir, data)
		if err != nil {
			return err
		}
		seconds, share = append(seconds, g.Load), append(share, float64(g.Settled)/float64(g.Rendered))
		fmt.Printf("| %d | %.1f | %.1f | %d | %d | %.2f | %d | %.1f | %d |\n", i+1, g.Load, g.LoadCPU, g.Rendered>>20, g.Settled>>20, share[i], g.Peak>>20, g.Swap, g.Swapped>>20)
	}
	var missed []error
	if m := median(seconds); m > 4 {
		missed = append(missed, fmt.Errorf("median start %.1f s, goal 4 s", m))
	}
	if m := median(share); m > 2 {
		missed = append(missed, fmt.Errorf("median memory %.2f of the rendered records, goal 2", m))
	}
	return errors.Join(missed...)
}

// start measures one start and one reload.
func (c *loadCmd) start(program, dir, data string) (*Growth, error) {
	s, err := startServer(program, dir, data, 1, "--dumps", "off")
	if err != nil {
		return nil, err
	}
	defer s.stop()
	g := &Growth{Rows: c.Rows}
	if err := g.begin(s); err != nil {
		return nil, err
	}
	return g, s.swap(data, g)
}
