package dataset

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	{"Price observation", "entries of `price_observations` of hardware", reflect.TypeFor[PriceObservation]()},
	{"Tool", "`tools/<slug>.json`", reflect.TypeFor[Tool]()},
	{"Benchmark", "lines of `benchmarks/*.ndjson`", reflect.TypeFor[Benchmark]()},
	{"Quality", "lines of `quality/*.ndjson`", reflect.TypeFor[Quality]()},
	{"Quantization type", "entries of `quantizations.json`", reflect.TypeFor[QuantizationType]()},
	{"Observed bits", "`observed` of a quantization type", reflect.TypeFor[ObservedBits]()},
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
