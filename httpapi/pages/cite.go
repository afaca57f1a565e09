package pages

import (
	"strings"

	"modeldex/index"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// A Citation is how to cite a page: its address and the day it was read, as the licence asks.
type Citation struct {
	Text, BibTeX, CSL string
	Accessed          string // in the place of the day of access
}

// recordFrame is the frame of the page of a record.
func (s *Site) recordFrame(gen *index.Generation, at Place, section, name, description string) Frame {
	return Frame{
		site: s, Place: at, Title: name, Description: description, Section: section, Canonical: at.Path, Dataset: stampOf(gen),
		Forms: forms(at, "json", "csv", "md"), Scripts: []string{"app.js"}, Styles: []string{"charts.css"},
	}
}

// Record is the page of a record of a kind. ord is its ordinal in the generation.
func (s *Site) Record(gen *index.Generation, kind string, ord uint32, at Place) *Sheet {
	switch kind {
	case "models":
		return s.model(gen, ord, at)
	case "hardware":
		return s.hardware(gen, ord, at)
	case "tools":
		return s.tool(gen, ord, at)
	}
	return s.benchmark(gen, ord, at)
}

// finishRecord adds to the page of a record what follows from its address.
func (v *Sheet) finishRecord(kind, slug, name string) {
	v.Cite = cite(&v.Frame, name)
	v.Past = &Link{Text: "What changed in this record", Href: address("/changes", "slug", slug, "table", kind)}
	distribution := []any{}
	for _, form := range v.Forms {
		distribution = append(distribution, map[string]any{"@type": "DataDownload", "encodingFormat": mediaTypes[form.Text], "contentUrl": v.Absolute(form.Href)})
	}
	v.Data = v.dataset(name, v.Description)
	for member, value := range map[string]any{
		"identifier": slug, "distribution": distribution,
		"includedInDataCatalog": map[string]any{"@type": "DataCatalog", "name": "modeldex", "url": v.Absolute("/")},
	} {
		v.Data[member] = value
	}
}

// dataset is the JSON-LD of a page: a Dataset of schema.org.
func (f *Frame) dataset(name, description string) map[string]any {
	return map[string]any{
		"@context": "https://schema.org", "@type": "Dataset", "name": name, "description": description, "url": f.Absolute(f.Path),
		"version": f.Dataset.Version, "dateModified": f.Dataset.Released, "license": licenseAddress(f.Dataset.License), "isAccessibleForFree": true,
		"creator": map[string]any{"@type": "Organization", "name": "modeldex", "url": f.Absolute("/")},
	}
}

// cite makes a citation. The day of access is the reader's; the day of the dataset is used,
// because a page is the same for all readers.
func cite(f *Frame, name string) *Citation {
	address, year := f.Absolute(f.Path), f.Dataset.Released
	year, _, _ = strings.Cut(year, "-")
	title := name + " (dataset " + f.Dataset.Version + ")"
	key := "modeldex" + year + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
	c := &Citation{Accessed: f.Dataset.Released, Text: "modeldex. " + title + ". " + address + " (accessed " + f.Dataset.Released + ")."}
	c.BibTeX = "@misc{" + key + ",\n  author = {{modeldex}},\n  title = {" + bibText(title) + "},\n  year = {" + year +
		"},\n  howpublished = {\\url{" + address + "}},\n  urldate = {" + f.Dataset.Released + "},\n  note = {" + bibText(f.Dataset.License) + "}\n}"
	csl, err := jsonv2.Marshal([]any{map[string]any{
		"id": key, "type": "dataset", "title": title, "author": []any{map[string]any{"literal": "modeldex"}}, "URL": address,
		"version": f.Dataset.Version, "issued": cslDate(f.Dataset.Released), "accessed": cslDate(f.Dataset.Released),
	}}, indented)
	must(err)
	c.CSL = string(csl)
	return c
}

// bibEscaper keeps text from being read as TeX.
var bibEscaper = strings.NewReplacer("\\", "\\textbackslash{}", "{", "\\{", "}", "\\}", "&", "\\&", "%", "\\%", "$", "\\$", "#", "\\#", "_", "\\_", "~", "\\textasciitilde{}", "^", "\\textasciicircum{}")

func bibText(s string) string { return bibEscaper.Replace(s) }

// indented is the form of JSON that pages show to readers.
var indented = jsonv2.JoinOptions(jsonv2.Deterministic(true), jsontext.EscapeForHTML(true), jsontext.EscapeForJS(true), jsontext.WithIndent("  "))

func cslDate(day string) map[string]any {
	parts := []any{}
	for p := range strings.SplitSeq(day, "-") {
		parts = append(parts, jsontext.Value(strings.TrimLeft(p, "0")))
	}
	return map[string]any{"date-parts": []any{parts}}
}

// mediaTypes are the media types of the forms of a page.
var mediaTypes = map[string]string{"JSON": "application/json", "CSV": "text/csv", "MD": "text/markdown"}

// licenseAddress is the page of an SPDX id.
func licenseAddress(id string) string {
	if id == "" || strings.ContainsAny(id, " /") {
		return id
	}
	return "https://spdx.org/licenses/" + id + ".html"
}
