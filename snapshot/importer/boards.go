package importer

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-json/jsontext"

	"modeldex/dataset/record"
	"modeldex/snapshot"
)

// Board has the facts about a publisher's table that the table itself lacks.
type Board struct {
	Source string // the source as build.json names it
	Config string
	Split  string
	Date   string // YYYY-MM-DD of the table
}

func (b Board) row(n int, model, metric string, value float64) snapshot.Row {
	return snapshot.Row{Source: b.Source, Config: b.Config, Split: b.Split, Date: b.Date, Row: int64(n), ModelRaw: model, Metric: metric, Value: &value}
}

// ReadArena reads the JSON table of an LMArena board: category, then model, then rating,
// rating_q025 and rating_q975. Row numbers count the entries in the order of the file.
func ReadArena(b Board, file []byte) ([]snapshot.Row, error) {
	type entry struct {
		Rating *float64 `json:"rating"`
		Lower  *float64 `json:"rating_q025"`
		Upper  *float64 `json:"rating_q975"`
	}
	var rows []snapshot.Row
	err := eachMember(file, func(category string, models jsontext.Value) error {
		return eachMember(models, func(model string, v jsontext.Value) error {
			var e entry
			if err := unmarshal(v, &e); err != nil {
				return fmt.Errorf("%s: %q: %w", category, model, err)
			}
			if e.Rating == nil {
				return fmt.Errorf("%s: %q: rating: must be given", category, model)
			}
			if e.Lower != nil && e.Upper != nil && *e.Lower > *e.Upper {
				return fmt.Errorf("%s: %q: rating_q025: must be at most rating_q975, got %v of %v", category, model, *e.Lower, *e.Upper)
			}
			r := b.row(len(rows)+1, model, "rating", *e.Rating)
			r.Category, r.Lower, r.Upper = &category, e.Lower, e.Upper
			rows = append(rows, r)
			return nil
		})
	})
	return some(rows, explained(file, err))
}

var errNoRow = errors.New("holds no row")

// some are the rows of a table, which must have some: a download that was cut short or is of another page has none.
func some(rows []snapshot.Row, err error) ([]snapshot.Row, error) {
	if err == nil && len(rows) == 0 {
		err = errNoRow
	}
	return rows, err
}

func explained(file []byte, err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return record.Explain(file, err)
	}
	return err
}

func eachMember(object []byte, do func(name string, value jsontext.Value) error) error {
	d := jsontext.NewDecoder(bytes.NewReader(object))
	t, err := d.ReadToken()
	if err != nil {
		return err
	}
	if t.Kind() != '{' {
		return errors.New("must be a JSON object")
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		if err := do(key, value.Clone()); err != nil {
			return err
		}
	}
	_, err = d.ReadToken()
	return err
}

// ReadLiveBench reads the CSV table of a LiveBench release, a column for each task, and the JSON file of its
// categories, whose errors are a *CategoriesError. Each task must be in one category.
func ReadLiveBench(b Board, table, categories []byte) ([]snapshot.Row, error) {
	category, err := categoriesOf(categories)
	if err != nil {
		return nil, &CategoriesError{err}
	}
	records, err := csv.NewReader(bytes.NewReader(table)).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(records) == 0 || records[0][0] != "model" {
		return nil, errors.New(`the first column must be "model"`)
	}
	tasks := records[0][1:]
	for _, task := range tasks {
		if category[task] == "" {
			return nil, &CategoriesError{fmt.Errorf("task %q: must be in a category: the table has it", task)}
		}
	}
	var rows []snapshot.Row
	for n, record := range records[1:] {
		for i, cell := range record[1:] {
			if cell == "" {
				continue
			}
			v, err := number(cell)
			if err != nil {
				return nil, fmt.Errorf("row %d, %s: %w", n+1, tasks[i], err)
			}
			r := b.row(n+1, record[0], "score", v)
			name := category[tasks[i]]
			r.Category, r.Task = &name, &tasks[i]
			rows = append(rows, r)
		}
	}
	return some(rows, nil)
}

// CategoriesError is a fault of the file of categories.
type CategoriesError struct{ err error }

func (e *CategoriesError) Error() string { return e.err.Error() }

func categoriesOf(file []byte) (map[string]string, error) {
	var of map[string][]string
	if err := unmarshal(file, &of); err != nil {
		return nil, err
	}
	category := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		for _, task := range of[name] {
			if first, known := category[task]; known && first != name {
				return nil, fmt.Errorf("task %q: is in %s and in %s", task, first, name)
			}
			category[task] = name
		}
	}
	return category, nil
}

// euroEval are the columns of the table by data set, with the metrics of https://euroeval.com/tasks/, the primary one
// first.
var euroEval = map[string]struct {
	category string
	metrics  []string
}{
	"sst5":           {"sentiment-classification", []string{"mcc", "macro_f1"}},
	"conll-en":       {"named-entity-recognition", []string{"micro_f1_no_misc", "micro_f1"}},
	"scala-en":       {"linguistic-acceptability", []string{"mcc", "macro_f1"}},
	"squad":          {"reading-comprehension", []string{"f1", "em"}},
	"cnn-dailymail":  {"summarization", []string{"chr_f3pp", "chr_f4pp"}},
	"life-in-the-uk": {"knowledge", []string{"mcc", "accuracy"}},
	"hellaswag":      {"common-sense-reasoning", []string{"mcc", "accuracy"}},
	"valeu-en":       {"european-values", []string{"european_values"}},
}

var tags = regexp.MustCompile(`<[^>]*>`)

func plainText(cell string) string {
	return strings.TrimSpace(html.UnescapeString(tags.ReplaceAllString(cell, "")))
}

// ReadEuroEval reads the CSV table of the EuroEval English board. A cell is
// "66.95 ± 1.86 / 71.55 ± 1.30": the primary metric and its half-width of 95 percent, then the
// second one; what follows "@@" is for sorting. Cells without a number give no row.
func ReadEuroEval(b Board, table []byte) ([]snapshot.Row, error) {
	reader := csv.NewReader(bytes.NewReader(table))
	reader.FieldsPerRecord = -1
	records, err := reader.ReadAll()
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(records, func(r []string) bool { return len(r) > 0 && strings.EqualFold(plainText(r[0]), "model") })
	if at < 0 {
		return nil, errors.New(`no header row whose first column is "model"`)
	}
	header := make([]string, len(records[at]))
	found := 0
	for i, cell := range records[at] {
		header[i] = strings.ReplaceAll(strings.ToLower(plainText(cell)), "_", "-")
		if _, ok := euroEval[header[i]]; ok {
			found++
		}
	}
	if found == 0 {
		return nil, errors.New("no column of a known data set")
	}
	var rows []snapshot.Row
	for n, record := range records[at+1:] {
		for i, cell := range record {
			if i >= len(header) {
				break
			}
			more, err := b.euroCell(n+1, plainText(record[0]), header[i], cell)
			if err != nil {
				return nil, fmt.Errorf("row %d, %s: %w", n+1, header[i], err)
			}
			rows = append(rows, more...)
		}
	}
	return some(rows, nil)
}

func (b Board) euroCell(n int, model, column, cell string) ([]snapshot.Row, error) {
	cell, _, _ = strings.Cut(plainText(cell), "@@")
	if cell == "" || cell == "-" || cell == "?" {
		return nil, nil
	}
	set, ok := euroEval[column]
	if column == "rank" {
		v, err := number(cell)
		r := b.row(n, model, "mean_rank_score", v)
		all := "all"
		r.Category = &all
		return []snapshot.Row{r}, err
	}
	if !ok {
		return nil, nil
	}
	var rows []snapshot.Row
	for i, part := range strings.Split(cell, "/") {
		if i >= len(set.metrics) {
			return nil, fmt.Errorf("must be at most %d numbers, got %q", len(set.metrics), cell)
		}
		value, half, bounded := strings.Cut(part, "±")
		if strings.TrimSpace(value) == "-" {
			continue
		}
		v, err := number(value)
		if err != nil {
			return nil, err
		}
		r := b.row(n, model, set.metrics[i], v)
		r.Category, r.Task = &set.category, &column
		if bounded {
			h, err := number(half)
			if err != nil {
				return nil, err
			}
			lower, upper := cents(v-h), cents(v+h)
			r.Lower, r.Upper = &lower, &upper
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func number(s string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("must be a number, got %q", s)
	}
	return v, nil
}

func cents(v float64) float64 { return math.Round(v*100) / 100 }
