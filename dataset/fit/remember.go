package fit

import (
	"math"
	"sync"
	"sync/atomic"

	"modeldex/dataset"
)

// A memory of estimates: what lists ask for again and again. An estimate depends on a size and on a machine with
// a tool and a backend, and on nothing else of a query: not on the number of devices, the context or the least
// speed. It is safe for concurrent use.
type remembered struct {
	mu          sync.Mutex
	now, before map[rememberedKey]estimates
	sizes       int // of all estimates in now
}

type rememberedKey struct {
	setup
	class Class
	model dataset.Slug
}

// estimates are those of all sizes of a model on a machine, by number of the size.
type estimates []atomic.Uint32

// mostRemembered bounds the sizes in each half of a memory: 1 MiB of estimates, and about as much of keys. The
// sizes of all shipped models on one machine are 25,000.
const mostRemembered = 1 << 18

// of gives the estimates of a key for so many sizes, none of them known where it is new. When a half is full, the one before is
// forgotten.
func (r *remembered) of(key rememberedKey, sizes int) estimates {
	r.mu.Lock()
	defer r.mu.Unlock()
	if found, ok := r.now[key]; ok {
		return found
	}
	out, ok := r.before[key]
	if !ok {
		out = make(estimates, sizes)
	}
	if r.now == nil || r.sizes+len(out) > mostRemembered {
		r.before, r.now, r.sizes = r.now, map[rememberedKey]estimates{}, 0
	}
	r.now[key] = out
	r.sizes += len(out)
	return out
}

// What is kept of an estimate: 0 where it is not known yet, the speed in thousandths of a token per second, which
// is what speeds are rounded to, or with the bit below set that there is no estimate of so many thousandths or more.
const below = 1 << 31

// roundedBy is more than the rounding of a speed makes it larger.
const roundedBy = 1e-3

// recall gives a speed of at least so much that is kept; done is false where it has to be worked out.
func recall(kept uint32, least float64) (tps float64, known, done bool) {
	switch {
	case kept == 0:
		return 0, false, false
	case kept < below:
		return float64(kept) / 1e3, true, true
	default:
		return 0, false, least*1e3 >= float64(kept-below)
	}
}

// keep is what to keep of an estimate that was asked for with a least speed; 0 where it cannot be kept.
func keep(tps float64, known bool, least float64) uint32 {
	thousandths := math.Round(tps * 1e3)
	if !known {
		if thousandths = 0; least > roundedBy {
			thousandths = math.Ceil(least * 1e3)
		}
	}
	switch {
	case thousandths >= below:
		return 0
	case !known:
		return below | uint32(thousandths)
	}
	return uint32(thousandths)
}
