package fit

import (
	"math"
	"sort"
	"sync"
)

// A placed sample has at hand what modelDistance reads: a list estimates thousands of speeds from the same
// samples, and most of them are too far.
type placed struct {
	*sample
	far                                   float64 // placeDistance
	logBits, logBytes, logTime, logActive float64
	quant, quantKind, model               int32
	mixture                               bool
}

// nearby is the samples that are near enough to a machine with a tool. A list of what one machine runs
// gathers them once and then looks at these only. It is not safe for concurrent use.
type nearby struct {
	at      point    // of the machine and tool; nothing of a model
	samples []placed // by the bytes one token reads
	known   bool     // whether the fields above are set
	many    bool     // whether views are kept: many estimates are to come
	views   map[viewKey]view
	seen    []seen // of all views
}

// A viewKey is what a view depends on.
type viewKey struct {
	quant, quantKind int32
	mixture          bool
	logBits          float64
}

// A view is the samples of a place as seen by models whose weights are stored in one way: what is left of the
// distance to a configuration is the bytes one token reads, and whether the model is the same.
type view struct {
	from, to int     // in seen
	least    float32 // the smallest distance in it
}

// A seen sample is a sample in a view, by bytes. The numbers are rounded; they leave out what is certainly
// too far, and the rest is looked at exactly.
type seen struct {
	logBytes, distance float32
	at                 int32 // in samples
}

// rounding is more than the rounding of a seen sample changes a distance.
const rounding = 1e-3

var nearbyPool = sync.Pool{New: func() any { return &nearby{views: map[viewKey]view{}} }}

// newNearby is empty; many says that it is for many estimates. The caller calls free when done.
func newNearby(many bool) *nearby {
	n := nearbyPool.Get().(*nearby) //nolint:forcetypeassert // the pool holds nothing else
	n.many = many
	return n
}

// reset is for another machine.
func (n *nearby) reset() {
	n.known, n.samples = false, n.samples[:0]
	clear(n.views)
	n.seen = n.seen[:0]
}

func (n *nearby) free() {
	n.reset()
	clear(n.samples[:cap(n.samples)]) // they keep a dataset in memory
	nearbyPool.Put(n)
}

// gather finds the samples near to the machine and tool of a configuration, unless they are those of the
// one before.
func (n *nearby) gather(l *learnt, p *point) {
	if n.known && n.is(p) {
		return
	}
	n.reset()
	n.at, n.known = *p, true
	for i := range l.samples[p.class] {
		s := &l.samples[p.class][i]
		if d := placeDistance(p, &s.point); d <= tooFar {
			n.samples = append(n.samples, placed{
				sample: s, far: d, logBits: s.logBits, logBytes: s.logBytes, logTime: s.logTime(), logActive: s.logActive(),
				quant: s.quant, quantKind: s.quantKind, model: s.model, mixture: s.mixture,
			})
		}
	}
}

// is reports whether a configuration is of this machine and tool.
func (n *nearby) is(p *point) bool {
	a := &n.at
	return a.hardware == p.hardware && a.silicon == p.silicon && a.tool == p.tool && a.backend == p.backend && a.unit == p.unit &&
		a.class == p.class && a.logBandwidth == p.logBandwidth
}

// view is the view of models whose weights are stored as those of a configuration.
func (n *nearby) view(p *point) view {
	key := viewKey{p.quant, p.quantKind, p.mixture, p.logBits}
	if n.many {
		if v, known := n.views[key]; known {
			return v
		}
	} else {
		n.seen = n.seen[:0]
	}
	v := view{from: len(n.seen), least: tooFar}
	for i := range n.samples {
		s := &n.samples[i]
		d := s.far + s.wayDistance(p)
		if d > tooFar {
			continue
		}
		n.seen = append(n.seen, seen{float32(s.logBytes), float32(d), int32(i)})
		v.least = min(v.least, float32(d))
	}
	v.to = len(n.seen)
	if n.many {
		n.views[key] = v
	}
	return v
}

// search finds the samples that may count for a configuration, in any order, and the distance of the
// nearest. It goes from those of the same bytes outwards until all others are too far. Some of what it
// found before the nearest may be too far from it.
func (n *nearby) search(p *point, here float64, skip func(s *sample) bool, near []neighbour) (found []neighbour, nearest float64) {
	v := n.view(p)
	list, bytes := n.seen[v.from:v.to], float32(p.logBytes)
	right := sort.Search(len(list), func(i int) bool { return list[i].logBytes >= bytes })
	left := right - 1
	nearest = tooFar
	limit := float32(tooFar + rounding)
	for left >= 0 || right < len(list) {
		var s *seen
		if right == len(list) || left >= 0 && bytes-list[left].logBytes <= list[right].logBytes-bytes {
			s = &list[left]
			left--
		} else {
			s = &list[right]
			right++
		}
		off := perBytes * (s.logBytes - bytes)
		if off < 0 {
			off = -off
		}
		if v.least+off > limit {
			break
		}
		if s.distance+off > limit {
			continue
		}
		at := &n.samples[s.at]
		d := at.far + at.modelDistance(p)
		if d > tooFar || d > nearest-logLightest || skip != nil && skip(at.sample) {
			continue
		}
		near = append(near, neighbour{at.sample, at.logShare + here - at.trend, 0, d})
		if d < nearest {
			nearest = d
			limit = float32(math.Min(tooFar, nearest-logLightest) + rounding)
		}
	}
	return near, nearest
}
