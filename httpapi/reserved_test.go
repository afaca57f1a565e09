package httpapi

import (
	"strings"
	"testing"

	"modeldex/dataset"
)

// TestReservedSlugs: every word that an address has in the place of a slug is reserved, so that no record has it.
func TestReservedSlugs(t *testing.T) {
	t.Parallel()
	words := 0
	for i := range routes {
		rest, ok := strings.CutPrefix(routes[i].path, "/api/v1/")
		list, word, nested := strings.Cut(rest, "/")
		if !ok || !nested || !strings.Contains(" models hardware tools benchmarks ", " "+list+" ") || strings.ContainsAny(word, "*+:/") {
			continue
		}
		if words++; !dataset.Slug(word).Reserved() {
			t.Errorf("a record with slug %q could not be read at %s, and the slug is not reserved", word, routes[i].path)
		}
	}
	if words < 5 {
		t.Errorf("%d addresses have a word in the place of a slug, want five or more", words)
	}
}
