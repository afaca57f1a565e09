package httpapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"modeldex/httpapi/encoding"
)

var update = flag.Bool("update", false, "rewrite golden files")

const openapiVersions = "testdata/openapi/versions"

func TestOpenAPIGolden(t *testing.T) {
	t.Parallel()
	got := makeOpenAPI()
	if *update {
		if err := os.WriteFile("openapi.json", got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("document made from the tables and types differs from openapi.json (-want +got); run go test ./httpapi -run OpenAPI -update:\n%s", diff)
	}
	if !bytes.Equal(openapiJSON(), want) {
		t.Error("embedded document is not the golden file")
	}
}

// mustDocument reads the embedded document, which is the old one while -update writes it.
func mustDocument(t *testing.T) *apiDocument {
	t.Helper()
	if *update {
		t.Skip("the golden test writes the document")
	}
	d, err := readDocument(openapiJSON())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestOpenAPIVersion holds that a published document does not change under its version.
// A version without a line is not published yet; its release adds the line.
func TestOpenAPIVersion(t *testing.T) {
	t.Parallel()
	want, published := versionSums(t)[apiVersion]
	if got := sumOf(openapiJSON()); published && got != want {
		t.Errorf("openapi.json of version %s has SHA-256 %s, %s says %s: a changed document needs a higher apiVersion (openapi_make_test.go)",
			apiVersion, got, openapiVersions, want)
	}
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// versionSums reads the published versions and the SHA-256 of their documents.
func versionSums(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile(openapiVersions)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(b)) {
		version, sum, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || sums[version] != "" {
			t.Fatalf("%s: must be one version and its sum per line, got %q", openapiVersions, line)
		}
		sums[version] = sum
	}
	return sums
}

// TestOpenAPIMetaschema validates the document by the schema of the OpenAPI Initiative for 3.1
// (testdata/openapi/schema-3.1.json), and every schema inside it by JSON Schema 2020-12.
func TestOpenAPIMetaschema(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/openapi/schema-3.1.json")
	if err != nil {
		t.Fatal(err)
	}
	meta, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.UseLoader(noLoader{})
	if err := c.AddResource("mem:///oas", meta); err != nil {
		t.Fatal(err)
	}
	oas, err := c.Compile("mem:///oas")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(openapiJSON()))
	if err != nil {
		t.Fatal(err)
	}
	if err := oas.Validate(doc); err != nil {
		t.Errorf("openapi.json: %v", err)
	}
	d := mustDocument(t)
	for name := range dig(d.root, "components", "schemas") {
		if _, err := d.schema([]string{"components", "schemas", name}); err != nil {
			t.Errorf("schema %s: %v", name, err)
		}
	}
}

// TestOpenAPITexts holds that readers are left alone with nothing.
func TestOpenAPITexts(t *testing.T) {
	d := mustDocument(t)
	for name, s := range dig(d.root, "components", "schemas") {
		if dig(s)["description"] == nil {
			t.Errorf("schema %s has no description", name)
		}
		for field, f := range dig(s, "properties") {
			if dig(f)["description"] == nil && dig(f)["$ref"] == nil {
				t.Errorf("schema %s: field %s has no description", name, field)
			}
		}
	}
	for _, p := range d.paths {
		for method, op := range p.methods {
			for _, text := range []string{"summary", "description"} {
				if dig(op)[text] == nil {
					t.Errorf("%s %s has no %s", method, p.template, text)
				}
			}
		}
	}
}

// TestOpenAPIHasEveryCode holds that each error can be told from the answers that carry it.
func TestOpenAPIHasEveryCode(t *testing.T) {
	d := mustDocument(t)
	documented := map[string]bool{}
	for _, r := range dig(d.root, "components", "responses") {
		for name := range dig(r, "content", "application/problem+json", "examples") {
			documented[name] = true
		}
	}
	for _, c := range codes {
		if !documented[c.name] {
			t.Errorf("code %s is in no described answer", c.name)
		}
	}
}

// TestOpenAPIReferences holds that references resolve, every component is used, and nothing is left of OpenAPI 3.0.
func TestOpenAPIReferences(t *testing.T) {
	d := mustDocument(t)
	used := map[string]bool{}
	walk(d.root, func(name string, v any) {
		target, isText := v.(string)
		switch {
		case name == "$ref" && isText:
			used[target] = true
			if _, found, err := d.follow(nil, map[string]any{"$ref": target}); err != nil || found == nil {
				t.Errorf("%s leads nowhere", target)
			}
		case name == "items" && v == true:
			t.Error("items is true; generators of clients in Go read no schema that is a flag: name its type")
		case (name == "anyOf" || name == "oneOf") && unnamedEnum(v):
			t.Errorf("%s has an enum without a name: generators of clients in Go give it the name of its neighbour; make it a schema of its own", name)
		case name == "nullable" || name == "exclusiveMinimum" && v == true:
			t.Errorf("%s is of OpenAPI 3.0", name)
		}
	})
	walk(dig(d.root, "components", "schemas"), func(name string, v any) { // parameters and bodies may have it
		if _, isText := v.(string); name == "example" && !isText {
			t.Errorf("%s is of OpenAPI 3.0", name)
		}
	})
	for _, section := range []string{"schemas", "responses", "headers", "parameters"} {
		for name := range dig(d.root, "components", section) {
			if !used["#/components/"+section+"/"+name] {
				t.Errorf("component %s/%s is used nowhere", section, name)
			}
		}
	}
}

// unnamedEnum reports whether one of the alternatives is an enum, or a list of one, that is written out in its place.
func unnamedEnum(alternatives any) bool {
	list, _ := alternatives.([]any)
	return slices.ContainsFunc(list, func(one any) bool {
		return dig(one)["enum"] != nil || dig(one, "items")["enum"] != nil
	})
}

func walk(v any, visit func(name string, v any)) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			walk(one, visit)
		}
	case map[string]any:
		for name, one := range v {
			visit(name, one)
			walk(one, visit)
		}
	}
}

// TestOpenAPISizes bounds what every reader downloads.
func TestOpenAPISizes(t *testing.T) {
	if n := len(openapiJSON()); n > 400_000 {
		t.Errorf("openapi.json has %d bytes, want at most 400,000", n)
	}
	if packed := len(encoding.Compress(openapiJSON(), encoding.Brotli)); packed > 80<<10 {
		t.Errorf("openapi.json takes %d bytes compressed, want at most 80 KiB", packed)
	}
}

// TestOpenAPIPlain: no body is one of several types, and no operation has more than one form of a response, so that
// clients need no casts.
func TestOpenAPIPlain(t *testing.T) {
	d := mustDocument(t)
	walk(d.root, func(name string, v any) {
		switch list, _ := v.([]any); {
		case (name == "anyOf" || name == "oneOf") && (len(list) != 2 || dig(list[1])["type"] != "null"):
			t.Errorf("%s is of %v, want one schema and perhaps null", name, list)
		case name == "exclusiveMinimum" || name == "exclusiveMaximum":
			t.Errorf("%s is not read by all generators", name)
		case name == "content" && len(dig(v)) != 1:
			t.Errorf("a response has %d forms: %v", len(dig(v)), sortedKeys(dig(v)))
		}
	})
	for _, p := range d.paths {
		for method, op := range p.methods {
			for status := range dig(op, "responses") {
				if !slices.Contains([]string{"200", "201", "202", "204", "206", "401", "404", "429", "default"}, status) {
					t.Errorf("%s %s has a response %s", method, p.template, status)
				}
			}
		}
	}
}
