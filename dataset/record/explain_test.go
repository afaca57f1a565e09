package record

import (
	"testing"

	jsonv2 "github.com/goccy/go-json/v2"
)

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
		{`{"nam":"x"}`, "nam", `is not a known field; did you mean "name"`},
		{`{"inside":{"a.b":{"value":"12,5"}}}`, "inside.a.b.value", `must be a number, got "12,5"`},
		{`{"inside":{"a":{"count":1.5}}}`, "inside.a.count", "must be a whole number, got 1.5"},
		{`{"inside":{"a":{"names":{}}}}`, "inside.a.names", "must be a list, got {}"},
		{`{"inside":[]}`, "inside", "must be an object, got []"},
		{`{"on":1}`, "on", "must be true or false, got 1"},
		{`[]`, "", "must be an object, got []"},
		{`{"name":"a","name":"b"}`, "name", "duplicate field"},
		{"\ufeff{}", "", "must not begin with a byte order mark"},
		{"<<<<<<< HEAD\n{}", "", "a merge conflict is not resolved: <<<<<<< HEAD"},
		{"", "", "the file is empty"},
		{`{"name":`, "name", "the file ends inside the record"},
		{`{"on":True}`, "on", "not JSON: invalid character 'T' at start of value; true, false and null are in lower case, and unknown is null"},
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
