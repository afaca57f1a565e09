package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"modeldex/httpapi/rows"
)

// askData asks and decodes the member data.
func askData[T any](t *testing.T, s *service, path string) (out T) {
	t.Helper()
	a := s.ask(t, http.MethodGet, path)
	var page struct{ Data T }
	if err := json.Unmarshal(a.body, &page); a.status != http.StatusOK || err != nil {
		t.Fatalf("GET %s = %d, %v: %.300s", path, a.status, err, a.body)
	}
	return page.Data
}

// TestComparable: the shipped dataset answers how fast a card is without what cannot be compared.
func TestComparable(t *testing.T) {
	s := shippedService(t)
	t.Run("fastest of a card", func(t *testing.T) {
		rows := askData[[]rows.Benchmark](t, s, "/api/v1/benchmarks?hardware=nvidia-rtx-3090&settings=single_stream&sort=-generation_tps&limit=10")
		if len(rows) != 10 {
			t.Fatalf("%d rows, want 10", len(rows))
		}
		for _, r := range rows {
			batch := r.Concurrency != nil && *r.Concurrency != 1 || r.RateBasis != nil && *r.RateBasis != "decode"
			if batch || r.HardwareCount != 1 || r.SpeculativeDecoding != nil && *r.SpeculativeDecoding || r.PartialOffload != nil && *r.PartialOffload {
				t.Errorf("%s is a batch total, of several devices, with speculation or offloaded: %+v", r.ID, r)
			}
		}
	})
	t.Run("behind a long prompt", func(t *testing.T) {
		const long = "bm-092897b8d2e9"
		row := askData[rows.Benchmark](t, s, "/api/v1/benchmarks/"+long)
		if row.NPrompt == nil || *row.NPrompt < 30_000 || row.RateBasis == nil || *row.RateBasis != "decode" {
			t.Fatalf("%s is another run now: %+v", long, row)
		}
		if rows := askData[[]rows.Benchmark](t, s, "/api/v1/benchmarks?settings=single_stream&id="+long); len(rows) != 0 {
			t.Errorf("%s is a single stream from an empty cache", long)
		}
		mixed := s.ask(t, http.MethodGet, "/api/v1/benchmarks?sort=-generation_tps&limit=1&model="+string(row.Model)+"&tool="+string(row.Tool))
		if want := `{"setting":"n_prompt","value":">1200","count":`; !strings.Contains(string(mixed.body), want) {
			t.Errorf("the notice mixed_settings has not %s: %.2000s", want, mixed.body)
		}
		list := "/explore/benchmarks?model=" + string(row.Model) + "&tool=" + string(row.Tool)
		if page := s.ask(t, http.MethodGet, list, "Accept", "text/html"); !strings.Contains(string(page.body), "prompt of 31,834 tokens") {
			t.Errorf("%s does not say that a prompt of 31,834 tokens came first", list)
		}
	})
	t.Run("variants", func(t *testing.T) {
		count := func(more string) map[string]int {
			out := map[string]int{}
			for _, r := range askData[[]rows.Benchmark](t, s, "/api/v1/benchmarks?hardware=apple-m3-max&limit=500"+more) {
				out[string(r.Hardware)]++
			}
			return out
		}
		all, own := count(""), count("&include_variants=false")
		if all["apple-m3-max-40gpu"] == 0 || all["apple-m3-max"] != own["apple-m3-max"] || len(own) != 1 {
			t.Errorf("with variants %v, without %v", all, own)
		}
	})
	t.Run("heat map", func(t *testing.T) {
		const stats = "/api/v1/benchmarks/stats?include_variants=false&limit=10&sort=-n&group_by="
		top := func(by, more string) string {
			var slugs []string
			for _, g := range askData[[]rows.Group](t, s, stats+by+more) {
				slugs = append(slugs, fmt.Sprint(g.Group[by]))
			}
			return "&" + by + "=" + strings.Join(slugs, ",")
		}
		models := top("model", "")
		devices := top("hardware", models)
		pivot := askData[rows.Pivot](t, s, "/api/v1/benchmarks/stats?include_variants=false&shape=pivot&group_by=hardware,model"+models+devices)
		if len(pivot.Rows) != 10 || len(pivot.Columns) != 10 || len(pivot.Values) != 10 || len(pivot.Values[9]) != 10 {
			t.Errorf("%d rows and %d columns, want 10 and 10", len(pivot.Rows), len(pivot.Columns))
		}
	})
}

// TestPivotIsTheList: a pivot has the figures of the list, each where its row and its column meet, and nothing elsewhere.
func TestPivotIsTheList(t *testing.T) {
	t.Parallel()
	s := newService(t, mustSmallLive(t))
	const stats = "/api/v1/benchmarks/stats?settings=all&group_by=hardware,quantization"
	list, pivot := askData[[]rows.Group](t, s, stats+"&limit=500"), askData[rows.Pivot](t, s, stats+"&shape=pivot&value=max")
	for _, g := range list {
		row, column := slices.Index(pivot.Rows, g.Group["hardware"]), slices.Index(pivot.Columns, g.Group["quantization"])
		if row < 0 || column < 0 {
			t.Errorf("the pivot has no place for %v", g.Group)
			continue
		}
		if pivot.Values[row][column] != g.Max || pivot.N[row][column] != g.N || pivot.Comparable[row][column] != g.Comparable {
			t.Errorf("%v: %v of %d values, comparable %v; the list has %v of %d, %t", g.Group, pivot.Values[row][column], pivot.N[row][column], pivot.Comparable[row][column], g.Max, g.N, g.Comparable)
		}
	}
	filled := 0
	for row, values := range pivot.Values {
		for column, v := range values {
			if v != nil {
				filled++
			} else if pivot.N[row][column] != 0 || pivot.Comparable[row][column] != nil {
				t.Errorf("row %d, column %d: no value, but %d and %v", row, column, pivot.N[row][column], pivot.Comparable[row][column])
			}
		}
	}
	if filled != len(list) || len(pivot.Rows) < 2 || len(pivot.Columns) < 2 {
		t.Errorf("%d cells of %d by %d are filled, want the %d groups of the list", filled, len(pivot.Rows), len(pivot.Columns), len(list))
	}
}
