package fit

import (
	"math"
	"slices"
	"sort"
	"sync"
)

// nearby finds the samples that are near to configurations on a machine with a tool. It is not safe for
// concurrent use.
type nearby struct {
	at      setup
	class   Class
	use     use
	known   bool // whether what follows is set
	samples []sample
	lookup  *lookup
	far     []float64 // of each setup of the lookup, its placeDistance
	fixed   []float32 // of each setup, the part of it that views have
	rest    []float32 // and the other part
	least   float32   // the smallest rest of other silicon
	views   []view    // by way, class and mixture
	seen    []seen    // of all views
	ways    []float32 // room to work: of each form, and of each sample
	found   []neighbour
}

// A use says what estimates are to come, which decides what of distances is worked out once for many of them.
type use uint8

const (
	once       use = iota // few estimates
	oneMachine            // many models on one machine: views are of its samples, by their distance from it
	oneModel              // one model on many machines: views are the same for all machines of a class
)

// A view is the samples of a class as seen by models whose weights are stored in one way: what is left of the
// distance to a configuration is the bytes one token reads, whether the model is the same and, in the views of
// one model, that of the machines.
type view struct {
	known bool
	from  int32        // in seen
	tiers [tiers]int32 // where each tier ends
}

// tiers is how many tiers a view has: the samples of the distance 0 to 1, 1 to 2, and so on. In each tier
// samples are by bytes, so that a search need not go far along those that differ in something else.
const tiers = tooFar + 1

var nearbyPool = sync.Pool{New: func() any { return new(nearby) }}

// newNearby is empty. The caller calls free when done.
func newNearby(u use) *nearby {
	n := nearbyPool.Get().(*nearby) //nolint:forcetypeassert // the pool holds nothing else
	n.use = u
	return n
}

func (n *nearby) free() {
	n.forget()
	n.known, n.samples, n.lookup = false, nil, nil // they keep a dataset in memory
	nearbyPool.Put(n)
}

// forget is for another machine, or another dataset.
func (n *nearby) forget() {
	clear(n.views)
	n.seen = n.seen[:0]
}

// gather works out how far all setups are from the machine and tool of a configuration, unless they are
// those of the one before.
func (n *nearby) gather(l *learnt, p *point) {
	if n.known && n.at == p.setup && n.class == p.class {
		return
	}
	if n.use != oneModel {
		n.forget()
	}
	n.at, n.class, n.known = p.setup, p.class, true
	n.samples, n.lookup = l.samples[p.class], &l.lookups[p.class]
	n.far, n.fixed, n.rest, n.least = n.far[:0], n.fixed[:0], n.rest[:0], float32(math.Inf(1))
	for i := range n.lookup.setups {
		s := &n.lookup.setups[i]
		d := placeDistance(&p.setup, s)
		fixed, rest := float32(d), float32(0)
		if n.use == oneModel {
			fixed, rest = rest, fixed
		}
		if s.silicon != p.silicon {
			n.least = min(n.least, rest)
		}
		n.far, n.fixed, n.rest = append(n.far, d), append(n.fixed, fixed), append(n.rest, rest)
	}
	if want := int(classes) * 2 * (l.ways + 1); n.use != once && len(n.views) < want {
		n.views = append(n.views, make([]view, want-len(n.views))...)
	}
}

// view is the view of models whose weights are stored as those of a configuration.
func (n *nearby) view(p *point) *view {
	var v *view
	if n.use != once && p.way > 0 {
		number := int(p.way)*2*int(classes) + 2*int(p.class)
		if p.mixture {
			number++
		}
		v = &n.views[number]
	} else {
		n.seen, v = n.seen[:0], new(view)
	}
	if !v.known {
		n.look(v, p)
	}
	return v
}

// look fills a view: it puts the samples in tiers and leaves their order.
func (n *nearby) look(v *view, p *point) {
	forms, all := n.lookup.forms, n.lookup.all
	n.ways = slices.Grow(n.ways[:0], len(forms)+len(all))[:len(forms)+len(all)]
	ways, distances := n.ways[:len(forms)], n.ways[len(forms):]
	for i := range forms {
		ways[i] = float32(forms[i].wayDistance(&p.form))
	}
	var next [tiers]int32
	for i, f := range n.lookup.formOf {
		d := ways[f] + n.fixed[all[i].setup]
		distances[i] = d
		if d <= tooFar {
			next[int(d)]++
		}
	}
	v.known, v.from = true, int32(len(n.seen))
	end := v.from
	for t, count := range next {
		next[t] = end
		end += count
		v.tiers[t] = end
	}
	n.seen = slices.Grow(n.seen, int(end-v.from))[:end]
	for i, d := range distances {
		if d <= tooFar {
			s := &n.seen[next[int(d)]]
			*s = all[i]
			s.distance = d
			next[int(d)]++
		}
	}
}

// A search is for the samples that may count for a configuration.
type search struct {
	*nearby
	p       *point
	here    float64
	skip    func(s *sample) bool
	found   []neighbour
	nearest float64 // distance of the nearest one found
	limit   float32 // those farther do not count
}

// find finds the samples that may count for a configuration, in any order, and the distance of the nearest.
// The nearer the nearest is, the fewer others count: it looks first where it is likely to be. Some of what it
// found before the nearest may be too far from it.
func (n *nearby) find(p *point, here float64, skip func(s *sample) bool, near []neighbour) (found []neighbour, nearest float64) {
	s := search{n, p, here, skip, near, tooFar, tooFar + rounding}
	silicon := int32(none)
	if n.use == oneModel {
		s.along(n.lookup.ofSilicon[p.silicon], 0, 0, none, none)
		silicon = p.silicon
	}
	s.along(n.lookup.ofModel[p.model], 0, n.least, silicon, none)
	v := n.view(p)
	from := v.from
	for t, to := range v.tiers {
		s.along(n.seen[from:to], otherModel, n.least+otherModel+float32(t), silicon, p.model)
		from = to
	}
	return s.found, s.nearest
}

// none is a number that no silicon and no model has.
const none = -3

// along looks at samples by bytes, from those of the same bytes outwards until the others are too far. They
// are at least a distance away, and farther by more than what is seen of them. Those of a silicon or a model
// were found before.
func (s *search) along(list []seen, more, least float32, silicon, model int32) {
	if len(list) == 0 || least > s.limit {
		return
	}
	bytes := float32(s.p.logBytes)
	middle := sort.Search(len(list), func(i int) bool { return list[i].logBytes >= bytes })
	for i := middle; i < len(list); i++ {
		if off := perBytes * (list[i].logBytes - bytes); least+off > s.limit {
			break
		} else if x := &list[i]; s.rest[x.setup]+x.distance+more+off <= s.limit {
			s.add(x, silicon, model)
		}
	}
	for i := middle - 1; i >= 0; i-- {
		if off := perBytes * (bytes - list[i].logBytes); least+off > s.limit {
			break
		} else if x := &list[i]; s.rest[x.setup]+x.distance+more+off <= s.limit {
			s.add(x, silicon, model)
		}
	}
}

// add adds a sample if it is near enough, unless it was found before.
func (s *search) add(x *seen, silicon, model int32) {
	at := &s.samples[x.at]
	if at.silicon == silicon || at.model == model {
		return
	}
	d := s.far[x.setup] + at.modelDistance(s.p)
	if d > tooFar || d > s.nearest-logLightest || s.skip != nil && s.skip(at) {
		return
	}
	s.found = append(s.found, neighbour{x.at, at.logShare + s.here - at.trend, 0, d})
	if d < s.nearest {
		s.nearest = d
		s.limit = float32(math.Min(tooFar, d-logLightest) + rounding)
	}
}
