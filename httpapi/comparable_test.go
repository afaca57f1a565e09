package httpapi

import (
	"encoding/json"
	"net/http"
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
}
