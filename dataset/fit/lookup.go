package fit

import (
	"cmp"
	"math"
	"slices"
)

// A lookup is what a search reads of the samples of a class. Samples are named by their number in it. It
// does not change and has nothing of the trend.
type lookup struct {
	setups             []setup // each once
	forms              []form  // each once
	formOf             []int32 // of each sample
	all                []seen  // the samples, by the bytes one token reads
	ofSilicon, ofModel map[int32][]seen
	order              []int32 // of each sample, its place in the order of ids
	highest            float64 // no sample, moved to the middle of all, has a larger share, in logarithms
}

// A seen sample is what leaves out most samples that are too far. The numbers are rounded; the rest is
// looked at exactly.
type seen struct {
	logBytes, distance float32 // distance: wayDistance, or less
	at, setup          int32   // numbers of the sample and its setup
}

// rounding is more than the rounding of a seen sample changes a distance.
const rounding = 1e-3

// newLookup is for samples by the bytes one token reads.
func newLookup(samples []sample) lookup {
	l := lookup{
		all: make([]seen, len(samples)), order: make([]int32, len(samples)), formOf: make([]int32, len(samples)), highest: math.Inf(-1),
		ofSilicon: map[int32][]seen{}, ofModel: map[int32][]seen{},
	}
	byID, setups, forms := make([]int32, len(samples)), map[setup]int32{}, map[form]int32{}
	for i := range samples {
		s := &samples[i]
		var number int32
		l.setups, number = numbered(l.setups, setups, s.setup)
		l.forms, l.formOf[i] = numbered(l.forms, forms, s.form)
		l.all[i], byID[i] = seen{logBytes: float32(s.logBytes), at: int32(i), setup: number}, int32(i)
		l.ofSilicon[s.silicon] = append(l.ofSilicon[s.silicon], l.all[i])
		l.ofModel[s.model] = append(l.ofModel[s.model], l.all[i])
		l.highest = max(l.highest, s.logShare-s.trend)
	}
	slices.SortFunc(byID, func(a, b int32) int { return cmp.Compare(samples[a].id, samples[b].id) })
	for place, i := range byID {
		l.order[i] = int32(place)
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
