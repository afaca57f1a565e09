package dataset

import (
	"fmt"
	"slices"
	"sync"
)

// blames are faults of measurements that may be those of a record they are judged by: a bandwidth that lacks a zero makes
// hundreds of speeds impossible. Safe for concurrent use.
type blames struct {
	mu sync.Mutex
	of map[blamed][]blame
}

// blamed is a field of a record that measurements are judged by.
type blamed struct {
	at    place
	field string
}

// blame is a fault of one measurement.
type blame struct {
	at          place
	field, text string
}

func (bs *blames) add(record place, by string, b blame) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if bs.of == nil {
		bs.of = map[blamed][]blame{}
	}
	bs.of[blamed{record, by}] = append(bs.of[blamed{record, by}], b)
}

// fewBlames is the share of the measurements judged by a record up to which the measurements are at fault.
const fewBlames = 0.1

// report adds a finding at each measurement, or a single one at the record where more than fewRepeats and than fewBlames
// of all that name it are at fault. named counts these by the place of the record.
func (bs *blames) report(l *loader, named map[place]int) {
	for by, all := range bs.of {
		if l.each || len(all) <= fewRepeats || float64(len(all)) <= fewBlames*float64(named[by.at]) {
			for _, b := range all {
				l.at(b.at, b.field, b.text)
			}
			continue
		}
		first := slices.MinFunc(all, func(a, b blame) int { return comparePlaces(a.at, b.at) })
		l.at(by.at, by.field, fmt.Sprintf("does not go with %d of %d measurements, the first at %s: its %s %s", len(all), named[by.at], l.placeText(first.at), first.field, first.text))
	}
}
