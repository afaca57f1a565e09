package dataset

import (
	"slices"
	"sync"

	"modeldex/dataset/record"
)

// misses are references to what there is not: a record or the key of a source. Safe for concurrent use.
type misses struct {
	mu sync.Mutex
	of map[string][]missed // by what is named
}

// missed is a field that names it.
type missed struct {
	at    place
	field string
}

func (m *misses) add(l *loader, p place, field, name string) {
	if l.doubtful(p, field) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil {
		m.of = map[string][]missed{}
	}
	m.of[name] = append(m.of[name], missed{p, field})
}

// report adds a finding for each reference, or a single one for all to the same name where they are many: then what
// they name was renamed or removed. say gives its sentence and, behind the number of the others, what to do.
func (m *misses) report(l *loader, say func(name string, many bool) (text, hint string)) {
	for name, all := range m.of {
		many := len(all) > fewRepeats && !l.each
		text, hint := say(name, many)
		if many {
			text += ", which " + record.Counted(len(all)-1, "more line") + " of the dataset name"
			if hint == "" {
				hint = ": bring it back, or change the lines"
			}
			all = []missed{slices.MinFunc(all, func(a, b missed) int { return comparePlaces(a.at, b.at) })}
		}
		for _, one := range all {
			l.at(one.at, one.field, text+hint)
		}
	}
}
