package pages

import (
	"html/template"
	"strings"

	"modeldex/httpapi/reference"
)

// Docs is one page of the reference of the API: the guide, a group of endpoints, the objects that
// several groups share, or the errors.
type Docs struct {
	Frame
	Part     string // of the address below /docs; empty for the guide
	Ref      *reference.Reference
	Chapters []reference.Chapter // with the address of the service in them
	Group    *reference.Group    // nil for the other pages
	Objects  []reference.Entry
	Codes    []Code // of errors, on their page only
}

// The pages of the reference that are not a group of endpoints.
const (
	objectsPart = "objects"
	errorsPart  = "errors"
)

// Docs is a page of the reference of the API, nil if the reference does not have that part.
func (s *Site) Docs(ref *reference.Reference, codes []Code, part string, at Place) []byte {
	v := &Docs{Part: part, Ref: ref, Frame: Frame{
		Place: at, Canonical: at.Path, Section: "/docs", Styles: []string{"docs.css"}, Scripts: []string{"app.js", "docs.js"},
	}}
	switch part {
	case "":
		v.Scripts = append(v.Scripts, "signup.js")
		v.Title, v.Description = "API reference", "Every endpoint of the modeldex API, with parameters, responses, errors and an example."
		v.Chapters = make([]reference.Chapter, len(ref.Chapters))
		for i, c := range ref.Chapters {
			c.Body = template.HTML(strings.ReplaceAll(string(c.Body), "$BASE", template.HTMLEscapeString(at.Base))) // #nosec G203 -- escaped
			v.Chapters[i] = c
		}
	case objectsPart:
		v.Title, v.Description, v.Objects = "Shared objects · API reference", "Objects and headers used by several groups of endpoints.", ref.Objects
	case errorsPart:
		v.Title, v.Description, v.Codes = "Errors · API reference", "Every error of the modeldex API, what it means and how to fix it.", codes
	default:
		for i := range ref.Groups {
			if g := &ref.Groups[i]; g.Name == part {
				v.Group, v.Objects = g, g.Objects
				v.Title, v.Description = g.Title+" · API reference", "Endpoints of the modeldex API: "+part+"."
			}
		}
		if v.Group == nil {
			return nil
		}
	}
	return s.render("docs.html", v)
}

// DocsParts are the parts of the reference that have a page below /docs.
func DocsParts(ref *reference.Reference) []string {
	parts := make([]string, 0, len(ref.Groups)+2)
	for i := range ref.Groups {
		parts = append(parts, ref.Groups[i].Name)
	}
	return append(parts, objectsPart, errorsPart)
}

// An Entry is a parameter with the name of its place on the page.
type Entry struct {
	reference.Entry
	ID    string
	Where string // part of the request, empty for the query
}

// Entry is a parameter of an endpoint, or of what owner names.
func (*Docs) Entry(owner string, p reference.Entry) Entry {
	e := Entry{Entry: p, ID: owner + "-" + p.Name}
	if p.In != "query" {
		e.Where = "in the " + p.In
	}
	return e
}

// A Code is a kind of error of the API.
type Code struct {
	Name, Title, Help string
	Status            int
}
