package httpapi

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"modeldex/httpapi/export"
	"modeldex/index"

	jsonv2 "github.com/goccy/go-json/v2"
)

func formatNames() (out []string) {
	for _, f := range export.Formats {
		out = append(out, f.String())
	}
	return out
}

// filed reports whether the rows of an endpoint can be a file.
func (r *resource) filed() bool { return r != nil && r.columns != nil }

// schemaOf makes the schema of rows when it is first asked for. Its texts are those of a schema of
// the OpenAPI document.
func schemaOf[Row any](table, documented string) func() *export.Schema {
	return sync.OnceValue(func() *export.Schema {
		return export.SchemaOf(table, reflect.TypeFor[Row](), func(column string) string { return fieldText(documented, column) })
	})
}

// documentedSchema is what is read of a schema of the OpenAPI document.
type documentedSchema struct {
	Ref         string                       `json:"$ref"`
	Description string                       `json:"description"`
	Properties  map[string]*documentedSchema `json:"properties"`
	AnyOf       []*documentedSchema          `json:"anyOf"`
	OneOf       []*documentedSchema          `json:"oneOf"`
	AllOf       []*documentedSchema          `json:"allOf"`
}

var documentedSchemas = sync.OnceValue(func() map[string]*documentedSchema {
	var doc struct {
		Components struct {
			Schemas map[string]*documentedSchema `json:"schemas"`
		} `json:"components"`
	}
	if err := jsonv2.Unmarshal(openapiJSON(), &doc); err != nil {
		panic(err) // embedded, and checked by tests
	}
	return doc.Components.Schemas
})

// fieldText is the description of the field with a dotted name in a schema of the OpenAPI document,
// empty if there is none.
func fieldText(schema, column string) string {
	at := documentedSchemas()[schema]
	for part := range strings.SplitSeq(column, ".") {
		if at = at.property(part); at == nil {
			return ""
		}
	}
	return at.Description
}

// property is the schema of a member, also behind references and alternatives.
func (d *documentedSchema) property(name string) *documentedSchema {
	if d == nil {
		return nil
	}
	if p := d.Properties[name]; p != nil {
		return p
	}
	if p := documentedSchemas()[strings.TrimPrefix(d.Ref, "#/components/schemas/")].property(name); p != nil {
		return p
	}
	for _, list := range [][]*documentedSchema{d.AnyOf, d.OneOf, d.AllOf} {
		for _, one := range list {
			if p := one.property(name); p != nil {
				return p
			}
		}
	}
	return nil
}

// aboutOf names the dataset of a generation in files.
func aboutOf(gen *index.Generation) export.About {
	return export.About{Title: gen.Info.Title, Version: gen.Info.Version, Digest: gen.Digest.String(), Licence: gen.Info.License}
}

// allRows is the limit of a complete result, and rowsPerCall how many of its rows one call pays for.
const (
	allRows     = "all"
	rowsPerCall = 500
)

var allText = fmt.Sprintf("%s: every row in one response, streamed, with a file format and a key of a paid tier; it costs one call per started %d rows.", allRows, rowsPerCall)
