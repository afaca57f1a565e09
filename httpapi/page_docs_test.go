package httpapi

import (
	"bytes"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"modeldex/httpapi/encoding"
)

// TestDocumentForms holds that every coding of every document says the same, also from the cache.
func TestDocumentForms(t *testing.T) {
	s := smallService(t)
	for address := range s.pages.documents {
		address = strings.Replace("/"+address, "/api", "/api/v1", 1)
		plain := s.ask(t, "GET", address, "Authorization", "")
		tags := map[string]bool{}
		for range 2 {
			for c := range encoding.Count {
				a := s.ask(t, "GET", address, "Authorization", "", "Accept-Encoding", encoding.Names[c])
				if a.status != http.StatusOK || !bytes.Equal(a.body, plain.body) {
					t.Errorf("%s as %s: status %d, %d bytes, want the %d of the plain form", address, encoding.Names[c], a.status, len(a.body), len(plain.body))
				}
				tags[a.header.Get("ETag")] = true
			}
			s.open.Wait()
		}
		if len(plain.body) > encoding.CompressFrom && len(tags) != int(encoding.Count) {
			t.Errorf("%s has the tags %v, want one for each coding", address, tags)
		}
	}
}

// TestAssets: the files of a page are kept for a year without a question, because their addresses name their content.
func TestAssets(t *testing.T) {
	s := smallService(t)
	page := s.ask(t, "GET", "/", "Authorization", "", "Accept", "text/html")
	found := regexp.MustCompile(`"(/assets/[^"]+)"`).FindAllSubmatch(page.body, -1)
	if len(found) == 0 {
		t.Fatal("the front page has no assets")
	}
	for _, m := range found {
		a := s.ask(t, "GET", string(m[1]), "Authorization", "")
		if got := a.header.Get("Cache-Control"); a.status != http.StatusOK || got != "public, max-age=31536000, immutable" {
			t.Errorf("%s: status %d, Cache-Control %q", m[1], a.status, got)
		}
	}
}
