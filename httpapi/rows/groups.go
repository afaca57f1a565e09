package rows

import (
	"math"
	"slices"
	"strconv"

	"modeldex/dataset/record"
	"modeldex/index"
)

// Group is the statistics of one group of benchmarks.
type Group struct {
	// Values of the group_by fields; null if the records have no value.
	Group map[string]any `json:"group"`
	// Number of values.
	N int `json:"n" jsonschema:"minimum=1,example=42"`
	// Number of distinct source pages; the dataset owner's own measurements, which have no page, count as one.
	Sources int `json:"sources" jsonschema:"minimum=1,example=7"`
	// Lowest value, in the unit of meta.unit.
	Min float64 `json:"min" jsonschema:"example=90.2"`
	// 0.10 quantile.
	P10 float64 `json:"p10" jsonschema:"example=95.4"`
	// 0.25 quantile.
	P25 float64 `json:"p25" jsonschema:"example=101.3"`
	// Median.
	Median float64 `json:"median" jsonschema:"example=110.8"`
	// 0.75 quantile.
	P75 float64 `json:"p75" jsonschema:"example=118.1"`
	// 0.90 quantile.
	P90 float64 `json:"p90" jsonschema:"example=127.6"`
	// Highest value.
	Max float64 `json:"max" jsonschema:"example=131"`
	// Date of the newest run (a year or a month counts as its first day); null if no run has a date.
	NewestRunDate *string `json:"newest_run_date" jsonschema:"nullable,example=2026-05-11"`
	// Settings that are equal in all records of the group; null if unknown in all of them.
	SharedSettings map[string]any `json:"shared_settings"`
	// Settings that differ between records of the group. Model and hardware are not settings; use group_by or a filter for
	// them.
	DifferingSettings []string `json:"differing_settings" jsonschema:"example=backend"`
	// Whether the values are comparable: one model, hardware and quantization, and single-stream settings or known, equal
	// settings. Prompt and output lengths may differ. For prompt_tps and ttft_ms the prompt length, and for
	// tokens_per_joule the power_basis, must also be known and equal.
	Comparable bool `json:"comparable" jsonschema:"example=true"`
}

// Pivot is the statistics of all groups as a dense matrix.
type Pivot struct {
	// Values of the first field of group_by; null for unknown.
	Rows []any `json:"rows"`
	// Values of the second field of group_by; null for unknown.
	Columns []any `json:"columns"`
	// For each row and column the statistic that value names; null if no record has both.
	Values [][]any `json:"values"`
	// For each row and column the number of values.
	N [][]int `json:"n"`
	// For each row and column whether the values measure the same; null if there are none.
	Comparable [][]any `json:"comparable"`
}

// GroupOf is a group of benchmarks as shown in responses.
func GroupOf(g *index.Group, by []string) *Group {
	out := &Group{
		Group: map[string]any{}, N: g.N, Sources: g.Pages, Min: record.TwelveDigits(g.Min), P10: record.TwelveDigits(g.P10), P25: record.TwelveDigits(g.P25),
		Median: record.TwelveDigits(g.Median), P75: record.TwelveDigits(g.P75), P90: record.TwelveDigits(g.P90), Max: record.TwelveDigits(g.Max),
		NewestRunDate: DateText(g.Newest()), SharedSettings: map[string]any{}, DifferingSettings: []string{}, Comparable: g.Comparable,
	}
	for i, v := range g.Key() {
		out.Group[by[i]] = orNull(v)
	}
	for _, f := range index.BenchmarkFields {
		if !f.Is(index.Setting) {
			continue
		}
		if value, shared := g.Setting(f.Name); shared {
			out.SharedSettings[string(f.Name)] = settingValue(f.Kind, value)
		} else {
			out.DifferingSettings = append(out.DifferingSettings, string(f.Name))
		}
	}
	return out
}

func settingValue(kind index.FieldKind, value string) any {
	if value == "" {
		return nil
	}
	switch kind {
	case index.Flag:
		return value == "true"
	case index.Count:
		n, _ := strconv.ParseInt(value, 10, 64) // made by the index from a whole number
		return n
	default:
		return value
	}
}

func orNull(v string) *string {
	if v == "" {
		return nil
	}
	return &v
}

// DateText is a date given as yyyymmdd in the form of records; nil for NaN.
func DateText(v float64) *string {
	if math.IsNaN(v) {
		return nil
	}
	text := string(record.DateOf(uint32(v)))
	return &text
}

// Cells is the number of cells of a pivot.
func Cells(stats *index.Stats) int {
	rows, columns := axes(stats)
	return len(rows) * len(columns)
}

// axes are the distinct values of the first and of the second field, in the order of groups.
func axes(stats *index.Stats) (rows, columns []string) {
	seen := [2]map[string]bool{{}, {}}
	for i := range stats.Groups {
		key := stats.Groups[i].Key()
		if !seen[0][key[0]] {
			seen[0][key[0]], rows = true, append(rows, key[0])
		}
		if !seen[1][key[1]] {
			seen[1][key[1]], columns = true, append(columns, key[1])
		}
	}
	slices.SortFunc(columns, index.CompareKeys)
	return rows, columns
}

// PivotOf is all groups as a matrix, of the statistic that value names.
func PivotOf(stats *index.Stats, value string) *Pivot {
	rows, columns := axes(stats)
	out := &Pivot{Rows: make([]any, len(rows)), Columns: make([]any, len(columns)), Values: [][]any{}, N: [][]int{}, Comparable: [][]any{}}
	rowOf, columnOf := map[string]int{}, map[string]int{}
	for i, v := range columns {
		columnOf[v], out.Columns[i] = i, orNull(v)
	}
	for i, v := range rows {
		rowOf[v], out.Rows[i] = i, orNull(v)
		out.Values, out.N = append(out.Values, make([]any, len(columns))), append(out.N, make([]int, len(columns)))
		out.Comparable = append(out.Comparable, make([]any, len(columns)))
	}
	for i := range stats.Groups {
		g := &stats.Groups[i]
		key := g.Key()
		row, column := rowOf[key[0]], columnOf[key[1]]
		out.Values[row][column], out.N[row][column], out.Comparable[row][column] = record.TwelveDigits(g.Statistic(value)), g.N, g.Comparable
	}
	return out
}
