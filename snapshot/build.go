// Package snapshot makes, checks and keeps the model-intelligence snapshot: one JSON document of priors about language
// models, put together from three upstream evaluation sources. Nothing in it was measured here, and it says so.
//
// A Document is the published object; its bytes are the RFC 8785 canonical form. A Row is one cell of an upstream
// table, a Capture all rows of one source. An Alias says which raw names mean one model key. A reading is what one
// source says of one name in one release, a Cell the scores that share a split, a metric and a category. A Catalog is
// all published documents of a folder.
//
// Every source is brought to one scale through the models it shares with others (package linking), with mean 50 and
// standard deviation 15. A component is the mean of one source over its categories, weighted by precision and drawn to
// the mean of all models by the share that is not known; the composite is the weighted mean of the components. The
// document states all numbers of the rules, so that Check computes everything again from the scores alone.
//
// The package reads no environment, clock or network. Build and Verify may run side by side; a Catalog never changes.
package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"modeldex/dataset/record"
)

// errRefused means that the inputs make no document that passes Verify; the findings are in the text.
var errRefused = errors.New("document refused")

// Inputs is everything a build depends on. The order of rows, aliases and directory entries changes nothing.
type Inputs struct {
	Config   Config
	Captures map[SourceID]Capture // one for each source of the configuration
	Aliases  []Alias
	// Directory knows slugs by name, and facts of them, which go before those of the alias table.
	Directory directory
	// GeneratedAt becomes generated_at, in UTC and whole seconds. It must not be before a capture.
	GeneratedAt time.Time
	// From adds lines to meta.generated_from, such as the digest of the directory.
	From []string
}

// Build makes the document: canonical JSON that has passed Verify, the same bytes on any machine. Errors are a
// configuration, alias or row that breaks its rule, and errRefused. The report is filled as far as the build came.
func Build(ctx context.Context, in Inputs) ([]byte, Report, error) {
	var rep Report
	b := &builder{in: in, at: in.GeneratedAt.UTC().Truncate(time.Second), rep: &rep}
	doc, err := b.document(ctx)
	if err != nil {
		return nil, rep, err
	}
	out, err := seal(doc)
	if err != nil {
		return nil, rep, err
	}
	if fs := Verify(bytes.NewReader(out)); len(fs) > 0 {
		return nil, rep, fmt.Errorf("%w: %s, first %s", errRefused, record.Counted(len(fs), "finding"), fs[0])
	}
	rep.fill(doc, out)
	return out, rep, nil
}

type builder struct {
	in     Inputs
	at     time.Time
	rep    *Report
	match  *matcher
	tables []*table
	rules  *rules
}

func (b *builder) document(ctx context.Context) (*Document, error) {
	groups, err := b.groups()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.rules = link(&b.in.Config, b.tables, groups)
	text, err := b.compositeText()
	if err != nil {
		return nil, err
	}
	doc := b.frame(text)
	for _, g := range groups {
		doc.Models = append(doc.Models, b.model(g))
	}
	slices.SortFunc(doc.Models, func(a, b Model) int { return strings.Compare(a.ModelKey, b.ModelKey) })
	if err := b.count(doc); err != nil {
		return nil, err
	}
	return doc, nil
}

func (b *builder) groups() ([]*group, error) {
	if err := b.in.Config.check(); err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	for i := range b.in.Config.Sources {
		cfg := &b.in.Config.Sources[i]
		c, ok := b.in.Captures[cfg.SourceID]
		if !ok {
			return nil, fmt.Errorf("%s: must have a capture", cfg.SourceID)
		}
		t, err := sift(cfg, c, b.rep)
		if err != nil {
			return nil, err
		}
		b.tables = append(b.tables, t)
	}
	var err error
	if b.match, err = newMatcher(b.in, b.rep); err != nil {
		return nil, err
	}
	groups := b.match.groups(b.tables)
	b.match.claim(groups)
	return groups, nil
}

func (b *builder) frame(composite string) *Document {
	c := b.in.Config
	doc := &Document{
		SchemaVersion:       SchemaVersion,
		SchemaURL:           schemaURL(c.BaseURL),
		GeneratedAt:         b.at.Format(time.RFC3339),
		GeneratedBy:         generatorLabel,
		Scope:               scope,
		License:             c.License,
		Attribution:         c.Attribution,
		NotLocalMeasurement: true,
		FrameworkNote:       c.FrameworkNote,
		Normalization: Normalization{
			ModelMatching:       matchingText(),
			Composite:           composite,
			LocalExecutionClaim: c.LocalClaim,
		},
	}
	for _, t := range b.tables {
		doc.Sources = append(doc.Sources, t.source())
	}
	return doc
}

func (t *table) source() Source {
	c := t.cfg
	return Source{
		SourceID:          c.SourceID,
		Label:             c.Label,
		SourceURL:         c.Splits[0].URL,
		Dataset:           c.Dataset,
		Config:            c.Config,
		Split:             t.splitNames(),
		LicenseNote:       c.LicenseNote,
		FetchedRows:       t.fetched,
		TotalRowsReported: t.total,
		SamplingNote:      strings.TrimSpace(c.SamplingNote),
		CapturedAt:        utc(c.CapturedAt),
	}
}

func utc(s string) string {
	t, _ := time.Parse(time.RFC3339, s)
	return t.UTC().Format(time.RFC3339)
}

func (b *builder) count(doc *Document) error {
	doc.Meta.ModelCount = int64(len(doc.Models))
	doc.Meta.SourceCount = int64(len(doc.Sources))
	for i := range doc.Models {
		doc.Meta.ScoreCount += int64(len(doc.Models[i].Scores))
		doc.Meta.ConfidenceCounts.add(doc.Models[i].Composite.Confidence)
	}
	config, err := Digest([]Config{b.in.Config})
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	aliases, err := Digest(b.in.Aliases)
	if err != nil {
		return fmt.Errorf("aliases: %w", err)
	}
	from := []string{
		"configuration: sha256 " + config,
		fmt.Sprintf("aliases: %d lines, sha256 of the sorted lines %s", len(b.in.Aliases), aliases),
	}
	for _, t := range b.tables {
		from = append(from, t.from)
	}
	doc.Meta.GeneratedFrom = slices.Concat(from, b.in.From)
	return nil
}

type name struct {
	Source SourceID
	Raw    string
}

// Report says what a build did with its inputs. All lists are sorted.
type Report struct {
	Hash        string
	Bytes       int
	Models      int
	Scores      int
	BySources   [4]int // models by number of sources with scores
	Confidence  ConfidenceCounts
	InDirectory []string       // slugs of the directory that became model keys
	Unmatched   []name         // in no table and by no rule: models of their own under their slug form
	ByRule      []name         // not in the alias table, joined by their normal form or the directory
	Contested   []string       // slugs of the directory that more than one model wanted, and names that mean several
	NotChosen   []name         // a second name of a model in one source; only named in the document
	Dropped     []name         // names without a letter or digit
	Skipped     map[string]int // "source_a: why" -> rows not taken
}

func (r *Report) fill(doc *Document, out []byte) {
	r.Hash, r.Bytes = doc.OutputHash, len(out)
	r.Models, r.Scores = int(doc.Meta.ModelCount), int(doc.Meta.ScoreCount)
	r.Confidence = doc.Meta.ConfidenceCounts
	for i := range doc.Models {
		r.BySources[len(doc.Models[i].SourceIDs)]++
	}
	for _, names := range [][]name{r.Unmatched, r.ByRule, r.NotChosen, r.Dropped} {
		slices.SortFunc(names, func(a, b name) int {
			return cmp.Or(strings.Compare(string(a.Source), string(b.Source)), strings.Compare(a.Raw, b.Raw))
		})
	}
	r.Unmatched, r.ByRule, r.Dropped = slices.Compact(r.Unmatched), slices.Compact(r.ByRule), slices.Compact(r.Dropped)
}

func (r *Report) skip(id SourceID, why string) {
	if r.Skipped == nil {
		r.Skipped = map[string]int{}
	}
	r.Skipped[string(id)+": "+why]++
}

// String is the report for a maintainer. It is the same for the same inputs.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "snapshot %s: %d bytes\n", r.Hash, r.Bytes)
	fmt.Fprintf(&b, "models: %d, of them with 1, 2, 3 sources: %d, %d, %d\n", r.Models, r.BySources[1], r.BySources[2], r.BySources[3])
	fmt.Fprintf(&b, "scores: %d\n", r.Scores)
	fmt.Fprintf(&b, "confidence: high %d, moderate %d, low %d\n", r.Confidence.High, r.Confidence.Moderate, r.Confidence.Low)
	fmt.Fprintf(&b, "in the directory: %d\n", len(r.InDirectory))
	for _, k := range slices.Sorted(maps.Keys(r.Skipped)) {
		fmt.Fprintf(&b, "rows skipped: %s: %d\n", k, r.Skipped[k])
	}
	section(&b, "matched by rule, not by the alias table", r.ByRule)
	section(&b, "second name of a model, not used", r.NotChosen)
	section(&b, "without a usable name, left out", r.Dropped)
	if len(r.Contested) > 0 {
		fmt.Fprintf(&b, "contested names: %d\n  %s\n", len(r.Contested), strings.Join(r.Contested, "\n  "))
	}
	section(&b, "unmatched (kept as models of their own)", r.Unmatched)
	return b.String()
}

func section(b *strings.Builder, title string, names []name) {
	fmt.Fprintf(b, "%s: %d\n", title, len(names))
	for _, n := range names {
		fmt.Fprintf(b, "  %s %s\n", n.Source, n.Raw)
	}
}

func (b *builder) model(g *group) Model {
	names := g.names()
	m := Model{ModelKey: g.key, DisplayName: b.match.bare(names[0])}
	facts := b.in.Directory.facts[g.key]
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
		scores := t.scores(chosen.reading)
		for i := range scores {
			scores[i].Normalized = b.rules.normalized(&scores[i])
		}
		m.Scores = append(m.Scores, scores...)
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

const staleDays = 365

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
