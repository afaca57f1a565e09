package quota

import (
	"encoding/json"
	"testing"

	jsonv2 "github.com/goccy/go-json/v2"
	"github.com/google/go-cmp/cmp"
)

// TestStoredForm compares the values of the ledger with those that encoding/json makes, which wrote
// the ledgers of earlier versions: equal bytes, and both read each other's.
func TestStoredForm(t *testing.T) {
	const text = "a<b>&\u2028\u2029\"\\\x01é😀"
	for _, v := range []any{
		&Person{},
		&Person{Name: text, Email: "a@example.org", UseCase: text, Match: "a@example.org"},
	} {
		got, err := encodeStored(v)
		if err != nil {
			t.Fatalf("%T: %v", v, err)
		}
		want, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%T: -encoding/json +ours\n%s", v, diff)
		}
		var ours, theirs Person
		if err := jsonv2.Unmarshal(want, &ours); err != nil {
			t.Errorf("%T: reading: %v", v, err)
		}
		if err := json.Unmarshal(got, &theirs); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(theirs, ours); diff != "" {
			t.Errorf("%T: -encoding/json +ours\n%s", v, diff)
		}
	}
}
