package pages

import (
	"cmp"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/httpapi/rowjson"
	"modeldex/index"

	jsonv2 "github.com/goccy/go-json/v2"
)

func decode[T any](row []byte) *T {
	out := new(T)
	if err := jsonv2.Unmarshal(row, out); err != nil {
		panic(err) // rows are made by this program
	}
	return out
}

func (s *Site) recordSheet(gen *index.Generation, at Place, kind, name, description string) *Sheet {
	slug := at.Path[strings.LastIndexByte(at.Path, '/')+1:]
	v := &Sheet{Heading: name, Crumbs: []Link{{Text: Sentence(kind), Href: "/explore/" + kind}}, Frame: s.frame(gen, at, at.Path, name, description)}
	v.Section, v.Forms, v.Styles = "/explore/"+kind, forms(Place{Base: at.Base, Path: at.Path}, "json", "csv", "md"), []string{"charts.css"}
	v.Cite = cite(&v.Frame, name)
	v.Past = &Link{Text: "Change history", Href: address("/changes", "slug", slug, "table", kind)}
	v.Give = give(s.cfg.RepositoryURL, at.Path)
	v.Data = v.schemaDataset(name)
	v.Data["identifier"] = slug
	return v
}

// Record is the page of a record of a kind. ord is its ordinal in the generation.
func (s *Site) Record(gen *index.Generation, kind string, ord uint32, c Conditions, at Place) *Sheet {
	switch kind {
	case "models":
		return s.model(gen, ord, c, at)
	case "hardware":
		return s.hardware(gen, ord, c, at)
	case "tools":
		return s.tool(gen, ord, at)
	}
	return s.benchmark(gen, ord, at)
}

// nameOf is the name of a record for readers, its slug where there is none.
func nameOf(t *index.Table, slug string) string {
	if ord, ok := t.Find(slug); ok {
		return cmp.Or(rowjson.Text(t.Row(ord), "name"), slug)
	}
	return slug
}

// NameOf is the name of a piece of hardware, a model or a tool for readers, its slug where there is none.
func NameOf(gen *index.Generation, slug string) string {
	for _, t := range []*index.Table{gen.Hardware, gen.Models, gen.Tools} {
		if _, ok := t.Find(slug); ok {
			return nameOf(t, slug)
		}
	}
	return slug
}

type names struct {
	gen  *index.Generation
	seen map[string]string // by path of the page
}

func newNames(gen *index.Generation) *names { return &names{gen, map[string]string{}} }

func (n *names) of(kind string, slug dataset.Slug) string {
	page := "/" + kind + "/" + string(slug)
	if n.seen[page] == "" {
		n.seen[page] = nameOf(tableOf(n.gen, kind), string(slug))
	}
	return n.seen[page]
}

func (n *names) cell(kind string, slug dataset.Slug) Cell {
	return Cell{Text: n.of(kind, slug), Href: "/" + kind + "/" + string(slug)}
}

const offered = 150

func mostMeasured(t *index.Table) (out Choices) {
	page := t.Select(index.Query{Sort: index.Sort{Field: index.BenchmarkCount, Desc: true}, Limit: offered})
	for _, ord := range page.Ords {
		out = append(out, Choice{Value: t.Slug(ord), Label: nameOf(t, t.Slug(ord))})
	}
	slices.SortFunc(out, func(a, b Choice) int { return cmp.Compare(strings.ToLower(a.Label), strings.ToLower(b.Label)) })
	return out
}
