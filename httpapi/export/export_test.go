package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
)

// sample is a row with every type of column.
type sample struct {
	Slug   string         `json:"slug"`
	Note   *string        `json:"note"`
	Count  int            `json:"count"`
	Size   *int64         `json:"size" jsonschema_extras:"unit=bytes"`
	Speed  float64        `json:"speed" jsonschema_extras:"unit=tokens/s"`
	Ratio  *float64       `json:"ratio"`
	On     bool           `json:"on"`
	Maybe  *bool          `json:"maybe"`
	Tags   []string       `json:"tags"`
	Facts  []fact         `json:"facts"`
	Nested *nested        `json:"nested" jsonschema:"nullable"`
	Open   map[string]any `json:"open"`
	Last   struct {
		Deep struct {
			Text string `json:"text"`
		} `json:"deep"`
	} `json:"last"`
}

type fact struct {
	Name string `json:"name"`
}

type nested struct {
	Name  string   `json:"name"`
	Texts []string `json:"texts"`
	Many  int64    `json:"many"`
}

var sampleSchema = SchemaOf[sample]("samples")

func about() About {
	return About{Title: "samples", Version: "1", Digest: strings.Repeat("ab", 32), Licence: "MIT"}
}

func TestSchema(t *testing.T) {
	want := []Column{
		{"slug", Text, false},
		{"note", Text, true},
		{"count", Integer, false},
		{"size", Integer, true},
		{"speed", Number, false},
		{"ratio", Number, true},
		{"on", Flag, false},
		{"maybe", Flag, true},
		{"tags", Texts, false},
		{"facts", Any, false},
		{"nested.name", Text, true},
		{"nested.texts", Texts, true},
		{"nested.many", Integer, true},
		{"open", Any, false},
		{"last.deep.text", Text, false},
	}
	if diff := cmp.Diff(want, sampleSchema.Columns); diff != "" {
		t.Errorf("columns, -want +got:\n%s", diff)
	}
	names := func(s *Schema) (out []string) {
		for _, c := range s.Columns {
			out = append(out, c.Name)
		}
		return out
	}
	if got, want := names(sampleSchema.Select([]string{"slug", "nested", "last.deep.text"})), "slug nested.name nested.texts nested.many last.deep.text"; strings.Join(got, " ") != want {
		t.Errorf("selected %q, want %q", got, want)
	}
	if got := names(sampleSchema.Without("nested").Without("slug")); len(got) != 11 || got[0] != "note" {
		t.Errorf("without nested and slug: %q", got)
	}
	if got := names(sampleSchema.Replace("open", Column{Name: "open.a"}, Column{Name: "open.b"})); got[13] != "open.a" || got[14] != "open.b" || got[15] != "last.deep.text" {
		t.Errorf("with open replaced: %q", got)
	}
}

// texts are what makes trouble in files.
var texts = []string{
	"", "plain", "a,b", `say "hi"`, "two\nlines", "cr\r\nlf", " space", "space ", "'", "'quoted'", "=1+1", "+49", "-5", "@sum", "\tx", "\rx", "\nx",
	"'=1", "''-2", "＝full", "null", "NULL", "é ü 漢字 🚀", "\u2028", "\x00\x01", "\\N", "0123", "1e5", "true", `{"a":1}`, "<b>&amp;</b>", strings.Repeat("long ", 500),
}

func randomSample(rnd *rand.Rand) *sample {
	text := func() string { return texts[rnd.IntN(len(texts))] }
	list := func() []string {
		out := make([]string, rnd.IntN(4))
		for i := range out {
			out[i] = text()
		}
		return out
	}
	s := &sample{Slug: text(), Count: rnd.Int() - rnd.Int(), Speed: rnd.NormFloat64() * 1e6, On: rnd.IntN(2) == 0, Tags: list(), Facts: []fact{}, Open: map[string]any{}}
	if rnd.IntN(2) == 0 {
		n, size, ratio, flag := text(), rnd.Int64(), rnd.Float64()/3, rnd.IntN(2) == 0
		s.Note, s.Size, s.Ratio, s.Maybe = &n, &size, &ratio, &flag
	}
	for range rnd.IntN(3) {
		s.Facts, s.Open[text()] = append(s.Facts, fact{text()}), text()
	}
	if rnd.IntN(2) == 0 {
		s.Nested = &nested{text(), list(), rnd.Int64()}
	}
	s.Last.Deep.Text = text()
	return s
}

// randomRows are rows and their JSON.
func randomRows(t *testing.T, n int) [][]byte {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	out := make([][]byte, n)
	for i := range out {
		b, err := json.Marshal(randomSample(rnd))
		if err != nil {
			t.Fatal(err)
		}
		out[i] = b
	}
	return out
}

func rowsOf(list [][]byte) Rows {
	return func() []byte {
		if len(list) == 0 {
			return nil
		}
		row := list[0]
		list = list[1:]
		return row
	}
}

func fileOf(t *testing.T, f Format, list [][]byte) []byte {
	t.Helper()
	return fileIn(t, f, sampleSchema, list)
}

func fileIn(t *testing.T, f Format, s *Schema, list [][]byte) []byte {
	t.Helper()
	r, err := NewReader(f, s, about(), rowsOf(list), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRoundTrip: whatever rows are written in a format can be read back from it.
func TestRoundTrip(t *testing.T) {
	list := randomRows(t, 500)
	var want []map[string]any
	for _, row := range list {
		want = append(want, flat(t, row))
	}
	for _, f := range []Format{CSV, NDJSON, Parquet} {
		t.Run(f.String(), func(t *testing.T) {
			file := fileOf(t, f, list)
			var got []map[string]any
			switch f {
			case CSV:
				got = readCSV(t, file)
			case NDJSON:
				for line := range bytes.Lines(file) {
					got = append(got, flat(t, line))
				}
			case Parquet:
				got = readParquet(t, file)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if !bytes.Equal(file, fileOf(t, f, list)) {
				t.Error("the same rows gave other bytes")
			}
		})
	}
}

// TestLongTexts: texts longer than a page are read as they were written, wherever they are among others.
func TestLongTexts(t *testing.T) {
	long := `["` + strings.Repeat("x", 3*pageSize) + `"]`
	for _, nullable := range []bool{false, true} {
		columns := NewSchema("samples", []Column{{Name: "slug"}, {Name: "facts", Type: Any, Nullable: nullable}})
		want := []string{long, "[]", long, long + " ", `{"a":1}`}
		for i := range 150 {
			want = append(want, fmt.Sprint(i))
		}
		want = append(want, long, "7")
		var rows [][]byte
		for _, facts := range want {
			rows = append(rows, []byte(`{"slug":"s","facts":`+facts+`}`))
		}
		if nullable {
			rows, want = slices.Insert(rows, 2, []byte(`{"slug":"s","facts":null}`), []byte(`{"slug":"s"}`)), slices.Insert(want, 2, "null", "null")
		}
		file := fileIn(t, Parquet, columns, rows)
		f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, group := range f.RowGroups() {
			r := group.Rows()
			for buf := make([]parquet.Row, 1); ; {
				n, err := r.ReadRows(buf)
				if n == 1 && buf[0][1].IsNull() {
					got = append(got, "null")
				} else if n == 1 {
					got = append(got, string(buf[0][1].ByteArray()))
				}
				if err != nil {
					break
				}
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
		for i := range want {
			want[i] = strings.TrimSpace(want[i])
		}
		if !slices.Equal(got, want) {
			t.Errorf("nullable=%v: %d values that are not the %d that were written", nullable, len(got), len(want))
		}
	}
}

// TestFailedRow: an encoder that has failed goes on failing, and its file is not closed.
func TestFailedRow(t *testing.T) {
	columns := NewSchema("samples", []Column{{Name: "slug"}, {Name: "size", Type: Integer, Nullable: true}, {Name: "facts", Type: Any}})
	for row, want := range map[string]string{
		`{"slug":"s","size":7}`:                "facts: must not be null",
		`{"slug":"s","size":0.5,"facts":[]}`:   "size",
		`{"size":"seven","slug":1,"facts":[]}`: "slug",
		`{"facts":[],"slug":null}`:             "slug: must not be null",
	} {
		enc, err := NewEncoder(io.Discard, Parquet, columns, about())
		if err != nil {
			t.Fatal(err)
		}
		good := []byte(`{"slug":"s","facts":[]}`)
		if err := enc.Encode(good); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{enc.Encode([]byte(row)), enc.Encode(good), enc.Close()} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", row, err, want)
			}
		}
	}
}

// flat is a row as columns: texts, numbers in their JSON spelling, flags, lists and objects as JSON.
func flat(t *testing.T, row []byte) map[string]any {
	t.Helper()
	var members map[string]any
	dec := json.NewDecoder(bytes.NewReader(row))
	dec.UseNumber()
	if err := dec.Decode(&members); err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	for _, c := range sampleSchema.Columns {
		v := any(members)
		for part := range strings.SplitSeq(c.Name, ".") {
			m, _ := v.(map[string]any)
			v = m[part]
		}
		out[c.Name] = normal(t, c, v)
	}
	return out
}

func normal(t *testing.T, c Column, v any) any {
	t.Helper()
	switch v := v.(type) {
	case json.Number:
		if c.Type == Number {
			f, err := v.Float64()
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		return string(v)
	case []any, map[string]any:
		return jsonOf(t, v)
	default:
		return v
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// readCSV is a strict reader of RFC 4180 that tells "" from an empty cell.
func readCSV(t *testing.T, file []byte) (out []map[string]any) {
	t.Helper()
	table, err := parseRFC4180(string(file))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range sampleSchema.Columns {
		if got := table[0][i].text; got != c.Name {
			t.Errorf("header %d is %q, want %q", i, got, c.Name)
		}
	}
	for _, line := range table[1:] {
		row := map[string]any{}
		for i, c := range sampleSchema.Columns {
			row[c.Name] = cellValue(t, c, line[i])
		}
		out = append(out, row)
	}
	return out
}

// TestStartsFormula: text that a spreadsheet would run is known by its first character, and no other text.
func TestStartsFormula(t *testing.T) {
	for text, want := range map[string]bool{
		"=1": true, "+1": true, "-1": true, "@a": true, "\t=1": true, "\r": true, "＝1": true, "＋1": true, "－1": true, "＠a": true, "'=1": true, "''@": true,
		"": false, "'": false, "a=1": false, "'a": false, " =1": false, "ｗｉｄｅ": false, "（full width）": false, "１": false,
	} {
		if got := startsFormula(text); got != want {
			t.Errorf("startsFormula(%q) = %t, want %t", text, got, want)
		}
	}
}

func cellValue(t *testing.T, c Column, cell csvCell) any {
	t.Helper()
	switch {
	case cell.text == "" && !cell.quoted:
		return nil
	case c.Type == Text:
		if startsFormula(cell.text) {
			if !strings.HasPrefix(cell.text, "'") {
				t.Errorf("%s: a spreadsheet runs %q", c.Name, cell.text)
			}
			return cell.text[1:]
		}
		return cell.text
	case c.Type == Flag:
		return cell.text == "true"
	case c.Type == Texts || c.Type == Any:
		var v any
		if err := json.Unmarshal([]byte(cell.text), &v); err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		return jsonOf(t, v)
	default:
		return normal(t, c, json.Number(cell.text))
	}
}

type csvCell struct {
	text   string
	quoted bool
}

// parseRFC4180 follows the grammar of RFC 4180, section 2, to the letter.
func parseRFC4180(s string) (table [][]csvCell, err error) {
	var line []csvCell
	for s != "" {
		var cell csvCell
		if strings.HasPrefix(s, `"`) {
			cell.quoted, s = true, s[1:]
			for {
				i := strings.IndexByte(s, '"')
				if i < 0 {
					return nil, errors.New("a quoted cell does not end")
				}
				cell.text += s[:i]
				if s = s[i+1:]; !strings.HasPrefix(s, `"`) {
					break
				}
				cell.text, s = cell.text+`"`, s[1:]
			}
		} else {
			i := strings.IndexAny(s, ",\r\n\"")
			if i < 0 {
				return nil, errors.New("the last line does not end")
			}
			cell.text, s = s[:i], s[i:]
		}
		line = append(line, cell)
		switch {
		case strings.HasPrefix(s, ","):
			s = s[1:]
		case strings.HasPrefix(s, "\r\n"):
			s = s[2:]
			if len(table) > 0 && len(line) != len(table[0]) {
				return nil, fmt.Errorf("line %d has %d cells, want %d", len(table)+1, len(line), len(table[0]))
			}
			table, line = append(table, line), nil
		default:
			return nil, fmt.Errorf("line %d: neither comma nor CR LF behind a cell: %q", len(table)+1, s[:min(20, len(s))])
		}
	}
	return table, nil
}

func readParquet(t *testing.T, file []byte) (out []map[string]any) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		for {
			buffer := make([]parquet.Row, 100)
			n, err := rows.ReadRows(buffer)
			for _, row := range buffer[:n] {
				out = append(out, parquetRow(t, row))
			}
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func parquetRow(t *testing.T, row parquet.Row) map[string]any {
	t.Helper()
	out := map[string]any{}
	row.Range(func(i int, values []parquet.Value) bool {
		c := sampleSchema.Columns[i]
		out[c.Name] = parquetValue(t, c, values)
		return true
	})
	return out
}

func parquetValue(t *testing.T, c Column, values []parquet.Value) any {
	t.Helper()
	if v := values[0]; v.IsNull() && (c.Type != Texts || c.Nullable && v.DefinitionLevel() == 0) {
		return nil
	}
	switch v := values[0]; c.Type {
	case Text:
		return string(v.ByteArray())
	case Integer:
		return strconv.FormatInt(v.Int64(), 10)
	case Number:
		return v.Double()
	case Flag:
		return v.Boolean()
	case Texts:
		list := []any{}
		for _, v := range values {
			if !v.IsNull() {
				list = append(list, string(v.ByteArray()))
			}
		}
		return jsonOf(t, list)
	default:
		var parsed any
		if err := json.Unmarshal(v.ByteArray(), &parsed); err != nil {
			t.Fatal(err)
		}
		return jsonOf(t, parsed)
	}
}

// TestParquetMetadata: a file says what it is of, and what its columns are.
func TestParquetMetadata(t *testing.T) {
	file := fileOf(t, Parquet, nil)
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"modeldex.title": "samples", "modeldex.dataset_version": "1", "modeldex.dataset_digest": strings.Repeat("ab", 32), "modeldex.licence": "MIT",
	} {
		if got, ok := f.Lookup(name); !ok || got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for i, field := range f.Schema().Fields() {
		if c := sampleSchema.Columns[i]; field.Name() != c.Name || field.Optional() != c.Nullable {
			t.Errorf("column %d is %s, optional %t, want %s, %t", i, field.Name(), field.Optional(), c.Name, c.Nullable)
		}
	}
}
