package service

import (
	"os"
	"runtime"
	"runtime/debug"
	"testing"
)

// TestCollectionsOfAStart: the collector rests while a large dataset is read, unless reading leaves much behind, and
// never where the operator set GOGC.
func TestCollectionsOfAStart(t *testing.T) {
	if os.Getenv("GOGC") != "" {
		t.Skip("GOGC is set, and the program leaves it as it is")
	}
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	runtime.GC()
	percent := func() int {
		now := debug.SetGCPercent(100)
		debug.SetGCPercent(now)
		return now
	}
	m := newMemory(0)
	for _, step := range []struct {
		name        string
		read, total int64
		left        int // bytes that stay behind
		want        int
	}{
		{"a small dataset", 1 << 20, manyBytes - 1, 0, startPercent},
		{"a large one", 1 << 20, manyBytes, 0, -1},
		{"one that leaves much behind", 1 << 20, manyBytes, manyBytes + heapPerByte<<20, startPercent},
	} {
		left := make([]byte, step.left)
		m.starting()
		if m.reading(step.read, step.total); percent() != step.want {
			t.Errorf("%s: the heap may grow by %d %%, want %d", step.name, percent(), step.want)
		}
		runtime.KeepAlive(left)
	}
	debug.SetGCPercent(50)
	newMemory(0).reading(1<<30, 1<<30)
	if percent() != 50 {
		t.Errorf("GOGC=50 became %d", percent())
	}
}
