package suggest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestBound: the searches of one request compare a bounded number of names; the first is made whatever its length.
func TestBound(t *testing.T) {
	names := make([]string, 2000)
	for i := range names {
		names[i] = fmt.Sprintf("name-%04d", i)
	}
	var s Suggester
	for i, want := range []string{"name-0007", "", ""} {
		if got := s.Nearest("name-0007x", names); got != want {
			t.Errorf("search %d: %q, want %q", i+1, got, want)
		}
	}
	if s.Compared != len(names) || s.Searches != 1 {
		t.Errorf("%d names are compared in %d searches, want %d in 1", s.Compared, s.Searches, len(names))
	}
	long := slices.Concat(names, names)
	if got := new(Suggester).Nearest("name-0007x", long); got == "" {
		t.Error("the first search of a request is not made")
	}
	if got := new(Suggester).Near(strings.Repeat("name-0007", 60), names, 3); got != nil {
		t.Errorf("a word longer than any name is near %q", got)
	}
}

// TestMeant: what was meant is found by another spelling, by the name of another API and by near letters, and is one of the
// names there are.
func TestMeant(t *testing.T) {
	names := []string{"hardware", "min_vram_gb", "limit"}
	for sent, want := range map[string]string{"gpu": "hardware", "Hardware": "hardware", "minVramGb": "min_vram_gb", "vram_gb": "min_vram_gb", "filter[hardware]": "hardware", "hardwear": "hardware", "page": "", "per_page": "limit"} {
		if got := new(Suggester).Parameter(sent, names); got != want {
			t.Errorf("parameter %s: %q, want %q", sent, got, want)
		}
	}
	fields := []string{"generation_tps", "-generation_tps", "slug"}
	for sent, want := range map[string]string{"tps": "generation_tps", "-tps": "-generation_tps", "id": "slug", "slg": "slug"} {
		if got := new(Suggester).Field(sent, fields); got != want {
			t.Errorf("field %s: %q, want %q", sent, got, want)
		}
	}
	paths := slices.Values([]string{"/api/v1/models", "/api/v1/models/*", "/api/v1/hardware", "/docs"})
	for path, want := range map[string]string{"/v1/model/a%b": "/api/v1/models/a%25b", "/api/v2/gpus": "/api/v1/hardware", "/swagger.json": "/openapi.json", "/hardwear": "/api/v1/hardware", "/": ""} {
		if got := new(Suggester).Address(path, paths, []string{"models", "hardware"}); got != want {
			t.Errorf("address %s: %q, want %q", path, got, want)
		}
	}
}
