package snapshot

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// configFormat is the format a configuration must name.
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

// componentConfig says which published numbers of a source enter the common scale.
type componentConfig struct {
	Label      string   `json:"label"`                // the metric named in the document
	Metrics    []string `json:"metrics"`              // which metrics enter
	Categories []string `json:"categories,omitempty"` // which categories enter; empty for all
	// Validation says how well Evaluate predicted the source, a limitation of
	// every composite with it; empty when not evaluated.
	Validation string `json:"validation,omitempty"`
}

// enters reports whether a number of the metric and category enters the common scale.
func (s *SourceConfig) enters(m *metric, category *string) bool {
	c := &s.Component
	return m.publishes(category) && slices.Contains(c.Metrics, m.Metric) &&
		(len(c.Categories) == 0 || slices.Contains(c.Categories, text(category)))
}

// setting is a word in the brackets that end a raw name, such as "(zero-shot, val)". A name
// with fewer and later settings is preferred when two names mean one model.
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

// splitIndex is the place of a split, newest first; -1 when it is not read.
func (s *SourceConfig) splitIndex(name string) int {
	return slices.IndexFunc(s.Splits, func(sp split) bool { return sp.Split == name })
}

// publishes reports whether the category of a metric goes into the document.
func (m *metric) publishes(category *string) bool {
	return len(m.Categories) == 0 || category != nil && slices.Contains(m.Categories, *category)
}

// inRange reports whether v can be a value of the metric.
func (m *metric) inRange(v float64) bool {
	return (m.Min == nil || v >= *m.Min) && (m.Max == nil || v <= *m.Max)
}
