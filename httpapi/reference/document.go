package reference

import (
	"fmt"
	"slices"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// What is read of an OpenAPI document. Members that no page shows are not read.

type named[T any] struct {
	name  string
	value T
}

// ordered is a JSON object whose order is kept: that of the document is what its authors chose.
type ordered[T any] []named[T]

// UnmarshalJSONFrom reads an object.
func (o *ordered[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if kind := dec.PeekKind(); kind != '{' {
		return fmt.Errorf("want an object, got %v", kind)
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != '}' {
		tok, err := dec.ReadToken()
		if err != nil {
			return err
		}
		member := named[T]{name: tok.String()}
		if err := jsonv2.UnmarshalDecode(dec, &member.value); err != nil {
			return err
		}
		*o = append(*o, member)
	}
	_, err := dec.ReadToken()
	return err
}

func (o ordered[T]) get(name string) (v T, ok bool) {
	i := slices.IndexFunc(o, func(m named[T]) bool { return m.name == name })
	if i < 0 {
		return v, false
	}
	return o[i].value, true
}

type document struct {
	Info struct {
		Version     string `json:"version"`
		Description string `json:"description"`
	} `json:"info"`
	Tags []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"tags"`
	Paths      ordered[ordered[*operation]] `json:"paths"`
	Webhooks   ordered[ordered[*operation]] `json:"webhooks"`
	Components struct {
		Schemas    ordered[*schema]   `json:"schemas"`
		Responses  ordered[response]  `json:"responses"`
		Headers    ordered[parameter] `json:"headers"`
		Parameters ordered[parameter] `json:"parameters"`
	} `json:"components"`
}

type operation struct {
	path, method string
	text         jsontext.Value // all of it

	ID          string            `json:"operationId"`
	Tags        []string          `json:"tags"`
	Summary     string            `json:"summary"`
	Description string            `json:"description"`
	Parameters  []parameter       `json:"parameters"`
	Responses   ordered[response] `json:"responses"`
	Security    []any             `json:"security"`
	Body        *struct {
		Required bool               `json:"required"`
		Content  ordered[mediaType] `json:"content"`
	} `json:"requestBody"`
}

// UnmarshalJSONFrom reads an operation and keeps its text.
func (o *operation) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	text, err := dec.ReadValue()
	if err != nil {
		return err
	}
	type plain operation
	o.text = text.Clone()
	return jsonv2.Unmarshal(o.text, (*plain)(o))
}

// parameter is a parameter or a header.
type parameter struct {
	Ref         string         `json:"$ref"`
	Name        string         `json:"name"`
	In          string         `json:"in"`
	Description string         `json:"description"`
	Required    bool           `json:"required"`
	Schema      *schema        `json:"schema"`
	Example     jsontext.Value `json:"example"`
}

type mediaType struct {
	Schema   *schema                 `json:"schema"`
	Example  jsontext.Value          `json:"example"`
	Examples ordered[jsontext.Value] `json:"examples"`
}

type response struct {
	Ref         string             `json:"$ref"`
	Description string             `json:"description"`
	Headers     ordered[parameter] `json:"headers"`
	Content     ordered[mediaType] `json:"content"`
}

// schema is the part of JSON Schema 2020-12 the document uses.
type schema struct {
	Any bool `json:"-"` // the schema true or false; only true has values

	Ref         string           `json:"$ref"`
	Type        texts            `json:"type"`
	Description string           `json:"description"`
	Properties  ordered[*schema] `json:"properties"`
	Required    []string         `json:"required"`
	Additional  *schema          `json:"additionalProperties"`
	Items       *schema          `json:"items"`
	OneOf       []*schema        `json:"oneOf"`
	Enum        []jsontext.Value `json:"enum"`
	Const       jsontext.Value   `json:"const"`
	Default     jsontext.Value   `json:"default"`
	Examples    []jsontext.Value `json:"examples"`
	Pattern     string           `json:"pattern"`
	Format      string           `json:"format"`
	Unit        string           `json:"x-unit"`
	Minimum     jsontext.Value   `json:"minimum"`
	Maximum     jsontext.Value   `json:"maximum"`
	MinLength   jsontext.Value   `json:"minLength"`
	MaxLength   jsontext.Value   `json:"maxLength"`
	MinItems    jsontext.Value   `json:"minItems"`
	MaxItems    jsontext.Value   `json:"maxItems"`
}

// UnmarshalJSONFrom reads a schema, which may be true or false.
func (s *schema) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if kind := dec.PeekKind(); kind == 't' || kind == 'f' {
		s.Any = true
		return dec.SkipValue()
	}
	type plain schema
	return jsonv2.UnmarshalDecode(dec, (*plain)(s))
}

type texts []string

// UnmarshalJSONFrom reads one or several.
func (t *texts) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '[' {
		return jsonv2.UnmarshalDecode(dec, (*[]string)(t))
	}
	*t = make(texts, 1)
	return jsonv2.UnmarshalDecode(dec, &(*t)[0])
}
