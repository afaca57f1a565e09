package httpapi

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	"modeldex/httpapi/export"
	"modeldex/index"
)

// formatParam is a parameter of every endpoint whose rows can be a file.
var formatParam = param{name: "format", kind: fileFormat, values: formatNames(), doc: "Form of the rows: json, or a file of csv, ndjson or parquet. Without it the Accept header decides."}

func formatNames() (out []string) {
	for _, f := range export.Formats {
		out = append(out, f.String())
	}
	return out
}

// filed reports whether the rows of an endpoint can be a file.
func (r *resource) filed() bool { return r != nil && r.columns != nil }

// filed reports whether a route negotiates the form of its response.
func (rt *route) filed() bool {
	return rt.list.filed() || rt.record != nil && rt.record.detail.filed()
}

// acceptance is what an Accept header lets through.
type acceptance struct {
	best export.Format // of all formats: the one with the highest weight, JSON among equals
	any  bool          // one of the formats may be sent
	json bool          // JSON may be sent
}

// everything is what a request without an Accept header accepts.
var everything = acceptance{best: export.JSON, any: true, json: true}

// otherNames are names of media types in use beside those of export.Format.MediaType. A caller who
// reads our errors reads our data.
var otherNames = map[string]export.Format{
	"application/problem+json": export.JSON,
	"application/ndjson":       export.NDJSON, "application/jsonl": export.NDJSON, "application/x-jsonlines": export.NDJSON,
	"application/parquet": export.Parquet, "application/x-parquet": export.Parquet,
}

// acceptedBy reads an Accept header (RFC 9110, 12.5.1): for each format the most specific range
// that names it decides. Parameters of a range do not matter, nor does the case of letters.
func acceptedBy(header []byte) acceptance {
	if len(header) == 0 || string(header) == "*/*" || string(header) == jsonType {
		return everything
	}
	var specific, weight [export.Parquet + 1]int
	for item := range bytes.SplitSeq(header, []byte{','}) {
		kind, params, _ := bytes.Cut(item, []byte{';'})
		name, w := strings.ToLower(string(bytes.TrimSpace(kind))), weightOf(params)
		for _, f := range export.Formats {
			if s := specificity(name, f); s > specific[f] {
				specific[f], weight[f] = s, w
			}
		}
	}
	out := acceptance{json: weight[export.JSON] > 0}
	for _, f := range export.Formats {
		if weight[f] > weight[out.best] {
			out.best = f
		}
		out.any = out.any || weight[f] > 0
	}
	return out
}

// specificity is how precisely a media range names a format, 0 for not at all.
func specificity(name string, f export.Format) int {
	kind, _, _ := strings.Cut(f.MediaType(), "/")
	switch other, ok := otherNames[name]; {
	case name == f.MediaType():
		return 4
	case ok && other == f:
		return 3
	case name == kind+"/*":
		return 2
	case name == "*/*":
		return 1
	default:
		return 0
	}
}

// acceptsFormat rejects a response in a form that the caller neither asked for nor accepts.
func (req *request) acceptsFormat(q *listQuery) *failure {
	if !q.formatGiven && !req.accepts.any {
		return fail(&notAcceptable)
	}
	return nil
}

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
	if err := json.Unmarshal(openapiJSON, &doc); err != nil {
		panic(err) // embedded, and checked by tests
	}
	return doc.Components.Schemas
})

// fieldText is the description of the field with a dotted name in a schema of the OpenAPI document,
// empty where there is none.
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
