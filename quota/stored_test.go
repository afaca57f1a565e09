package quota

import (
	"encoding/json"
	"testing"

	jsonv2 "github.com/goccy/go-json/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestStoredForm compares the values of the ledger with those that encoding/json makes, which wrote
// the ledgers of earlier versions: equal bytes, and both read each other's.
func TestStoredForm(t *testing.T) {
	const text = "a<b>&\u2028\u2029\"\\\x01é😀"
	for _, v := range []any{
		&Person{},
		&Person{Name: text, Email: "a@example.org", UseCase: text, Match: "a@example.org"},
		&Hook{},
		&Hook{
			Rev: 3, URL: "https://example.org/?a=1&b=2", Description: text, Events: []string{"benchmark.created"}, Filters: "tool=a&b=c", MaxRecords: 5,
			Secrets: []HookSecret{{Secret: []byte{0, 1, 254, 255}, Until: 9}, {}}, State: HookDisabled, Reason: text, Created: 1, Changed: 2, Next: 4,
			Queued: 1, Logged: 2, LastSuccess: 7, LastFailure: &Attempt{At: 1, Millis: 2, Status: 500, Error: text}, FailingSince: 8,
		},
		&Hook{Events: []string{}, Secrets: []HookSecret{}, LastFailure: &Attempt{}},
		&Delivery{},
		&Delivery{
			Message: "msg_1", Event: "benchmark.created", Created: 1, Release: 2, Total: 3, Rows: []uint32{1, 4294967295}, State: DeliveryFailed,
			Once: true, Of: 6, NextAt: 7, Attempts: []Attempt{{At: 1}, {At: 2, Millis: 3, Status: 204}},
		},
		&Release{Version: text, Digest: "d", PreviousVersion: "p", PreviousDigest: "q", Created: 1, Changed: 2, Withdrawn: 3, Rows: 4, Bytes: 5},
		&Baseline{Version: "v", Digest: "d", Scheme: 1, Records: 2, Next: 18446744073709551615},
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
		ours, theirs := newLike(v), newLike(v)
		if err := jsonv2.Unmarshal(want, ours); err != nil {
			t.Errorf("%T: reading: %v", v, err)
		}
		if err := json.Unmarshal(got, theirs); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(theirs, ours, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%T: -encoding/json +ours\n%s", v, diff)
		}
	}
}

// newLike is a new zero value of what v points to.
func newLike(v any) any {
	switch v.(type) {
	case *Person:
		return new(Person)
	case *Hook:
		return new(Hook)
	case *Delivery:
		return new(Delivery)
	case *Release:
		return new(Release)
	}
	return new(Baseline)
}
