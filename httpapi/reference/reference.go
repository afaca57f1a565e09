package reference

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"html"
	"html/template"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
	"github.com/yuin/goldmark"
)

// A Reference is an OpenAPI document as its readers see it.
type Reference struct {
	Version string
	Lead    template.HTML
	// Chapters are the guide before the endpoints.
	Chapters []Chapter
	Groups   []Group
	// Objects are those several groups refer to equally directly.
	Objects []Entry
	Headers []Entry // of responses
}

// A Chapter is a part of the guide.
type Chapter struct {
	ID, Title string
	Body      template.HTML
}

// A Group is the endpoints of one tag.
type Group struct {
	Name, Title string
	Description template.HTML
	Endpoints   []Endpoint
	// Shared are the parameters that several endpoints have and that are described once.
	Shared []Entry
	// Messages are what the service sends to others.
	Messages []Endpoint
	Objects  []Entry
}

// An Endpoint is one address and method.
type Endpoint struct {
	ID, Method, Path, Summary string
	Text                      template.HTML
	Key                       bool // needs an API key
	Parameters                []Entry
	// Shared are the names of parameters that are described in Group.Shared.
	Shared    []string
	Body      *Entry // Name is the media type, Example as it is sent
	Responses []Response
	Errors    []Response
	// Address is path and query of a call to copy, with the examples of the document; names in capital
	// letters are what the caller has to put in.
	Address string
}

// An Entry is a parameter, a field of an object, a header, a body or an object. Fields of fields have the path of their
// names.
type Entry struct {
	Name     string
	In       string // part of a request, of a parameter
	Required bool
	// Type is what values are allowed, in words with links to objects.
	Type template.HTML
	// Values are the allowed values, where these are a closed set.
	Values  []string
	Default string
	Example string
	Text    template.HTML
	Fields  []Entry // of an object
}

// A Response is what comes with a status, or the kinds of errors of one.
type Response struct {
	Status  string
	Text    template.HTML
	Forms   []Entry // by media type
	Headers []string
	Codes   []string // of errors
}

// leastShared is how many parameters endpoints share at least before they are described apart from them.
const leastShared = 6

// Read reads a document. It returns an error for a document that is not OpenAPI 3.1 as JSON,
// or that refers to something it does not have.
func Read(doc []byte) (ref *Reference, err error) {
	r := reader{place: map[string]string{}}
	if err := errors.Join(jsonv2.Unmarshal(doc, &r.document), jsonv2.Unmarshal(doc, &r.texts)); err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document: %w", err)
	}
	out := r.read()
	if r.missing != "" {
		return nil, fmt.Errorf("reading the OpenAPI document: there is no %s", r.missing)
	}
	return out, nil
}

type reader struct {
	document
	texts struct {
		Components map[string]map[string]jsontext.Value `json:"components"`
	}
	place   map[string]string // name of an object -> name of its group, empty for none
	missing string            // a reference that leads nowhere
}

func (r *reader) read() *Reference {
	out := &Reference{Version: r.Info.Version}
	out.Lead, out.Chapters = chapters(r.Info.Description)
	slices.SortStableFunc(r.Paths, func(a, b named[ordered[*operation]]) int {
		return cmp.Compare(strings.Count(a.name, "/"), strings.Count(b.name, "/"))
	})
	r.placeObjects()
	for _, tag := range r.Tags {
		g := Group{Name: tag.Name, Title: strings.ToUpper(tag.Name[:1]) + tag.Name[1:], Description: inline(tag.Description), Objects: r.objects(tag.Name)}
		r.addEndpoints(&g)
		out.Groups = append(out.Groups, g)
	}
	out.Objects = r.objects("")
	for _, h := range r.Components.Headers {
		out.Headers = append(out.Headers, r.entry(h.name, h.value.Schema, h.value.Description))
	}
	return out
}

func markdown(text string) template.HTML {
	var b bytes.Buffer
	if err := goldmark.Convert([]byte(text), &b); err != nil {
		panic(err) // a buffer takes everything
	}
	return template.HTML(b.String()) //nolint:gosec // goldmark leaves out markup and dangerous addresses
}

func inline(text string) template.HTML {
	s := strings.TrimSpace(string(markdown(strings.Join(strings.Fields(text), " "))))
	return template.HTML(strings.TrimSuffix(strings.TrimPrefix(s, "<p>"), "</p>")) //nolint:gosec // as markdown
}

func chapters(text string) (lead template.HTML, out []Chapter) {
	parts := strings.Split(text, "\n## ")
	for _, part := range parts[1:] {
		title, body, _ := strings.Cut(part, "\n")
		out = append(out, Chapter{strings.ReplaceAll(strings.ToLower(title), " ", "-"), title, markdown(body)})
	}
	return markdown(parts[0]), out
}

func nameOf(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// resolved is what a reference leads to, and v itself without one.
func resolved[T any](r *reader, from ordered[T], ref string, v T) T {
	if ref == "" {
		return v
	}
	v, found := from.get(nameOf(ref))
	if !found {
		r.missing = ref
	}
	return v
}

// operations are the operations of a tag, in order, each with its path and method.
func operations(paths ordered[ordered[*operation]], tag string) (out []*operation) {
	for _, path := range paths {
		for _, m := range path.value {
			if m.value.path, m.value.method = path.name, m.name; slices.Contains(m.value.Tags, tag) {
				out = append(out, m.value)
			}
		}
	}
	return out
}

func (r *reader) addEndpoints(g *Group) {
	asked := operations(r.Paths, g.Name)
	shared := r.shared(asked)
	for _, p := range shared {
		g.Shared = append(g.Shared, r.parameter(p))
	}
	for _, op := range asked {
		g.Endpoints = append(g.Endpoints, r.endpoint(op, shared))
	}
	for _, op := range operations(r.Webhooks, g.Name) {
		g.Messages = append(g.Messages, r.endpoint(op, nil))
	}
}

// shared are the parameters that several operations have, unless they are few.
func (r *reader) shared(ops []*operation) (shared []parameter) {
	count := map[string]int{}
	for _, op := range ops {
		for _, p := range op.Parameters {
			if count[p.Ref]++; p.Ref != "" && count[p.Ref] == 2 && r.resolve(p).In != "path" {
				shared = append(shared, p)
			}
		}
	}
	if len(shared) < leastShared {
		return nil
	}
	return shared
}

func (r *reader) resolve(p parameter) parameter {
	return resolved(r, r.Components.Parameters, p.Ref, p)
}

func (r *reader) parameter(p parameter) Entry {
	p = r.resolve(p)
	e := r.entry(p.Name, p.Schema, p.Description)
	e.In, e.Required, e.Example = p.In, p.Required, valueText(p.Example)
	return e
}

func (r *reader) entry(name string, s *schema, text string) Entry {
	if s == nil {
		s = &schema{Any: true}
	}
	e := Entry{Name: name, Type: template.HTML(r.describe(s)), Values: r.values(s), Default: valueText(s.Default), Text: inline(text)} //nolint:gosec // describe escapes texts
	if len(s.Examples) > 0 {
		e.Example = valueText(s.Examples[0])
	}
	return e
}

func (r *reader) endpoint(op *operation, shared []parameter) Endpoint {
	e := Endpoint{
		ID: op.ID, Method: strings.ToUpper(op.method), Path: op.path, Summary: op.Summary, Text: markdown(op.Description), Key: len(op.Security) > 0,
		Address: r.address(op),
	}
	for _, p := range op.Parameters {
		if entry := r.parameter(p); slices.ContainsFunc(shared, func(q parameter) bool { return q.Ref == p.Ref }) {
			e.Shared = append(e.Shared, entry.Name)
		} else {
			e.Parameters = append(e.Parameters, entry)
		}
	}
	if op.Body != nil && len(op.Body.Content) > 0 {
		body := r.entry(op.Body.Content[0].name, op.Body.Content[0].value.Schema, "")
		body.Required = op.Body.Required
		if example := op.Body.Content[0].value.Example; example.Compact() == nil {
			body.Example = string(example)
		}
		e.Body = &body
	}
	for _, m := range op.Responses {
		v := resolved(r, r.Components.Responses, m.value.Ref, m.value)
		if _, problem := v.Content.get(problemType); problem {
			e.Errors = append(e.Errors, r.response(m.name, v))
		} else {
			e.Responses = append(e.Responses, r.response(m.name, v))
		}
	}
	return e
}

const problemType = "application/problem+json"

func (r *reader) response(status string, v response) Response {
	out := Response{Status: status, Text: inline(v.Description)}
	for _, h := range v.Headers {
		out.Headers = append(out.Headers, h.name)
	}
	slices.Sort(out.Headers)
	for _, c := range v.Content {
		for _, example := range c.value.Examples {
			if c.name == problemType {
				out.Codes = append(out.Codes, example.name)
			}
		}
		text := ""
		if s := c.value.Schema; s != nil && s.Ref == "" {
			text = s.Description
		}
		out.Forms = append(out.Forms, r.entry(c.name, c.value.Schema, text))
	}
	return out
}

var pathParameter = regexp.MustCompile(`\{([a-z_]+)\}`)

func (r *reader) address(op *operation) string {
	path, query := op.path, ""
	for _, p := range op.Parameters {
		switch p = r.resolve(p); {
		case p.In == "path" && p.Example != nil:
			path = strings.ReplaceAll(path, "{"+p.Name+"}", valueText(p.Example))
		case p.In == "query" && p.Example != nil:
			query += "&" + p.Name + "=" + strings.ReplaceAll(url.QueryEscape(valueText(p.Example)), "%2C", ",")
		}
	}
	path = pathParameter.ReplaceAllStringFunc(path, func(name string) string { return strings.ToUpper(strings.Trim(name, "{}")) })
	return path + strings.Replace(query, "&", "?", 1)
}

// placeObjects puts each object into the group that refers to it most directly. Objects that several groups refer to
// equally directly are listed separately.
func (r *reader) placeObjects() {
	least := map[string]int{}
	for _, tag := range r.Tags {
		for name, n := range r.reached(tag.Name) {
			if before := least[name]; before == 0 || n < before {
				r.place[name], least[name] = tag.Name, n
			} else if n == before {
				r.place[name] = ""
			}
		}
	}
}

// reached is the objects that a group leads to, and in how many steps.
func (r *reader) reached(tag string) map[string]int {
	steps, next := map[string]int{}, map[string]bool{}
	for _, op := range slices.Concat(operations(r.Paths, tag), operations(r.Webhooks, tag)) {
		r.references(op.text, next)
	}
	for n := 1; len(next) > 0; n++ {
		further := map[string]bool{}
		for name := range next {
			if steps[name] == 0 {
				steps[name] = n
				r.references(r.texts.Components["schemas"][name], further)
			}
		}
		next = further
	}
	return steps
}

var reference = regexp.MustCompile(`"\$ref": *"#/components/(\w+)/(\w+)"`)

// references are the objects that a text refers to, by itself or by a response or parameter.
func (r *reader) references(text jsontext.Value, to map[string]bool) {
	for _, m := range reference.FindAllSubmatch(text, -1) {
		if kind, name := string(m[1]), string(m[2]); kind == "schemas" {
			to[name] = true
		} else {
			r.references(r.texts.Components[kind][name], to)
		}
	}
}

func (r *reader) objects(group string) (out []Entry) {
	for _, s := range r.Components.Schemas {
		if r.place[s.name] != group {
			continue
		}
		o := r.entry(s.name, s.value, s.value.Description)
		if o.Fields = r.fields("", s.value); o.Fields != nil {
			o.Type, o.Values = "", nil
		}
		out = append(out, o)
	}
	return out
}

func (r *reader) fields(before string, s *schema) (out []Entry) {
	for _, p := range s.Properties {
		name, inner := before+p.name, p.value
		of := resolved(r, r.Components.Schemas, inner.Ref, inner)
		if of == nil {
			continue // which Read reports
		}
		f := r.entry(name, inner, cmp.Or(inner.Description, of.Description))
		f.Required = slices.Contains(s.Required, p.name)
		out = append(out, f)
		if inner.Items != nil {
			name, inner = name+"[]", inner.Items
		}
		out = append(out, r.fields(name+".", inner)...)
	}
	return out
}

func (r *reader) values(s *schema) (out []string) {
	for _, v := range s.Enum {
		if text := valueText(v); text != "null" {
			out = append(out, text)
		}
	}
	for _, one := range s.OneOf {
		out = append(out, r.values(one)...)
	}
	if s.Items != nil {
		out = append(out, r.values(s.Items)...)
	}
	return out
}

// describe says what values a schema allows, as HTML.
func (r *reader) describe(s *schema) string {
	var parts []string
	switch {
	case s.Ref != "":
		name := nameOf(s.Ref)
		resolved(r, r.Components.Schemas, s.Ref, s)
		return fmt.Sprintf(`<a href="/docs/%s#%[2]s">%[2]s</a>`, cmp.Or(r.place[name], "objects"), html.EscapeString(name))
	case s.OneOf != nil:
		for _, one := range s.OneOf {
			parts = append(parts, r.describe(one))
		}
		return strings.Join(parts, " or ")
	case s.Const != nil:
		return "always " + html.EscapeString(valueText(s.Const))
	case len(s.Type) == 0 && s.Enum == nil:
		return "any value"
	case len(s.Type) == 0:
		return "text"
	}
	for _, name := range s.Type {
		switch name {
		case "array":
			name = "list" + limits(s.MinItems, s.MaxItems, " (%s to %s)", " (at least %s)", " (at most %s)") + " of "
			if s.Items == nil || s.Items.Any {
				name += "any values"
			} else {
				name += r.describe(s.Items)
			}
		case "object":
			if s.Additional != nil && !s.Additional.Any && len(s.Properties) == 0 {
				name = "object whose members are each " + r.describe(s.Additional)
			}
		case "string":
			name = html.EscapeString(stringType(s))
		case "integer":
			name = "whole number" + limits(s.Minimum, s.Maximum, " from %s to %s", " from %s", " up to %s")
		case "number":
			name = "number" + limits(s.Minimum, s.Maximum, " from %s to %s", " from %s", " up to %s")
		case "boolean":
			name = "true or false"
		}
		parts = append(parts, name)
	}
	if s.Unit != "" {
		parts[len(parts)-1] += ", in " + html.EscapeString(s.Unit)
	}
	return strings.Join(parts, " or ")
}

var formats = map[string]string{
	"date": "date, as 2026-01-31", "date-time": "time, as 2026-01-31T12:00:00Z", "email": "e-mail address", "uri": "URL", "uri-reference": "URL or path", "uuid": "UUID",
}

func stringType(s *schema) string {
	switch {
	case formats[s.Format] != "":
		return formats[s.Format]
	case s.Pattern != "":
		return "text that matches " + s.Pattern
	case s.MaxLength == nil && string(s.MinLength) == "1":
		return "text" // that is not empty
	}
	return "text" + limits(s.MinLength, s.MaxLength, " (%s to %s characters)", " (at least %s characters)", " (at most %s characters)")
}

// limits are formats for the allowed range, by which ends it has.
func limits(least, most jsontext.Value, both, from, to string) string {
	switch {
	case least != nil && most != nil:
		return fmt.Sprintf(both, least, most)
	case least != nil:
		return fmt.Sprintf(from, least)
	case most != nil:
		return fmt.Sprintf(to, most)
	}
	return ""
}

func valueText(v jsontext.Value) string {
	var text string
	var list []jsontext.Value
	switch v.Kind() {
	case '"':
		if jsonv2.Unmarshal(v, &text) == nil {
			return text
		}
	case '[':
		if jsonv2.Unmarshal(v, &list) == nil && !slices.ContainsFunc(list, func(e jsontext.Value) bool { return e.Kind() == '{' || e.Kind() == '[' }) {
			out := make([]string, len(list))
			for i, e := range list {
				out[i] = valueText(e)
			}
			return strings.Join(out, ",")
		}
	}
	return string(v)
}
