package snapshot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
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

// fault is the error of a row that breaks its rule.
func (cfg *SourceConfig) fault(r *Row, format string, args ...any) error {
	return fmt.Errorf("%s: row %d of %s, %q: %s", cmp.Or(r.At, string(cfg.SourceID)), r.Row, r.Split, r.ModelRaw, fmt.Sprintf(format, args...))
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

// rowOrder makes any two captures of the same rows equal. Row numbers come late, so that
// equal numbers under two row numbers are side by side.
func rowOrder(a, b Row) int {
	return cmp.Or(
		strings.Compare(a.Config, b.Config),
		strings.Compare(a.Split, b.Split),
		strings.Compare(a.ModelRaw, b.ModelRaw),
		strings.Compare(text(a.Category), text(b.Category)),
		strings.Compare(text(a.Task), text(b.Task)),
		strings.Compare(a.Metric, b.Metric),
		cmp.Compare(a.Row, b.Row),
		cmp.Compare(number(a.Value), number(b.Value)),
		cmp.Compare(number(a.Rank), number(b.Rank)),
		cmp.Compare(number(a.Lower), number(b.Lower)),
		cmp.Compare(number(a.Upper), number(b.Upper)),
		strings.Compare(a.Date, b.Date),
	)
}

// samePlace reports whether two rows claim to be the same cell.
func samePlace(a, b Row) bool {
	return a.Config == b.Config && a.Split == b.Split && a.ModelRaw == b.ModelRaw && a.Metric == b.Metric &&
		text(a.Category) == text(b.Category) && text(a.Task) == text(b.Task)
}

// number sorts an unknown number before every known one.
func number(f *float64) float64 {
	if f == nil {
		return math.Inf(-1)
	}
	return *f
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

// sift sorts the rows of a capture, takes those the configuration names, and counts the rest
// into rep. Errors are values outside their range and rows of another source.
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
	t.setTasks(taken)
	t.setReadings(taken)
	return t, nil
}

// take keeps rows of the configured boards and metrics that hold a number, one a cell.
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
			return nil, t.cfg.fault(&r, "%s: must be %s to %s, got %s", r.Metric, orOpen(m.Min), orOpen(m.Max), orOpen(r.Value))
		case r.Date != "" && !isDate(r.Date):
			return nil, t.cfg.fault(&r, "date: must be YYYY-MM-DD, got %q", clip(r.Date))
		case len(taken) > 0 && samePlace(taken[len(taken)-1], r):
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

func orOpen(f *float64) string {
	if f == nil {
		return "any"
	}
	return strconv.FormatFloat(*f, 'f', -1, 64)
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

// setTasks finds the tasks of each split that enter the component: a model that lacks some has a limitation.
func (t *table) setTasks(rows []Row) {
	for _, r := range rows {
		if t.cfg.enters(t.cfg.metric(r.Metric), r.Category) {
			i := t.cfg.splitIndex(r.Split)
			t.tasks[i] = append(t.tasks[i], taskName(r))
		}
	}
	for i := range t.tasks {
		t.tasks[i] = once(t.tasks[i])
	}
}

// taskName names what a row measures: its task, or its category where the source has no tasks.
func taskName(r Row) string { return cmp.Or(text(r.Task), text(r.Category)) }

func once(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// setReadings groups by raw name and split: releases ask other questions, so their numbers are
// never mixed within one reading.
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
