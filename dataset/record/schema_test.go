package record

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"unsafe"

	jsonv2 "github.com/goccy/go-json/v2"
)

// TestZeroOfRequired: a flag that must be there is false where the text says so, and a fault where it does not.
func TestZeroOfRequired(t *testing.T) {
	file, err := os.ReadFile("../../data/hardware/nvidia-rtx-4090.json")
	if err != nil {
		t.Fatal(err)
	}
	file = regexp.MustCompile(`"\$schema": "[^"]*",`).ReplaceAll(file, nil)
	const member = `"unified_memory": false,`
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"as it is", member, nil},
		{"another format", `"unified_memory" :false,`, nil},
		{"left out", ``, []string{"unified_memory"}},
		{"null", `"unified_memory": null,`, []string{"unified_memory"}},
		{"in a text", `"architecture": "\"unified_memory\": false",`, []string{"architecture", "unified_memory"}},
	} {
		text := bytes.Replace(file, []byte(member), []byte(tt.in), 1)
		var rec Hardware
		var got []string
		for _, p := range Decode(text, &rec) {
			got = append(got, p.Field)
		}
		slices.Sort(got)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: faults of %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestExplain: no text of the decoder reaches a person.
func TestExplain(t *testing.T) {
	type inner struct {
		Value *float64 `json:"value"`
		Count int64    `json:"count"`
		Names []string `json:"names"`
	}
	type outer struct {
		Name   string           `json:"name"`
		Inside map[string]inner `json:"inside"`
		On     bool             `json:"on"`
	}
	for _, tt := range []struct{ text, field, want string }{
		{`{"nam":"x"}`, "nam", `is not a known field; did you mean "name"?`},
		{`{"inside":{"a.b":{"value":"12,5"}}}`, "inside.a.b.value", `must be a number, got "12,5"`},
		{`{"inside":{"a":{"count":1.5}}}`, "inside.a.count", "must be a whole number, got 1.5"},
		{`{"inside":{"a":{"names":{}}}}`, "inside.a.names", "must be a list, got {}"},
		{`{"inside":[]}`, "inside", "must be an object, got []"},
		{`{"on":1}`, "on", "must be true or false, got 1"},
		{`[]`, "", "must be an object, got []"},
		{`{"name":"a","name":"b"}`, "name", "duplicate field"},
		{"\ufeff{}", "", "must not begin with a byte order mark"},
		{"<<<<<<< HEAD\n{}", "", "unresolved merge conflict: <<<<<<< HEAD"},
		{"", "", "the file is empty"},
		{`{"name":`, "name", "the file ends inside the record"},
		{`{"on":True}`, "on", "not JSON: invalid character 'T' at start of value; write true, false and null in lower case; an unknown value is null"},
	} {
		err := jsonv2.Unmarshal([]byte(tt.text), new(outer), jsonv2.RejectUnknownMembers(true))
		if err == nil {
			t.Errorf("%s: read without an error", tt.text)
			continue
		}
		if got := Explain([]byte(tt.text), err); got.Field != tt.field || got.Text != tt.want {
			t.Errorf("Explain of %q =\n%q: %q, want\n%q: %q\n%v", tt.text, got.Field, got.Text, tt.field, tt.want, err)
		}
	}
}

// TestSharer: shared records say what they said, keep nothing twice, and their lists have no room to spare.
func TestSharer(t *testing.T) {
	files, err := filepath.Glob("../../data/models/*.json")
	if err != nil || len(files) < 100 {
		t.Fatalf("%d models, %v", len(files), err)
	}
	s := NewSharer()
	kept, texts := map[unsafe.Pointer]bool{}, map[string]bool{}
	for _, name := range files[:100] {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, span := range must(Split(text)) {
			var plain, shared Model
			_, _ = Salvage(text[span.From:span.To], &plain), Salvage(text[span.From:span.To], &shared)
			s.Share(&shared)
			if !reflect.DeepEqual(plain, shared) {
				t.Errorf("%s: differs once it is shared", name)
			}
			if q := shared.Quantizations; cap(q) != len(q) {
				t.Errorf("%s: %d quantizations have room for %d", name, len(q), cap(q))
			}
			for _, src := range shared.Sources {
				for _, field := range src.Fields {
					kept[unsafe.Pointer(unsafe.StringData(field))], texts[field] = true, true
				}
			}
			if p := shared.KVCache.HeadDim; p != nil {
				var again KVCache
				again.HeadDim = new(int64)
				*again.HeadDim = *p
				if s.Share(&again); again.HeadDim != p {
					t.Errorf("%s: the head dimension %d is kept twice", name, *p)
				}
			}
		}
	}
	if len(texts) < 15 || len(kept) != len(texts) {
		t.Errorf("%d names of fields are kept %d times", len(texts), len(kept))
	}
}

func must(spans []Span, _ bool, _ *Problem) []Span { return spans }
