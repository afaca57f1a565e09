package httpapi

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset/record"
	"modeldex/httpapi/rowjson"
	"modeldex/index"
)

// A groupWriter writes groups as JSON: as marshal writes a StatsRow, at a tenth of its cost. A page has
// up to 1,000 groups of some thirty values.
type groupWriter struct {
	by       []groupKey     // sorted by name
	settings []groupSetting // sorted by name
	names    [][]byte       // of settings as JSON, in the order of fields
	values   []index.SettingValue
}

type groupKey struct {
	name  string // as the name of a member
	place int    // in the key of a group
}

type groupSetting struct {
	name   string // as the name of a member
	place  int    // in the order of fields
	isText bool   // the value is a text, not a number or a boolean
}

func newGroupWriter(by []string) *groupWriter {
	w := &groupWriter{}
	for i, name := range by {
		w.by = append(w.by, groupKey{memberName(name), i})
	}
	slices.SortFunc(w.by, func(a, b groupKey) int { return strings.Compare(a.name, b.name) })
	for _, f := range index.BenchmarkFields {
		if f.Is(index.Setting) {
			w.settings = append(w.settings, groupSetting{memberName(string(f.Name)), len(w.names), f.Kind != index.Flag && f.Kind != index.Count})
			w.names = append(w.names, rowjson.AppendString(nil, string(f.Name)))
		}
	}
	slices.SortFunc(w.settings, func(a, b groupSetting) int { return strings.Compare(a.name, b.name) })
	return w
}

// memberName is the name of a member of an object, with the colon.
func memberName(name string) string { return string(rowjson.AppendString(nil, name)) + ":" }

// append appends a group.
func (w *groupWriter) append(b []byte, g *index.Group) []byte {
	b = append(b, `{"group":{`...)
	key := g.Key()
	for i, by := range w.by {
		b = appendOrNull(append(appendComma(b, i), by.name...), key[by.place])
	}
	b = strconv.AppendInt(append(b, `},"n":`...), int64(g.N), 10)
	b = strconv.AppendInt(append(b, `,"sources":`...), int64(g.Pages), 10)
	b = appendFloat(append(b, `,"min":`...), g.Min)
	b = appendQuantiles(b, [...]quantile{{`,"p10":`, g.P10}, {`,"p25":`, g.P25}, {`,"median":`, g.Median}, {`,"p75":`, g.P75}, {`,"p90":`, g.P90}})
	b = appendFloat(append(b, `,"max":`...), g.Max)
	b = appendDate(append(b, `,"newest_run_date":`...), g.Newest())
	b = w.appendSettings(b, g)
	return append(strconv.AppendBool(append(b, `,"comparable":`...), g.Comparable), '}')
}

// appendSettings appends the settings that are equal, and the names of those that differ.
func (w *groupWriter) appendSettings(b []byte, g *index.Group) []byte {
	w.values = g.AppendSettings(w.values[:0])
	b = append(b, `,"shared_settings":{`...)
	n := 0
	for _, s := range w.settings {
		is := w.values[s.place]
		if !is.Shared {
			continue
		}
		b = append(appendComma(b, n), s.name...)
		n++
		if s.isText || is.Value == "" {
			b = appendOrNull(b, is.Value)
		} else {
			b = append(b, is.Value...) // true, false or a whole number
		}
	}
	b = append(b, `},"differing_settings":[`...)
	n = 0
	for i, is := range w.values {
		if !is.Shared {
			b = append(appendComma(b, n), w.names[i]...)
			n++
		}
	}
	return append(b, ']')
}

// appendComma appends a comma before the second of several things and the ones after it.
func appendComma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}

// appendOrNull appends a text, null if it is empty.
func appendOrNull(b []byte, text string) []byte {
	if text == "" {
		return append(b, "null"...)
	}
	return rowjson.AppendString(b, text)
}

// appendDate appends a date given as yyyymmdd in the form of records, null for NaN.
func appendDate(b []byte, v float64) []byte {
	if math.IsNaN(v) {
		return append(b, "null"...)
	}
	return rowjson.AppendString(b, string(record.DateOf(uint32(v))))
}

// appendFloat appends a number as marshal does.
func appendFloat(b []byte, v float64) []byte {
	if size := math.Abs(v); v != 0 && (size < 1e-6 || size >= 1e21) { // written with an exponent
		return append(b, rowjson.Marshal(v)...)
	}
	return strconv.AppendFloat(b, v, 'f', -1, 64)
}

type quantile struct {
	name  string // as the name of a member
	value float64
}

// appendQuantiles appends members. Those of a group of one value, as every other group is, are equal and formatted once.
func appendQuantiles(b []byte, all [5]quantile) []byte {
	var begin, end int // of the number that was formatted last
	for i, q := range all {
		b = append(b, q.name...)
		if i > 0 && q.value == all[i-1].value {
			b = append(b, b[begin:end]...)
			continue
		}
		begin = len(b)
		b = appendQuantile(b, q.value)
		end = len(b)
	}
	return b
}

// appendQuantile appends a number rounded to 12 digits, so that the mean of 1.1 and 1.3 is shown as 1.2.
func appendQuantile(b []byte, v float64) []byte {
	if size := math.Abs(v); v != 0 && (size < 1e-4 || size >= 1e12) { // 'g' would write an exponent
		return appendFloat(b, twelveDigits(v))
	}
	return strconv.AppendFloat(b, v, 'g', 12, 64)
}

// twelveDigits rounds a number to 12 digits.
func twelveDigits(v float64) float64 {
	out, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	return out
}

func orNull(v string) *string {
	if v == "" {
		return nil
	}
	return &v
}

// dateText is a date given as yyyymmdd in the form of records; nil for NaN.
func dateText(v float64) *string {
	if math.IsNaN(v) {
		return nil
	}
	text := string(record.DateOf(uint32(v)))
	return &text
}
