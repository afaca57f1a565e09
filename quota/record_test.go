package quota

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// validRecord is a record with every field set, changed by change.
func validRecord(change func(*Record)) Record {
	r := Record{
		ID: 7, Rev: 3, Status: StatusSuspended, Erased: false, Tier: "pro", Limit: 12_345,
		Created: 1_700_000_000, Changed: -5, Hint: "mdx_...abcd", Digest: Digest{1, 2, 3},
		Old: []OldSecret{{Digest{4}, 9}, {Digest{5}, -1}},
	}
	if change != nil {
		change(&r)
	}
	return r
}

func TestRecordRoundTrip(t *testing.T) {
	for name, change := range map[string]func(*Record){
		"full":      nil,
		"no old":    func(r *Record) { r.Old = nil },
		"erased":    func(r *Record) { r.Erased, r.Status = true, StatusRevoked },
		"max limit": func(r *Record) { r.Limit = MaxLimit },
	} {
		want := validRecord(change)
		got, err := decodeRecord(want.ID.key(), want.encode())
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: decodeRecord(encode()) (-want +got)\n%s", name, diff)
		}
	}
}

func TestDecodeRecordRefuses(t *testing.T) {
	r := validRecord(nil)
	good := r.encode()
	for n := range len(good) {
		if _, err := decodeRecord(r.ID.key(), good[:n]); !errors.Is(err, ErrCorrupt) {
			t.Errorf("decodeRecord of %d bytes of %d = %v, want ErrCorrupt", n, len(good), err)
		}
	}
	if _, err := decodeRecord(r.ID.key(), append(good, 0)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("decodeRecord with a byte more = %v, want ErrCorrupt", err)
	}
	for name, change := range map[string]func(*Record){
		"no id":          func(r *Record) { r.ID = 0 },
		"no status":      func(r *Record) { r.Status = 0 },
		"unknown status": func(r *Record) { r.Status = 9 },
		"no rev":         func(r *Record) { r.Rev = 0 },
		"no tier":        func(r *Record) { r.Tier = "" },
		"no digest":      func(r *Record) { r.Digest = Digest{} },
		"limit":          func(r *Record) { r.Limit = MaxLimit + 1 },
		"too many old":   func(r *Record) { r.Old = make([]OldSecret, MaxOldSecrets+1) },
	} {
		r := validRecord(change)
		if _, err := decodeRecord(r.ID.key(), r.encode()); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: decodeRecord() = %v, want ErrCorrupt", name, err)
		}
	}
}

// A sealed value opens under its own key only, and with every bit as it was.
func TestSeal(t *testing.T) {
	key, payload := []byte("key"), []byte("payload")
	sealed := seal(key, payload)
	if got, err := unseal(key, sealed); err != nil || string(got) != "payload" {
		t.Fatalf("unseal() = %q, %v, want payload", got, err)
	}
	if _, err := unseal([]byte("kez"), sealed); !errors.Is(err, ErrCorrupt) {
		t.Errorf("unseal under another key = %v, want ErrCorrupt", err)
	}
	for bit := range len(sealed) * 8 {
		bad := []byte(string(sealed))
		bad[bit/8] ^= 1 << (bit % 8)
		if _, err := unseal(key, bad); !errors.Is(err, ErrCorrupt) {
			t.Errorf("unseal with bit %d flipped = %v, want ErrCorrupt", bit, err)
		}
	}
	for n := range sealLen {
		if _, err := unseal(key, sealed[:n]); !errors.Is(err, ErrCorrupt) {
			t.Errorf("unseal of %d bytes = %v, want ErrCorrupt", n, err)
		}
	}
}

func TestStatusText(t *testing.T) {
	for _, s := range Statuses {
		text, _ := s.MarshalText()
		var got Status
		if err := got.UnmarshalText(text); err != nil || got != s {
			t.Errorf("UnmarshalText(%s) = %v, %v, want %v", text, got, err, s)
		}
	}
	var s Status
	if err := s.UnmarshalText([]byte("gone")); err == nil || !strings.Contains(err.Error(), "active suspended revoked") {
		t.Errorf("UnmarshalText(gone) = %v, want the known ones", err)
	}
}
