package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"modeldex/dataset/record"
)

// errRefused is returned by Build when the finished document does not pass Verify; the
// findings are in the text. It means that the inputs, such as a weight, make no document.
var errRefused = errors.New("document refused")

// Inputs is everything a build depends on. The order of rows, aliases and directory entries changes nothing.
type Inputs struct {
	Config   Config
	Captures map[SourceID]Capture // one for each source of the configuration
	Aliases  []Alias
	// Resolve returns the slug of the directory for a name; nil: no directory.
	Resolve func(name string) (slug string, ok bool)
	// Facts returns what the directory knows of a slug; nil: nothing. It goes before the alias table.
	Facts func(slug string) (Facts, bool)
	// GeneratedAt becomes generated_at, in UTC and whole seconds. It must not be before a capture.
	GeneratedAt time.Time
	// From adds lines to meta.generated_from, such as the digest of the directory.
	From []string
}

// Build makes the document: canonical JSON that has passed Verify. The same inputs give the same bytes on any machine.
// Errors are a configuration, alias or row that breaks its rule, and errRefused. Names that could not be matched are in
// the report, which is filled as far as the build came.
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

// groups checks the configuration, reads the captures and joins what the sources say of each model.
func (b *builder) groups() ([]*group, error) {
	if err := b.in.Config.check(); err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	if err := b.sift(); err != nil {
		return nil, err
	}
	var err error
	if b.match, err = newMatcher(b.in, b.rep); err != nil {
		return nil, err
	}
	groups := b.match.groups(b.tables)
	b.match.claim(groups)
	return groups, nil
}

func (b *builder) sift() error {
	for i := range b.in.Config.Sources {
		cfg := &b.in.Config.Sources[i]
		c, ok := b.in.Captures[cfg.SourceID]
		if !ok {
			return fmt.Errorf("%s: must have a capture", cfg.SourceID)
		}
		t, err := sift(cfg, c, b.rep)
		if bad := new(rowError); errors.As(err, &bad) && bad.row.At.File != "" {
			return err // which names the place
		}
		if err != nil {
			return fmt.Errorf("%s: %w", cfg.SourceID, err)
		}
		b.tables = append(b.tables, t)
	}
	return nil
}

// frame is the document without its models.
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
		FetchedRows:       t.fetched(),
		TotalRowsReported: t.total,
		SamplingNote:      strings.TrimSpace(c.SamplingNote),
		CapturedAt:        utc(c.CapturedAt),
	}
}

// utc spells a checked RFC 3339 time in UTC, so that every time of a document compares as text.
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
