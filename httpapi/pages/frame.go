package pages

import (
	"html/template"
	"strings"

	"modeldex/dataset/text"
	"modeldex/index"
)

// A Place is where a page is served from.
type Place struct {
	Base string // scheme and host, without a slash at the end; empty: unknown
	Path string // of the page, such as /models/llama-3.1-8b-instruct
	// Query is the canonical query of the page, without a question mark.
	Query string
}

// Address is path and query.
func (p Place) Address() string {
	if p.Query == "" {
		return p.Path
	}
	return p.Path + "?" + p.Query
}

// A View is a page in its two forms.
type View interface {
	HTML() []byte
	Markdown() []byte
}

// A Frame is what every page has around its content.
type Frame struct {
	Place
	site               *Site
	Title, Description string
	Section            string // of the navigation
	// Canonical is the path search engines should keep; empty: none.
	Canonical string
	// Unlisted pages ask crawlers not to list them nor to follow their links.
	Unlisted bool
	// Forms are other forms of the same data.
	Forms   []Link
	Dataset Stamp
	Data    map[string]any // JSON-LD, nil for none
	Scripts []string
	Styles  []string
}

// frame is the frame of a page that is the first of its section, with the endings of its other forms. Pages with a query
// are not listed.
func (s *Site) frame(gen *index.Generation, at Place, section, title, description string, endings ...string) Frame {
	return Frame{
		site: s, Place: at, Title: title, Description: description, Section: section, Canonical: section, Dataset: stampOf(gen),
		Unlisted: at.Query != "", Forms: forms(at, endings...), Scripts: []string{"app.js"},
	}
}

// Feeds are the news about what the page shows: one model, one piece of hardware, or everything.
func (f *Frame) Feeds() []Link {
	base := "/feeds/"
	if strings.HasPrefix(f.Canonical, "/models/") || strings.HasPrefix(f.Canonical, "/hardware/") {
		base = "/feeds" + f.Canonical + "/"
	}
	return []Link{{Text: "New benchmarks", Href: base + "benchmarks.atom"}, {Text: "Changes", Href: base + "changes.atom"}}
}

// A Stamp says what dataset a page was made of.
type Stamp struct{ Version, Released, License, Digest string }

func stampOf(gen *index.Generation) Stamp {
	if gen == nil {
		return Stamp{}
	}
	return Stamp{gen.Info.Version, string(gen.Info.Released), gen.Info.License, gen.Digest.String()}
}

// Absolute puts the base before a path.
func (f *Frame) Absolute(path string) string { return f.Base + path }

var navigation = []Link{
	{Text: "What runs?", Href: "/fit"},
	{Text: "Models", Href: "/explore/models"},
	{Text: "Hardware", Href: "/explore/hardware"},
	{Text: "Compare", Href: "/compare"},
	{Text: "Benchmarks", Href: "/explore/benchmarks"},
	{Text: "Tools", Href: "/explore/tools"},
	{Text: "API", Href: "/docs"},
}

// Navigation is the links of every page, the section of this one marked.
func (f *Frame) Navigation() []Link {
	out := make([]Link, len(navigation))
	copy(out, navigation)
	for i := range out {
		out[i].Current = out[i].Href == f.Section
	}
	return out
}

func forms(p Place, endings ...string) []Link {
	out := make([]Link, 0, len(endings))
	for _, e := range endings {
		form := Place{Path: p.Path + "." + e, Query: p.Query}
		out = append(out, Link{Text: strings.ToUpper(e), Href: form.Address()})
	}
	return out
}

func (s *Site) functions() template.FuncMap {
	return template.FuncMap{
		"asset":     s.asset,
		"group":     text.Whole[int],
		"plural":    text.Count[int],
		"unbroken":  unbroken,
		"number":    func(i int) int { return i + 1 },
		"mediaType": func(form string) string { return mediaTypes[form] },
	}
}
