package fit

import (
	"context"
	"slices"

	"modeldex/dataset"
)

// learnt is what estimates rest on.
type learnt struct {
	generation, prompt *regression
	usual              map[place][]string // backends, the usual one first
	rows               []row              // of generation, for evidence
	bySilicon, byShape map[name][]int32   // numbers of rows
	byKernels          map[name][]int32
}

// learn keeps what speeds rest on.
func (e *Engine) learn(ctx context.Context, set *dataset.Set, r *reader) {
	l := &e.learnt
	if n := len(r.generation); n > 0 {
		years := make([]float64, n)
		for i := range r.generation {
			years[i] = r.generation[i].year
		}
		slices.Sort(years)
		e.year = min(e.year, at(years, 0.9)) // nothing is expected of later years than most measurements are of
	}
	l.usual = r.backends.usual()
	l.generation, l.prompt = r.regressions(ctx, func(*row) bool { return true })
	e.runs = newRuns(set.Benchmarks, r.runs)
	l.rows, l.bySilicon, l.byShape, l.byKernels = slices.Clip(r.generation), map[name][]int32{}, map[name][]int32{}, map[name][]int32{}
	for i := range l.rows {
		n := l.rows[i].names()
		l.bySilicon[n[ofSilicon]] = append(l.bySilicon[n[ofSilicon]], int32(i))
		l.byShape[n[ofShape]] = append(l.byShape[n[ofShape]], int32(i))
		l.byKernels[n[ofKernels]] = append(l.byKernels[n[ofKernels]], int32(i))
	}
	for _, h := range e.hardware {
		for _, slug := range e.relations.Related(h.Slug) {
			if number := e.numbers.find("hardware " + string(slug)); number >= 0 {
				h.related = append(h.related, number)
			}
		}
	}
}

// regressions are fitted to the rows for which use is true.
func (r *reader) regressions(ctx context.Context, use func(*row) bool) (generation, prompt *regression) {
	return regress(ctx, observations(r.generation, use, (*config).generation)), regress(ctx, observations(r.prompt, use, (*config).reading))
}

func observations(rows []row, use func(*row) bool, of func(c *config) physics) (out []observation) {
	for i := range rows {
		if row := &rows[i]; use(row) {
			p, names := of(&row.config), row.names()
			names[ofSource] = name{row.source, row.silicon, row.shape}
			out = append(out, observation{row.value, row.weight, p.terms(), names})
		}
	}
	return out
}
