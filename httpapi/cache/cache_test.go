package cache

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"modeldex/dataset/datasettest"
	"modeldex/httpapi/encoding"
	"modeldex/httpapi/export"
)

// TestMakersAreBounded: no more responses are made at once than the cache has places for, all callers get
// theirs, and a response that panics gives its place back.
func TestMakersAreBounded(t *testing.T) {
	const places, callers = 3, 20
	all, err := New[*body](1 << 20)
	datasettest.Must(t, err)
	defer all.Close()
	synctest.Test(t, func(t *testing.T) {
		c := &Cache[*body]{kept: all.kept, making: make(chan struct{}, places)}
		if caught := caughtPanic(func() { c.Render(nil, encoding.Identity, "/defect", func() *body { panic("a defect") }) }); caught == nil {
			t.Error("a panic was lost")
		}
		var making, made atomic.Int32
		done := make(chan struct{})
		for i := range callers {
			go c.Render(nil, encoding.Identity, fmt.Sprint("/", i), func() *body {
				making.Add(1)
				<-done
				making.Add(-1)
				made.Add(1)
				return &body{}
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

type body struct{ _ int } // of some size, so that two are not the same

func (*body) Size() int { return 1 }

// TestFind: a response is found under its address and the spellings it was asked for with, in its own coding and format,
// and the zero value stands for none.
func TestFind(t *testing.T) {
	c, err := New[*body](1 << 20)
	datasettest.Must(t, err)
	defer c.Close()
	content := []byte("0123456789abcdef")
	made := c.Render(content, encoding.Identity, "/a", func() *body { return &body{} })
	c.Alias(made, content, encoding.Identity, export.CSV, "/a", []byte("/a"))
	c.Alias(made, content, encoding.Identity, export.JSON, "/a", []byte("/a?b"))
	c.Wait()
	for _, tt := range []struct {
		content string
		coding  encoding.Coding
		format  export.Format
		address string
		found   bool
	}{
		{"0123456789abcdef", encoding.Identity, export.JSON, "/a", true},
		{"0123456789abcdef", encoding.Identity, export.CSV, "/a", true},
		{"0123456789abcdef", encoding.Identity, export.JSON, "/a?b", true},
		{"0123456789abcdef", encoding.Identity, export.NDJSON, "/a", false},
		{"0123456789abcdef", encoding.Gzip, export.JSON, "/a", false},
		{"0123456789abcdeF", encoding.Identity, export.JSON, "/a", false},
	} {
		if got := c.Find([]byte(tt.content), tt.coding, tt.format, []byte(tt.address)); (got != nil) != tt.found || got != nil && got != made {
			t.Errorf("%+v: found %+v", tt, got)
		}
	}
	if n := c.Metrics(); n.Hits() < 3 || n.Misses() < 3 || n.KeysAdded() != 3 {
		t.Errorf("counts %+v, want three of the first kinds", n)
	}
}
