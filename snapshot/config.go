package snapshot

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// ConfigFormat is the format a configuration must name.
const ConfigFormat = "modeldex-snapshot-build-v1"

// Config says how a snapshot is put together: its texts, its sources, the rules of each metric
// and the rule of confidence. It is the whole of data/snapshots/build.json but for the files
// to read, which are the importer's part.
type Config struct {
	Format        string          `json:"format"`
	BaseURL       string          `json:"base_url"` // where the publisher serves the schema; no path
	License       string          `json:"license"`
	Attribution   string          `json:"attribution"`
	FrameworkNote string          `json:"framework_note"`
	LocalClaim    string          `json:"local_execution_claim"`
	Confidence    ConfidenceRules `json:"confidence"`
	Sources       []SourceConfig  `json:"sources"`
}

// ConfidenceRules holds the rule of each confidence above low.
type ConfidenceRules struct {
	High     ConfidenceRule `json:"high"`
	Moderate ConfidenceRule `json:"moderate"`
}

// ConfidenceRule is met when at least Sources components are at most MaxAgeDays old, at least
// Bounded of those carry an interval, and no interval among them is wider than MaxHalfWidth
// points of 0..100 to either side. Components that are older still enter the composite.
type ConfidenceRule struct {
	Sources      int     `json:"sources"`
	Bounded      int     `json:"bounded"`
	MaxHalfWidth float64 `json:"max_half_width"` // points of 0..100
	MaxAgeDays   int     `json:"max_age_days"`   // from the date of the board to generated_at
}

// SourceConfig describes one source, the rows to take from its capture and what becomes of them.
type SourceConfig struct {
	SourceID     SourceID        `json:"source_id"`
	Name         string          `json:"name"` // the source as rows and aliases name it
	Label        string          `json:"label"`
	Dataset      string          `json:"dataset"`
	Config       string          `json:"config"`
	Splits       []Split         `json:"splits"` // newest first; a model is read from the first that holds it
	LicenseNote  string          `json:"license_note"`
	SamplingNote string          `json:"sampling_note"`
	CapturedAt   string          `json:"captured_at"` // RFC 3339
	Metrics      []Metric        `json:"metrics"`
	Component    ComponentConfig `json:"component"`
	Settings     []Setting       `json:"settings,omitempty"`
}

// Split is one release of a board.
type Split struct {
	Split string `json:"split"`
	Date  string `json:"date"` // YYYY-MM-DD of the board; rows may carry their own
	URL   string `json:"url"`  // the table
}

// Metric is one column of numbers and the rule that brings it to 0..100.
type Metric struct {
	Metric     string    `json:"metric"`
	Scale      string    `json:"scale"`         // in words, for the reader of a score
	Min        *float64  `json:"min,omitempty"` // ends of the possible range; a value outside stops the build
	Max        *float64  `json:"max,omitempty"`
	Direction  string    `json:"direction"`            // higher, lower or none
	Categories []string  `json:"categories,omitempty"` // categories to publish; empty for all
	Normalize  Normalize `json:"normalize"`
}

// ComponentConfig says how the component of a source is made: the mean over categories of the
// mean over their tasks.
type ComponentConfig struct {
	Label      string   `json:"label"`                // the metric named in the document
	Weight     float64  `json:"weight"`               // in the composite
	WeightNote string   `json:"weight_note"`          // why this weight
	Metrics    []string `json:"metrics"`              // which metrics enter
	Categories []string `json:"categories,omitempty"` // which a model must have; empty for all of its split
}

// Setting is a word in the brackets that end a raw name, such as "(zero-shot, val)". A name
// with fewer and later settings is preferred when two names mean one model.
type Setting struct {
	Word string `json:"word"`
	Note string `json:"note"` // the limitation it makes
}

// check reports everything wrong with the configuration at once.
func (c *Config) check() error {
	var errs []error
	if c.Format != ConfigFormat {
		errs = append(errs, fmt.Errorf("format: must be %q, got %q", ConfigFormat, c.Format))
	}
	if c.BaseURL == "" {
		errs = append(errs, errors.New("base_url: must not be empty"))
	}
	if len(c.Sources) == 0 {
		errs = append(errs, errors.New("sources: must not be empty"))
	}
	var last SourceID
	for i := range c.Sources {
		s := &c.Sources[i]
		if !slices.Contains(SourceIDs, s.SourceID) || s.SourceID <= last {
			errs = append(errs, fmt.Errorf("sources[%d]: source_id: must be one of %v, each once and in order, got %q", i, SourceIDs, s.SourceID))
		}
		last = s.SourceID
		for _, err := range s.check() {
			errs = append(errs, fmt.Errorf("%s: %w", s.SourceID, err))
		}
	}
	return errors.Join(errs...)
}

func (s *SourceConfig) check() []error {
	var errs []error
	if _, err := time.Parse(time.RFC3339, s.CapturedAt); err != nil {
		errs = append(errs, fmt.Errorf("captured_at: must be RFC 3339, got %q", s.CapturedAt))
	}
	if len(s.Splits) == 0 {
		errs = append(errs, errors.New("splits: must not be empty"))
	}
	for _, sp := range s.Splits {
		if !isDate(sp.Date) {
			errs = append(errs, fmt.Errorf("split %s: date: must be YYYY-MM-DD, got %q", sp.Split, sp.Date))
		}
	}
	for _, m := range s.Metrics {
		if err := m.Normalize.check(m.Direction); err != nil {
			errs = append(errs, fmt.Errorf("metric %s: %w", m.Metric, err))
		}
	}
	return append(errs, s.checkComponent()...)
}

func (s *SourceConfig) checkComponent() []error {
	var errs []error
	if !(s.Component.Weight >= 0) {
		errs = append(errs, fmt.Errorf("component: weight: must be at least 0, got %v", s.Component.Weight))
	}
	if len(s.Component.Metrics) == 0 {
		errs = append(errs, errors.New("component: metrics: must not be empty"))
	}
	for _, name := range s.Component.Metrics {
		m := s.metric(name)
		if m == nil || m.Normalize.Kind == None {
			errs = append(errs, fmt.Errorf("component: metric %q: must be a metric of the source that is normalized", name))
		}
	}
	return errs
}

// metric returns the rule of a metric, nil when the configuration does not take it.
func (s *SourceConfig) metric(name string) *Metric {
	for i := range s.Metrics {
		if s.Metrics[i].Metric == name {
			return &s.Metrics[i]
		}
	}
	return nil
}

// splitIndex is the place of a split, newest first; -1 when it is not read.
func (s *SourceConfig) splitIndex(name string) int {
	return slices.IndexFunc(s.Splits, func(sp Split) bool { return sp.Split == name })
}

// publishes tells whether the category of a metric goes into the document.
func (m *Metric) publishes(category *string) bool {
	if len(m.Categories) == 0 {
		return true
	}
	return category != nil && slices.Contains(m.Categories, *category)
}

// inRange tells whether v can be a value of the metric.
func (m *Metric) inRange(v float64) bool {
	return (m.Min == nil || v >= *m.Min) && (m.Max == nil || v <= *m.Max)
}
