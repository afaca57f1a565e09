package reference

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"html/template"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
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

const leastShared = 6

// Read reads a document. It returns an error for a document that is not OpenAPI 3.1 as JSON,
// or that refers to something it does not have.
func Read(doc []byte) (ref *Reference, err error) {
	r := reader{place: map[string]string{}}
	if err := jsonv2.Unmarshal(doc, &r.document); err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document: %w", err)
	}
	out := r.read()
	if r.missing != "" {
		return nil, fmt.Errorf("reading the OpenAPI document: nothing is at %s", r.missing)
	}
	return out, nil
}

type reader struct {
	document
	place   map[string]string // name of an object -> name of its group, empty for none
	missing string            // a reference that leads nowhere
}

func (r *reader) read() *Reference {
	out := &Reference{Version: r.Info.Version}
	out.Lead, out.Chapters = chapters(r.Info.Description)
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

func resolved[T any](r *reader, from ordered[T], ref string) T {
	v, found := from.get(nameOf(ref))
	if !found {
		r.missing = ref
	}
	return v
}

func (r *reader) addEndpoints(g *Group) {
	var parameters [][]parameter
	paths := slices.Clone(r.Paths)
	slices.SortStableFunc(paths, func(a, b named[ordered[operation]]) int {
		return cmp.Compare(strings.Count(a.name, "/"), strings.Count(b.name, "/"))
	})
	for _, path := range paths {
		for _, m := range path.value {
			if slices.Contains(m.value.Tags, g.Name) {
				g.Endpoints = append(g.Endpoints, r.endpoint(m.name, path.name, &m.value))
				parameters = append(parameters, r.parameters(&m.value))
			}
		}
	}
	for _, path := range r.Webhooks {
		for _, m := range path.value {
			if slices.Contains(m.value.Tags, g.Name) {
				e := r.endpoint(m.name, path.name, &m.value)
				for _, p := range r.parameters(&m.value) {
					e.Parameters = append(e.Parameters, r.parameter(p))
				}
				g.Messages = append(g.Messages, e)
			}
		}
	}
	shared := sharedOf(parameters)
	for _, p := range shared {
		g.Shared = append(g.Shared, r.parameter(p))
	}
	for i, list := range parameters {
		for _, p := range list {
			if slices.ContainsFunc(shared, p.same) {
				g.Endpoints[i].Shared = append(g.Endpoints[i].Shared, p.Name)
			} else {
				g.Endpoints[i].Parameters = append(g.Endpoints[i].Parameters, r.parameter(p))
			}
		}
	}
}

func (r *reader) parameters(op *operation) []parameter {
	out := slices.Clone(op.Parameters)
	for i, p := range out {
		if p.Ref != "" {
			out[i] = resolved(r, r.Components.Parameters, p.Ref)
		}
	}
	return out
}

func sharedOf(parameters [][]parameter) (shared []parameter) {
	for _, p := range slices.Concat(parameters...) {
		n := 0
		for _, list := range parameters {
			if slices.ContainsFunc(list, p.same) {
				n++
			}
		}
		if n > 1 && p.In != "path" && !slices.ContainsFunc(shared, func(q parameter) bool { return q.Name == p.Name }) {
			shared = append(shared, p)
		}
	}
	if len(shared) < leastShared {
		return nil
	}
	return shared
}

func (p parameter) same(q parameter) bool {
	p.Example, q.Example = nil, nil
	return p.Name == q.Name && reflect.DeepEqual(p, q)
}

func (r *reader) parameter(p parameter) Entry {
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

func (r *reader) endpoint(method, path string, op *operation) Endpoint {
	e := Endpoint{
		ID: op.ID, Method: strings.ToUpper(method), Path: path, Summary: op.Summary, Text: markdown(op.Description), Key: len(op.Security) > 0,
		Address: r.address(path, op),
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
		v := m.value
		if v.Ref != "" {
			v = resolved(r, r.Components.Responses, v.Ref)
		}
		if _, problem := v.Content.get("application/problem+json"); problem {
			e.Errors = append(e.Errors, r.response(m.name, v))
		} else {
			e.Responses = append(e.Responses, r.response(m.name, v))
		}
	}
	return e
}

func (r *reader) response(status string, v response) Response {
	out := Response{Status: status, Text: inline(v.Description)}
	for _, h := range v.Headers {
		out.Headers = append(out.Headers, h.name)
	}
	slices.Sort(out.Headers)
	for _, c := range v.Content {
		for _, example := range c.value.Examples {
			if c.name == "application/problem+json" {
				out.Codes = append(out.Codes, example.name)
			}
		}
		form := r.entry(c.name, c.value.Schema, "")
		if s := c.value.Schema; s != nil && s.Ref == "" {
			form.Text = inline(s.Description)
		}
		out.Forms = append(out.Forms, form)
	}
	return out
}

var pathParameter = regexp.MustCompile(`\{([a-z_]+)\}`)

func (r *reader) address(path string, op *operation) string {
	var query []string
	for _, p := range r.parameters(op) {
		switch {
		case p.In == "path" && p.Example != nil:
			path = strings.ReplaceAll(path, "{"+p.Name+"}", valueText(p.Example))
		case p.In == "query" && p.Example != nil:
			query = append(query, p.Name+"="+strings.ReplaceAll(url.QueryEscape(valueText(p.Example)), "%2C", ","))
		}
	}
	path = pathParameter.ReplaceAllStringFunc(path, func(name string) string { return strings.ToUpper(strings.Trim(name, "{}")) })
	if query != nil {
		path += "?" + strings.Join(query, "&")
	}
	return path
}

// placeObjects puts each object into the group that refers to it most directly; one that several
// groups refer to equally directly belongs to all of them, and to none.
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

func (r *reader) reached(tag string) map[string]int {
	depth, next := map[string]int{}, map[string]bool{}
	for _, path := range slices.Concat(r.Paths, r.Webhooks) {
		for _, m := range path.value {
			if slices.Contains(m.value.Tags, tag) {
				r.schemasOf(&m.value, next)
			}
		}
	}
	for n := 1; len(next) > 0; n++ {
		further := map[string]bool{}
		for name := range next {
			depth[name] = n
			s, _ := r.Components.Schemas.get(name)
			s.schemas(further)
		}
		maps.DeleteFunc(further, func(name string, _ bool) bool { return depth[name] > 0 })
		next = further
	}
	return depth
}

func (r *reader) schemasOf(op *operation, to map[string]bool) {
	for _, p := range r.parameters(op) {
		p.Schema.schemas(to)
	}
	var content ordered[mediaType]
	if op.Body != nil {
		content = slices.Clone(op.Body.Content)
	}
	for _, m := range op.Responses {
		v := m.value
		if v.Ref != "" {
			v = resolved(r, r.Components.Responses, v.Ref)
		}
		content = append(content, v.Content...)
	}
	for _, c := range content {
		c.value.Schema.schemas(to)
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
		text := inner.Description
		if text == "" && inner.Ref != "" {
			if of := resolved(r, r.Components.Schemas, inner.Ref); of != nil {
				text = of.Description
			}
		}
		f := r.entry(name, inner, text)
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
		resolved(r, r.Components.Schemas, s.Ref)
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
			name = "list" + span(s.MinItems, s.MaxItems, "") + " of "
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
			name = "whole number" + bounds(s)
		case "number":
			name = "number" + bounds(s)
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
	case s.MaxLength == nil && s.MinLength != nil && *s.MinLength == 1:
		return "text" // that is not empty
	}
	return "text" + span(s.MinLength, s.MaxLength, " characters")
}

func span(least, most *int, unit string) string {
	switch {
	case least != nil && *least > 0 && most != nil:
		return fmt.Sprintf(" (%d to %d%s)", *least, *most, unit)
	case most != nil:
		return fmt.Sprintf(" (at most %d%s)", *most, unit)
	case least != nil && *least > 1:
		return fmt.Sprintf(" (at least %d%s)", *least, unit)
	}
	return ""
}

func bounds(s *schema) string {
	number := func(v *float64) string { return strconv.FormatFloat(*v, 'f', -1, 64) }
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		return " from " + number(s.Minimum) + " to " + number(s.Maximum)
	case s.Minimum != nil:
		return " from " + number(s.Minimum)
	case s.Maximum != nil:
		return " up to " + number(s.Maximum)
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
