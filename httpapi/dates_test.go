package httpapi

import (
	"encoding/json"
	"testing"
)

// TestDatesOfLessThanADay compares ranges of days with a plain loop: a date that is only a year or a month counts as its
// first day, so a whole year has it, and no list leaves it out without saying so.
func TestDatesOfLessThanADay(t *testing.T) {
	s := shippedService(t)
	for list, field := range map[string]string{"models": "release_date", "hardware": "release_date", "tools": "first_release", "benchmarks": "run_date"} {
		var dates []string
		for _, raw := range s.walk(t, "/api/v1/"+list+"?limit=200&fields="+field).records {
			var row map[string]*string
			if err := json.Unmarshal(raw, &row); err != nil {
				t.Fatal(err)
			}
			if d := row[field]; d != nil {
				dates = append(dates, *d+"-01-01"[:len("2006-01-02")-len(*d)])
			}
		}
		first, last := "released_since", "released_until"
		if list == "benchmarks" {
			first, last = "since", "until"
		}
		for _, days := range [][2]string{
			{"2023-01-01", "2023-12-31"},
			{"2023-01-01", "2023-01-01"},
			{"2022-12-31", "2023-01-01"},
			{"2023-01-02", "2023-12-31"},
			{"2025-06-01", "2025-06-30"},
			{"2025-06-02", "2025-06-30"},
			{"2024-01-01", ""},
			{"2024-02-01", ""},
			{"", "2024-01-01"},
			{"", "2023-12-31"},
		} {
			want, address := 0, "/api/v1/"+list+"?limit=1"
			for _, d := range dates {
				if days[0] <= d && (days[1] == "" || d <= days[1]) {
					want++
				}
			}
			for i, name := range []string{first, last} {
				if days[i] != "" {
					address += "&" + name + "=" + days[i]
				}
			}
			if got := *s.list(t, address).Meta.Total; got != want {
				t.Errorf("GET %s: total = %d, want %d", address, got, want)
			}
		}
	}
}
