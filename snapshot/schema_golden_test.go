package snapshot

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
)

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
