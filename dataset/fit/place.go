package fit

import (
	"math"
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
	views   []view    // by way, class and mixture
	// What views and stretches are made of.
	ways      []float64
	reachable []reachable
	stretches []stretch
	short     []int32
	rests     []float64
	// Room to work.
	kernels    uint64    // that formats are of
	formats    []float64 // effects of ways of storing weights, as far as they were needed
	once       []float64
	distances  []float64
	candidates []candidate
	found      []neighbour
}

// A use says what estimates are to come, which decides what of distances is worked out once for many of them.
type use uint8

const (
	anyMachine use = iota // one or a few estimates for each machine
	oneMachine            // many models on one machine: short lists of samples are worth making
	oneModel              // one model on many machines: what of distances is not of the machine is worth keeping
)

// A view is the samples of a class as seen by models whose weights are stored in one way.
type view struct {
	known     bool
	ways      span  // in nearby.ways: of each form of the lookup, its wayDistance
	reachable span  // in nearby.reachable, with oneMachine
	stretches int32 // in nearby.stretches: the first of its own
	rest      rest  // with oneModel
}

// A rest is how far all samples are from one size of a model, without what depends on the machine.
type rest struct {
	known    bool
	model    int32
	logBytes float64
	samples  span // in nearby.rests: of each sample of the lookup
	setups   span // in nearby.rests: of each setup, the least of its samples
}

// A reachable sample is not too far from models that differ in nothing but their bytes, and that it is not of.
type reachable struct {
	part   float64 // of its distance, the same for all of them
	number int32
}

// A stretch is models of about the same bytes for each token, stored in one way, on one machine. Samples of
// other models that may count for any of them are in its short list.
type stretch struct {
	known   bool
	short   span    // in nearby.short
	highest float64 // none of them, moved to the middle of all, has a larger share, in logarithms
}

// A stretch is this wide, in logarithms of bytes. Distances within it differ by at most drift.
const (
	stretchWidth = 0.25
	drift        = stretchWidth * (perBytes + perTime + perActive)
	lowestBytes  = 14 // logarithm, 1.2 MB
	stretches    = 56 // to the logarithm 28, 1.4 TB
)

var nearbyPool = sync.Pool{New: func() any { return new(nearby) }}

// newNearby is empty. The caller calls free when done.
func newNearby(u use) *nearby {
	n := nearbyPool.Get().(*nearby) //nolint:forcetypeassert // the pool holds nothing else
	n.use = u
	return n
}

func (n *nearby) free() {
	n.forget()
	n.known, n.samples, n.lookup, n.formats = false, nil, nil, n.formats[:0] // they are of a dataset
	nearbyPool.Put(n)
}

// forget is for another machine where short lists are made, or another dataset.
func (n *nearby) forget() {
	clear(n.views)
	n.ways, n.reachable, n.stretches, n.short = n.ways[:0], n.reachable[:0], n.stretches[:0], n.short[:0]
	n.rests = n.rests[:0]
}

// gather works out how far all setups are from the machine and tool of a configuration, unless they are
// those of the one before.
func (n *nearby) gather(l *learnt, p *point) {
	if n.known && n.at == p.setup && n.class == p.class {
		return
	}
	if n.use == oneMachine {
		n.forget()
	}
	n.at, n.class, n.known = p.setup, p.class, true
	n.samples, n.lookup = l.samples[p.class], &l.lookups[p.class]
	n.far = n.far[:0]
	for i := range n.lookup.setups {
		n.far = append(n.far, placeDistance(&p.setup, &n.lookup.setups[i]))
	}
	if want := int(classes) * 2 * (l.ways + 1); len(n.views) < want {
		n.views = append(n.views, make([]view, want-len(n.views))...)
	}
}

// format is the effect of how the weights of a configuration are stored. It is the same on all machines with the kernels and the backend.
func (n *nearby) format(l *learnt, p *point) float64 {
	if of := p.kernels(); of != n.kernels {
		n.kernels, n.formats = of, n.formats[:0]
	}
	for kind := len(n.formats); kind <= int(p.quantKind)+1; kind++ {
		n.formats = append(n.formats, l.trend.effects[formatEffect][formatName(int32(kind)-1, n.kernels)])
	}
	return n.formats[p.quantKind+1]
}

// view is the view of models whose weights are stored as those of a size asked for.
func (n *nearby) view(p *point) *view {
	number := int(p.way)*2*int(classes) + 2*int(p.class)
	if p.mixture {
		number++
	}
	v := &n.views[number]
	if !v.known {
		n.look(v, p)
	}
	return v
}

// look fills a view.
func (n *nearby) look(v *view, p *point) {
	v.known, v.ways.from = true, int32(len(n.ways))
	n.ways = n.waysTo(p, n.ways)
	v.ways.to = int32(len(n.ways))
	if n.use != oneMachine {
		return
	}
	ways := n.ways[v.ways.from:v.ways.to]
	v.reachable.from = int32(len(n.reachable))
	for i, far := range n.far {
		if far+otherModel > tooFar {
			continue
		}
		for number := n.lookup.groups[i].from; number < n.lookup.groups[i].to; number++ {
			if part := far + n.lookup.all[number].way(ways, noModel); part <= tooFar {
				n.reachable = append(n.reachable, reachable{part, number})
			}
		}
	}
	v.reachable.to, v.stretches = int32(len(n.reachable)), int32(len(n.stretches))
	n.stretches = append(n.stretches, make([]stretch, stretches)...)
}

// noModel is the number of a model that has no samples.
const noModel = -1

// way is how far a sample is from a model by its name and by how its weights are stored. It is given the distance of each
// form from that of the model.
func (x *seen) way(ways []float64, model int32) float64 {
	if x.model == model {
		return ways[x.form]
	}
	return ways[x.form] + otherModel
}

// waysTo appends the distance of each form from that of a configuration to a list.
func (n *nearby) waysTo(p *point, list []float64) []float64 {
	for i := range n.lookup.forms {
		list = append(list, n.lookup.forms[i].wayDistance(&p.form))
	}
	return list
}

// rounding is more than adding up a distance in another order changes it.
const rounding = 1e-9

// stretch is the stretch of a configuration; nil where it has more or less bytes than any stretch.
func (n *nearby) stretch(v *view, p *point) *stretch {
	i := int(math.Floor((p.logBytes - lowestBytes) / stretchWidth))
	if i < 0 || i >= stretches {
		return nil
	}
	s := &n.stretches[int(v.stretches)+i]
	if !s.known {
		middle := *p
		middle.logBytes = lowestBytes + stretchWidth*(float64(i)+0.5)
		n.shorten(s, v, &middle)
	}
	return s
}

// shorten fills a stretch, of which the middle is given: it keeps the samples that may count for any model in it.
// From the end of a stretch each is at most half a drift nearer, and the nearest of all half a drift farther, than from the middle.
func (n *nearby) shorten(s *stretch, v *view, middle *point) {
	list, amounts, nearest := n.reachable[v.reachable.from:v.reachable.to], middle.amounts(), math.Inf(1)
	n.distances = n.distances[:0]
	for i := range list {
		d := n.lookup.all[list[i].number].distance(list[i].part, &amounts)
		n.distances = append(n.distances, d)
		nearest = min(nearest, d)
	}
	limit := min(tooFar+drift/2, nearest+drift-logLightest) + rounding
	s.known, s.short.from, s.highest = true, int32(len(n.short)), math.Inf(-1)
	for i, d := range n.distances {
		if d <= limit {
			number := list[i].number
			n.short = append(n.short, number)
			s.highest = max(s.highest, n.samples[n.lookup.all[number].at].moved())
		}
	}
	s.short.to = int32(len(n.short))
}

// rest is the rest of a configuration.
func (n *nearby) rest(v *view, p *point) *rest {
	r := &v.rest
	if r.known && r.model == p.model && r.logBytes == p.logBytes {
		return r
	}
	if !r.known {
		from := int32(len(n.rests))
		r.samples = span{from, from + int32(len(n.lookup.all))}
		r.setups = span{r.samples.to, r.samples.to + int32(len(n.lookup.setups))}
		n.rests = append(n.rests, make([]float64, r.setups.to-from)...)
	}
	r.known, r.model, r.logBytes = true, p.model, p.logBytes
	ways, samples, setups := n.ways[v.ways.from:v.ways.to], n.rests[r.samples.from:r.samples.to], n.rests[r.setups.from:r.setups.to]
	amounts := p.amounts()
	for i, group := range n.lookup.groups {
		setups[i] = math.Inf(1)
		for number := group.from; number < group.to; number++ {
			x := &n.lookup.all[number]
			samples[number] = x.way(ways, p.model) + x.withoutTime(&amounts)
			setups[i] = min(setups[i], samples[number])
		}
	}
	return r
}

// A search is for the samples that may count for a configuration.
type search struct {
	*nearby
	p       *point
	amounts amounts
	ways    []float64 // of each form, its wayDistance
	here    float64
	least   float64 // value that one of them must have
	skip    func(s *sample) bool
	found   []neighbour
	reached bool    // whether the value of one found is at least least
	nearest float64 // distance of the nearest one found
	limit   float64 // those farther do not count
}

// find finds the samples that may count for a configuration, in any order, and the distance of the nearest.
// The nearer the nearest is, the fewer others count: it looks first where it is likely to be. Some of what it
// found before the nearest may be too far from it. It finds nothing where no sample has a value of at least least.
func (n *nearby) find(p *point, here, least float64, skip func(s *sample) bool, near []neighbour) (found []neighbour, nearest float64) {
	s := search{nearby: n, p: p, amounts: p.amounts(), here: here, least: least, skip: skip, found: near, nearest: tooFar, limit: tooFar}
	if p.way == 0 {
		n.once = n.waysTo(p, n.once[:0])
		s.ways = n.once
		s.everywhere(nil)
	} else {
		s.through(n.view(p))
	}
	if !s.reached {
		return s.found[:0], s.nearest
	}
	return s.found, s.nearest
}

// through looks at samples by what a view has of them.
func (s *search) through(v *view) {
	s.ways = s.nearby.ways[v.ways.from:v.ways.to]
	if s.use == oneModel {
		s.everywhere(s.rest(v, s.p))
		return
	}
	if s.use == oneMachine {
		if st := s.stretch(v, s.p); st != nil {
			s.shortly(st)
			return
		}
	}
	s.everywhere(nil)
}

// shortly looks at the samples of the model and at those of a short list. It does not look where the model has none
// and all in the list are too slow.
func (s *search) shortly(st *stretch) {
	own := s.lookup.ofModel[s.p.model]
	if len(own) == 0 && !s.mayReach(st.highest) {
		return
	}
	for _, number := range own {
		s.add(number)
	}
	for _, number := range s.short[st.short.from:st.short.to] {
		if s.lookup.all[number].model != s.p.model {
			s.add(number)
		}
	}
}

// near is how much farther than the nearest setups others are among which the nearest sample may well be.
const near = 1

// A candidate is a setup of which a sample may be near enough: none is nearer than its bound.
type candidate struct {
	setup int32
	bound float64
}

// everywhere looks at the samples of the nearest setups, and then at those of the others that may be near enough. It ends where those found
// are too slow and no other setup is fast enough. With the rest of the configuration, which may be nil, it looks at fewer.
func (s *search) everywhere(r *rest) {
	var setups, samples []float64
	if r != nil {
		setups, samples = s.rests[r.setups.from:r.setups.to], s.rests[r.samples.from:r.samples.to]
	}
	closest, fast := math.Inf(1), false
	s.candidates = s.candidates[:0]
	for i, bound := range s.far {
		if setups != nil {
			bound += setups[i]
		}
		if bound <= tooFar+rounding {
			s.candidates, closest = append(s.candidates, candidate{int32(i), bound}), min(closest, bound)
			fast = fast || s.mayReach(s.lookup.best[i])
		}
	}
	if !fast {
		return
	}
	others := s.candidates[:0]
	for _, c := range s.candidates {
		if c.bound <= closest+near {
			s.of(c.setup, samples)
		} else {
			others = append(others, c)
		}
	}
	fast = s.reached
	for _, c := range others {
		fast = fast || c.bound <= s.limit+rounding && s.mayReach(s.lookup.best[c.setup])
	}
	if !fast {
		return
	}
	for _, c := range others {
		if c.bound <= s.limit+rounding {
			s.of(c.setup, samples)
		}
	}
}

// mayReach reports whether a sample may have the least value, of those of which none, moved to the middle of all, has a larger share.
func (s *search) mayReach(highest float64) bool { return s.least <= s.here+highest+roundedBy }

// of looks at the samples of a setup. samples is the part of a rest that is of all samples, or nil.
func (s *search) of(setup int32, samples []float64) {
	far, group := s.far[setup], s.lookup.groups[setup]
	for number := group.from; number < group.to; number++ {
		var bound float64
		if samples != nil {
			bound = far + samples[number]
		} else {
			x := &s.lookup.all[number]
			bound = far + x.way(s.ways, s.p.model) + perBytes*math.Abs(x.logBytes-s.p.logBytes)
		}
		if bound <= s.limit+rounding {
			s.add(number)
		}
	}
}

// add adds a sample if it is near enough.
func (s *search) add(number int32) {
	x := &s.lookup.all[number]
	d := x.distance(s.far[x.setup]+x.way(s.ways, s.p.model), &s.amounts)
	if d > s.limit {
		return
	}
	at := &s.samples[x.at]
	if s.skip != nil && s.skip(at) {
		return
	}
	value := at.logShare + s.here - at.trend
	s.found = append(s.found, neighbour{x.at, value, 0, d})
	s.reached = s.reached || value >= s.least
	if d < s.nearest {
		s.nearest, s.limit = d, min(tooFar, d-logLightest)
	}
}
