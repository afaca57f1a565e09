package reference

import (
	"cmp"
	"fmt"
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
)

// A Reference is an OpenAPI document as its readers see it.
type Reference struct {
	Title, Version string
	Lead           template.HTML
	// Chapters are the guide before the endpoints.
	Chapters []Chapter
	Groups   []Group
	// Objects are those several groups refer to equally directly.
	Objects []Object
	Headers []Header
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
	Shared []Parameter
	// Messages are what the service sends to others.
	Messages []Endpoint
	Objects  []Object
}

// An Endpoint is one address and method.
type Endpoint struct {
	ID, Method, Path, Summary string
	Text                      template.HTML
	Key                       bool // needs an API key
	Parameters                []Parameter
	// Shared are the names of parameters that are described in Group.Shared.
	Shared    []string
	Body      *Body
	Responses []Response // those that are not errors
	Errors    []Errors
	// Address is path and query of a call to copy, with the examples of the document; names in capital
	// letters are what the caller has to put in.
	Address string
}

// A Parameter is a part of an address, or a header.
type Parameter struct {
	Name, In string
	Required bool
	Type     Type
	Default  string
	Example  string
	Text     template.HTML
}

// A Body is what a request sends.
type Body struct {
	Required  bool
	MediaType string
	Type      Type
	Fields    []Field // of a body that is not a named object
	Example   string  // as it is sent
}

// A Response is a response other than an error.
type Response struct {
	Status  string
	Text    template.HTML
	Forms   []Form
	Headers []string
}

// A Form is one content type of a response.
type Form struct {
	MediaType string
	Type      Type
	Text      template.HTML
}

// Errors are the kinds of errors of one status.
type Errors struct {
	Status string
	Text   template.HTML
	Codes  []string
}

// An Object is a named schema.
type Object struct {
	Name   string
	Text   template.HTML
	Type   Type // of a schema that is not an object
	Fields []Field
}

// A Field is a member of an object. Members of members have the path of their names.
type Field struct {
	Name     string
	Required bool // false: may be left out
	Type     Type
	Default  string
	Example  string
	Text     template.HTML
}

// A Header is a header of responses.
type Header struct {
	Name string
	Type Type
	Text template.HTML
}

// A Type is what values a schema allows, in words.
type Type struct {
	Parts []Part
	// Values are the allowed values, where these are a closed set.
	Values []string
}

// A Part is a word of a type, perhaps the name of an object.
type Part struct {
	Text   string
	Object string // name of an object, empty for none
	Group  string // name of the group that describes the object, empty for Reference.Objects
}

// leastShared is from how many shared parameters on a group describes them apart.
const leastShared = 6

// Read reads a document. It returns an error for a document that is not OpenAPI 3.1 as JSON,
// or that refers to something it does not have.
func Read(doc []byte) (ref *Reference, err error) {
	var d document
	if err := jsonv2.Unmarshal(doc, &d); err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document: %w", err)
	}
	r := reader{doc: &d, place: map[string]string{}}
	defer func() {
		if cause := recover(); cause != nil {
			missing, ok := cause.(missingRef)
			if !ok {
				panic(cause)
			}
			ref, err = nil, fmt.Errorf("reading the OpenAPI document: nothing is at %s", string(missing))
		}
	}()
	return r.read(), nil
}

// missingRef is raised for a reference that leads nowhere.
type missingRef string

type reader struct {
	doc   *document
	place map[string]string // name of an object -> name of its group, empty for none
}

func (r *reader) read() *Reference {
	out := &Reference{Title: r.doc.Info.Title, Version: r.doc.Info.Version}
	out.Lead, out.Chapters = chapters(r.doc.Info.Description)
	r.placeObjects()
	for _, tag := range r.doc.Tags {
		g := Group{Name: tag.Name, Title: titleCase(tag.Name), Description: Inline(tag.Description)}
		r.addEndpoints(&g)
		g.Objects = r.objects(g.Name)
		out.Groups = append(out.Groups, g)
	}
	out.Objects = r.objects("")
	for _, h := range r.doc.Components.Headers {
		out.Headers = append(out.Headers, Header{h.name, r.typeOf(h.value.Schema), Inline(h.value.Description)})
	}
	return out
}

// chapters splits a guide at its headings.
func chapters(text string) (lead template.HTML, out []Chapter) {
	before, rest, more := strings.Cut(text, "\n## ")
	for more {
		var part string
		part, rest, more = strings.Cut(rest, "\n## ")
		title, body, _ := strings.Cut(part, "\n")
		out = append(out, Chapter{strings.ReplaceAll(strings.ToLower(title), " ", "-"), title, HTML(body)})
	}
	return HTML(before), out
}

func titleCase(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// addEndpoints reads the endpoints of a group, lists before what is below them.
func (r *reader) addEndpoints(g *Group) {
	var parameters [][]*parameter
	for _, path := range r.sorted(r.doc.Paths) {
		for _, m := range path.value {
			if slices.Contains(m.value.Tags, g.Name) {
				g.Endpoints = append(g.Endpoints, r.endpoint(strings.ToUpper(m.name), path.name, m.value))
				parameters = append(parameters, r.parameters(m.value))
			}
		}
	}
	for _, path := range r.doc.Webhooks {
		for _, m := range path.value {
			if slices.Contains(m.value.Tags, g.Name) {
				e := r.endpoint(strings.ToUpper(m.name), path.name, m.value)
				e.Errors = nil // they are the receiver's
				g.Messages = append(g.Messages, e)
			}
		}
	}
	r.share(g, parameters)
}

// sorted is the addresses with fewer parts first, else in their order.
func (r *reader) sorted(paths ordered[ordered[*operation]]) ordered[ordered[*operation]] {
	out := slices.Clone(paths)
	slices.SortStableFunc(out, func(a, b named[ordered[*operation]]) int {
		return cmp.Compare(strings.Count(a.name, "/"), strings.Count(b.name, "/"))
	})
	return out
}

// parameters are those of an operation, references followed.
func (r *reader) parameters(op *operation) []*parameter {
	out := make([]*parameter, len(op.Parameters))
	for i, p := range op.Parameters {
		if out[i] = p; p.Ref != "" {
			out[i] = resolved(r.doc.Components.Parameters, p.Ref, "#/components/parameters/")
		}
	}
	return out
}

func resolved[T any](from ordered[*T], ref, below string) *T {
	name, ok := strings.CutPrefix(ref, below)
	v, found := from.get(name)
	if !ok || !found {
		panic(missingRef(ref))
	}
	return v
}

// share describes what several endpoints take once. Parts of paths stay where they are.
func (r *reader) share(g *Group, parameters [][]*parameter) {
	var shared []*parameter
	count := func(p *parameter) (n int) {
		for _, list := range parameters {
			if slices.ContainsFunc(list, p.same) {
				n++
			}
		}
		return n
	}
	known := func(p *parameter) bool { return slices.ContainsFunc(shared, p.same) }
	for _, list := range parameters {
		for _, p := range list {
			if p.In != "path" && !known(p) && count(p) > 1 &&
				!slices.ContainsFunc(shared, func(q *parameter) bool { return q.Name == p.Name }) {
				shared = append(shared, p)
			}
		}
	}
	if len(shared) < leastShared {
		shared = nil
	}
	for _, p := range shared {
		g.Shared = append(g.Shared, r.parameter(p))
	}
	for i := range g.Endpoints {
		for _, p := range parameters[i] {
			if known(p) {
				g.Endpoints[i].Shared = append(g.Endpoints[i].Shared, p.Name)
			} else {
				g.Endpoints[i].Parameters = append(g.Endpoints[i].Parameters, r.parameter(p))
			}
		}
	}
	for i := range g.Messages {
		op, _ := r.doc.Webhooks.get(g.Messages[i].Path)
		for _, p := range r.parameters(op[0].value) {
			g.Messages[i].Parameters = append(g.Messages[i].Parameters, r.parameter(p))
		}
	}
}

// same reports whether two parameters are the same except for their examples.
func (p *parameter) same(q *parameter) bool {
	a, b := *p, *q
	a.Example, b.Example = nil, nil
	return reflect.DeepEqual(a, b)
}

func (r *reader) parameter(p *parameter) Parameter {
	return Parameter{
		Name: p.Name, In: p.In, Required: p.Required, Type: r.typeOf(p.Schema), Default: valueText(p.Schema.Default),
		Example: valueText(p.Example), Text: Inline(p.Description),
	}
}

func (r *reader) endpoint(method, path string, op *operation) Endpoint {
	e := Endpoint{ID: op.ID, Method: method, Path: path, Summary: op.Summary, Text: HTML(op.Description), Key: len(op.Security) > 0, Address: r.address(path, op)}
	if op.Body != nil {
		e.Body = r.body(op.Body)
	}
	for _, resp := range op.Responses {
		v := resp.value
		if v.Ref != "" {
			v = resolved(r.doc.Components.Responses, v.Ref, "#/components/responses/")
		}
		if codes := r.codes(v); codes != nil {
			e.Errors = append(e.Errors, Errors{resp.name, Inline(v.Description), codes})
		} else {
			e.Responses = append(e.Responses, r.response(resp.name, v))
		}
	}
	return e
}

func (r *reader) body(b *body) *Body {
	media := b.Content[0].value
	out := &Body{Required: b.Required, MediaType: b.Content[0].name, Type: r.typeOf(media.Schema)}
	if media.Schema.Ref == "" {
		out.Fields = r.fields("", media.Schema)
	}
	var form ordered[jsontext.Value]
	switch {
	case media.Example == nil:
	case out.MediaType == "application/x-www-form-urlencoded" && jsonv2.Unmarshal(media.Example, &form) == nil:
		values := url.Values{}
		for _, m := range form {
			values.Set(m.name, valueText(m.value))
		}
		out.Example = values.Encode()
	case media.Example.Compact() == nil:
		out.Example = string(media.Example)
	}
	return out
}

// codes are the codes of the errors of a response, nil for one that is not an error.
func (r *reader) codes(v *response) (codes []string) {
	problem, ok := v.Content.get("application/problem+json")
	if !ok {
		return nil
	}
	code, _ := problem.Schema.Properties.get("code")
	if code == nil {
		return nil
	}
	for _, c := range code.Enum {
		codes = append(codes, valueText(c))
	}
	return codes
}

func (r *reader) response(status string, v *response) Response {
	out := Response{Status: status, Text: Inline(v.Description)}
	for _, h := range v.Headers {
		out.Headers = append(out.Headers, h.name)
	}
	slices.Sort(out.Headers)
	for _, c := range v.Content {
		f := Form{MediaType: c.name, Type: r.typeOf(c.value.Schema)}
		if c.value.Schema.Ref == "" {
			f.Text = Inline(c.value.Schema.Description)
		}
		out.Forms = append(out.Forms, f)
	}
	return out
}

var pathParameter = regexp.MustCompile(`\{([a-z_]+)\}`)

// address is a call with the examples of the parameters.
func (r *reader) address(path string, op *operation) string {
	var query []string
	for _, p := range r.parameters(op) {
		switch {
		case p.In == "path" && p.Example != nil:
			path = strings.ReplaceAll(path, "{"+p.Name+"}", valueText(p.Example))
		case p.In == "query" && p.Example != nil:
			value := url.QueryEscape(valueText(p.Example))
			query = append(query, p.Name+"="+strings.ReplaceAll(value, "%2C", ","))
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
	depths := make([]map[string]int, len(r.doc.Tags))
	for i := range depths {
		depths[i] = r.reached(r.doc.Tags[i].Name)
	}
	for _, s := range r.doc.Components.Schemas {
		group, least := "", 0
		for i, depth := range depths {
			if n, ok := depth[s.name]; ok && (least == 0 || n < least) {
				group, least = r.doc.Tags[i].Name, n
			} else if ok && n == least {
				group = ""
			}
		}
		r.place[s.name] = group
	}
}

func (r *reader) objects(group string) (out []Object) {
	for _, s := range r.doc.Components.Schemas {
		if r.place[s.name] == group {
			out = append(out, r.object(s.name, s.value))
		}
	}
	return out
}

// reached is how many references away from a group each schema is, from 1.
func (r *reader) reached(tag string) map[string]int {
	depth := map[string]int{}
	next := map[string]bool{}
	for _, paths := range []ordered[ordered[*operation]]{r.doc.Paths, r.doc.Webhooks} {
		for _, path := range paths {
			for _, m := range path.value {
				if slices.Contains(m.value.Tags, tag) {
					r.refsOf(m.value, next)
				}
			}
		}
	}
	for n := 1; len(next) > 0; n++ {
		for name := range next {
			depth[name] = n
		}
		further := map[string]bool{}
		for name := range next {
			s, _ := r.doc.Components.Schemas.get(name)
			s.refs(further)
		}
		maps.DeleteFunc(further, func(name string, _ bool) bool { return depth[name] > 0 })
		next = further
	}
	return depth
}

// refsOf adds the schemas an operation names to a set.
func (r *reader) refsOf(op *operation, to map[string]bool) {
	for _, p := range r.parameters(op) {
		p.Schema.refs(to)
	}
	if op.Body != nil {
		for _, c := range op.Body.Content {
			c.value.Schema.refs(to)
		}
	}
	for _, resp := range op.Responses {
		v := resp.value
		if v.Ref != "" {
			v = resolved(r.doc.Components.Responses, v.Ref, "#/components/responses/")
		}
		for _, c := range v.Content {
			c.value.Schema.refs(to)
		}
	}
}

const schemaRef = "#/components/schemas/"

// refs adds the schemas a schema names to a set.
func (s *schema) refs(to map[string]bool) {
	if s == nil {
		return
	}
	if name, ok := strings.CutPrefix(s.Ref, schemaRef); ok {
		to[name] = true
	}
	for _, p := range s.Properties {
		p.value.refs(to)
	}
	for _, list := range [][]*schema{s.OneOf, s.AnyOf, {s.Items, s.Additional}} {
		for _, one := range list {
			one.refs(to)
		}
	}
}

func (r *reader) object(name string, s *schema) Object {
	o := Object{Name: name, Text: Inline(s.Description)}
	if len(s.Properties) == 0 {
		o.Type = r.typeOf(s)
		return o
	}
	o.Fields = r.fields("", s)
	return o
}

// fields are the members of a schema, and of schemas inside it that have no name of their own.
func (r *reader) fields(before string, s *schema) (out []Field) {
	for _, p := range s.Properties {
		name := before + p.name
		f := Field{Name: name, Required: slices.Contains(s.Required, p.name), Type: r.typeOf(p.value), Default: valueText(p.value.Default), Text: Inline(p.value.Description)}
		if len(p.value.Examples) > 0 {
			f.Example = valueText(p.value.Examples[0])
		}
		if f.Text == "" && p.value.Ref != "" {
			f.Text = Inline(resolved(r.doc.Components.Schemas, p.value.Ref, schemaRef).Description)
		}
		out = append(out, f)
		inner := p.value
		if inner.Items != nil {
			name, inner = name+"[]", inner.Items
		}
		if inner.Ref == "" {
			out = append(out, r.fields(name+".", inner)...)
		}
	}
	return out
}

// typeOf says what values a schema allows.
func (r *reader) typeOf(s *schema) Type {
	var t Type
	r.describe(&t, s)
	return t
}

func (t *Type) add(text string) { t.Parts = append(t.Parts, Part{Text: text}) }

func (r *reader) describe(t *Type, s *schema) {
	switch alternatives := slices.Concat(s.OneOf, s.AnyOf); {
	case s.Ref != "":
		name := strings.TrimPrefix(s.Ref, schemaRef)
		resolved(r.doc.Components.Schemas, s.Ref, schemaRef)
		t.Parts = append(t.Parts, Part{name, name, r.place[name]})
	case alternatives != nil:
		for i, one := range alternatives {
			if i > 0 {
				t.add(" or ")
			}
			r.describe(t, one)
		}
	case s.Const != nil:
		t.add("always " + valueText(s.Const))
	default:
		r.describePlain(t, s)
	}
}

// describePlain is describe for a schema that names its types.
func (r *reader) describePlain(t *Type, s *schema) {
	for _, v := range s.Enum {
		if text := valueText(v); text != "null" {
			t.Values = append(t.Values, text)
		}
	}
	if len(s.Type) == 0 {
		t.add(map[bool]string{true: "any value", false: "text"}[s.Enum == nil])
		return
	}
	for i, name := range s.Type {
		if i > 0 {
			t.add(" or ")
		}
		switch name {
		case "array":
			r.describeList(t, s)
		case "object":
			r.describeMap(t, s)
		case "string":
			t.add(stringType(s))
		case "integer":
			t.add("whole number" + bounds(s))
		case "number":
			t.add("number" + bounds(s))
		case "boolean":
			t.add("true or false")
		default:
			t.add(name) // null
		}
	}
	if s.Unit != "" {
		t.add(", in " + s.Unit)
	}
}

func (r *reader) describeList(t *Type, s *schema) {
	t.add("list" + span(s.MinItems, s.MaxItems, "") + " of ")
	if s.Items == nil || s.Items.Any {
		t.add("any values")
		return
	}
	r.describe(t, s.Items)
}

func (r *reader) describeMap(t *Type, s *schema) {
	if s.Additional == nil || s.Additional.Any || s.Additional.None || len(s.Properties) > 0 {
		t.add("object")
		return
	}
	t.add("object whose members are each ")
	r.describe(t, s.Additional)
}

// formats are the formats of texts, in words.
var formats = map[string]string{
	"date": "date, as 2026-01-31", "date-time": "time, as 2026-01-31T12:00:00Z", "email": "e-mail address", "uri": "URL", "uri-reference": "URL or path", "uuid": "UUID",
}

func stringType(s *schema) string {
	if text, ok := formats[s.Format]; ok {
		return text
	}
	if s.Pattern != "" {
		return "text that matches " + s.Pattern
	}
	least := s.MinLength
	if least != nil && *least == 1 && s.MaxLength == nil {
		least = nil // a text that is not empty
	}
	return "text" + span(least, s.MaxLength, " characters")
}

// span is the allowed sizes, in parentheses.
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

// bounds is the allowed range of numbers.
func bounds(s *schema) string {
	number := func(v *float64) string { return strconv.FormatFloat(*v, 'f', -1, 64) }
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		return " from " + number(s.Minimum) + " to " + number(s.Maximum)
	case s.ExclusiveMinimum != nil && s.Maximum != nil:
		return " above " + number(s.ExclusiveMinimum) + ", at most " + number(s.Maximum)
	case s.Minimum != nil:
		return " from " + number(s.Minimum)
	case s.ExclusiveMinimum != nil:
		return " above " + number(s.ExclusiveMinimum)
	case s.Maximum != nil:
		return " up to " + number(s.Maximum)
	}
	return ""
}

// valueText is a JSON value as a parameter would have it: texts without quotes, lists with commas.
func valueText(v jsontext.Value) string {
	switch {
	case v == nil:
		return ""
	case v.Kind() == '"':
		var s string
		if jsonv2.Unmarshal(v, &s) == nil {
			return s
		}
	case v.Kind() == '[':
		var list []jsontext.Value
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
