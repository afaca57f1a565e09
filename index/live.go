package index

import (
	"sync"
	"sync/atomic"
)

// Live holds the generation being served: the only mutable word on the read path. The zero
// value holds none. Safe for concurrent use.
type Live struct {
	current    atomic.Pointer[Generation]
	publishing sync.Mutex // so that numbers rise in the order generations are served
	count      uint64
}

// Current returns the generation being served, nil before the first. A request takes it once:
// two calls may return two generations.
func (l *Live) Current() *Generation { return l.current.Load() }

// Publish numbers a finished generation and makes it the one being served. The one before it
// stays valid for the requests that hold it.
func (l *Live) Publish(gen *Generation) {
	l.publishing.Lock()
	defer l.publishing.Unlock()
	l.count++
	gen.Number = l.count
	l.current.Store(gen)
}
