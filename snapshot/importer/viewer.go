package importer

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"

	"modeldex/snapshot"
)

// Viewer maps columns of a data set to rows. Columns are found by name, never by place.
type Viewer struct {
	Split string `json:"split"`          // the split that was asked for, which must be one of the source's splits
	Size  string `json:"size,omitempty"` // the stored /size answer, which gives the total
	Model string `json:"model"`          // column of the raw name
	Date  string `json:"date,omitempty"` // column of the date of the board, YYYY-MM-DD

	// Long tables have one number per row: one entry of Numbers and the columns of its
	// category and task. Wide tables have one entry per column, with a fixed category and task.
	Numbers        []Column          `json:"numbers"`
	CategoryColumn string            `json:"category_column,omitempty"`
	TaskColumn     string            `json:"task_column,omitempty"`
	Rename         map[string]string `json:"rename,omitempty"` // category of the data set -> category of the rows
}

// Column is a column of numbers.
type Column struct {
	Value    string `json:"value"`
	Lower    string `json:"lower,omitempty"`
	Upper    string `json:"upper,omitempty"`
	Rank     string `json:"rank,omitempty"`
	Metric   string `json:"metric"`             // the metric the numbers are rows of
	Category string `json:"category,omitempty"` // of a wide table
	Task     string `json:"task,omitempty"`
}

// page is an answer of /rows or /filter.
type page struct {
	Features []feature `json:"features"`
	Rows     []pageRow `json:"rows"`
	Total    *int64    `json:"num_rows_total"`
	PerPage  *int64    `json:"num_rows_per_page"`
	Partial  *bool     `json:"partial"`
	Error    *string   `json:"error"`
	Cause    string    `json:"cause_message"`
}

type feature struct {
	Name string         `json:"name"`
	Type jsontext.Value `json:"type"`
}

type pageRow struct {
	Index     *int64                    `json:"row_idx"`
	Row       map[string]jsontext.Value `json:"row"`
	Truncated []string                  `json:"truncated_cells"`
}

// sizes is an answer of /size.
type sizes struct {
	Size *struct {
		Splits []struct {
			Config    string `json:"config"`
			Split     string `json:"split"`
			Rows      int64  `json:"num_rows"`
			Estimated *int64 `json:"estimated_num_rows"`
		} `json:"splits"`
	} `json:"size"`
	Pending []jsontext.Value `json:"pending"`
	Failed  []jsontext.Value `json:"failed"`
	Partial *bool            `json:"partial"`
	Error   *string          `json:"error"`
	Cause   string           `json:"cause_message"`
}

// viewer reads the stored pages of one split.
func viewer(folder folder, files []string, s *snapshot.SourceConfig, v *Viewer) (snapshot.Capture, error) {
	if v == nil {
		return snapshot.Capture{}, fmt.Errorf("%s: captures: the viewer form needs viewer", folder.place(ConfigFile))
	}
	bodies := map[string][]byte{}
	for _, name := range files {
		b, err := readFile(folder, name)
		if err != nil {
			return snapshot.Capture{}, err
		}
		bodies[name] = b
	}
	var size []byte
	if v.Size != "" {
		var err error
		if size, err = readFile(folder, v.Size); err != nil {
			return snapshot.Capture{}, err
		}
	}
	return readViewer(folder.place, s, v, bodies, size)
}

// ReadViewer makes rows of the pages of one split, by file name, and of its /size answer, nil
// for none. Pages may overlap and come in any order. Errors are:
//
//   - an answer that is an error or no JSON, or a page without its five members
//   - a column the data set lacks, or a cell of another type or cut by the viewer
//   - pages that disagree on the total: the data set was updated meanwhile, capture it again
//   - the same row with two contents
//
// Rows that are not in the pages, and a partly indexed data set, are notes of the capture.
func ReadViewer(s *snapshot.SourceConfig, v *Viewer, pages map[string][]byte, size []byte) (snapshot.Capture, error) {
	return readViewer(func(name string) string { return name }, s, v, pages, size)
}

// readViewer is ReadViewer of files in a folder; place is what errors call them.
func readViewer(place func(name string) string, s *snapshot.SourceConfig, v *Viewer, pages map[string][]byte, size []byte) (snapshot.Capture, error) {
	r := &viewerReader{source: s, viewer: v, seen: map[int64]string{}}
	names := make([]string, 0, len(pages))
	for name := range pages {
		names = append(names, name)
	}
	slices.Sort(names)
	var errs []error
	for _, name := range names {
		before := len(r.rows)
		if err := r.read(pages[name]); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", place(name), err))
		}
		for i := before; i < len(r.rows); i++ {
			r.rows[i].At.File = place(name)
		}
	}
	if err := r.readSize(size); err != nil {
		errs = append(errs, fmt.Errorf("%s: %w", place(v.Size), err))
	}
	if len(errs) > 0 {
		return snapshot.Capture{}, errors.Join(errs...)
	}
	return r.finish(names), nil
}

type viewerReader struct {
	source  *snapshot.SourceConfig
	viewer  *Viewer
	seen    map[int64]string // row_idx -> canonical cells
	rows    []snapshot.Row
	total   int64 // num_rows_total of the pages, -1 before the first
	paged   bool
	sized   int64
	partial bool
}

func (r *viewerReader) read(b []byte) error {
	var p page
	if err := unmarshal(b, &p); err != nil {
		return fmt.Errorf("must be a page of the dataset viewer: %w", err)
	}
	if p.Error != nil {
		return fmt.Errorf("the viewer answered an error: %s", strings.TrimSpace(*p.Error+" "+p.Cause))
	}
	if err := p.complete(); err != nil {
		return err
	}
	if r.paged && r.total != *p.Total {
		return fmt.Errorf("num_rows_total: must be the same on all pages, %d before, got %d; the data set changed, capture it again", r.total, *p.Total)
	}
	r.total, r.paged = *p.Total, true
	r.partial = r.partial || *p.Partial
	cols, err := newColumns(p.Features, r.viewer)
	if err != nil {
		return err
	}
	return r.take(p.Rows, cols)
}

// complete checks the five members every page has.
func (p *page) complete() error {
	for _, m := range []struct {
		name string
		ok   bool
	}{
		{"features", p.Features != nil},
		{"rows", p.Rows != nil},
		{"num_rows_total", p.Total != nil && *p.Total >= 0},
		{"num_rows_per_page", p.PerPage != nil},
		{"partial", p.Partial != nil},
	} {
		if !m.ok {
			return fmt.Errorf("%s: must be given on a page", m.name)
		}
	}
	return nil
}

func (r *viewerReader) take(rows []pageRow, cols *columns) error {
	var errs []error
	for i, row := range rows {
		if row.Index == nil || *row.Index < 0 {
			errs = append(errs, fmt.Errorf("rows[%d]: row_idx: must be at least 0", i))
			continue
		}
		if fresh, err := r.fresh(row); err != nil {
			errs = append(errs, err)
		} else if fresh {
			out, err := cols.rows(row, r.source)
			r.rows = append(r.rows, out...)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// fresh remembers a row, and reports whether it was not read before on another page.
func (r *viewerReader) fresh(row pageRow) (bool, error) {
	b, err := jsonv2.Marshal(row.Row, jsonv2.Deterministic(true))
	if err != nil {
		return false, fmt.Errorf("row %d: %w", *row.Index, err)
	}
	was, ok := r.seen[*row.Index]
	if ok && was != string(b) {
		return false, fmt.Errorf("row %d: is on two pages with different cells; the data set changed, capture it again", *row.Index)
	}
	r.seen[*row.Index] = string(b)
	return !ok, nil
}

// readSize takes the total of the split from a /size answer: the number of indexed rows, or
// the estimate of all where only part was indexed.
func (r *viewerReader) readSize(b []byte) error {
	if b == nil {
		return nil
	}
	var s sizes
	if err := unmarshal(b, &s); err != nil {
		return fmt.Errorf("must be a size answer of the dataset viewer: %w", err)
	}
	if s.Error != nil {
		return fmt.Errorf("the viewer answered an error: %s", strings.TrimSpace(*s.Error+" "+s.Cause))
	}
	if s.Size == nil {
		return errors.New("size: must be given")
	}
	for _, sp := range s.Size.Splits {
		if sp.Split != r.viewer.Split || sp.Config != r.source.Config {
			continue
		}
		r.sized = sp.Rows
		if sp.Estimated != nil {
			r.sized = max(r.sized, *sp.Estimated)
		}
		r.partial = r.partial || s.Partial != nil && *s.Partial
		return nil
	}
	return fmt.Errorf("size.splits: must hold config %q, split %q; %d pending, %d failed", r.source.Config, r.viewer.Split, len(s.Pending), len(s.Failed))
}

func (r *viewerReader) finish(files []string) snapshot.Capture {
	c := snapshot.Capture{
		Rows:          r.rows,
		TotalReported: max(r.total, r.sized),
		From:          "dataset viewer pages " + strings.Join(files, ", "),
	}
	if r.partial {
		c.Notes = append(c.Notes, "The dataset viewer had indexed only part of the data set, so the total is a lower bound or an estimate.")
	}
	if got := int64(len(r.seen)); got < c.TotalReported {
		c.Notes = append(c.Notes, fmt.Sprintf("%d of %d rows were captured.", got, c.TotalReported))
	}
	return c
}

// columns reads cells by the features of a page.
type columns struct {
	viewer *Viewer
	labels map[string][]string // column -> names of a ClassLabel
}

// newColumns checks that the data set has every column the configuration names.
func newColumns(fs []feature, v *Viewer) (*columns, error) {
	c := &columns{viewer: v, labels: map[string][]string{}}
	have := map[string]bool{}
	for _, f := range fs {
		have[f.Name] = true
		var t struct {
			Kind  string   `json:"_type"`
			Names []string `json:"names"`
		}
		if bytes.HasPrefix(f.Type, []byte("{")) && jsonv2.Unmarshal(f.Type, &t) == nil && t.Kind == "ClassLabel" {
			c.labels[f.Name] = t.Names
		}
	}
	var errs []error
	for _, name := range v.columns() {
		if !have[name] {
			errs = append(errs, fmt.Errorf("features: must have a column %q", name))
		}
	}
	return c, errors.Join(errs...)
}

// columns lists every column the viewer configuration names, sorted, each once.
func (v *Viewer) columns() []string {
	names := []string{v.Model, v.Date, v.CategoryColumn, v.TaskColumn}
	for _, n := range v.Numbers {
		names = append(names, n.Value, n.Lower, n.Upper, n.Rank)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(s string) bool { return s == "" })
}

// rows makes one snapshot row a column of numbers.
func (c *columns) rows(p pageRow, s *snapshot.SourceConfig) ([]snapshot.Row, error) {
	cell := &cells{row: p, labels: c.labels}
	v := c.viewer
	base := snapshot.Row{
		Source: s.Name, Config: s.Config, Split: v.Split, Row: *p.Index + 1,
		ModelRaw: cell.text(v.Model), Date: cell.text(v.Date),
	}
	category, task := cell.text(v.CategoryColumn), cell.text(v.TaskColumn)
	category = cmp.Or(v.Rename[category], category)
	var out []snapshot.Row
	for _, n := range v.Numbers {
		r := base
		r.Metric, r.Value = n.Metric, cell.number(n.Value)
		r.Lower, r.Upper, r.Rank = cell.number(n.Lower), cell.number(n.Upper), cell.number(n.Rank)
		r.Category, r.Task = known(cmp.Or(n.Category, category)), known(cmp.Or(n.Task, task))
		out = append(out, r)
	}
	if base.ModelRaw == "" {
		cell.say(v.Model, "must not be empty")
	}
	return out, errors.Join(cell.errs...)
}

func known(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// cells reads the cells of one row and collects what is wrong with them.
type cells struct {
	row    pageRow
	labels map[string][]string
	errs   []error
}

func (c *cells) say(column, rule string) {
	c.errs = append(c.errs, fmt.Errorf("row %d: %s: %s", *c.row.Index, column, rule))
}

// raw returns a cell, nil where it is null, absent or no column is named.
func (c *cells) raw(column string) jsontext.Value {
	if column == "" {
		return nil
	}
	if slices.Contains(c.row.Truncated, column) {
		c.say(column, "was cut by the viewer")
		return nil
	}
	v := c.row.Row[column]
	if v.Kind() == 'n' {
		return nil
	}
	return v
}

// text reads a string, or the name of a ClassLabel given by number.
func (c *cells) text(column string) string {
	v := c.raw(column)
	if v == nil {
		return ""
	}
	if names, ok := c.labels[column]; ok && v.Kind() == '0' {
		i := c.number(column)
		if i != nil && *i >= 0 && *i < float64(len(names)) && *i == math.Trunc(*i) {
			return names[int(*i)]
		}
		c.say(column, "must be a label of the column")
		return ""
	}
	var s string
	if err := jsonv2.Unmarshal(v, &s); err != nil {
		c.say(column, "must be text, got "+string(v[:min(len(v), 40)]))
	}
	return s
}

// number reads a number; whole numbers may be spelled 19038.0.
func (c *cells) number(column string) *float64 {
	v := c.raw(column)
	if v == nil {
		return nil
	}
	var f float64
	if err := jsonv2.Unmarshal(v, &f); err != nil {
		c.say(column, "must be a number, got "+string(v[:min(len(v), 40)]))
		return nil
	}
	return &f
}
