package snapshot

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

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

func (b *builder) compose(m *Model, g *group) {
	comp := &m.Composite
	for _, t := range b.tables {
		rs := g.readings[t.cfg.SourceID]
		if len(rs) == 0 {
			comp.Limitations = append(comp.Limitations, fmt.Sprintf("no result in %s (%s)", t.cfg.Label, t.cfg.SourceID))
			continue
		}
		chosen, others := preferred(rs)
		m.SourceIDs = append(m.SourceIDs, t.cfg.SourceID)
		m.Scores = append(m.Scores, b.scores(t, chosen.reading)...)
		comp.Limitations = append(comp.Limitations, b.readingLimits(chosen, others)...)
		comp.Limitations = append(comp.Limitations, t.missing(chosen.reading)...)
	}
	if g.base() {
		comp.Limitations = append(comp.Limitations, baseLimitation)
		comp.Confidence = Low
		return
	}
	b.finish(comp, b.rules.estimates(m.Scores))
}

func (b *builder) scores(t *table, r reading) []Score {
	out := t.scores(r)
	for i := range out {
		out[i].Normalized = b.rules.normalized(&out[i])
	}
	return out
}

func (b *builder) finish(comp *Composite, all []estimate) {
	c := b.rules.compose(all)
	comp.Score, comp.Components, comp.Confidence = c.score, c.components, b.rules.confidence(c)
	for i, e := range all {
		comp.Components[i].Metric = b.table(e.source).cfg.Component.Label
		comp.DerivedFrom = append(comp.DerivedFrom, fmt.Sprintf("%s: mean of %d categories over %d values, each weighted by its precision: %v before it is drawn to the mean, weight %v",
			e.source, e.cells, e.values, round4(e.x), e.weight))
		if v := b.table(e.source).cfg.Component.Validation; v != "" {
			comp.Limitations = append(comp.Limitations, fmt.Sprintf("%s: %s", e.source, v))
		}
	}
	if c.score == nil {
		comp.Limitations = append(comp.Limitations, "no score has a place on the common scale, so there is no composite")
		return
	}
	if len(all) == 1 {
		comp.Limitations = append(comp.Limitations, "one source only")
	}
	comp.Limitations = append(comp.Limitations, fmt.Sprintf("the 95 percent interval of score_0_100 is %v to %v", *c.lower, *c.upper))
}

func (b *builder) table(id SourceID) *table {
	return b.tables[slices.IndexFunc(b.tables, func(t *table) bool { return t.cfg.SourceID == id })]
}

// staleDays is the age from which it is named as a limitation: one year.
const staleDays = 365

// readingLimits says what is doubtful in how a name was read.
func (b *builder) readingLimits(chosen named, others []named) []string {
	cfg := chosen.from.cfg
	var out []string
	if b.match.judged[nameKey(cfg.Name, chosen.raw)] {
		out = append(out, fmt.Sprintf("%s: the name %q was joined by judgement", cfg.SourceID, chosen.raw))
	}
	if note := b.match.notes[nameKey(cfg.Name, chosen.raw)]; note != "" {
		out = append(out, fmt.Sprintf("%s: %s", cfg.SourceID, note))
	}
	// the date of an earlier release is that of its questions, not of the model's answers
	made, _ := time.Parse(time.DateOnly, chosen.date) // checked
	if chosen.split > 0 {
		out = append(out, fmt.Sprintf("%s is from the earlier release %s, whose questions differ from %s", cfg.SourceID, cfg.Splits[chosen.split].Split, cfg.Splits[0].Split))
	} else if days := int(b.at.Sub(made) / (24 * time.Hour)); days > staleDays {
		out = append(out, fmt.Sprintf("%s was %d days old when the document was made", cfg.SourceID, days))
	}
	for _, s := range cfg.Settings {
		if slices.Contains(chosen.settings(), s.Word) {
			out = append(out, fmt.Sprintf("%s: %s", cfg.SourceID, s.Note))
		}
	}
	var names []string
	for _, o := range others {
		if o.raw != chosen.raw {
			names = append(names, o.raw)
		}
	}
	for _, o := range once(names) {
		b.rep.NotChosen = append(b.rep.NotChosen, name{cfg.SourceID, o})
		out = append(out, fmt.Sprintf("%s also lists it as %q, not used", cfg.SourceID, o))
	}
	return out
}

// scores makes the published scores of a reading, in the order of its rows, without their places on the common scale.
func (t *table) scores(r reading) []Score {
	var out []Score
	for _, row := range r.rows {
		if m := t.cfg.metric(row.Metric); m.publishes(row.Category) {
			out = append(out, t.score(m, row, r))
		}
	}
	return out
}

func (t *table) score(m *metric, row Row, r reading) Score {
	sp := t.cfg.Splits[r.split]
	return Score{
		SourceID: t.cfg.SourceID, Metric: row.Metric, Value: *row.Value, Scale: m.Scale,
		Confidence: scoreSourced, SourceURL: sp.URL, SourceDataset: t.cfg.Dataset,
		SourceConfig: row.Config, SourceSplit: row.Split,
		SourceRowCount: t.counts[board{row.Config, row.Split}], CapturedAt: utc(t.cfg.CapturedAt),
		EvidenceNote: fmt.Sprintf("row %d, %q, board of %s", row.Row, row.ModelRaw, r.date),
		Rank:         row.Rank, Lower: row.Lower, Upper: row.Upper, Category: row.Category, Task: row.Task,
	}
}

// missing says which tasks of its split a reading has no number for.
func (t *table) missing(r reading) []string {
	have := map[string]bool{}
	for _, row := range r.rows {
		have[taskName(row)] = true
	}
	lacks := slices.DeleteFunc(slices.Clone(t.tasks[r.split]), func(task string) bool { return have[task] })
	if len(lacks) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s lacks %s", t.cfg.SourceID, strings.Join(lacks, ", "))}
}
