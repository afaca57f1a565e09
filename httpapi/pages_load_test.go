package httpapi

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"testing"

	"modeldex/httpapi/cache"
)

// TestRandomFacetAddresses asks for more combinations of filters than the cache may keep: what is
// kept stays within its bound, and so does the memory of the process.
func TestRandomFacetAddresses(t *testing.T) {
	s := newService(t, mustShipped(t).live)
	const bound = 1 << 20
	small, err := cache.New[*response](bound)
	if err != nil {
		t.Fatal(err)
	}
	s.open.Close()
	s.open = small
	random := rand.New(rand.NewPCG(seedOf(t), 0))
	ask := func(n int) {
		for range n {
			path := fmt.Sprintf("/explore/hardware?min_vram_gb=%d&max_price_usd=%d&q=%c", 1+random.IntN(64), 100+random.IntN(9000), 'a'+random.IntN(26))
			if random.IntN(4) == 0 {
				path = fmt.Sprintf("/charts/model-speeds.svg?model=gpt-oss-20b&width=%d", 320+random.IntN(800))
			}
			if a := s.ask(t, "GET", path); a.status != http.StatusOK {
				t.Fatalf("GET %s: %d: %.300s", path, a.status, a.body)
			}
		}
		small.Wait()
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	ask(60)
	before := heap()
	ask(120)
	added, evicted := small.Metrics().CostAdded(), small.Metrics().CostEvicted()
	if added <= bound {
		t.Fatalf("%d bytes were kept: too few to fill a cache of %d", added, bound)
	}
	if kept := added - evicted; kept > bound {
		t.Errorf("the cache keeps %d bytes, more than its bound of %d", kept, bound)
	}
	if after := heap(); after > before+8<<20 {
		t.Errorf("the memory in use grew from %d to %d KB", before>>10, after>>10)
	}
}
