package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-json/jsontext"
	"github.com/google/go-cmp/cmp"
	generate "github.com/invopop/jsonschema"
	"github.com/rogpeppe/go-internal/txtar"
	validate "github.com/santhosh-tekuri/jsonschema/v6"

	"modeldex/dataset/datasettest"
	"modeldex/dataset/record"
)

// referenced are the types of the field reference, in the order of its chapters.
var referenced = []struct {
	title, where string
	typ          reflect.Type
}{
	{"Model", "`models/<slug>.json`", reflect.TypeFor[Model]()},
	{"Architecture", "`architecture` of a model", reflect.TypeFor[Architecture]()},
	{"KV cache", "`kv_cache` of a model", reflect.TypeFor[KVCache]()},
	{"Quantization", "entries of `quantizations` of a model", reflect.TypeFor[Quantization]()},
	{"Hardware", "`hardware/<slug>.json`", reflect.TypeFor[Hardware]()},
	{"Price observation", "entries of `price_observations` of hardware", reflect.TypeFor[record.PriceObservation]()},
	{"Tool", "`tools/<slug>.json`", reflect.TypeFor[Tool]()},
	{"Benchmark", "lines of `benchmarks/*.ndjson`", reflect.TypeFor[Benchmark]()},
	{"Quality", "lines of `quality/*.ndjson`", reflect.TypeFor[Quality]()},
	{"Quantization type", "entries of `quantizations.json`", reflect.TypeFor[QuantizationType]()},
	{"Observed bits", "`observed` of a quantization type", reflect.TypeFor[record.ObservedBits]()},
	{"Withdrawal", "`withdrawn` of a benchmark", reflect.TypeFor[Withdrawal]()},
	{"Source", "entries of `sources`", reflect.TypeFor[SourceRef]()},
	{"Origin", "entries of `sources.json`", reflect.TypeFor[Origin]()},
	{"Dataset", "`dataset.json`", reflect.TypeFor[Info]()},
	{"Release", "lines of `changes/<year>.ndjson` that begin a release", reflect.TypeFor[record.Release]()},
	{"Change", "the other lines of `changes/<year>.ndjson`", reflect.TypeFor[record.Change]()},
	{"Field change", "entries of `fields` of a change", reflect.TypeFor[record.FieldChange]()},
}

// TestFieldReference holds data/FIELDS.md to the types. -update rewrites it.
func TestFieldReference(t *testing.T) {
	goldenPart(t, fieldsPage, "fields: made from the Go types, do not edit by hand", "end of fields", reference(t))
}

// goldenPart compares or rewrites what is between two marks of a file.
func goldenPart(t *testing.T, file, from, until, want string) {
	t.Helper()
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	from, until = "<!-- "+from+" -->\n", "<!-- "+until+" -->\n"
	head, rest, okHead := strings.Cut(string(page), from)
	got, tail, okTail := strings.Cut(rest, until)
	if !okHead || !okTail {
		t.Fatalf("%s lacks the marks %q and %q", file, from, until)
	}
	if *update {
		if err := os.WriteFile(file, []byte(head+from+want+until+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a part of %s is out of date, run go test ./dataset -run %s -update (-made +page):\n%s", file, t.Name(), diff)
	}
}

const (
	fieldsPage  = "../data/FIELDS.md"
	readingPage = "../data/READING.md"
)

func reference(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	docs := comments(t)
	for _, r := range referenced {
		fmt.Fprintf(&out, "\n### %s\n\n%s: %s\n", r.title, r.where, docs[r.typ.Name()][""])
		for _, sf := range reflect.VisibleFields(r.typ) {
			if !sf.Anonymous {
				describe(t, &out, docs[owner(r.typ, sf)][sf.Name], sf)
			}
		}
	}
	out.WriteByte('\n')
	return out.String()
}

// owner is the name of the struct a field is written in, behind embedding.
func owner(t reflect.Type, sf reflect.StructField) string {
	for _, i := range sf.Index[:len(sf.Index)-1] {
		t = t.Field(i).Type
	}
	return t.Name()
}

// describe writes the paragraph of one field: kind, unit, null rule and example, the sentence.
func describe(t *testing.T, out *bytes.Buffer, doc string, sf reflect.StructField) {
	f, tag := record.FieldOf(sf), tagParts(sf.Tag, "jsonschema")
	if doc == "" {
		t.Errorf("%s has no comment", sf.Name)
	}
	facts := []string{kindText(&f.Rule)}
	if unit := tagParts(sf.Tag, "jsonschema_extras")["unit"]; unit != "" {
		facts = append(facts, "in "+unit)
	}
	switch {
	case f.Nullable:
		facts = append(facts, "may be null")
	case f.Required():
		facts = append(facts, "required")
	default:
		facts = append(facts, "may be left out when empty")
	}
	if f.Sourced {
		facts = append(facts, "needs a source")
	}
	if example := exampleText(&f.Rule, tag["example"]); example != "" {
		facts = append(facts, "example `"+example+"`")
	} else if f.Object == nil && (f.Entry == nil || f.Entry.Object == nil) {
		t.Errorf("%s has no example", sf.Name)
	}
	fmt.Fprintf(out, "\n#### `%s`\n\n%s\n\n%s\n", f.Name, strings.Join(facts, " · "), doc)
}

func kindText(r *record.Rule) string {
	switch r.Kind {
	case reflect.Struct:
		return "object"
	case reflect.Slice:
		return "list of " + map[reflect.Kind]string{reflect.Struct: "objects", reflect.Float64: "numbers", reflect.String: "texts"}[r.Entry.Kind] + boundsText(r.Entry)
	case reflect.Int64:
		return "whole number" + boundsText(r)
	case reflect.Float64:
		return "number" + boundsText(r)
	case reflect.Bool:
		return "true or false"
	case reflect.Interface:
		return "any value"
	default:
		return "text" + boundsText(r)
	}
}

// boundsText words what a text or number must be beyond its kind.
func boundsText(r *record.Rule) string {
	var rules []string
	for _, l := range r.Limits {
		rules = append(rules, strings.TrimPrefix(l.Text, "must be "))
	}
	switch {
	case r.Set != nil:
		rules = append(rules, "one of `"+strings.Join(r.Set, "`, `")+"`")
	case r.Form != nil:
		rules = append(rules, map[reflect.Type]string{
			reflect.TypeFor[Slug](): "a slug", reflect.TypeFor[Date](): "a date as YYYY-MM-DD, YYYY-MM or YYYY", reflect.TypeFor[URL](): "an http or https address",
		}[reflect.TypeOf(r.Form)])
	case r.Pattern != nil:
		rules = append(rules, "matching `"+r.Pattern.String()+"`")
	}
	if len(rules) == 0 {
		return ""
	}
	return ", " + strings.Join(rules, ", ")
}

func exampleText(r *record.Rule, example string) string {
	switch {
	case example == "":
		return ""
	case r.Kind == reflect.Slice:
		return "[" + exampleText(r.Entry, example) + "]"
	case r.Kind == reflect.String:
		return `"` + example + `"`
	default:
		return example
	}
}

// TestExamples holds every example of a tag to the rules of its field.
func TestExamples(t *testing.T) {
	for _, r := range referenced {
		for _, sf := range reflect.VisibleFields(r.typ) {
			f, example := record.FieldOf(sf), tagParts(sf.Tag, "jsonschema")["example"]
			if sf.Anonymous || example == "" {
				continue
			}
			value := &f.Rule
			if f.Entry != nil {
				value = f.Entry
			}
			if text := value.Check([]byte(exampleText(value, example)), f.Nullable); text != "" {
				t.Errorf("example of %s.%s: %s", r.title, f.Name, text)
			}
		}
	}
}

const schemasDir = "../data/schemas"

// schemata are the published schemas: the file, what it describes, and the kind of file.
var schemata = []struct {
	name string
	rec  any
	list bool // a list of such records
}{
	{"model", Model{}, false},
	{"hardware", Hardware{}, false},
	{"tool", Tool{}, false},
	{"benchmark", Benchmark{}, false},
	{"quality", Quality{}, false},
	{"quantizations", QuantizationType{}, true},
	{"sources", Origin{}, true},
	{"dataset", Info{}, false},
	{"release", record.Release{}, false},
	{"change", record.Change{}, false},
}

func schemaFile(name string) string { return filepath.Join(schemasDir, name+".schema.json") }

// TestSchemas holds data/schemas to the Go types. -update rewrites it.
func TestSchemas(t *testing.T) {
	docs := comments(t)
	for _, s := range schemata {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(schemaOf(s.name, s.rec, s.list, docs)); err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(schemaFile(s.name), want.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(schemaFile(s.name))
		if diff := cmp.Diff(want.String(), string(got)); err != nil || diff != "" {
			t.Errorf("%s is out of date, run go test ./dataset -run Schemas -update: %v (-types +file):\n%s", schemaFile(s.name), err, diff)
		}
	}
}

// schemaOf makes one schema. Its id is a name, not an address: the schema is served by many.
func schemaOf(name string, rec any, list bool, docs map[string]map[string]string) *generate.Schema {
	r := &generate.Reflector{
		Anonymous: true, ExpandedStruct: true, Mapper: scalarSchema,
		LookupComment: func(t reflect.Type, field string) string { return docs[t.Name()][field] },
	}
	typ := reflect.TypeOf(rec)
	s := r.ReflectFromType(typ)
	finish(s, record.SchemaOf(typ))
	for name, def := range s.Definitions {
		finish(def, record.SchemaOf(defined[name]))
	}
	s.Title = typ.Name()
	id := generate.ID("urn:modeldex:schema:" + name)
	if !list {
		s.ID = id
		// The member by which a file names its schema to editors; see withoutSchema.
		kind := map[string]string{"Info": infoFile, "Model": modelsDir, "Hardware": hardwareDir, "Tool": toolsDir}[typ.Name()]
		if ref, ok := schemaFiles[kind]; ok {
			s.Properties.Set("$schema", &generate.Schema{Const: ref, Description: "Schema of this file, for editors."})
		}
		return s
	}
	defs := s.Definitions
	s.Version, s.Definitions = "", nil
	return &generate.Schema{Version: generate.Version, ID: id, Title: "List of " + typ.Name(), Type: "array", Items: s, Definitions: defs}
}

// defined are the struct types that are in $defs, by name.
var defined = map[string]reflect.Type{
	"Architecture": reflect.TypeFor[Architecture](), "KVCache": reflect.TypeFor[KVCache](), "Quantization": reflect.TypeFor[Quantization](),
	"SourceRef": reflect.TypeFor[SourceRef](), "PriceObservation": reflect.TypeFor[record.PriceObservation](), "ObservedBits": reflect.TypeFor[record.ObservedBits](),
	"Withdrawal": reflect.TypeFor[Withdrawal](), "FieldChange": reflect.TypeFor[record.FieldChange](),
}

// scalarSchema gives the schema of the types that check themselves.
func scalarSchema(t reflect.Type) *generate.Schema {
	if t == reflect.TypeFor[jsontext.Value]() {
		return &generate.Schema{} // any value
	}
	if t.Kind() != reflect.String {
		return nil
	}
	switch zero := reflect.Zero(t).Interface().(type) {
	case interface{ Values() []string }:
		s := &generate.Schema{Type: "string"}
		for _, v := range zero.Values() {
			s.Enum = append(s.Enum, v)
		}
		return s
	case Slug:
		most := uint64(record.MaxSlug)
		return &generate.Schema{Type: "string", Pattern: record.SlugPattern, MaxLength: &most}
	case Date:
		return &generate.Schema{Type: "string", Pattern: record.DatePattern}
	case URL:
		return &generate.Schema{Type: "string", Format: "uri", Pattern: "^https?://[^/\\s]\\S*$"}
	default:
		return nil
	}
}

// finish gives an object what the generator leaves out or words otherwise: the keys that must
// be there, constants, and null as one more type.
func finish(s *generate.Schema, of *record.Schema) {
	s.Required = nil
	for i := range of.Fields {
		f := &of.Fields[i]
		if f.Required() {
			s.Required = append(s.Required, f.Name)
		}
		property, _ := s.Properties.Get(f.Name)
		nameUnit(property)
		if len(property.OneOf) == 2 {
			property = orNull(property.OneOf[0])
			s.Properties.Set(f.Name, property)
		}
		for _, l := range f.Limits {
			if text, ok := strings.CutPrefix(l.Text, "must be "); ok {
				if c, err := strconv.ParseInt(text, 10, 64); err == nil {
					property.Const = c
				}
			}
		}
	}
}

// nameUnit moves a unit into the description: JSON Schema has no keyword for it, and strict
// validators reject keywords they do not know.
func nameUnit(property *generate.Schema) {
	for _, s := range append([]*generate.Schema{property, property.Items}, property.OneOf...) {
		if s == nil || s.Extras["unit"] == nil {
			continue
		}
		if unit := fmt.Sprint(s.Extras["unit"]); !strings.Contains(property.Description, unit) {
			property.Description = strings.TrimSpace(property.Description + " Unit: " + unit + ".")
		}
		delete(s.Extras, "unit")
	}
}

// orNull lets a value be null. A reference cannot take a second type, so it keeps its choice.
func orNull(s *generate.Schema) *generate.Schema {
	if s.Ref != "" {
		doc := s.Description
		s.Description = ""
		return &generate.Schema{Description: doc, AnyOf: []*generate.Schema{s, {Type: "null"}}}
	}
	if s.Extras == nil {
		s.Extras = map[string]any{}
	}
	s.Extras["type"] = []string{s.Type, "null"}
	s.Type = ""
	if s.Enum != nil {
		s.Enum = append(s.Enum, nil)
	}
	return s
}

// noLoader loads nothing: the schemas need no other document.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) { return nil, errors.New("the schema refers to " + url) }

// compiled reads a published schema with an independent validator.
func compiled(t *testing.T, name string) *validate.Schema {
	t.Helper()
	b, err := os.ReadFile(schemaFile(name))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := validate.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	c := validate.NewCompiler()
	c.AssertFormat()
	c.UseLoader(noLoader{})
	if err := c.AddResource("mem:///"+name+".json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:///" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// schemaFor says which schema a file belongs to.
func schemaFor(name string) string {
	return map[string]string{
		infoFile: "dataset", quantizationsFile: "quantizations", modelsDir: "model", hardwareDir: "hardware", toolsDir: "tool", benchmarksDir: "benchmark",
	}[kindOf(name)]
}

// TestSchemasAcceptShipped validates every shipped record with an independent validator.
func TestSchemasAcceptShipped(t *testing.T) {
	schemas := map[string]*validate.Schema{}
	for _, s := range schemata {
		schemas[s.name] = compiled(t, s.name)
	}
	files, least := sample(t), 500
	if datasettest.Long() {
		files, least = shipped(t), 5000
	}
	validated := 0
	for name, file := range files {
		schema := schemas[schemaFor(name)]
		if schema == nil {
			continue
		}
		texts := recordTexts(name, file.Data)
		if schemaFor(name) == "quantizations" {
			texts = [][]byte{file.Data}
		}
		for _, text := range texts {
			if err := validateText(schema, text); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			validated++
		}
	}
	if validated < least {
		t.Errorf("validated %d records", validated)
	}
}

// TestSchemasAreStrict: the schemas have an id of their own, and no keyword but those of the
// standard, which strict validators insist on.
func TestSchemasAreStrict(t *testing.T) {
	known := strings.Fields("$schema $id $defs $ref title description type properties required additionalProperties items enum const pattern format examples " +
		"minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems uniqueItems anyOf oneOf allOf default")
	var walk func(at string, v any)
	walk = func(at string, v any) {
		members, _ := v.(map[string]any)
		for name, value := range members {
			if !slices.Contains(known, name) {
				t.Errorf("%s: %q is not a keyword of JSON Schema", at, name)
			}
			switch name {
			case "properties", "$defs":
				for key, one := range value.(map[string]any) {
					walk(at+"/"+name+"/"+key, one)
				}
			case "anyOf", "oneOf", "allOf":
				for _, one := range value.([]any) {
					walk(at+"/"+name, one)
				}
			case "items", "additionalProperties":
				walk(at+"/"+name, value)
			}
		}
	}
	ids := map[any]bool{}
	for _, s := range schemata {
		b, err := os.ReadFile(schemaFile(s.name))
		must(t, err)
		var doc map[string]any
		must(t, json.Unmarshal(b, &doc))
		if doc["$id"] != "urn:modeldex:schema:"+s.name || ids[doc["$id"]] {
			t.Errorf("%s has $id %v", s.name, doc["$id"])
		}
		ids[doc["$id"]] = true
		walk(s.name, doc)
	}
}

func validateText(s *validate.Schema, text []byte) error {
	v, err := validate.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// beyond are the rules a schema cannot hold a value to.
var beyond = []string{"must not contain control or invisible characters", "must not be blank", "must not begin or end with a blank", "looks like a Latin letter", "must be the first field of a file", "duplicate field", "must be a date as", "got 1e400", "got 99999999999999999999"}

// TestSchemasAgree runs the records of the fixtures through decoder and schema: what one
// accepts the other does.
func TestSchemasAgree(t *testing.T) {
	files, err := filepath.Glob("testdata/lint/busted_*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	accepted, refused := 0, 0
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, member := range a.Files {
			name := schemaFor(member.Name)
			if name == "" || name == "quantizations" {
				continue
			}
			schema := compiled(t, name)
			for _, text := range recordTexts(member.Name, member.Data) {
				if !json.Valid(text) || text[0] != '{' {
					continue
				}
				faults := faultsOf(name, text)
				err := validateText(schema, text)
				switch {
				case err == nil && faults == "":
					accepted++
				case err != nil && faults != "":
					refused++
				case err != nil || !containsAny(faults, beyond):
					t.Errorf("%s: %s\nschema: %v\ndecoder: %s", file, text, err, faults)
				}
			}
		}
	}
	if accepted < 20 || refused < 20 {
		t.Errorf("%d records accepted and %d refused by both: the fixtures show too little", accepted, refused)
	}
}

func faultsOf(kind string, text []byte) string {
	for _, s := range schemata {
		if s.name == kind {
			if faults := record.Diagnose(text, record.SchemaOf(reflect.TypeOf(s.rec))); len(faults) > 0 {
				return fmt.Sprint(faults)
			}
		}
	}
	return ""
}

func containsAny(s string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// TestEditorSettings: editors find the schema of every record folder.
func TestEditorSettings(t *testing.T) {
	b, err := os.ReadFile("../data/.vscode/settings.json")
	if err != nil {
		t.Fatal(err)
	}
	var settings struct {
		Schemas []struct {
			FileMatch []string `json:"fileMatch"`
			URL       string   `json:"url"`
		} `json:"json.schemas"`
	}
	if err := json.Unmarshal(b, &settings); err != nil {
		t.Fatal(err)
	}
	covered := map[string]string{}
	for _, s := range settings.Schemas {
		if _, err := os.Stat(filepath.Join("../data", s.URL)); err != nil {
			t.Errorf("settings name a schema that is not there: %v", err)
		}
		for _, pattern := range s.FileMatch {
			covered[kindOf(strings.TrimPrefix(pattern, "/"))] = strings.TrimSuffix(path.Base(s.URL), ".schema.json")
		}
	}
	want := map[string]string{infoFile: "dataset", quantizationsFile: "quantizations", modelsDir: "model", hardwareDir: "hardware", toolsDir: "tool"}
	if diff := cmp.Diff(want, covered); diff != "" {
		t.Errorf("schemas by folder (-want +got):\n%s", diff)
	}
}
