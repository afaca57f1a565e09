package index

import (
	"sync"
	"sync/atomic"
)

// Live holds the generation being served: the only mutable word on the read path. The zero
// value holds none. Safe for concurrent use.
type Live struct {
	current    atomic.Pointer[Generation]
	publishing sync.Mutex // numbers rise in the order generations are served
	count      uint64
}

// Current returns the generation being served, nil before the first. A request takes it once:
// two calls may return two generations.
func (l *Live) Current() *Generation { return l.current.Load() }

// Publish numbers a finished generation and makes it the one being served. The previous one stays
// valid for the requests that use it. Numbers count up from 1 and are assigned here only.
func (l *Live) Publish(gen *Generation) {
	_ = l.PublishAfter(gen, func(uint64) error { return nil })
}

// PublishAfter is Publish with a step in between: before is called with the number of the generation while the previous
// one is still being served. If it returns an error, PublishAfter returns that error and publishes nothing.
func (l *Live) PublishAfter(gen *Generation, before func(number uint64) error) error {
	l.publishing.Lock()
	defer l.publishing.Unlock()
	if err := before(l.count + 1); err != nil {
		return err
	}
	l.count++
	gen.Number = l.count
	l.current.Store(gen)
	return nil
}
