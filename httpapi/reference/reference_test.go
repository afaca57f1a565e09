package reference

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var shipped = sync.OnceValue(func() []byte {
	b, err := os.ReadFile("../openapi.json")
	if err != nil {
		panic(err)
	}
	return b
})

func mustRead(t *testing.T, doc string) *Reference {
	t.Helper()
	ref, err := Read([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// TestHostileText holds that texts of the document bring neither markup nor dangerous addresses.
func TestHostileText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a `b < c` d":                 "a <code>b &lt; c</code> d",
		"see [the page](/problems/x)": `see <a href="/problems/x">the page</a>`,
		"a <script>alert(1)</script>": "a <!-- raw HTML omitted -->alert(1)<!-- raw HTML omitted -->",
		"[a](javascript:alert)":       `<a href="">a</a>`,
		"":                            "",
	} {
		if got := string(inline(text)); got != want {
			t.Errorf("inline(%q) = %s, want %s", text, got, want)
		}
	}
}

// TestReadComplete counts, in the shipped document and in what is read of it, operations, parameters,
// errors, schemas and fields.
func TestReadComplete(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string
			Parameters  []json.RawMessage
			Responses   map[string]json.RawMessage
		}
		Components struct {
			Schemas map[string]struct{ Properties map[string]json.RawMessage }
			Headers map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(shipped(), &doc); err != nil {
		t.Fatal(err)
	}
	type counts struct{ Parameters, Responses int }
	want, got := map[string]counts{}, map[string]counts{}
	for _, methods := range doc.Paths {
		for _, op := range methods {
			want[op.OperationID] = counts{len(op.Parameters), len(op.Responses)}
		}
	}
	ref := mustRead(t, string(shipped()))
	objects := slices.Clone(ref.Objects)
	for _, g := range ref.Groups {
		for _, e := range g.Endpoints {
			got[e.ID] = counts{len(e.Parameters) + len(e.Shared), len(e.Responses) + len(e.Errors)}
			if len(e.Responses) == 0 || len(e.Errors) == 0 || len(e.Errors[0].Codes) == 0 {
				t.Errorf("%s: %d responses, errors %v", e.ID, len(e.Responses), e.Errors)
			}
			for _, name := range e.Shared {
				if !slices.ContainsFunc(g.Shared, func(p Entry) bool { return p.Name == name }) {
					t.Errorf("%s: the group does not describe the parameter %s", e.ID, name)
				}
			}
		}
		objects = append(objects, g.Objects...)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations differ (-document +read):\n%s", diff)
	}
	wantFields, gotFields := map[string]int{}, map[string]int{}
	for name, s := range doc.Components.Schemas {
		wantFields[name] = len(s.Properties)
	}
	for _, o := range objects {
		if _, twice := gotFields[o.Name]; twice {
			t.Errorf("%s is described twice", o.Name)
		}
		gotFields[o.Name] = 0
		for _, f := range o.Fields {
			if !strings.ContainsAny(f.Name, ".[") { // not of an object inside
				gotFields[o.Name]++
			}
		}
	}
	if diff := cmp.Diff(wantFields, gotFields); diff != "" {
		t.Errorf("fields of objects differ (-document +read):\n%s", diff)
	}
	if len(ref.Headers) != len(doc.Components.Headers) {
		t.Errorf("%d headers, want %d", len(ref.Headers), len(doc.Components.Headers))
	}
}

// small is a document with one of everything.
const small = `{"openapi":"3.1.0","info":{"title":"t","version":"1","description":"Lead.\n\n## First part\n\nText of $BASE."},
"tags":[{"name":"cars","description":"Cars."},{"name":"boats","description":"Boats."}],
"paths":{
 "/cars/{id}":{"get":{"operationId":"getCar","tags":["cars"],"summary":"One car","security":[{"key":[]}],
  "parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"},"example":"a/b"}],
  "responses":{"200":{"description":"The car.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Car"}}}},"404":{"$ref":"#/components/responses/None"}}}},
 "/cars":{"post":{"operationId":"addCar","tags":["cars"],"summary":"A new car","requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Car"},"example":{"name":"x"}}}},
  "parameters":[{"name":"color","in":"query","schema":{"type":"array","items":{"type":"string","enum":["red","blue"]},"minItems":1,"maxItems":2},"example":["red","blue"]}],
  "responses":{"204":{"description":"Done."}}}},
 "/boats":{"get":{"operationId":"listBoats","tags":["boats"],"summary":"Boats","responses":{"200":{"description":"All.","content":{"application/json":{"schema":{"type":"array","items":{"$ref":"#/components/schemas/Boat"}}}}}}}}},
"components":{"responses":{"None":{"description":"No such car.","content":{"application/problem+json":{"schema":{"type":"object"},"examples":{"not_found":{"value":{}}}}}}},
"schemas":{
 "Car":{"type":"object","description":"A car.","required":["name"],"properties":{"name":{"type":"string","maxLength":9,"examples":["Z"]},
  "maker":{"oneOf":[{"$ref":"#/components/schemas/Maker"},{"type":"null"}]},"doors":{"type":["integer","null"],"minimum":2,"maximum":5,"default":4},
  "size":{"type":"object","properties":{"length":{"type":"number","minimum":0,"x-unit":"m"}}}}},
 "Boat":{"type":"object","properties":{"maker":{"$ref":"#/components/schemas/Maker"}}},
 "Maker":{"type":"object","description":"Maker of the model.","properties":{"since":{"type":"string","format":"date"},"kind":{"const":"maker"}}}}}}`

var tags = regexp.MustCompile(`<[^>]*>`)

// words is the type of an entry without its links.
func words(e Entry) string { return tags.ReplaceAllString(string(e.Type), "") }

func TestRead(t *testing.T) {
	ref := mustRead(t, small)
	var order []string
	for _, e := range ref.Groups[0].Endpoints {
		order = append(order, e.Method+" "+e.Address)
	}
	if diff := cmp.Diff([]string{"POST /cars?color=red,blue", "GET /cars/a/b"}, order); diff != "" {
		t.Errorf("endpoints differ (-want +got):\n%s", diff)
	}
	post, get := ref.Groups[0].Endpoints[0], ref.Groups[0].Endpoints[1]
	if post.Key || !get.Key {
		t.Errorf("keys: %t, %t, want false, true", post.Key, get.Key)
	}
	if got := words(post.Parameters[0]); got != "list (1 to 2) of text" || !slices.Equal(post.Parameters[0].Values, []string{"red", "blue"}) {
		t.Errorf("color is %s of %q", got, post.Parameters[0].Values)
	}
	if post.Body == nil || post.Body.Example != `{"name":"x"}` || words(*post.Body) != "Car" {
		t.Errorf("body %+v", post.Body)
	}
	if len(get.Errors) != 1 || get.Errors[0].Status != "404" || !slices.Equal(get.Errors[0].Codes, []string{"not_found"}) {
		t.Errorf("errors %+v", get.Errors)
	}
	fields := map[string]string{}
	for _, f := range ref.Groups[0].Objects[0].Fields {
		fields[f.Name] = words(f)
	}
	want := map[string]string{"name": "text (at most 9 characters)", "maker": "Maker or null", "doors": "whole number from 2 to 5 or null", "size": "object", "size.length": "number from 0, in m"}
	if !maps.Equal(fields, want) {
		t.Errorf("fields differ (-want +got):\n%s", cmp.Diff(want, fields))
	}
	if len(ref.Objects) != 1 || ref.Objects[0].Name != "Maker" {
		t.Errorf("objects without a group: %+v, want Maker, which both groups refer to equally directly", ref.Objects)
	}
	if len(ref.Chapters) != 1 || ref.Chapters[0].ID != "first-part" || ref.Lead != "<p>Lead.</p>\n" {
		t.Errorf("guide: %q, %+v", ref.Lead, ref.Chapters)
	}
}

func TestReadFaults(t *testing.T) {
	for _, tt := range []struct{ name, from, to, want string }{
		{"no JSON", `{"openapi"`, `{openapi`, "reading the OpenAPI document: "},
		{"paths no object", `"paths":{`, `"paths":[],"x":{`, "want an object"},
		{"schema missing", `schemas/Maker"}}`, `schemas/Owner"}}`, "there is no #/components/schemas/Owner"},
		{"response missing", `responses/None`, `responses/Some`, "there is no #/components/responses/Some"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(small, tt.from) {
				t.Fatalf("the document has no %s", tt.from)
			}
			_, err := Read([]byte(strings.Replace(small, tt.from, tt.to, 1)))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// TestReadWords holds that types are words: no schema of the document is left as a name of JSON Schema.
func TestReadWords(t *testing.T) {
	jsonName := regexp.MustCompile(`\b(string|array|integer|boolean)\b`)
	ref := mustRead(t, string(shipped()))
	check := func(where string, e Entry) {
		if text := words(e); text == "" || jsonName.MatchString(text) && !strings.Contains(text, "matches") {
			t.Errorf("%s is %q", where, text)
		}
	}
	for _, g := range ref.Groups {
		for _, o := range g.Objects {
			for _, f := range o.Fields {
				check(o.Name+"."+f.Name, f)
			}
		}
		for _, e := range g.Endpoints {
			for _, p := range e.Parameters {
				check(e.ID+" "+p.Name, p)
			}
		}
	}
}
