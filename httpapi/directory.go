package httpapi

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strings"

	"modeldex/httpapi/rowjson"

	jsonv2 "github.com/goccy/go-json/v2"
)

// Endpoint is one path and method of the API.
type Endpoint struct {
	// HTTP method. GET endpoints also support HEAD.
	Method string `json:"method" jsonschema:"enum=GET,enum=POST,enum=PATCH,enum=PUT,enum=DELETE,example=GET"`
	// Path, with parameters in braces.
	Path string `json:"path" jsonschema:"example=/api/v1/models/{slug}"`
	// Name of the operation in the OpenAPI document.
	OperationID string `json:"operation_id" jsonschema:"example=getModel"`
	// What it does.
	Summary string `json:"summary" jsonschema:"example=One model with its architecture\\, quantizations\\, KV cache and benchmarks"`
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

// SchemaInfo is one published JSON Schema.
type SchemaInfo struct {
	// Name of the schema.
	Name string `json:"name" jsonschema:"example=model.schema.json"`
	// Address of the schema.
	URL string `json:"url" jsonschema:"example=/api/v1/schemas/model.schema.json"`
	// Identifier that other schemas refer to; null if it has none.
	ID *string `json:"id" jsonschema:"nullable,example=urn:modeldex:schema:model"`
	// What it describes.
	Title *string `json:"title" jsonschema:"nullable,example=Model"`
	// Size of the schema, in bytes.
	Bytes int `json:"bytes" jsonschema:"minimum=1,example=20480"`
}

func listSchemas(s *Server, req *request) (*response, *failure) {
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
	return newData(req, list), nil
}

func showSchema(s *Server, req *request) (*response, *failure) {
	name := req.param("name") + ".json"
	schema, ok := s.cfg.Schemas[name]
	if !ok {
		names := slices.Sorted(maps.Keys(s.cfg.Schemas))
		f := noSuch("No schema has this name. GET "+schemasPath+" lists them.", "name", name, "no such schema", names)
		if full := strings.TrimSuffix(strings.TrimSuffix(name, ".json"), ".schema") + ".schema.json"; slices.Contains(names, full) { // model.json and model
			f.faults[0].Suggestion = full
		}
		return nil, f
	}
	sum := sha256.Sum256(schema)
	return s.open.Render(sum[:16], req.coding, "/api/v1/schemas/"+name, func() *response {
		resp := newEntity(schema, req.coding, jsonType, sum[:], name)
		resp.public()
		return resp
	}), nil
}
