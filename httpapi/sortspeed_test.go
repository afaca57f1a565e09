package httpapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSortBySpeed walks lists of what runs in the order of the speeds their rows have, and compares with sorting the rows of the
// same list in the order of slugs: unknown speeds last, ties by slug.
func TestSortBySpeed(t *testing.T) {
	s := shippedService(t)
	for _, list := range []string{"models?fits=nvidia-rtx-4090", "models?fits=apple-m2&context=16384&family=qwen,llama", "hardware?runs=qwen3-32b&prefer=measured", "hardware?runs=qwen3-8b&vendor=intel"} {
		type row struct {
			Slug string
			Fit  struct{ TPS *float64 }
		}
		var rows []row
		unknown := 0
		for _, raw := range s.walk(t, "/api/v1/"+list+"&limit=200&sort=slug").records {
			var r row
			if err := json.Unmarshal(raw, &r); err != nil {
				t.Fatal(err)
			}
			if rows = append(rows, r); r.Fit.TPS == nil {
				unknown++
			}
		}
		t.Logf("%s: %d rows, %d of unknown speed", list, len(rows), unknown)
		for _, by := range []string{"tps", "-tps"} {
			slices.SortStableFunc(rows, func(a, b row) int {
				x, y := a.Fit.TPS, b.Fit.TPS
				switch {
				case x == nil && y == nil:
					return strings.Compare(a.Slug, b.Slug)
				case y == nil:
					return -1
				case x == nil:
					return 1
				case *x == *y:
					return strings.Compare(a.Slug, b.Slug)
				case (*x < *y) == (by == "tps"):
					return -1
				}
				return 1
			})
			var want []string
			for _, r := range rows {
				want = append(want, r.Slug)
			}
			for _, limit := range []string{"17", "200"} {
				path := "/api/v1/" + list + "&limit=" + limit + "&sort=" + by
				if got := s.walk(t, path).names; !slices.Equal(got, want) {
					t.Errorf("GET %s: -want +got\n%s", path, cmp.Diff(want, got))
				}
			}
		}
	}
	for path, want := range map[string]string{
		"/api/v1/models?sort=-tps":                 "needs fits: it sorts by the field fit",
		"/api/v1/hardware?sort=tps":                "needs runs: it sorts by the field fit",
		"/api/v1/models?sort=tps&fits=no-such-gpu": "",
	} {
		got := s.ask(t, "GET", path)
		var p Problem
		if err := json.Unmarshal(got.body, &p); err != nil || got.status != http.StatusBadRequest || len(p.Errors) != 1 {
			t.Errorf("GET %s: %d %s", path, got.status, got.body)
		} else if want != "" && p.Errors[0].Detail != want {
			t.Errorf("GET %s: %q, want %q", path, p.Errors[0].Detail, want)
		}
	}
	// A cursor is bound to what runs: the speeds of another context are another order.
	first := s.list(t, "/api/v1/models?fits=nvidia-rtx-4090&sort=-tps&limit=5")
	other := strings.Replace(*first.Links.Next, "fits=nvidia-rtx-4090", "fits=nvidia-rtx-4090&context=16384", 1)
	if got := s.ask(t, "GET", other); got.status != http.StatusBadRequest {
		t.Errorf("GET %s: %d, want 400", other, got.status)
	}
	files := s.ask(t, "GET", "/api/v1/models?fits=nvidia-rtx-4090&sort=-tps&format=csv&limit=5&fields=slug")
	for _, raw := range first.Data {
		var r struct{ Slug string }
		if err := json.Unmarshal(raw, &r); err != nil || !strings.Contains(string(files.body), r.Slug) {
			t.Errorf("the file lacks %s: %s", r.Slug, files.body)
		}
	}
}
