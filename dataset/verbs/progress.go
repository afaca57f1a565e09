package verbs

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

// Progress shows every second how far a verb is, where standard error is a terminal: the share of the work once
// update has been called, else the time it has taken. end removes the line; a second call does nothing.
func Progress(what string) (update func(done, total int64), end func()) {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return func(int64, int64) {}, func() {}
	}
	var percent atomic.Int64
	percent.Store(-1)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		started, tick := time.Now(), time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				fmt.Fprint(os.Stderr, "\r\x1b[K")
				return
			case now := <-tick.C:
				state := now.Sub(started).Round(time.Second).String()
				if p := percent.Load(); p >= 0 {
					state = fmt.Sprintf("%d%%", p)
				}
				fmt.Fprintf(os.Stderr, "\r\x1b[K%s: %s", what, state)
			}
		}
	}()
	update = func(done, total int64) { percent.Store(100 * done / max(total, 1)) }
	return update, sync.OnceFunc(func() { close(stop); <-stopped })
}
