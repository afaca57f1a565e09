package snapshot

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
)

// schemaNode walks the generated schema by property names, following references and the
// branch beside null.
func schemaNode(t *testing.T, path string) map[string]any {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	node := root
	for _, name := range strings.Fields(path) {
		if name == "[]" {
			node = node["items"].(map[string]any)
		} else if p, ok := node["properties"].(map[string]any)[name].(map[string]any); ok {
			node = p
		} else {
			t.Fatalf("schema has no %q in %q", name, path)
		}
		if ref, ok := node["$ref"].(string); ok {
			node = root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
		}
	}
	return node
}

// TestSchemaConstraints looks up every constraint of the specification in the schema: the
// generator passes over tags it does not know silently.
func TestSchemaConstraints(t *testing.T) {
	ids := []any{"source_a", "source_b", "source_c"}
	tests := []struct {
		path, key string
		want      any
	}{
		{"", "$schema", schemaDialect},
		{"schema_version", "const", "service-model-intelligence-snapshot-v1"},
		{"scope", "const", "model-intelligence-priors"},
		{"not_local_measurement", "const", true},
		{"not_local_measurement", "type", "boolean"},
		{"output_hash_sha256", "pattern", "^[0-9a-f]{64}$"},
		{"generated_at", "format", "date-time"},
		{"schema_url", "type", "string"},
		{"sources", "type", "array"},
		{"sources [] source_id", "enum", ids},
		{"sources [] captured_at", "format", "date-time"},
		{"sources [] fetched_rows", "type", "integer"},
		{"sources [] fetched_rows", "minimum", 0.0},
		{"sources [] total_rows_reported", "type", "integer"},
		{"sources [] total_rows_reported", "minimum", 0.0},
		{"meta model_count", "type", "integer"},
		{"meta model_count", "minimum", 0.0},
		{"meta score_count", "minimum", 0.0},
		{"meta source_count", "minimum", 0.0},
		{"meta confidence_counts high", "minimum", 0.0},
		{"meta confidence_counts moderate", "minimum", 0.0},
		{"meta confidence_counts low", "minimum", 0.0},
		{"meta generated_from []", "type", "string"},
		{"models [] source_ids []", "enum", ids},
		{"models [] aliases []", "type", "string"},
		{"models [] modalities []", "type", "string"},
		{"models [] composite confidence", "enum", []any{"high", "moderate", "low"}},
		{"models [] composite components [] source_id", "enum", ids},
		{"models [] composite components [] normalized_0_100", "minimum", 0.0},
		{"models [] composite components [] normalized_0_100", "maximum", 100.0},
		{"models [] composite components [] weight", "minimum", 0.0},
		{"models [] composite derived_from []", "type", "string"},
		{"models [] composite limitations []", "type", "string"},
		{"models [] scores [] source_id", "enum", ids},
		{"models [] scores [] confidence", "const", "sourced"},
		{"models [] scores [] value", "type", "number"},
		{"models [] scores [] source_row_count", "type", "integer"},
		{"models [] scores [] source_row_count", "minimum", 0.0},
		{"models [] scores [] captured_at", "format", "date-time"},
	}
	for _, tt := range tests {
		t.Run(tt.path+" "+tt.key, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, schemaNode(t, tt.path)[tt.key]); diff != "" {
				t.Errorf("%s of %q (-want +got):\n%s", tt.key, tt.path, diff)
			}
		})
	}
}

func TestSchemaNullable(t *testing.T) {
	tests := []struct{ path, kind string }{
		{"models [] provider", "string"},
		{"models [] openness", "string"},
		{"models [] license", "string"},
		{"models [] parameter_billions", "number"},
		{"models [] context_window", "number"},
		{"models [] composite score_0_100", "number"},
		{"models [] scores [] normalized_0_100", "number"},
		{"models [] scores [] rank", "number"},
		{"models [] scores [] lower", "number"},
		{"models [] scores [] upper", "number"},
		{"models [] scores [] category", "string"},
		{"models [] scores [] task", "string"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			branches, _ := schemaNode(t, tt.path)["oneOf"].([]any)
			var kinds []string
			for _, b := range branches {
				kinds = append(kinds, b.(map[string]any)["type"].(string))
				if strings.HasSuffix(tt.path, "0_100") && b.(map[string]any)["type"] == "number" && b.(map[string]any)["maximum"] != 100.0 {
					t.Errorf("%s: maximum = %v, want 100", tt.path, b.(map[string]any)["maximum"])
				}
			}
			if want := []string{tt.kind, "null"}; !slices.Equal(kinds, want) {
				t.Errorf("%s takes %v, want %v", tt.path, kinds, want)
			}
		})
	}
}

func TestSchemaRequired(t *testing.T) {
	tests := []struct{ path, required, optional string }{
		{"", "schema_version schema_url output_hash_sha256 generated_at generated_by scope license attribution not_local_measurement framework_note sources normalization models meta", ""},
		{"normalization", "model_matching composite local_execution_claim", ""},
		{"meta", "model_count score_count source_count confidence_counts generated_from", ""},
		{"meta confidence_counts", "high moderate low", ""},
		{"sources []", "source_id label source_url dataset config split license_note fetched_rows total_rows_reported captured_at", "sampling_note"},
		{"models []", "model_key display_name provider openness license aliases modalities parameter_billions context_window source_ids composite scores", ""},
		{"models [] composite", "score_0_100 confidence components derived_from limitations", ""},
		{"models [] composite components []", "source_id metric normalized_0_100 weight", ""},
		{"models [] scores []", "source_id metric value normalized_0_100 scale confidence source_url source_dataset source_config source_split source_row_count captured_at evidence_note", "rank lower upper category task"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			node := schemaNode(t, tt.path)
			var required, all []string
			for _, r := range node["required"].([]any) {
				required = append(required, r.(string))
			}
			for name := range node["properties"].(map[string]any) {
				all = append(all, name)
			}
			sameNames(t, "required", required, strings.Fields(tt.required))
			sameNames(t, "properties", all, strings.Fields(tt.required+" "+tt.optional))
			if node["additionalProperties"] != false {
				t.Errorf("additionalProperties = %v, want false", node["additionalProperties"])
			}
		})
	}
}

func sameNames(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestSchemaURL(t *testing.T) {
	want := "https://example.org/api/v1/schemas/service-model-intelligence-snapshot-v1.json"
	for _, base := range []string{"https://example.org", "https://example.org/", "https://example.org//"} {
		if got := schemaURL(base); got != want {
			t.Errorf("SchemaURL(%q) = %q, want %q", base, got, want)
		}
	}
}

var update = flag.Bool("update", false, "rewrite golden files")

const schemaFile = "schema/" + SchemaVersion + ".json"

// The generator is needed by this test only and stays out of the server: the methods it
// looks for on the types live here.

// JSONSchemaExtend sets the constants, which the generator's tags cannot say.
func (Document) JSONSchemaExtend(s *jsonschema.Schema) {
	constant(s, "schema_version", SchemaVersion)
	constant(s, "scope", scope)
	constant(s, "not_local_measurement", true)
}

// JSONSchemaExtend sets the constant confidence.
func (Score) JSONSchemaExtend(s *jsonschema.Schema) {
	constant(s, "confidence", scoreSourced)
}

// JSONSchema lists the closed set.
func (SourceID) JSONSchema() *jsonschema.Schema {
	return enum("The identifier of an upstream source.", sourceIDs)
}

// JSONSchema lists the closed set.
func (Confidence) JSONSchema() *jsonschema.Schema {
	return enum("How reliable a composite is.", confidences)
}

func constant(s *jsonschema.Schema, name string, value any) {
	p, ok := s.Properties.Get(name)
	if !ok {
		panic("no property " + name)
	}
	p.Const = value
}

func enum[T ~string](description string, values []T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", Description: description}
	for _, v := range values {
		s.Enum = append(s.Enum, string(v))
	}
	return s
}

// generate makes the schema from the Go types and their comments.
func generate(t *testing.T) []byte {
	t.Helper()
	r := &jsonschema.Reflector{
		Anonymous:      true, // its address depends on the publisher
		ExpandedStruct: true,
		Namer:          definitionName,
	}
	if err := r.AddGoComments("modeldex/snapshot", "./"); err != nil {
		t.Fatal(err)
	}
	s := r.Reflect(&Document{})
	s.ID, s.Title = "urn:modeldex:schema:"+SchemaVersion, SchemaVersion
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

// definitionName gives the names of the specification: source, sourceId, model.
func definitionName(t reflect.Type) string {
	name := strings.Replace(t.Name(), "ID", "Id", 1)
	if name == "" {
		return ""
	}
	return strings.ToLower(name[:1]) + name[1:]
}

func TestSchemaGolden(t *testing.T) {
	got := generate(t)
	if *update {
		if err := os.WriteFile(schemaFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("schema made from the types differs from %s (-want +got); run go generate:\n%s", schemaFile, diff)
	}
	if !bytes.Equal(Schema(), want) {
		t.Error("embedded schema is not the golden file")
	}
}
