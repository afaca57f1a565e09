//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"syscall"
	"time"

	"modeldex/dataset"
	"modeldex/httpapi/rows"
	"modeldex/index"
)

type startCmd struct {
	Data       string `default:"data" placeholder:"DIR" help:"Dataset to load."`
	CPUProfile string `placeholder:"FILE" help:"Write a CPU profile."`
	MemProfile string `placeholder:"FILE" help:"Write a profile of what is held at the end."`
}

// A step is what one part of a start took.
type step struct {
	name      string
	wall, cpu time.Duration
	heap      uint64 // bytes in use at its end, garbage included
}

// Run loads and builds as a server does and prints what it took.
func (c *startCmd) Run() error {
	stop, err := profile(c.CPUProfile)
	if err != nil {
		return err
	}
	set, load, err := timed("load", func() (*dataset.Set, error) {
		return dataset.Load(context.Background(), dataset.Dir(c.Data), dataset.Options{})
	})
	if err != nil {
		return err
	}
	gen, build, err := timed("build", func() (*index.Generation, error) { return index.Build(context.Background(), set, rows.Renderers) })
	if err != nil {
		return err
	}
	stop()
	peak := memory(os.Getpid(), "VmHWM")
	debug.FreeOSMemory()
	report(gen, []step{load, build}, peak)
	defer runtime.KeepAlive(set) // a server keeps it for the next load
	return heapProfile(c.MemProfile, gen)
}

// timed runs one step.
func timed[T any](name string, do func() (T, error)) (T, step, error) {
	wall, cpu := time.Now(), cpuTime()
	out, err := do()
	s := step{name: name, wall: time.Since(wall), cpu: cpuTime() - cpu}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.heap = m.HeapAlloc
	return out, s, err
}

// report prints steps and memory; resident memory is what is left after the collector ran.
func report(gen *index.Generation, steps []step, peak int64) {
	fmt.Printf("%d benchmarks, %s, %d cores\n", gen.Benchmarks.Len(), runtime.Version(), runtime.GOMAXPROCS(0))
	for _, s := range steps {
		fmt.Printf("%-8s %6.2f s   %6.2f s of processor   heap %5d MB\n", s.name, s.wall.Seconds(), s.cpu.Seconds(), s.heap>>20)
	}
	rows := gen.Benchmarks.Bytes()
	others := gen.Models.Bytes() + gen.Hardware.Bytes() + gen.Tools.Bytes()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	n := float64(max(1, gen.Benchmarks.Len()))
	fmt.Printf("rows     %d MB of benchmarks (%.0f bytes each), %d MB of others\n", rows>>20, float64(rows)/n, others>>20)
	fmt.Printf("heap     %d MB held, %.2f of the bytes of rows\n", m.HeapAlloc>>20, float64(m.HeapAlloc)/float64(rows+others))
	resident := memory(os.Getpid(), "VmRSS")
	fmt.Printf("resident %d MB, %.2f of the bytes of rows; peak %d MB\n", resident>>20, float64(resident)/float64(rows+others), peak>>20)
}

// profile starts a CPU profile where asked for; stop ends it.
func profile(name string) (stop func(), err error) {
	if name == "" {
		return func() {}, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		_ = f.Close() // a profile cut short shows when it is read
	}, nil
}

// heapProfile writes what is held, the generation among it.
func heapProfile(name string, gen *index.Generation) error {
	defer runtime.KeepAlive(gen)
	if name == "" {
		return nil
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return pprof.WriteHeapProfile(f)
}

// cpuTime is the processor time this process has used, on all cores.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
