package fit

import (
	"cmp"
	"math"
	"slices"
)

// A lookup is what a search reads of the samples of a class. It does not change and has nothing of the trend, except for best and highest.
type lookup struct {
	setups  []setup           // each once
	groups  []span            // of each setup, its samples in all
	best    []float64         // of each setup: none of its samples, moved to the middle of all, has a larger share, in logarithms
	forms   []form            // each once
	all     []seen            // the samples, by setup
	ofModel map[int32][]int32 // numbers in all
	order   []int32           // of each sample of the class, its place in the order of ids
	highest float64           // no sample, moved to the middle of all, has a larger share, in logarithms
}

// A seen sample is what its distance from a configuration depends on.
type seen struct {
	amounts
	at          int32 // number of the sample in its class
	model       int32
	setup, form int32 // numbers in the lookup
}

// A span is a part of a list.
type span struct{ from, to int32 }

// newLookup is for the samples of a class.
func newLookup(samples []sample) lookup {
	l := lookup{all: make([]seen, len(samples)), order: make([]int32, len(samples)), highest: math.Inf(-1), ofModel: map[int32][]int32{}}
	byID, setups, forms := make([]int32, len(samples)), map[setup]int32{}, map[form]int32{}
	for i := range samples {
		s, x := &samples[i], &l.all[i]
		byID[i], x.at, x.amounts, x.model = int32(i), int32(i), s.amounts(), s.model
		l.setups, x.setup = numbered(l.setups, setups, s.setup)
		l.forms, x.form = numbered(l.forms, forms, s.form)
		l.highest = max(l.highest, s.moved())
	}
	slices.SortFunc(byID, func(a, b int32) int { return cmp.Compare(samples[a].id, samples[b].id) })
	for place, i := range byID {
		l.order[i] = int32(place)
	}
	slices.SortStableFunc(l.all, func(a, b seen) int { return cmp.Compare(a.setup, b.setup) })
	l.groups, l.best = make([]span, len(l.setups)), slices.Repeat([]float64{math.Inf(-1)}, len(l.setups))
	for i := range l.all {
		x, number := &l.all[i], int32(i)
		if i == 0 || l.all[i-1].setup != x.setup {
			l.groups[x.setup].from = number
		}
		l.groups[x.setup].to = number + 1
		l.best[x.setup] = max(l.best[x.setup], samples[x.at].moved())
		l.ofModel[x.model] = append(l.ofModel[x.model], number)
	}
	return l
}

// numbered adds a value to a list that has each value once, and gives its number in it.
func numbered[T comparable](list []T, numbers map[T]int32, value T) (longer []T, number int32) {
	number, known := numbers[value]
	if !known {
		number = int32(len(list))
		numbers[value], list = number, append(list, value)
	}
	return list, number
}
