package snapshot

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Row is one number of an upstream table as captured: one line of NDJSON.
type Row struct {
	Source   string   `json:"source"`
	Config   string   `json:"config"`
	Split    string   `json:"split"`
	Row      int64    `json:"row"` // number of the record in the source; several numbers may share it
	ModelRaw string   `json:"model_raw"`
	Metric   string   `json:"metric"`
	Value    *float64 `json:"value"` // nil: the cell is empty
	Rank     *float64 `json:"rank"`
	Lower    *float64 `json:"lower"`
	Upper    *float64 `json:"upper"`
	Category *string  `json:"category"`
	Task     *string  `json:"task"`
	Date     string   `json:"date"` // YYYY-MM-DD of the board; empty: that of the split

	At string `json:"-"` // file and line, as errors begin with them; empty for a row that was not read from a file
}

func (s *SourceConfig) fault(r *Row, format string, args ...any) error {
	return fmt.Errorf("%s: row %d of %s, %q: %s", cmp.Or(r.At, string(s.SourceID)), r.Row, r.Split, r.ModelRaw, fmt.Sprintf(format, args...))
}

// Capture is everything read from one source. The order of Rows means nothing.
type Capture struct {
	Rows []Row
	// TotalReported is how many table rows the source says the splits have; 0 when it does
	// not say, and then the captured rows are taken as all.
	TotalReported int64
	// From names the capture for meta.generated_from: form and files.
	From string
}

type board struct{ config, split string }

// rowOrder is total. Row numbers come late, so that equal cells are side by side.
func rowOrder(a, b Row) int {
	p, q := a.place(), b.place()
	v, w := a.numbers(), b.numbers()
	return cmp.Or(slices.Compare(p[:], q[:]), cmp.Compare(a.Row, b.Row), slices.Compare(v[:], w[:]), strings.Compare(a.Date, b.Date))
}

func (r *Row) place() [6]string {
	return [...]string{r.Config, r.Split, r.ModelRaw, or(r.Category, ""), or(r.Task, ""), r.Metric}
}

func (r *Row) numbers() (all [4]float64) {
	for i, f := range []*float64{r.Value, r.Rank, r.Lower, r.Upper} {
		all[i] = or(f, math.Inf(-1))
	}
	return all
}

type reading struct {
	raw   string
	split int // index in SourceConfig.Splits
	date  string
	rows  []Row // in rowOrder
}

type table struct {
	cfg      *SourceConfig
	readings []reading       // one for each raw name and split, sorted by name, newest split first
	counts   map[board]int64 // board -> table rows captured
	tasks    [][]string      // by split index: the tasks that enter the component, sorted
	fetched  int64           // all of counts
	total    int64           // as reported
	from     string
}

// sift takes the rows that the configuration names, and counts the rest into rep.
func sift(cfg *SourceConfig, c Capture, rep *Report) (*table, error) {
	rows := slices.Clone(c.Rows)
	slices.SortFunc(rows, rowOrder)
	t := &table{
		cfg: cfg, counts: map[board]int64{}, tasks: make([][]string, len(cfg.Splits)),
	}
	taken, err := t.take(rows, rep)
	if err != nil {
		return nil, err
	}
	digest, err := Digest(rows)
	if err != nil {
		return nil, fmt.Errorf("%s: rows: %w", cfg.SourceID, err)
	}
	t.from = fmt.Sprintf("%s: %s, %d rows, sha256 of the sorted rows %s", cfg.SourceID, c.From, len(rows), digest)
	t.count(rows, c.TotalReported)
	for _, r := range taken { // a model that lacks some of these has a limitation
		if cfg.enters(cfg.metric(r.Metric), r.Category) {
			i := cfg.splitIndex(r.Split)
			t.tasks[i] = append(t.tasks[i], taskName(r))
		}
	}
	for i := range t.tasks {
		t.tasks[i] = once(t.tasks[i])
	}
	t.setReadings(taken)
	return t, nil
}

func (t *table) take(rows []Row, rep *Report) ([]Row, error) {
	var taken []Row
	for _, r := range rows {
		m := t.cfg.metric(r.Metric)
		switch {
		case r.Source != t.cfg.Name:
			return nil, t.cfg.fault(&r, "source: must be %q, got %q", t.cfg.Name, r.Source)
		case r.Config != t.cfg.Config || t.cfg.splitIndex(r.Split) < 0 || m == nil:
			rep.skip(t.cfg.SourceID, "of a board, split or metric that build.json does not name")
		case r.Value == nil:
			rep.skip(t.cfg.SourceID, "with an empty cell")
		case !m.inRange(*r.Value):
			return nil, t.cfg.fault(&r, "%s: must be %s to %s, got %s", r.Metric, shown(m.Min, "%v", "any"), shown(m.Max, "%v", "any"), shown(r.Value, "%v", "any"))
		case r.Date != "" && !isDate(r.Date):
			return nil, t.cfg.fault(&r, "date: must be YYYY-MM-DD, got %q", clip(r.Date))
		case len(taken) > 0 && taken[len(taken)-1].place() == r.place():
			rep.skip(t.cfg.SourceID, "duplicates; the row with the lowest number was kept")
		default:
			taken = append(taken, r)
		}
	}
	if len(taken) == 0 {
		return nil, fmt.Errorf("%s: no row of config %q, splits %q and the configured metrics", t.cfg.SourceID, t.cfg.Config, t.splitNames())
	}
	return taken, nil
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// count counts table rows of the configured boards: several numbers may share one table row.
func (t *table) count(rows []Row, reported int64) {
	type place struct {
		board
		row int64
	}
	seen := map[place]bool{}
	for _, r := range rows {
		p := place{board{r.Config, r.Split}, r.Row}
		if r.Config == t.cfg.Config && t.cfg.splitIndex(r.Split) >= 0 && !seen[p] {
			seen[p] = true
			t.counts[p.board]++
			t.fetched++
		}
	}
	t.total = max(reported, t.fetched)
}

// taskName names what a row measures: its task, or its category where the source has no tasks.
func taskName(r Row) string { return cmp.Or(or(r.Task, ""), or(r.Category, "")) }

func once(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// setReadings groups by raw name and split: releases ask other questions.
func (t *table) setReadings(rows []Row) {
	at := map[[2]string]int{} // raw name and split -> index in readings
	for _, r := range rows {
		key := [2]string{r.ModelRaw, r.Split}
		if _, ok := at[key]; !ok {
			i := t.cfg.splitIndex(r.Split)
			at[key] = len(t.readings)
			t.readings = append(t.readings, reading{raw: r.ModelRaw, split: i, date: cmp.Or(r.Date, t.cfg.Splits[i].Date)})
		}
		last := &t.readings[at[key]]
		last.rows = append(last.rows, r)
	}
	slices.SortFunc(t.readings, func(a, b reading) int {
		return cmp.Or(strings.Compare(a.raw, b.raw), cmp.Compare(a.split, b.split))
	})
}

func (t *table) splitNames() string {
	names := make([]string, len(t.cfg.Splits))
	for i, s := range t.cfg.Splits {
		names[i] = s.Split
	}
	return strings.Join(names, ",")
}

const configFormat = "modeldex-snapshot-build-v2"

// Config says how a snapshot is built: its texts, its sources, which numbers enter the common scale, and the thresholds
// of confidence. It is all of data/snapshots/build.json except the files to read, which package importer declares.
type Config struct {
	Format        string          `json:"format"`
	BaseURL       string          `json:"base_url"` // where the publisher serves the schema; empty: schema_url is relative to the document
	License       string          `json:"license"`
	Attribution   string          `json:"attribution"`
	FrameworkNote string          `json:"framework_note"`
	LocalClaim    string          `json:"local_execution_claim"`
	Confidence    confidenceRules `json:"confidence"`
	LeastModels   int             `json:"least_models"` // models that must have a cell for it to get a line
	Sources       []SourceConfig  `json:"sources"`
}

// SourceConfig describes one source, the rows to take from its capture and what becomes of them.
type SourceConfig struct {
	SourceID     SourceID        `json:"source_id"`
	Name         string          `json:"name"` // the source as rows and aliases name it
	Label        string          `json:"label"`
	Dataset      string          `json:"dataset"`
	Config       string          `json:"config"`
	Splits       []split         `json:"splits"` // newest first; a model is read from the first that holds it
	LicenseNote  string          `json:"license_note"`
	SamplingNote string          `json:"sampling_note"`
	CapturedAt   string          `json:"captured_at"` // RFC 3339
	Metrics      []metric        `json:"metrics"`
	Component    componentConfig `json:"component"`
	Settings     []setting       `json:"settings,omitempty"`
}

type split struct {
	Split string `json:"split"`
	Date  string `json:"date"` // YYYY-MM-DD of the board; rows may carry their own
	URL   string `json:"url"`  // the table
}

// The directions of a metric.
const (
	higher  = "higher"
	lower   = "lower"
	neither = "none"
)

type metric struct {
	Metric     string   `json:"metric"`
	Scale      string   `json:"scale"`         // in words, for the reader of a score
	Min        *float64 `json:"min,omitempty"` // ends of the possible range; a value outside stops the build
	Max        *float64 `json:"max,omitempty"`
	Direction  string   `json:"direction"`            // higher or lower: which end is better; none
	Categories []string `json:"categories,omitempty"` // categories to publish; empty for all
	Evidence   string   `json:"evidence"`             // where the scale is defined
}

type componentConfig struct {
	Label      string   `json:"label"`                // the metric named in the document
	Metrics    []string `json:"metrics"`              // which metrics enter
	Categories []string `json:"categories,omitempty"` // which categories enter; empty for all
	// Validation says how well Evaluate predicted the source, a limitation of
	// every composite with it; empty when not evaluated.
	Validation string `json:"validation,omitempty"`
}

func (s *SourceConfig) enters(m *metric, category *string) bool {
	c := &s.Component
	return m.publishes(category) && slices.Contains(c.Metrics, m.Metric) &&
		(len(c.Categories) == 0 || slices.Contains(c.Categories, or(category, "")))
}

// setting is a word in the brackets that end a raw name, as in "(zero-shot, val)". Names with fewer and later ones are
// preferred.
type setting struct {
	Word string `json:"word"`
	Note string `json:"note"` // the limitation it makes
}

func (c *Config) check() error {
	var errs []error
	add := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	add(c.Format != configFormat, "format: must be %q, got %q", configFormat, c.Format)
	err := CheckBaseURL(c.BaseURL)
	add(err != nil, "base_url: %w", err)
	high, moderate := c.Confidence.High, c.Confidence.Moderate
	add(!(high > 0) || moderate < high, "confidence: must be 0 < high <= moderate, got %v and %v", high, moderate)
	add(c.LeastModels < 1, "least_models: must be at least 1, got %d", c.LeastModels)
	add(len(c.Sources) == 0, "sources: must not be empty")
	var last SourceID
	for i := range c.Sources {
		s := &c.Sources[i]
		add(!slices.Contains(sourceIDs, s.SourceID) || s.SourceID <= last, "sources[%d]: source_id: must be one of %v, each once and in order, got %q", i, sourceIDs, s.SourceID)
		last = s.SourceID
		s.check(func(wrong bool, format string, args ...any) { add(wrong, string(s.SourceID)+": "+format, args...) })
	}
	return errors.Join(errs...)
}

func (s *SourceConfig) check(add func(wrong bool, format string, args ...any)) {
	_, err := time.Parse(time.RFC3339, s.CapturedAt)
	add(err != nil, "captured_at: must be RFC 3339, got %q", s.CapturedAt)
	add(len(s.Splits) == 0, "splits: must not be empty")
	for _, sp := range s.Splits {
		add(!isDate(sp.Date), "split %s: date: must be YYYY-MM-DD, got %q", sp.Split, sp.Date)
	}
	for _, m := range s.Metrics {
		add(!slices.Contains([]string{higher, lower, neither}, m.Direction), "metric %s: direction: must be higher, lower or none, got %q", m.Metric, m.Direction)
	}
	add(len(s.Component.Metrics) == 0, "component: metrics: must not be empty")
	for _, name := range s.Component.Metrics {
		m := s.metric(name)
		add(m == nil || m.Direction == neither, "component: metric %q: must be a metric of the source with a better end", name)
	}
}

// CheckBaseURL accepts an absolute address without a path, or nothing.
func CheckBaseURL(base string) error {
	u, err := url.Parse(base)
	if base == "" || err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && strings.Trim(u.Path, "/") == "" && u.RawQuery == "" && u.Fragment == "" {
		return nil
	}
	return fmt.Errorf("must be an http or https address without a path, or empty, got %q", base)
}

func (s *SourceConfig) metric(name string) *metric {
	for i := range s.Metrics {
		if s.Metrics[i].Metric == name {
			return &s.Metrics[i]
		}
	}
	return nil
}

func (s *SourceConfig) splitIndex(name string) int {
	return slices.IndexFunc(s.Splits, func(sp split) bool { return sp.Split == name })
}

func (m *metric) publishes(category *string) bool {
	return len(m.Categories) == 0 || category != nil && slices.Contains(m.Categories, *category)
}

func (m *metric) inRange(v float64) bool {
	return (m.Min == nil || v >= *m.Min) && (m.Max == nil || v <= *m.Max)
}
