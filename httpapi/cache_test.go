package httpapi

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"modeldex/dataset/datasettest"
	"modeldex/httpapi/encoding"
)

// TestMakersAreBounded: no more responses are made at once than the cache has places for, all callers get
// theirs, and a response that panics gives its place back.
func TestMakersAreBounded(t *testing.T) {
	const places, callers = 3, 20
	all, err := newResponseCache(1 << 20)
	datasettest.Must(t, err)
	defer all.cache.Close()
	synctest.Test(t, func(t *testing.T) {
		c := &responseCache{cache: all.cache, making: make(chan struct{}, places)}
		if caught := caughtPanic(func() { c.getOrRender(nil, encoding.Identity, "/defect", func() *response { panic("a defect") }) }); caught == nil {
			t.Error("a panic was lost")
		}
		var making, made atomic.Int32
		done := make(chan struct{})
		for i := range callers {
			go c.getOrRender(nil, encoding.Identity, fmt.Sprint("/", i), func() *response {
				making.Add(1)
				<-done
				making.Add(-1)
				made.Add(1)
				return &response{body: []byte("x")}
			})
		}
		synctest.Wait()
		if n := making.Load(); n != places {
			t.Errorf("%d responses are made at once, want %d", n, places)
		}
		close(done)
		synctest.Wait()
		if n := made.Load(); n != callers {
			t.Errorf("%d responses were made, want %d", n, callers)
		}
	})
}

func caughtPanic(f func()) (caught any) {
	defer func() { caught = recover() }()
	f()
	return nil
}
