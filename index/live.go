package index

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Live holds the generation being served: the only mutable word on the read path. The zero
// value holds none. It can keep some of those before, for readers of the past. Safe for concurrent use.
type Live struct {
	current    atomic.Pointer[Generation]
	kept       atomic.Pointer[[]*Generation]
	keep       int
	publishing sync.Mutex // numbers rise in the order generations are served
	count      uint64
}

// Current returns the generation being served, nil before the first. A request takes it once:
// two calls may return two generations.
func (l *Live) Current() *Generation { return l.current.Load() }

// Keep makes Live keep n generations beside the one being served. It must be called before the first
// is published. A kept generation costs what it does not share with the others, see BytesBeside.
func (l *Live) Keep(n int) { l.keep = n }

// Kept returns the generations that are kept, newest first: the one being served and those before it.
// Of generations with the same content it has the newest. The slice must not be changed.
func (l *Live) Kept() []*Generation {
	if kept := l.kept.Load(); kept != nil {
		return *kept
	}
	return nil
}

// with is what is kept after a generation is published.
func (l *Live) with(gen *Generation) []*Generation {
	out := []*Generation{gen}
	for _, old := range l.Kept() {
		if len(out) <= l.keep && (old.Digest != gen.Digest || old.Edition != gen.Edition) {
			out = append(out, old)
		}
	}
	return out
}

// Capacity is how many generations are kept, the one being served among them.
func (l *Live) Capacity() int { return l.keep + 1 }

// KeepOlder keeps a generation that an earlier process served: it becomes the oldest of those kept. It
// gets no number, because this process did not serve it. It returns false, and changes nothing, before the
// first generation is published, where no more are kept, and for a dataset that is kept already.
func (l *Live) KeepOlder(gen *Generation) bool {
	l.publishing.Lock()
	defer l.publishing.Unlock()
	kept := l.Kept()
	if len(kept) == 0 || len(kept) > l.keep || slices.ContainsFunc(kept, func(g *Generation) bool { return g.Digest == gen.Digest }) {
		return false
	}
	kept = append(slices.Clone(kept), gen)
	l.kept.Store(&kept)
	return true
}

// Publish numbers a finished generation and makes it the one being served. The previous one stays
// valid for the requests that use it. Numbers count up from 1 and are assigned here only.
func (l *Live) Publish(gen *Generation) {
	_ = l.PublishAfter(gen, func(uint64) error { return nil })
}

// PublishAfter is Publish with a step in between: before is called with the number of the
// generation while the previous one is still being served. If it returns an error, PublishAfter
// returns that error and publishes nothing.
func (l *Live) PublishAfter(gen *Generation, before func(number uint64) error) error {
	l.publishing.Lock()
	defer l.publishing.Unlock()
	if err := before(l.count + 1); err != nil {
		return err
	}
	l.count++
	gen.Number = l.count
	kept := l.with(gen)
	l.kept.Store(&kept) // before it is served: what is served can be asked for by its name
	l.current.Store(gen)
	return nil
}
