package importer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"modeldex/snapshot"
)

func ptr[T any](v T) *T { return &v }

var arena = &snapshot.SourceConfig{SourceID: snapshot.SourceA, Name: "lmarena", Config: "text"}

// arenaViewer reads the published columns of a rating board.
func arenaViewer() *Viewer {
	return &Viewer{
		Split: "latest", Size: "size.json", Model: "model_name", Date: "leaderboard_publish_date",
		CategoryColumn: "category", Rename: map[string]string{"overall": "full"},
		Numbers: []Column{{Metric: "rating", Value: "rating", Lower: "rating_lower", Upper: "rating_upper", Rank: "rank"}},
	}
}

const arenaFeatures = `"features":[
 {"feature_idx":0,"name":"model_name","type":{"dtype":"string","_type":"Value"}},
 {"feature_idx":1,"name":"rating","type":{"dtype":"float64","_type":"Value"}},
 {"feature_idx":2,"name":"rating_lower","type":{"dtype":"float64","_type":"Value"}},
 {"feature_idx":3,"name":"rating_upper","type":{"dtype":"float64","_type":"Value"}},
 {"feature_idx":4,"name":"rank","type":{"dtype":"int64","_type":"Value"}},
 {"feature_idx":5,"name":"category","type":{"dtype":"string","_type":"Value"}},
 {"feature_idx":6,"name":"leaderboard_publish_date","type":{"dtype":"string","_type":"Value"}},
 {"feature_idx":7,"name":"tags","type":[{"dtype":"string","_type":"Value"}]}]`

func arenaRow(index int, cells string) string {
	return fmt.Sprintf(`{"row_idx":%d,"row":{%s},"truncated_cells":[]}`, index, cells)
}

func arenaPage(total int, partial bool, rows ...string) string {
	return fmt.Sprintf(`{%s,"rows":[%s],"num_rows_total":%d,"num_rows_per_page":100,"partial":%v}`, arenaFeatures, strings.Join(rows, ","), total, partial)
}

const (
	cells0 = `"model_name":"gemini-3-pro","rating":1492.0464937622653,"rating_lower":1485.8,"rating_upper":1498.2,"rank":1,"category":"overall","leaderboard_publish_date":"2026-09-13"`
	cells1 = `"model_name":"old model","rating":900,"rating_lower":null,"rating_upper":null,"rank":2.0,"category":"coding","leaderboard_publish_date":"2026-09-13"`
)

func pages(texts ...string) map[string][]byte {
	out := map[string][]byte{}
	for i, text := range texts {
		out[fmt.Sprintf("rows-%d.json", i)] = []byte(text)
	}
	return out
}

func TestReadViewer(t *testing.T) {
	c, err := ReadViewer(arena, arenaViewer(), pages(
		arenaPage(2, false, arenaRow(1, cells1)),
		arenaPage(2, false, arenaRow(0, cells0), arenaRow(1, cells1)), // overlaps
		arenaPage(2, false), // the empty page after the last
	), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := snapshot.Capture{
		TotalReported: 2,
		From:          "dataset viewer pages rows-0.json, rows-1.json, rows-2.json",
		Rows: []snapshot.Row{
			{Source: "lmarena", Config: "text", Split: "latest", Row: 2, ModelRaw: "old model", Metric: "rating", Value: ptr(900.0), Rank: ptr(2.0), Category: ptr("coding"), Date: "2026-09-13"},
			{
				Source: "lmarena", Config: "text", Split: "latest", Row: 1, ModelRaw: "gemini-3-pro", Metric: "rating", Value: ptr(1492.0464937622653),
				Lower: ptr(1485.8), Upper: ptr(1498.2), Rank: ptr(1.0), Category: ptr("full"), Date: "2026-09-13",
			},
		},
	}
	if diff := cmp.Diff(want, c, cmpopts.IgnoreFields(snapshot.Row{}, "At")); diff != "" {
		t.Errorf("ReadViewer (-want +got):\n%s", diff)
	}
}

func TestReadViewerTotals(t *testing.T) {
	size := func(rows int, estimated string, partial bool) string {
		return fmt.Sprintf(`{"size":{"config":{"num_rows":9},"splits":[
			{"dataset":"d","config":"text","split":"full","num_rows":1135923,"estimated_num_rows":null},
			{"dataset":"d","config":"text","split":"latest","num_rows":%d,"estimated_num_rows":%s}]},"partial":%v}`, rows, estimated, partial)
	}
	const part = "The dataset viewer had indexed only part of the data set, so the total is a lower bound or an estimate."
	tests := []struct {
		name, page, size string
		total            int64
		notes            []string
	}{
		{"whole", arenaPage(1, false, arenaRow(0, cells0)), "", 1, nil},
		{"whole by size", arenaPage(1, false, arenaRow(0, cells0)), size(1, "null", false), 1, nil},
		{"filtered", arenaPage(1, false, arenaRow(0, cells0)), size(7462, "null", false), 7462, []string{"1 of 7462 rows were captured."}},
		{"missing pages", arenaPage(283, false, arenaRow(0, cells0)), "", 283, []string{"1 of 283 rows were captured."}},
		{"partly indexed", arenaPage(1, true, arenaRow(0, cells0)), "", 1, []string{part}},
		{"partly indexed, estimated", arenaPage(1, true, arenaRow(0, cells0)), size(1, "5000", true), 5000, []string{part, "1 of 5000 rows were captured."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var size []byte
			if tt.size != "" {
				size = []byte(tt.size)
			}
			c, err := ReadViewer(arena, arenaViewer(), pages(tt.page), size)
			if err != nil {
				t.Fatal(err)
			}
			if c.TotalReported != tt.total {
				t.Errorf("TotalReported = %d, want %d", c.TotalReported, tt.total)
			}
			if diff := cmp.Diff(tt.notes, c.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadViewerRefuses(t *testing.T) {
	good := arenaPage(2, false, arenaRow(0, cells0))
	swap := func(old, with string) string { return strings.Replace(good, old, with, 1) }
	tests := []struct {
		name  string
		pages []string
		size  string
		want  string
	}{
		{"error", []string{`{"error":"The server is busier than usual and the response is not ready yet. Please retry later."}`}, "", "rows-0.json: the viewer answered an error: The server is busier"},
		{"error with cause", []string{`{"error":"Not found.","cause_exception":"X","cause_message":"gone","cause_traceback":["a"]}`}, "", "Not found. gone"},
		{"plain text", []string{"Internal Server Error"}, "", "rows-0.json: must be a page of the dataset viewer"},
		{"first rows", []string{`{"dataset":"d","config":"c","split":"s","features":[],"rows":[],"truncated":true}`}, "", "num_rows_total: must be given on a page"},
		{"no features", []string{`{"rows":[],"num_rows_total":1,"num_rows_per_page":100,"partial":false}`}, "", "features: must be given"},
		{"no partial", []string{swap(`,"partial":false`, "")}, "", "partial: must be given"},
		{"column gone", []string{swap(`"name":"rating_lower"`, `"name":"score_lower"`)}, "", `features: must have a column "rating_lower"`},
		{"totals differ", []string{good, arenaPage(3, false)}, "", "num_rows_total: must be the same on all pages, 2 before, got 3"},
		{"row in two forms", []string{good, arenaPage(2, false, arenaRow(0, cells1))}, "", "row 0: is on two pages with different cells"},
		{"cut cell", []string{swap(`"truncated_cells":[]`, `"truncated_cells":["model_name"]`)}, "", "row 0: model_name: was cut by the viewer"},
		{"number as text", []string{swap(`"rating":1492.0464937622653`, `"rating":"1492"`)}, "", `row 0: rating: must be a number, got "1492"`},
		{"text as number", []string{swap(`"model_name":"gemini-3-pro"`, `"model_name":5`)}, "", "row 0: model_name: must be text, got 5"},
		{"no name", []string{swap(`"model_name":"gemini-3-pro"`, `"model_name":null`)}, "", "row 0: model_name: must not be empty"},
		{"no index", []string{swap(`"row_idx":0,`, "")}, "", "rows[0]: row_idx: must be at least 0"},
		{"size error", []string{good}, `{"error":"Not found."}`, "size.json: the viewer answered an error: Not found."},
		{"size of another split", []string{good}, `{"size":{"splits":[{"config":"text","split":"full","num_rows":1}]},"pending":[{}],"failed":[]}`, `must hold config "text", split "latest"; 1 pending, 0 failed`},
		{"size of nothing", []string{good}, `{"partial":false}`, "size: must be given"},
		{"size not json", []string{good}, `oops`, "size.json: must be a size answer"},
		{"member twice", []string{swap(`"num_rows_total":2`, `"num_rows_total":2,"num_rows_total":2`)}, "", "duplicate"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var size []byte
			if tt.size != "" {
				size = []byte(tt.size)
			}
			c, err := ReadViewer(arena, arenaViewer(), pages(tt.pages...), size)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("ReadViewer = %v, want %q", err, tt.want)
			}
			if len(c.Rows) > 0 {
				t.Errorf("ReadViewer gave %d rows beside its error", len(c.Rows))
			}
		})
	}
}

// TestReadViewerWide reads a table with one column a task, and a category given as a label.
func TestReadViewerWide(t *testing.T) {
	v := &Viewer{
		Split: "test", Model: "model",
		Numbers: []Column{
			{Metric: "score", Value: "AMPS_Hard", Category: "Mathematics", Task: "AMPS_Hard"},
			{Metric: "score", Value: "typos", Category: "Language", Task: "typos"},
		},
	}
	page := `{"features":[{"name":"model","type":{"_type":"ClassLabel","names":["m0","m1"]}},{"name":"AMPS_Hard","type":{}},{"name":"typos","type":{}}],
		"rows":[{"row_idx":0,"row":{"model":1,"AMPS_Hard":48.5,"typos":null},"truncated_cells":[]}],"num_rows_total":1,"num_rows_per_page":100,"partial":false}`
	c, err := ReadViewer(arena, v, pages(page), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []snapshot.Row{
		{Source: "lmarena", Config: "text", Split: "test", Row: 1, ModelRaw: "m1", Metric: "score", Value: ptr(48.5), Category: ptr("Mathematics"), Task: ptr("AMPS_Hard")},
		{Source: "lmarena", Config: "text", Split: "test", Row: 1, ModelRaw: "m1", Metric: "score", Category: ptr("Language"), Task: ptr("typos")},
	}
	if diff := cmp.Diff(want, c.Rows, cmpopts.IgnoreFields(snapshot.Row{}, "At")); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	bad := strings.Replace(page, `"model":1`, `"model":2`, 1)
	if _, err := ReadViewer(arena, v, pages(bad), nil); err == nil || !strings.Contains(err.Error(), "must be a label of the column") {
		t.Errorf("ReadViewer of an unknown label = %v", err)
	}
}

// FuzzReadViewer: whatever the address answers, rows that come out are usable.
func FuzzReadViewer(f *testing.F) {
	f.Add(arenaPage(2, false, arenaRow(0, cells0), arenaRow(1, cells1)), `{"size":{"splits":[]}}`)
	f.Add(`{"error":"Not found."}`, "")
	f.Add("Internal Server Error", "null")
	f.Fuzz(func(t *testing.T, page, size string) {
		c, err := ReadViewer(arena, arenaViewer(), pages(page), []byte(size))
		if err != nil {
			return
		}
		for _, r := range c.Rows {
			if r.ModelRaw == "" || r.Row < 1 || c.TotalReported < 0 {
				t.Fatalf("row %+v, total %d", r, c.TotalReported)
			}
		}
	})
}
