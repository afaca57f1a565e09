package pages

import (
	"html/template"
	"maps"
	"math/rand/v2"
	"modeldex/dataset/text"
	"net/url"
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

// others is what is written of other parts of pages, as templates.
var others = map[string]*template.Template{
	"options":  template.Must(template.New("").Parse(`{{range .}}<option value="{{.Value}}">{{.Label}}</option>{{end}}`)),
	"removals": template.Must(template.New("").Parse(`{{range .}}<li><a href="{{.Href}}" rel="nofollow" aria-label="Remove: {{.Text}}">{{.Text}} <span aria-hidden="true">×</span></a></li>{{end}}`)),
	"ticks": template.Must(template.New("").Parse(`{{$name := .Name}}{{- range .Values}}
    <label class="tick"><input type="checkbox" name="{{$name}}" value="{{.Value}}"{{if .Checked}} checked{{end}}><span>{{.Label}}</span><small>{{.Count}}</small></label>
    {{- end}}`)),
	"facts": template.Must(template.New("").Parse(`{{- range .Facts}}
    <div><dt>{{.Label}}</dt><dd>{{.Value.HTML}}{{with .Note}} <small>{{.}}</small>{{end}}{{range .Refs}} <a class="ref" href="#source-{{.}}" aria-label="Source {{.}}">{{.}}</a>{{end}}</dd></div>
    {{- end}}`)),
	"sources": template.Must(template.New("").Parse(`{{- range .}}
    <li id="source-{{.Number}}">{{if .Href}}<a href="{{.Href}}" rel="noopener external">{{.Text}}</a>{{else}}{{.Text}}{{end}}
      {{- if .Via}}, read at {{if .ViaHref}}<a href="{{.ViaHref}}" rel="noopener external">{{.Via}}</a>{{else}}{{.Via}}{{end}}{{end}}
      <small>{{.Fields}}{{with .Note}} · {{.}}{{end}}</small></li>
    {{- end}}`)),
}

// pieces makes texts and addresses of every kind.
type pieces struct{ *rand.Rand }

func (p pieces) one(values ...string) string { return values[p.IntN(len(values))] }

func (p pieces) word() string {
	return p.one("", text.Unknown, "12.5", "RTX 4090", `a "b" & 'c'`, "<script>alert(1)</script>", "a+b", "nul\x00", "é 中", "&amp;", "{{.}}", "`x`", "a\nb")
}

func (p pieces) address() string {
	return p.one("", "", "/hardware/x", "/fit?a=b&c=d#e", "https://example.com/a_b~c?d=%20e", "http://example.com", "javascript:alert(1)", " javascript:alert(1)",
		"https://example.com/a b\"c'<d>", "#x", "data:text/html,x", "//example.com", "/a+b", "/(a)", "/é", "mailto:a@b.example", "x:y", "/%zz", "/%2", "/a%2Cb%e4,c+d%20%2f", "/%", "https://[::1]/", "/a;b,c!d$e*f@g")
}

// TestParts: parts of pages with texts and addresses of every kind are written as html/template writes them.
func TestParts(t *testing.T) {
	seed := rand.Uint64()
	p := pieces{rand.New(rand.NewPCG(seed, 2))}
	for range 300 {
		var list Choices
		var v Explore
		var facet Facet
		var group Group
		var sheet Sheet
		for i := range 4 {
			list = append(list, Choice{Value: p.word(), Label: p.word()})
			v.Chosen = append(v.Chosen, Link{Href: p.address(), Text: p.word()})
			facet.Name = p.word()
			facet.Values = append(facet.Values, FacetValue{p.word(), p.word(), p.word(), p.IntN(2) == 0})
			group.Facts = append(group.Facts, Fact{p.word(), Cell{Text: p.word(), Href: p.address(), Note: p.word()}, p.word(), make([]int, p.IntN(3))})
			sheet.Sources = append(sheet.Sources, Source{i, p.word(), p.address(), p.word(), p.word(), p.address(), p.word()})
		}
		for name, of := range map[string]struct {
			data any
			got  template.HTML
		}{
			"options": {list, list.Options()}, "removals": {v.Chosen, v.Removals()}, "ticks": {facet, facet.Ticks(facet.Values)}, "facts": {group, group.Body()}, "sources": {sheet.Sources, sheet.SourceList()},
		} {
			var want strings.Builder
			if err := others[name].Execute(&want, of.data); err != nil {
				t.Fatal(err)
			}
			if string(of.got) != want.String() {
				t.Fatalf("seed %d: %s are written\n%s\nwant\n%s", seed, name, of.got, want.String())
			}
		}
	}
}

// TestTableBody: rows with texts and addresses of every kind are written as html/template writes them.
func TestTableBody(t *testing.T) {
	seed := rand.Uint64()
	rng := pieces{rand.New(rand.NewPCG(seed, 1))}
	for round := range 300 {
		table := Table{Columns: make([]Column, 3), Rows: make([][]Cell, 4)}
		if round == 0 {
			table.Rows = make([][]Cell, 1000) // in several parts
		}
		for i := range table.Columns {
			table.Columns[i] = Column{Text: rng.word(), Number: rng.IntN(2) == 0, Short: rng.IntN(2) == 0}
		}
		for i := range table.Rows {
			for range table.Columns {
				table.Rows[i] = append(table.Rows[i], Cell{Text: rng.word(), Href: rng.address(), Title: rng.word(), Class: rng.one("", "wide"), Note: rng.word(), NoFollow: rng.IntN(2) == 0})
			}
		}
		var want strings.Builder
		if err := asTemplate.Execute(&want, &table); err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, part := range table.Body() {
			got.WriteString(string(part))
		}
		if round == 0 && len(table.Body()) < 3 {
			t.Fatalf("%d rows are %d parts", len(table.Rows), len(table.Body()))
		}
		if got.String() != want.String() {
			t.Fatalf("seed %d: rows are written\n%s\nwant\n%s", seed, got.String(), want.String())
		}
	}
}

// TestLinksThatTakeAway: the link of a filter has what url.Values writes of the others.
func TestLinksThatTakeAway(t *testing.T) {
	params := url.Values{"q": {"a b&c"}, "model": {"x,y+z"}, "hardware": {"h1", "h2"}, "min_tps": {""}, "runs": {"m"}}
	encoded := newEncodedParams(params)
	for name := range params {
		for _, value := range []string{"", "ü, v"} {
			for _, without := range []string{"", "q", "min_tps"} {
				rest := maps.Clone(params)
				if delete(rest, name); value != "" {
					rest.Set(name, value)
				}
				if without != name {
					delete(rest, without)
				}
				if got := encoded.with(name, value, func(other string) bool { return other == without }); got != rest.Encode() {
					t.Errorf("%s=%q without %q is %s, want %s", name, value, without, got, rest.Encode())
				}
			}
		}
	}
}
