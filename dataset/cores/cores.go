// Package cores says how many cores work in the background may use: all of them, until a process
// answers requests, and from then on all but one.
//
// A goroutine that computes keeps its core for ten milliseconds at a time, and those that wait for a
// core wait in a queue. While as many goroutines compute as there are cores, a request of 100 microseconds
// therefore takes tens of milliseconds (BenchmarkReload). With one core mostly free the request runs at once.
//
// Like GOMAXPROCS this is a setting of the process. All functions are safe for concurrent use.
package cores

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// spare has a place for each goroutine that may compute beside the one that began; nil while all cores may be
// used.
var spare atomic.Pointer[chan struct{}]

// LeaveOne leaves one core to requests from now on.
func LeaveOne() {
	places := make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1)-1)
	spare.Store(&places)
}

// Size is how many goroutines should compute side by side, at least one.
func Size() int {
	if places := spare.Load(); places != nil {
		return cap(*places) + 1
	}
	return runtime.GOMAXPROCS(0)
}

// A Group is a sync.WaitGroup whose goroutines leave a core to requests. The zero value is ready.
type Group struct{ work sync.WaitGroup }

// Go calls f in a new goroutine, or, where no core is to be had for one, itself. f must not wait for a
// function that is given to Go later.
func (g *Group) Go(f func()) {
	places := spare.Load()
	if places == nil {
		g.work.Go(f)
		return
	}
	select {
	case *places <- struct{}{}:
		g.work.Go(func() {
			defer func() { <-*places }()
			f()
		})
	default:
		f()
	}
}

// Wait waits for all functions.
func (g *Group) Wait() { g.work.Wait() }

// urgent is held while work is done that others give way to.
var urgent sync.RWMutex

// Urgent calls f while what calls GiveWay waits.
func Urgent(f func()) {
	urgent.Lock()
	defer urgent.Unlock()
	f()
}

// GiveWay waits while there is urgent work. Work that can wait, such as a dump of the dataset, calls it
// every few milliseconds. It returns the error of the context, if that has ended.
func GiveWay(ctx context.Context) error {
	urgent.RLock()
	urgent.RUnlock() //nolint:staticcheck // nothing is guarded: the lock is what it waits for
	return ctx.Err()
}
