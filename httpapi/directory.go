package httpapi

import (
	"crypto/sha256"
	"maps"
	"path"
	"slices"
	"strings"

	"modeldex/httpapi/encoding"
	"modeldex/httpapi/rowjson"
	"modeldex/httpapi/suggest"

	jsonv2 "github.com/goccy/go-json/v2"
)

// Endpoint is one address and method of the API.
type Endpoint struct {
	// HTTP method. GET endpoints answer HEAD as well.
	Method string `json:"method" jsonschema:"enum=GET,enum=POST,enum=PATCH,enum=PUT,enum=DELETE,example=GET"`
	// Address, with parameters in braces.
	Path string `json:"path" jsonschema:"example=/api/v1/models/{slug}"`
	// Name of the operation in the OpenAPI document.
	OperationID string `json:"operation_id" jsonschema:"example=getModel"`
	// What it answers.
	Summary string `json:"summary" jsonschema:"example=One model with architecture\\, quantizations\\, KV cache and its benchmarks"`
	// Whether it needs an API key.
	Key bool `json:"key" jsonschema:"example=true"`
}

func newEndpoints(routes []route) *document {
	list := []Endpoint{}
	for i := range routes {
		rt := &routes[i]
		address := rt.doc
		if address == "" {
			address = rt.path
		}
		if strings.HasPrefix(address, apiPath) {
			list = append(list, Endpoint{rt.method, address, rt.id, rt.summary, rt.access >= keyed})
		}
	}
	return newStatic(jsonType, false, func() []byte { return rowjson.Marshal(map[string]any{"data": list}) })
}

func listEndpoints(s *Server, req *request) (*response, *failure) {
	if f := req.noParameters(); f != nil {
		return nil, f
	}
	return s.document(req, "api")
}

// SchemaInfo is one published JSON Schema.
type SchemaInfo struct {
	// Name of the schema.
	Name string `json:"name" jsonschema:"example=model.schema.json"`
	// Address of the schema.
	URL string `json:"url" jsonschema:"example=/api/v1/schemas/model.schema.json"`
	// Identifier by which other schemas may refer to it; null where it has none.
	ID *string `json:"id" jsonschema:"nullable,example=urn:modeldex:schema:model"`
	// What it describes.
	Title *string `json:"title" jsonschema:"nullable,example=Model"`
	// Size of the schema, in bytes.
	Bytes int `json:"bytes" jsonschema:"minimum=1,example=20480"`
}

func listSchemas(s *Server, req *request) (*response, *failure) {
	if f := req.noParameters(); f != nil {
		return nil, f
	}
	list := []SchemaInfo{}
	for _, name := range slices.Sorted(maps.Keys(s.cfg.Schemas)) {
		var head struct {
			ID    *string `json:"$id"`
			Title *string `json:"title"`
		}
		if err := jsonv2.Unmarshal(s.cfg.Schemas[name], &head); err != nil {
			return nil, &failure{code: internal, cause: err}
		}
		list = append(list, SchemaInfo{name, schemasPath + "/" + name, head.ID, head.Title, len(s.cfg.Schemas[name])})
	}
	return newDocument(rowjson.Marshal(map[string]any{"data": list}), jsonType, req.coding), nil
}

func showSchema(s *Server, req *request) (*response, *failure) {
	if f := req.noParameters(); f != nil {
		return nil, f
	}
	name := req.param("name") + ".json"
	schema, ok := s.cfg.Schemas[name]
	if !ok {
		return nil, s.noSchema(name)
	}
	sum := sha256.Sum256(schema)
	return s.open.Render(sum[:16], req.coding, "/api/v1/schemas/"+name, func() *response {
		resp := newEntity(schema, req.coding, jsonType, func(c encoding.Coding) string { return etag(sum[:16], c, name) })
		resp.public()
		return resp
	}), nil
}

func (s *Server) noSchema(name string) *failure {
	names := slices.Sorted(maps.Keys(s.cfg.Schemas))
	fault := Fault{In: "path", Name: "name", Value: clip(name), Detail: "no such schema", Allowed: names}
	base := strings.TrimSuffix(name, path.Ext(name))
	for _, n := range names { // model.json and model are model.schema.json
		if strings.TrimSuffix(n, ".schema.json") == base {
			fault.Suggestion = n
		}
	}
	if fault.Suggestion == "" {
		fault.Suggestion = new(suggest.Suggester).Nearest(name, names)
	}
	return &failure{code: notFound, detail: "No schema has this name. GET " + schemasPath + " lists them.", faults: []Fault{fault}}
}
