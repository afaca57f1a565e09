package snapshot

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"modeldex/snapshot/linking"
)

// link fits the common scale over all readings of all models: in every split, so that the releases of one source are
// linked by the models they share. Base models are left out: no source but one has any, so nothing links them.
func link(cfg *Config, tables []*table, groups []*group) *rules {
	l := &linker{cfg: cfg, at: map[Cell]int{}}
	for _, t := range tables {
		for _, g := range groups {
			if !g.base() {
				l.gather(t, g)
			}
		}
	}
	return l.rules()
}

type linker struct {
	cfg    *Config
	models [][]cell // in the order of gathering: one entry for each model, source and split
	keys   []string // the key of the model of each entry
	at     map[Cell]int
}

// gather takes one reading of each split of a source.
func (l *linker) gather(t *table, g *group) {
	bySplit := map[int][]named{}
	for _, r := range g.readings[t.cfg.SourceID] {
		bySplit[r.split] = append(bySplit[r.split], r)
	}
	for i := range t.cfg.Splits {
		if rs := bySplit[i]; len(rs) > 0 {
			chosen, _ := preferred(rs)
			l.models = append(l.models, t.entering(chosen.reading))
			l.keys = append(l.keys, g.key)
		}
	}
}

// entering returns the cells of a reading that enter the common scale.
func (t *table) entering(r reading) []cell {
	return cells(t.cfg.SourceID, slices.DeleteFunc(t.scores(r), func(s Score) bool { return !t.cfg.enters(t.cfg.metric(s.Metric), s.Category) }))
}

func (l *linker) rules() *rules {
	all := l.items()
	var sources []int
	for _, c := range all {
		l.at[c] = len(sources)
		sources = append(sources, slices.Index(sourceIDs, c.Source))
	}
	scale := linking.Fit(sources, l.numbers(), l.cfg.LeastModels)
	r := &rules{
		Mean: scaleMean, Deviation: scaleDeviation, Z: intervalZ,
		Specific: map[SourceID]float64{}, Drift: map[SourceID]map[string]float64{}, Confidence: l.cfg.Confidence, Lines: []Line{},
	}
	for i, line := range scale.Lines {
		if line.Count == 0 {
			continue
		}
		id := all[i].Source
		r.Specific[id] = round4(scaleDeviation * scale.Specific[slices.Index(sourceIDs, id)])
		r.Lines = append(r.Lines, Line{
			Cell:  all[i],
			Level: round8(scaleMean + float64(scaleDeviation*line.Level)),
			Slope: round8(l.sign(all[i]) * scaleDeviation * line.Slope),
			Noise: round4(scaleDeviation * line.Noise),
		})
	}
	l.findDrift(r)
	return r
}

// findDrift sets the drift of each earlier release. From one release to the next newer one it is the root mean square of
// the differences of the models that both have read, which are few: the questions change, and so does what is right for
// the models that stay. Over several releases the squares add up.
func (l *linker) findDrift(r *rules) {
	for i := range l.cfg.Sources {
		s := &l.cfg.Sources[i]
		bySplit := map[string]map[string]float64{} // split -> model -> what it says
		for j, cs := range l.models {
			if len(cs) == 0 || cs[0].Source != s.SourceID {
				continue
			}
			if e, ok := r.mean(s.SourceID, cs); ok {
				if bySplit[cs[0].Split] == nil {
					bySplit[cs[0].Split] = map[string]float64{}
				}
				bySplit[cs[0].Split][l.keys[j]] = e.x
			}
		}
		var sum float64
		drift := map[string]float64{}
		for j := 1; j < len(s.Splits); j++ {
			var squares, n float64
			newer, older := bySplit[s.Splits[j-1].Split], bySplit[s.Splits[j].Split]
			for _, key := range slices.Sorted(maps.Keys(older)) {
				if x, ok := newer[key]; ok {
					d := older[key] - x
					squares += float64(d * d)
					n++
				}
			}
			sum += squares / max(n, 1)
			if sum > 0 {
				drift[s.Splits[j].Split] = round4(math.Sqrt(sum))
			}
		}
		if len(drift) > 0 {
			r.Drift[s.SourceID] = drift
		}
	}
}

// items lists the gathered cells, each once, in order.
func (l *linker) items() []Cell {
	var all []Cell
	for _, cs := range l.models {
		for _, c := range cs {
			all = append(all, c.Cell)
		}
	}
	slices.SortFunc(all, Cell.compare)
	return slices.Compact(all)
}

// numbers gives every model an index in the order of keys.
func (l *linker) numbers() []linking.Number {
	keys := once(slices.Clone(l.keys))
	var out []linking.Number
	for i, cs := range l.models {
		model, _ := slices.BinarySearch(keys, l.keys[i])
		for _, c := range cs {
			out = append(out, linking.Number{Model: model, Item: l.at[c.Cell], Value: l.sign(c.Cell) * c.value, Error: c.err})
		}
	}
	return out
}

// sign is -1 for a metric of which less is better.
func (l *linker) sign(c Cell) float64 {
	for i := range l.cfg.Sources {
		if s := &l.cfg.Sources[i]; s.SourceID == c.Source && s.metric(c.Metric).Direction == lower {
			return -1
		}
	}
	return 1
}

// round8 keeps eight significant digits: enough for a slope times a rating of four digits.
func round8(x float64) float64 {
	y, err := strconv.ParseFloat(fmt.Sprintf("%.8g", x), 64)
	if err != nil {
		panic(err) // what was printed reads back
	}
	return y
}
