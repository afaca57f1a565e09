package cores

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestGroup: all functions are called, groups within groups too, and once a core is left to requests no
// more run at a time than Size says.
func TestGroup(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	defer spare.Store(nil)
	// run calls 36 functions; the first ones wait until so many run at a time.
	run := func(together int64) (called, most int64) {
		var calls, now, top atomic.Int64
		met := make(chan struct{})
		meet := sync.OnceFunc(func() { close(met) })
		leaf := func() {
			n := now.Add(1)
			for old := top.Load(); n > old && !top.CompareAndSwap(old, n); old = top.Load() {
			}
			if n >= together {
				meet()
			}
			<-met
			time.Sleep(time.Millisecond)
			now.Add(-1)
			calls.Add(1)
		}
		var outer Group
		for range 6 {
			outer.Go(func() {
				var inner Group
				for range 6 {
					inner.Go(leaf)
				}
				inner.Wait()
			})
		}
		outer.Wait()
		return calls.Load(), top.Load()
	}
	if calls, most := run(5); Size() != 4 || calls != 36 || most <= 4 {
		t.Errorf("before: size %d, %d calls, %d at a time", Size(), calls, most)
	}
	for _, procs := range []int{4, 2, 1} {
		runtime.GOMAXPROCS(procs)
		LeaveOne()
		want := max(1, procs-1)
		if calls, most := run(0); Size() != want || calls != 36 || most > int64(want) {
			t.Errorf("%d cores: size %d, want %d; %d calls, %d at a time", procs, Size(), want, calls, most)
		}
	}
}

// TestGiveWay: what can wait waits for what is urgent, and ends with its context.
func TestGiveWay(t *testing.T) {
	began, ended := make(chan struct{}), make(chan struct{})
	var done atomic.Bool
	go Urgent(func() {
		close(began)
		<-ended
		done.Store(true)
	})
	<-began
	time.AfterFunc(10*time.Millisecond, func() { close(ended) })
	if err := GiveWay(t.Context()); err != nil || !done.Load() {
		t.Errorf("gave no way: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if GiveWay(ctx) == nil {
		t.Error("goes on after its context has ended")
	}
}
