package snapshot

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// model makes the entry of one group.
func (b *builder) model(g *group) Model {
	names := g.names()
	m := Model{ModelKey: g.key, DisplayName: b.match.bare(names[0])}
	var facts Facts
	if b.in.Facts != nil {
		facts, _ = b.in.Facts(g.key)
	}
	if g.alias != nil {
		m.DisplayName = g.alias.DisplayName
		facts = facts.or(g.alias.Facts)
	}
	m.Provider, m.Openness, m.License = facts.Provider, facts.Openness, facts.License
	m.ParameterBillions, m.ContextWindow, m.Modalities = facts.ParameterBillions, facts.ContextWindow, facts.Modalities
	m.Aliases = slices.DeleteFunc(names, func(s string) bool { return s == g.key })
	b.compose(&m, g)
	return m
}

// compose fills sources, scores and composite, source by source in their order.
func (b *builder) compose(m *Model, g *group) {
	var parts []part
	comp := &m.Composite
	for _, t := range b.tables {
		rs := g.readings[t.cfg.SourceID]
		if len(rs) == 0 {
			comp.Limitations = append(comp.Limitations, fmt.Sprintf("no result in %s (%s)", t.cfg.Label, t.cfg.SourceID))
			continue
		}
		chosen, others := best(rs)
		m.SourceIDs = append(m.SourceIDs, t.cfg.SourceID)
		m.Scores = append(m.Scores, t.scores(chosen.reading)...)
		comp.Limitations = append(comp.Limitations, b.readingLimits(chosen, others)...)
		p, why := t.component(chosen.reading)
		if p == nil {
			comp.Limitations = append(comp.Limitations, fmt.Sprintf("%s gives scores but no component: %s", t.cfg.SourceID, why))
			continue
		}
		p.ageDays = b.ageDays(chosen.date)
		parts = append(parts, *p)
	}
	b.finish(comp, parts)
}

// finish makes the composite from the components of all sources.
func (b *builder) finish(comp *Composite, parts []part) {
	for _, p := range parts {
		comp.Components = append(comp.Components, p.Component)
		comp.DerivedFrom = append(comp.DerivedFrom, p.derived)
		comp.Limitations = append(comp.Limitations, p.limits()...)
	}
	comp.Score = weightedMean(comp.Components)
	comp.Confidence = b.in.Config.Confidence.judge(parts)
	switch len(parts) {
	case 0:
		comp.Limitations = append(comp.Limitations, "no source gives a component, so there is no composite")
	case 1:
		comp.Limitations = append(comp.Limitations, "one source only: not comparable with composites of several sources")
	}
}

// part is a component with what confidence and limitations need.
type part struct {
	Component
	derived   string
	bounded   bool
	halfWidth float64 // points of 0..100 to the wider side
	ageDays   int
	missing   []string // tasks of the split the model has no number for
}

// staleDays is the age from which a limitation is said: one year.
const staleDays = 365

func (p part) limits() []string {
	var out []string
	if !p.bounded {
		out = append(out, fmt.Sprintf("%s gives no interval", p.SourceID))
	}
	if p.ageDays > staleDays {
		out = append(out, fmt.Sprintf("%s was %d days old when the document was made", p.SourceID, p.ageDays))
	}
	if len(p.missing) > 0 {
		out = append(out, fmt.Sprintf("%s lacks the tasks %s", p.SourceID, strings.Join(p.missing, ", ")))
	}
	return out
}

// judge gives the best confidence whose rule the components meet.
func (r ConfidenceRules) judge(parts []part) Confidence {
	switch {
	case r.High.met(parts):
		return High
	case r.Moderate.met(parts):
		return Moderate
	}
	return Low
}

func (r ConfidenceRule) met(parts []part) bool {
	sources, bounded := 0, 0
	for _, p := range parts {
		if p.ageDays > r.MaxAgeDays {
			continue
		}
		if p.bounded && p.halfWidth > r.MaxHalfWidth {
			return false
		}
		sources++
		if p.bounded {
			bounded++
		}
	}
	return sources >= r.Sources && bounded >= r.Bounded
}

// ageDays counts whole days from the checked date of a board to generated_at; 0 for a later date.
func (b *builder) ageDays(date string) int {
	t, _ := time.Parse(time.DateOnly, date)
	return max(0, int(b.at.Sub(t)/(24*time.Hour)))
}

// readingLimits says what is doubtful in how a name was read.
func (b *builder) readingLimits(chosen named, others []named) []string {
	cfg := chosen.from.cfg
	var out []string
	if b.match.judged[nameKey(cfg.Name, chosen.raw)] {
		out = append(out, fmt.Sprintf("%s: the name %q was joined by judgement", cfg.SourceID, chosen.raw))
	}
	if chosen.split > 0 {
		out = append(out, fmt.Sprintf("%s is from the earlier release %s, whose questions differ from %s", cfg.SourceID, cfg.Splits[chosen.split].Split, cfg.Splits[0].Split))
	}
	for _, s := range cfg.Settings {
		if slices.Contains(chosen.settings(), s.Word) {
			out = append(out, fmt.Sprintf("%s: %s", cfg.SourceID, s.Note))
		}
	}
	for _, o := range others {
		b.rep.NotChosen = append(b.rep.NotChosen, Name{cfg.SourceID, o.raw})
		out = append(out, fmt.Sprintf("%s also lists it as %q, not used", cfg.SourceID, o.raw))
	}
	return out
}

// scores makes the published scores of a reading, in the order of its rows.
func (t *table) scores(r reading) []Score {
	var out []Score
	for _, row := range r.rows {
		m := t.cfg.metric(row.Metric)
		if !m.publishes(row.Category) {
			continue
		}
		s := t.score(m, row, r)
		if x := m.Normalize.apply(*row.Value, t.medians[boardKey(row)]); x != nil {
			y := round4(*x)
			s.Normalized = &y
		}
		out = append(out, s)
	}
	return out
}

func (t *table) score(m *Metric, row Row, r reading) Score {
	sp := t.cfg.Splits[r.split]
	s := Score{
		SourceID: t.cfg.SourceID, Metric: row.Metric, Value: *row.Value, Scale: m.Scale,
		Confidence: ScoreSourced, SourceURL: sp.URL, SourceDataset: t.cfg.Dataset,
		SourceConfig: row.Config, SourceSplit: row.Split,
		SourceRowCount: t.counts[board{row.Config, row.Split}], CapturedAt: utc(t.cfg.CapturedAt),
		EvidenceNote: fmt.Sprintf("row %d, %q, board of %s", row.Row, row.ModelRaw, r.date),
		Rank:         row.Rank, Lower: row.Lower, Upper: row.Upper, Category: row.Category, Task: row.Task,
	}
	if m.Normalize.Kind == WinRate {
		s.EvidenceNote += fmt.Sprintf("; reference rating %v", round4(m.Normalize.reference(t.medians[boardKey(row)])))
	}
	return s
}

// component makes the one number of the source, or says why there is none.
func (t *table) component(r reading) (*part, string) {
	need := t.needs[r.split].categories
	var means, lows, highs []float64
	var missing []string
	tasks, rows := 0, []int64{}
	bounded := true
	for _, category := range need {
		in := t.entering(r, category)
		if len(in) == 0 {
			missing = append(missing, category)
			continue
		}
		v, lo, hi, ok := t.categoryMean(in)
		means, lows, highs = append(means, v), append(lows, lo), append(highs, hi)
		bounded = bounded && ok
		tasks += len(in)
		rows = append(rows, in[0].Row)
	}
	if len(missing) > 0 || len(means) == 0 {
		return nil, "it lacks the categories " + strings.Join(missing, ", ")
	}
	c := t.cfg.Component
	p := &part{bounded: bounded, missing: t.missingTasks(r)}
	p.Component = Component{SourceID: t.cfg.SourceID, Metric: c.Label, Normalized: round4(mean(means)), Weight: c.Weight}
	if bounded {
		p.halfWidth = max(mean(means)-mean(lows), mean(highs)-mean(means))
	}
	p.derived = t.derived(r, p, len(need), tasks, rows[0], mean(lows), mean(highs))
	return p, ""
}

// missingTasks lists the tasks the component of the split is made of and the model has no
// number for.
func (t *table) missingTasks(r reading) []string {
	have := map[string]bool{}
	for _, row := range r.rows {
		have[text(row.Task)] = true
	}
	return slices.DeleteFunc(slices.Clone(t.needs[r.split].tasks), func(task string) bool { return have[task] })
}

// entering returns the rows of a category that enter the component.
func (t *table) entering(r reading, category string) []Row {
	var in []Row
	for _, row := range r.rows {
		if text(row.Category) == category && slices.Contains(t.cfg.Component.Metrics, row.Metric) {
			in = append(in, row)
		}
	}
	return in
}

// categoryMean is the mean of normalized values and bounds; ok when all rows have bounds.
// The mean of the bounds is as wide as if all errors went the same way: it claims no more
// than the source does.
func (t *table) categoryMean(in []Row) (v, lo, hi float64, ok bool) {
	var vs, los, his []float64
	for _, row := range in {
		n, ref := t.cfg.metric(row.Metric).Normalize, t.medians[boardKey(row)]
		vs = append(vs, *n.apply(*row.Value, ref))
		if row.Lower != nil && row.Upper != nil {
			a, b := *n.apply(*row.Lower, ref), *n.apply(*row.Upper, ref)
			los, his = append(los, min(a, b)), append(his, max(a, b))
		}
	}
	if len(los) < len(vs) {
		return mean(vs), 0, 0, false
	}
	return mean(vs), mean(los), mean(his), true
}

// derived says in words from what the component was made.
func (t *table) derived(r reading, p *part, categories, tasks int, row int64, lo, hi float64) string {
	s := fmt.Sprintf("%s %s/%s row %d, board of %s: %v", t.cfg.SourceID, t.cfg.Config, t.cfg.Splits[r.split].Split, row, r.date, p.Normalized)
	if p.bounded {
		s += fmt.Sprintf(" [%v, %v]", round4(lo), round4(hi))
	}
	if tasks > 1 {
		s += fmt.Sprintf(", mean of %d categories over %d tasks", categories, tasks)
	}
	return s
}
