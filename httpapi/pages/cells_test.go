package pages

import (
	"html/template"
	"math/rand/v2"
	"strings"
	"testing"
)

// asTemplate is what Table.Body writes, as a template.
var asTemplate = template.Must(template.New("rows").Parse(`{{define "cell" -}}
{{if .Href}}<a href="{{.Href}}"{{if .NoFollow}} rel="nofollow"{{else if .Outside}} rel="noopener external"{{end}}{{with .Title}} title="{{.}}"{{end}}{{with .Class}} class="{{.}}"{{end}}>{{.Text}}</a>
{{- else if or .Title .Class}}<span{{with .Title}} title="{{.}}"{{end}}{{with .Class}} class="{{.}}"{{end}}>{{.Text}}</span>
{{- else}}{{.Text}}{{end}}{{with .Note}} <small>{{.}}</small>{{end}}
{{- end}}
{{- $columns := .Columns}}{{range .Rows}}
  <tr>{{range $i, $cell := .}}{{$column := index $columns $i}}{{if $i}}<td data-label="{{$column.Text}}"{{if $column.Number}} class="n{{if not $cell.Known}} u{{end}}"{{else if not $cell.Known}} class="u"{{else if $column.Short}} class="d"{{end}}>{{template "cell" $cell}}</td>{{else}}<th scope="row">{{template "cell" $cell}}</th>{{end}}{{end}}</tr>
{{- end}}`))

// TestTableBody: rows with texts and addresses of every kind are written as html/template writes them.
func TestTableBody(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	one := func(values ...string) string { return values[rng.IntN(len(values))] }
	word := func() string {
		return one("", unknown, "12.5", "RTX 4090", `a "b" & 'c'`, "<script>alert(1)</script>", "a+b", "nul\x00", "é 中", "&amp;", "{{.}}", "`x`", "a\nb")
	}
	address := func() string {
		return one("", "", "/hardware/x", "/fit?a=b&c=d#e", "https://example.com/a_b~c?d=%20e", "http://example.com", "javascript:alert(1)", " javascript:alert(1)",
			"https://example.com/a b\"c'<d>", "#x", "data:text/html,x", "//example.com", "/a+b", "/(a)", "/é", "mailto:a@b.example", "x:y", "/%zz", "https://[::1]/", "/a;b,c!d$e*f@g")
	}
	for range 300 {
		table := Table{Columns: make([]Column, 3), Rows: make([][]Cell, 4)}
		for i := range table.Columns {
			table.Columns[i] = Column{Text: word(), Number: rng.IntN(2) == 0, Short: rng.IntN(2) == 0}
		}
		for i := range table.Rows {
			for range table.Columns {
				table.Rows[i] = append(table.Rows[i], Cell{Text: word(), Href: address(), Title: word(), Class: one("", "wide"), Note: word(), NoFollow: rng.IntN(2) == 0})
			}
		}
		var want strings.Builder
		if err := asTemplate.Execute(&want, &table); err != nil {
			t.Fatal(err)
		}
		if got := string(table.Body()); got != want.String() {
			t.Fatalf("seed %d: rows are written\n%s\nwant\n%s", seed, got, want.String())
		}
	}
}
