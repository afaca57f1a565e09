package fit

import (
	"cmp"
	"math"
	"slices"
)

// slowdowns pairs each deep row with the shallow rows of the same page and configuration.
func (e *Engine) slowdowns(r *reader) (out []slowdown) {
	shallow := slices.Clone(r.rows)
	slices.SortFunc(shallow, func(a, b row) int { return cmp.Or(compareRuns(&a, &b), cmp.Compare(a.logShare, b.logShare)) })
	targets := make(map[int32]*target, len(e.models))
	for slug, t := range e.models {
		targets[e.learnt.names.find(modelName, string(slug))] = t
	}
	for i := range r.deep {
		d := &r.deep[i]
		from, found := slices.BinarySearchFunc(shallow, d, func(a row, d *deepRow) int { return compareRuns(&a, &d.row) })
		t := targets[d.model]
		if !found || t == nil || len(t.shape.missing) > 0 {
			continue
		}
		to := from
		for to < len(shallow) && compareRuns(&shallow[to], &d.row) == 0 {
			to++
		}
		base := shallow[(from+to)/2].logShare
		if part := t.cacheShare(d.depth, math.Exp(d.logBytes)); part > 0.01 && base >= d.logShare {
			left := math.Exp(d.logShare - base)
			out = append(out, slowdown{d.class, d.toolKind, d.backend, d.page, (1/left - 1) / part, part, left})
		}
	}
	slices.SortFunc(out, func(a, b slowdown) int { return cmp.Compare(a.cost, b.cost) })
	return out
}

// cacheShare is the cache of depth tokens, in parts of the weights one token reads.
func (t *target) cacheShare(depth int64, bytes float64) float64 {
	return float64(t.shape.cache(LlamaCpp, F16, depth, 0).Bytes.Bytes-t.shape.recurrent) / bytes
}

// enoughSlow is how many measured slowdowns a narrower group needs before the wider one is asked.
const enoughSlow = 8

// A slowGroup is slowdowns that share something with the configuration asked for.
type slowGroup struct {
	name    string
	belongs func(x *slowdown, class Class, toolKind, backend int32) bool
}

// slowGroups are the groups, narrowest first.
var slowGroups = []slowGroup{
	{"kernels", func(x *slowdown, class Class, toolKind, backend int32) bool {
		return x.class == class && x.toolKind == toolKind && x.backend == backend
	}},
	{"class", func(x *slowdown, class Class, _, _ int32) bool { return x.class == class }},
	{"all", func(*slowdown, Class, int32, int32) bool { return true }},
}

// cost is the median cost of a group without those hide excludes, and how many there were.
func (l *learnt) cost(g *slowGroup, class Class, toolKind, backend int32, hide func(x *slowdown) bool) (cost float64, n int) {
	var costs []float64
	for i := range l.slow {
		if x := &l.slow[i]; g.belongs(x, class, toolKind, backend) && (hide == nil || !hide(x)) {
			costs = append(costs, x.cost)
		}
	}
	if len(costs) == 0 {
		return 0, 0
	}
	return medianOf(costs), len(costs)
}

func keyOf(group int, class Class, toolKind, backend int32) slowKey {
	switch slowGroups[group].name {
	case "kernels":
		return slowKey{group, class, toolKind, backend}
	case "class":
		return slowKey{group, class, 0, 0}
	}
	return slowKey{group: group}
}

// learnCosts works out the cost of every group there is, so that an answer looks it up.
func (l *learnt) learnCosts() {
	l.costs = map[slowKey]slowCost{}
	for i := range l.slow {
		x := &l.slow[i]
		for g := range slowGroups {
			key := keyOf(g, x.class, x.toolKind, x.backend)
			if _, done := l.costs[key]; !done {
				cost, n := l.cost(&slowGroups[g], x.class, x.toolKind, x.backend, nil)
				l.costs[key] = slowCost{cost, n}
			}
		}
	}
}

// usualCost is the cost of the group of a configuration.
func (l *learnt) usualCost(group int, p *point) (cost float64, n int) {
	c := l.costs[keyOf(group, p.class, p.toolKind, p.backend)]
	return c.cost, c.n
}

// slowdown returns the part of the speed that is left at a depth. ok is false if nothing is known, or if
// validation says that leaving the speed as it is would be as good.
func (e *Engine) slowdown(t *target, p *point, depth int64) (s Slowdown, ok bool) {
	if len(t.shape.missing) > 0 || len(e.learnt.slow) == 0 {
		return s, false
	}
	for i := range slowGroups {
		g := &slowGroups[i]
		checked := validated.depth(g.name)
		if checked == nil {
			continue
		}
		if cost, n := e.learnt.usualCost(i, p); n >= enoughSlow {
			lost := cost * t.cacheShare(depth, math.Exp(p.logBytes))
			return Slowdown{Depth: depth, Factor: round4(1 / (1 + lost)), N: n, Group: g.name, Checked: checked}, true
		}
	}
	return s, false
}

// tellingPart is the least part of the weights a cache must be for its slowdown to count in an evaluation. With less, any prediction is
// near, and a long context would be told the error of a short one.
const tellingPart = 0.1

// evaluateDepth predicts each measured slowdown by a telling cache from the slowdowns of other pages.
func (l *learnt) evaluateDepth() (out []DepthScore) {
	for i := range slowGroups {
		g := &slowGroups[i]
		var errs, ignored []float64
		for j := range l.slow {
			x := &l.slow[j]
			if x.part < tellingPart {
				continue
			}
			cost, n := l.cost(g, x.class, x.toolKind, x.backend, func(y *slowdown) bool { return y.page == x.page })
			if n >= enoughSlow {
				errs = append(errs, math.Log(1/(1+cost*x.part)/x.left))
				ignored = append(ignored, math.Log(1/x.left))
			}
		}
		s := DepthScore{Group: g.name, Rows: len(errs)}
		if len(errs) > 0 {
			s.MedianError, s.Within25, _ = nearness(errs)
			s.Ignored, _, _ = nearness(ignored)
		}
		out = append(out, s)
	}
	return out
}

// depth is the validation of a group; nil where it has none that speaks for it.
func (v *Validated) depth(group string) *DepthScore {
	for i := range v.Depth {
		if s := &v.Depth[i]; s.Group == group && s.Rows >= 20 && s.MedianError < s.Ignored {
			return s
		}
	}
	return nil
}
