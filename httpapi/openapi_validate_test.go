package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// validateAnswer holds one real answer against openapi.json: the route and status must be described, the headers listed
// for them must be there and have their form, no described header may stand where it is not listed, and the body must
// be of the described type and schema, without members the schema does not know.
//
// path is the address as it was sent, with or without query. body is the body after content decoding. Addresses and
// methods without a route are held against the answers described for those: unknown_route, the rejections of
// RefusedEarly, and the empty 204 of OPTIONS. The error names everything found. Safe for concurrent use.
func validateAnswer(method, path string, status int, header http.Header, body []byte) error {
	d, err := described()
	if err != nil {
		return err
	}
	path, query, _ := strings.Cut(path, "?")
	if !strings.HasPrefix(path, "/api/") && path != "*" { // the document is of the API
		return nil
	}
	where, response, err := d.response(method, path, status)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	faults := append(d.headerFaults(response, header), d.bodyFaults(where, response, method, query, status, header, body)...)
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("%s %s, status %d: %w", method, path, status, err)
	}
	return nil
}

// apiDocument is openapi.json, read for validating.
type apiDocument struct {
	root     map[string]any
	paths    []documentPath // without parameters first
	compiler *jsonschema.Compiler
	mu       sync.Mutex // compiler, compiled, headers
	compiled map[string]*jsonschema.Schema
	headers  map[string]*jsonschema.Schema // by their text
}

type documentPath struct {
	template string
	match    *regexp.Regexp
	methods  map[string]any
}

const documentURL = "mem:///openapi.json"

var described = sync.OnceValues(func() (*apiDocument, error) { return readDocument(finished(wholeDocument())) })

func readDocument(b []byte) (*apiDocument, error) {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("openapi.json: %w", err)
	}
	root, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("openapi.json: no object")
	}
	d := &apiDocument{root: root, compiled: map[string]*jsonschema.Schema{}, headers: map[string]*jsonschema.Schema{}}
	for template, methods := range dig(root, "paths") {
		d.paths = append(d.paths, documentPath{template, pathPattern(template), methods.(map[string]any)})
	}
	place := func(p documentPath) string { // a name written out goes before a parameter, a longer path before its beginning
		return strings.ReplaceAll(p.template, "{", "\x7f") + "\xff"
	}
	slices.SortFunc(d.paths, func(a, b documentPath) int { return strings.Compare(place(a), place(b)) })
	for _, s := range dig(root, "components", "schemas") {
		closeObjects(s)
	}
	d.compiler = jsonschema.NewCompiler()
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	d.compiler.AssertFormat()
	d.compiler.UseLoader(noLoader{})
	return d, d.compiler.AddResource(documentURL, root)
}

// noLoader keeps references inside the document.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is outside the document", url)
}

// pathPattern matches the addresses of a path. A name at the end may hold slashes: aliases do.
func pathPattern(template string) *regexp.Regexp {
	p := regexp.QuoteMeta(template)
	p = regexp.MustCompile(`\\\{\w+\\\}$`).ReplaceAllString(p, `.*`)
	p = regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(p, `[^/]+`)
	return regexp.MustCompile("^" + p + "$")
}

// closeObjects rejects unknown members in every object the document describes: callers must
// pass over them, we must describe them.
func closeObjects(v any) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			closeObjects(one)
		}
	case map[string]any:
		_, refers := v["$ref"]
		_, said := v["additionalProperties"]
		if _, isObject := v["properties"].(map[string]any); isObject && !refers && !said {
			v["additionalProperties"] = false
		}
		for _, one := range v {
			closeObjects(one)
		}
	}
}

// dig follows names into nested objects; nil where one is missing.
func dig(v any, names ...string) map[string]any {
	for _, name := range names {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	m, _ := v.(map[string]any)
	return m
}

// response finds the described answer and the JSON pointer to it.
func (d *apiDocument) response(method, path string, status int) (where []string, response map[string]any, err error) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, p := range d.paths {
		if !p.match.MatchString(path) {
			continue
		}
		op := dig(p.methods, strings.ToLower(method))
		if op == nil {
			return d.methodless(method, path, status)
		}
		where = []string{"paths", p.template, strings.ToLower(method), "responses"}
		all := dig(op, "responses")
		name := strconv.Itoa(status)
		if all[name] == nil {
			if status < 400 {
				return nil, nil, fmt.Errorf("status %d is not described", status)
			}
			name = "default"
		}
		return d.follow(append(where, name), dig(all, name))
	}
	if status == http.StatusMovedPermanently && strings.HasSuffix(path, "/") { // described in the text of the document
		return nil, map[string]any{"headers": map[string]any{
			"X-Request-Id":                  map[string]any{"$ref": "#/components/headers/X-Request-Id"},
			"Access-Control-Allow-Origin":   map[string]any{"$ref": "#/components/headers/Access-Control-Allow-Origin"},
			"X-Content-Type-Options":        map[string]any{"$ref": "#/components/headers/X-Content-Type-Options"},
			"Access-Control-Expose-Headers": map[string]any{"$ref": "#/components/headers/Access-Control-Expose-Headers"},
			"Cache-Control":                 map[string]any{"$ref": "#/components/headers/Cache-Control"},
			"Vary":                          map[string]any{"$ref": "#/components/headers/Vary"},
			"Location":                      map[string]any{"required": true, "schema": map[string]any{"type": "string"}},
		}}, nil
	}
	if path == "*" && method == http.MethodOptions {
		return d.methodless(method, path, status)
	}
	if status == http.StatusNotFound {
		where = []string{"components", "responses", "UnknownRoute"}
		return d.follow(where, dig(d.root, where...))
	}
	return d.early(path)
}

// methodless is an answer of an address that has no such method.
func (d *apiDocument) methodless(method, path string, status int) ([]string, map[string]any, error) {
	if method == http.MethodOptions && status == http.StatusNoContent {
		return nil, map[string]any{"headers": map[string]any{
			"X-Request-Id":                  map[string]any{"$ref": "#/components/headers/X-Request-Id"},
			"Access-Control-Allow-Origin":   map[string]any{"$ref": "#/components/headers/Access-Control-Allow-Origin"},
			"X-Content-Type-Options":        map[string]any{"$ref": "#/components/headers/X-Content-Type-Options"},
			"Access-Control-Expose-Headers": map[string]any{"$ref": "#/components/headers/Access-Control-Expose-Headers"},
			"Allow":                         map[string]any{"required": true, "schema": map[string]any{"type": "string"}},
			"Access-Control-Allow-Methods":  map[string]any{"required": true, "schema": map[string]any{"type": "string"}},
			"Access-Control-Allow-Headers":  map[string]any{"required": true, "schema": map[string]any{"type": "string"}},
		}}, nil
	}
	if method == http.MethodOptions {
		return nil, nil, fmt.Errorf("status %d is not described", status)
	}
	return d.early(path)
}

func (d *apiDocument) early(path string) ([]string, map[string]any, error) {
	where := []string{"components", "responses", "RefusedEarly"}
	return d.follow(where, dig(d.root, where...))
}

// follow resolves a reference inside the document.
func (d *apiDocument) follow(where []string, v map[string]any) ([]string, map[string]any, error) {
	target, ok := v["$ref"].(string)
	if !ok {
		return where, v, nil
	}
	where = strings.Split(strings.TrimPrefix(target, "#/"), "/")
	if v = dig(d.root, where...); v == nil {
		return nil, nil, fmt.Errorf("%s leads nowhere", target)
	}
	return where, v, nil
}

func (d *apiDocument) headerFaults(response map[string]any, header http.Header) (faults []error) {
	listed := dig(response, "headers")
	for name, v := range listed {
		_, doc, err := d.follow(nil, v.(map[string]any))
		if err != nil {
			faults = append(faults, err)
			continue
		}
		value := header.Get(name)
		if _, there := header[http.CanonicalHeaderKey(name)]; !there {
			if doc["required"] == true {
				faults = append(faults, fmt.Errorf("header %s: is missing", name))
			}
			continue
		}
		if err := d.headerFault(dig(doc, "schema"), value); err != nil {
			faults = append(faults, fmt.Errorf("header %s: %q: %w", name, value, err))
		}
	}
	for name := range dig(d.root, "components", "headers") {
		if _, there := header[http.CanonicalHeaderKey(name)]; there && listed[name] == nil {
			faults = append(faults, fmt.Errorf("header %s: is not described here, got %q", name, header.Get(name)))
		}
	}
	return faults
}

// headerFault judges a header's value by its schema, which describes a text or a whole number.
func (d *apiDocument) headerFault(schema map[string]any, value string) error {
	var v any = value
	if schema["type"] == "integer" {
		if _, err := strconv.ParseUint(value, 10, 63); err != nil {
			return errors.New("must be a whole number")
		}
		v = json.Number(value)
	}
	s, err := d.headerSchema(schema)
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// headerSchema compiles the schema of a header, once.
func (d *apiDocument) headerSchema(schema map[string]any) (*jsonschema.Schema, error) {
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.headers[string(text)]; s != nil {
		return s, nil
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("mem:///header", schema); err != nil {
		return nil, err
	}
	s, err := c.Compile("mem:///header")
	if err == nil {
		d.headers[string(text)] = s
	}
	return s, err
}

func (d *apiDocument) bodyFaults(where []string, response map[string]any, method, query string, status int, header http.Header, body []byte) []error {
	content := dig(response, "content")
	if method == http.MethodHead || content == nil {
		if len(body) > 0 {
			return []error{fmt.Errorf("body: must be empty, got %d bytes", len(body))}
		}
		return nil
	}
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return []error{fmt.Errorf("header Content-Type: %w", err)}
	}
	if content[kind] == nil && content["*/*"] == nil {
		return []error{fmt.Errorf("header Content-Type: must be one of %s, got %s", strings.Join(sortedKeys(content), ", "), kind)}
	}
	if content[kind] == nil || kind != jsonType && !strings.HasSuffix(kind, "+json") {
		return nil
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return []error{fmt.Errorf("body: %w", err)}
	}
	if n, ok := dig(v)["status"].(json.Number); ok && content["application/problem+json"] != nil && n.String() != strconv.Itoa(status) {
		return []error{fmt.Errorf("body: status is %s", n)}
	}
	where = append(slices.Clone(where), "content", kind, "schema")
	if !strings.Contains(query, "fields=") && dig(content, kind, "schema")["anyOf"] != nil {
		where = append(where, "anyOf", "0") // the whole records: what fields leaves of them would miss members
	}
	s, err := d.schema(where)
	if err != nil {
		return []error{err}
	}
	if err := s.Validate(v); err != nil {
		return []error{fmt.Errorf("body: %w", err)}
	}
	return nil
}

// schema compiles the schema at a place of the document, once.
func (d *apiDocument) schema(where []string) (*jsonschema.Schema, error) {
	pointer := documentURL + "#"
	for _, name := range where {
		pointer += "/" + pointerEscape.Replace(name)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.compiled[pointer]; s != nil {
		return s, nil
	}
	s, err := d.compiler.Compile(pointer)
	if err == nil {
		d.compiled[pointer] = s
	}
	return s, err
}

// pointerEscape writes a name as part of a JSON pointer inside a URL.
var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1", "%", "%25", "{", "%7B", "}", "%7D", "*", "%2A", "+", "%2B")
