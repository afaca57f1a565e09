package httpapi

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"regexp"
	"testing"

	"modeldex/httpapi/encoding"
	"modeldex/httpapi/pages"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// TestDocumentForms holds that every coding of every document says the same.
func TestDocumentForms(t *testing.T) {
	t.Parallel()
	for address, d := range newPages(pages.Config{}).documents {
		plain := d.response(nil)
		if plain.coding != encoding.Identity || len(plain.body) == 0 {
			t.Errorf("/%s: without Accept-Encoding coding %s, %d bytes", address, encoding.Names[plain.coding], len(plain.body))
		}
		tags := map[string]bool{}
		for c := range encoding.Count {
			e := d.response([]byte(encoding.Names[c]))
			if got := decode(t, e); !bytes.Equal(got, plain.body) {
				t.Errorf("/%s as %s decodes to %d bytes, want the %d of the plain form", address, encoding.Names[c], len(got), len(plain.body))
			}
			if e.coding != encoding.Identity && tags[e.etag] || len(plain.body) > encoding.CompressFrom && e.coding != c {
				t.Errorf("/%s as %s: coding %s, tag %s", address, encoding.Names[c], encoding.Names[e.coding], e.etag)
			}
			tags[e.etag] = true
		}
	}
}

// TestAssets: the files of a page are kept for a year without a question, because their addresses name their content.
func TestAssets(t *testing.T) {
	t.Parallel()
	s := newService(t, mustSmallLive(t))
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

func decode(t *testing.T, e *response) []byte {
	t.Helper()
	var r io.Reader = bytes.NewReader(e.body)
	switch e.coding {
	case encoding.Zstandard:
		z, err := zstd.NewReader(r)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		r = z
	case encoding.Brotli:
		r = brotli.NewReader(r)
	case encoding.Gzip:
		z, err := gzip.NewReader(r)
		if err != nil {
			t.Fatal(err)
		}
		r = z
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func BenchmarkNewPages(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		newPages(pages.Config{})
	}
}
