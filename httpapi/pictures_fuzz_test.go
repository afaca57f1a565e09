package httpapi

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// FuzzPictures asks for charts and feeds by any name with any parameters. What comes is well-formed
// XML without a script, of bounded size; or a status of a client's mistake.
func FuzzPictures(f *testing.F) {
	s := newService(f, mustSmallLive(f))
	for _, seed := range [][2]string{
		{"charts/hardware-frontier.svg", "hardware=nvidia-rtx-4090"},
		{"charts/model-speeds.svg", "model=llama-2-7b&theme=dark"},
		{"charts/compare.svg", "hardware=nvidia-rtx-4090,apple-m2-max"},
		{"charts/model-speeds.svg", "model=%3Cscript%3E"},
		{"feeds/changes.atom", ""},
		{"feeds/benchmarks.json", "x=1"},
		{"feeds/models/llama-2-7b/benchmarks.atom", ""},
		{"feeds/families/%E2%80%AE/benchmarks.atom", ""},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, path, query string) {
		top, _, _ := strings.Cut(path, "/")
		if !slices.Contains([]string{"charts", "feeds"}, top) {
			t.Skip()
		}
		a := s.ask(t, "GET", "/"+sendable(path)+"?"+sendable(query))
		if a.status != http.StatusOK {
			if a.status >= 500 {
				t.Fatalf("GET /%s?%s: status %d: %s", path, query, a.status, a.body)
			}
			return
		}
		if len(a.body) > 1<<20 {
			t.Fatalf("GET /%s?%s: %d bytes", path, query, len(a.body))
		}
		if !strings.Contains(a.header.Get("Content-Type"), "xml") {
			return
		}
		for d := xml.NewDecoder(bytes.NewReader(a.body)); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Fatalf("GET /%s?%s: %v", path, query, err)
			}
			if e, ok := token.(xml.StartElement); ok && strings.EqualFold(e.Name.Local, "script") {
				t.Fatalf("GET /%s?%s has a script", path, query)
			}
		}
	})
}
