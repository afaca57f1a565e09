package pages

import (
	"strings"
	"testing"
)

// TestHostileCells holds that texts and addresses of records are never markup, and that only addresses of this site and
// of the web are links.
func TestHostileCells(t *testing.T) {
	t.Parallel()
	evil := `"><script>alert('1')</script>`
	for _, tt := range []struct {
		name string
		cell Cell
		want string
	}{
		{"a text", Cell{Text: "a & b"}, "a &amp; b"},
		{"a script", Cell{Text: "x", Href: " javascript:alert(1)"}, "x"},
		{"data", Cell{Text: "x", Href: "data:text/html,x"}, "x"},
		{"a page", Cell{Text: "x", Href: "/models/x"}, `<a href="/models/x">x</a>`},
		{"a list", Cell{Text: "x", Href: "/explore/models?a=b&c=d", Title: "t"}, `<a href="/explore/models?a=b&amp;c=d" rel="nofollow" title="t">x</a>`},
		{"a part of the page", Cell{Text: "x", Href: "#runs", Class: "measured"}, `<a href="#runs" class="measured">x</a>`},
		{"the web", Cell{Text: "x", Href: "https://example.com/?q=a", Note: "n"}, `<a href="https://example.com/?q=a" rel="external">x</a> <small>n</small>`},
		{"a class", Cell{Text: "x", Class: "none"}, `<span class="none">x</span>`},
	} {
		if got := string(tt.cell.HTML()); got != tt.want {
			t.Errorf("%s is written %s, want %s", tt.name, got, tt.want)
		}
	}
	table := Table{Columns: []Column{{Text: evil}, {Text: evil, Number: true}}, Rows: [][]Cell{{{Text: evil}, {Text: evil, Href: "https://" + evil, Title: evil, Class: evil, Note: evil}}}}
	facet := Facet{Name: evil, Values: []FacetValue{{evil, evil, evil, true}}}
	for name, got := range map[string]string{
		"rows": string(table.Body()), "boxes": string(facet.Ticks(facet.Values)), "options": string(Choices{{evil, evil, true}}.Options()), "a text": string(unbroken(evil)),
	} {
		if strings.Contains(got, "<script") || strings.Contains(got, `""`) || strings.Contains(got, `">alert`) {
			t.Errorf("%s have markup of a text: %s", name, got)
		}
	}
}
