package quota

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseTiers(t *testing.T) {
	got, err := parseTiers([]byte(`{"tiers": [
		{"name": "free", "calls_per_month": 500, "burst": {"rate": 5, "per_seconds": 2, "depth": 7}},
		{"name": "team-2", "calls_per_month": null}
	]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Tier{
		{Name: "free", CallsPerMonth: 500, Burst: Burst{Rate: 5, PerSeconds: 2, Depth: 7}},
		{Name: "team-2", Burst: Burst{Rate: 50, PerSeconds: 1, Depth: 50}},
	}
	if diff := cmp.Diff(want, got.All()); diff != "" {
		t.Errorf("parseTiers() (-want +got)\n%s", diff)
	}
}

func TestDefaultTiersAreValid(t *testing.T) {
	if _, err := NewTiers(defaultTiers().All()...); err != nil {
		t.Error(err)
	}
}

func TestParseTiersRefuses(t *testing.T) {
	const free = `{"name":"free","calls_per_month":1000}`
	tests := []struct{ name, file, want string }{
		{"empty file", ``, "1:1: unexpected EOF"},
		{"cut off", `{"tiers": [`, "1:12: /tiers: unexpected EOF"},
		{"syntax", "{\n \"tiers\": oops}", "2:11: /tiers: invalid character"},
		{"no tiers", `{}`, `must have a tier named "free"`},
		{"not an object", `[]`, "1:1: has the wrong type"},
		{"unknown member", `{"tiers":[{"name":"free","calls_per_month":1,"price":3}]}`, `1:46: /tiers/0/price: unknown object member name`},
		{"unknown member outside", `{"tiers":[` + free + `],"x":1}`, `1:51: /x: unknown object member name`},
		{"repeated member", `{"tiers":[{"name":"free","name":"pro","calls_per_month":1}]}`, `1:26: /tiers/0/name: duplicate object member name`},
		{"member in capitals", `{"Tiers":[` + free + `]}`, `1:2: /Tiers: unknown object member name`},
		{"more after it", `{"tiers":[` + free + `]} {}`, "after top-level value"},
		{"limit missing", `{"tiers":[{"name":"free"}]}`, "tiers[0].calls_per_month: must be 1 to 1000000000000, or null for custom limits, got \"\""},
		{"limit zero", `{"tiers":[{"name":"free","calls_per_month":0}]}`, "calls_per_month: must be 1 to"},
		{"limit negative", `{"tiers":[{"name":"free","calls_per_month":-1}]}`, "calls_per_month: must be 1 to"},
		{"limit fraction", `{"tiers":[{"name":"free","calls_per_month":1.5}]}`, "calls_per_month: must be 1 to"},
		{"limit text", `{"tiers":[{"name":"free","calls_per_month":"1"}]}`, `calls_per_month: must be 1 to 1000000000000, or null for custom limits, got "\"1\""`},
		{"limit too large", `{"tiers":[{"name":"free","calls_per_month":1000000000001}]}`, "calls_per_month: must be 1 to"},
		{"free without limit", `{"tiers":[{"name":"free","calls_per_month":null}]}`, `must have a tier named "free"`},
		{"name twice", `{"tiers":[` + free + `,` + free + `]}`, `tiers[1].name: must be unique, got "free" again`},
		{"name in capitals", `{"tiers":[` + free + `,{"name":"Pro","calls_per_month":1}]}`, `tiers[1].name: must be 1 to 32 lower-case`},
		{"name type", `{"tiers":[{"name":5,"calls_per_month":1}]}`, "1:19: /tiers/0/name: has the wrong type"},
		{"burst rate", `{"tiers":[{"name":"free","calls_per_month":1,"burst":{"rate":0,"per_seconds":1,"depth":1}}]}`, "tiers[0].burst.rate: must be 1 to"},
		{"burst depth missing", `{"tiers":[{"name":"free","calls_per_month":1,"burst":{"rate":1,"per_seconds":1}}]}`, "tiers[0].burst.depth: must be 1 to 1000000, got 0"},
		{"burst without seconds", `{"tiers":[{"name":"free","calls_per_month":1,"burst":{"rate":1,"depth":1}}]}`, "tiers[0].burst.per_seconds: must be 1 to 3600, got 0"},
		{"burst text", `{"tiers":[{"name":"free","calls_per_month":1,"burst":{"rate":"1"}}]}`, "1:62: /tiers/0/burst/rate: has the wrong type"},
		{"burst fraction", `{"tiers":[{"name":"free","calls_per_month":1,"burst":{"rate":1.5}}]}`, "1:62: /tiers/0/burst/rate: "},
		{"burst list", `{"tiers":[{"name":"free","calls_per_month":1,"burst":[]}]}`, "1:54: /tiers/0/burst: has the wrong type"},
		{"tiers object", `{"tiers":{}}`, "1:10: /tiers: has the wrong type"},
		{"misspelt limit", `{"tiers":[{"name":"free","calls_per_moth":1}]}`, `1:26: /tiers/0/calls_per_moth: unknown object member name`},
		{"misspelt rate", `{"tiers":[{"name":"free","calls_per_month":1,"burst":{"rates":1}}]}`, `1:55: /tiers/0/burst/rates: unknown object member name`},
		{"burst too slow", `{"tiers":[{"name":"free","calls_per_month":1,"burst":{"rate":1,"per_seconds":3601,"depth":1}}]}`, "burst.per_seconds: must be 1 to 3600"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseTiers([]byte(tt.file))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("parseTiers() = %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// All faults of a list are reported at once.
func TestNewTiersTellsAll(t *testing.T) {
	_, err := NewTiers(Tier{Name: "?"}, Tier{Name: "?"})
	if err == nil {
		t.Fatal("NewTiers() = nil, want faults")
	}
	if got := len(strings.Split(err.Error(), "\n")); got != 10 {
		t.Errorf("NewTiers() reports %d faults, want 10:\n%v", got, err)
	}
}

func TestLoadTiers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tiers.json")
	if _, err := LoadTiers(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("LoadTiers(missing) = %v, want an error naming the file", err)
	}
	if err := os.WriteFile(path, []byte(`{"tiers":[{"name":"free","calls_per_month":3}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	ts, err := LoadTiers(path)
	if free, ok := ts.Get("free"); err != nil || !ok || free.CallsPerMonth != 3 {
		t.Errorf("LoadTiers() = %+v, %v, want free with 3 calls", ts, err)
	}
	if err := os.WriteFile(path, []byte(`{`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadTiers(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("LoadTiers(cut off) = %v, want an error naming the file", err)
	}
}

func FuzzParseTiers(f *testing.F) {
	f.Add([]byte(`{"tiers":[{"name":"free","calls_per_month":1000,"burst":{"rate":10,"per_seconds":1,"depth":10}}]}`))
	f.Add([]byte(`{"tiers":[{"name":"free","calls_per_month":null}]}`))
	f.Add([]byte(`{"tiers":[{"name":"free","name":1}]} x`))
	f.Fuzz(func(t *testing.T, b []byte) {
		ts, err := parseTiers(b)
		if err != nil {
			return
		}
		again, err := NewTiers(ts.All()...)
		if err != nil {
			t.Fatalf("parseTiers(%q) accepts what NewTiers refuses: %v", b, err)
		}
		if diff := cmp.Diff(ts.All(), again.All()); diff != "" {
			t.Fatal(diff)
		}
		for _, tier := range ts.All() {
			if p := tier.Burst.pace(); p.step <= 0 || p.depth < p.step {
				t.Fatalf("tier %q paces %+v", tier.Name, p)
			}
		}
	})
}
