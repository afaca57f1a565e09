package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
)

// TestHashOracle compares with an independent RFC 8785 implementation.
func TestHashOracle(t *testing.T) {
	good, _ := mustBuild(t, smallInputs())
	var root map[string]any
	if err := json.Unmarshal(good, &root); err != nil {
		t.Fatal(err)
	}
	root[hashField] = ""
	plain, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	oracle, err := jcs.Transform(plain)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(oracle)
	if got, want := mustHash(t, good), hex.EncodeToString(sum[:]); got != want {
		t.Errorf("Hash = %s, the oracle says %s", got, want)
	}
	if got := mustRead(t, good).OutputHash; got != mustHash(t, good) {
		t.Errorf("output_hash_sha256 = %s, want %s", got, mustHash(t, good))
	}
}

// TestHashSpelling: the hash is of the value, however it is spelled.
func TestHashSpelling(t *testing.T) {
	good, _ := mustBuild(t, smallInputs())
	var wide bytes.Buffer
	if err := json.Indent(&wide, good, "\t", "  "); err != nil {
		t.Fatal(err)
	}
	if got, want := mustHash(t, wide.Bytes()), mustHash(t, good); got != want {
		t.Errorf("Hash of the indented document = %s, want %s", got, want)
	}
}

func TestHashRefuses(t *testing.T) {
	tests := []struct{ name, doc, want string }{
		{"no field", `{"a":1}`, "output_hash_sha256: must be present"},
		{"only deeper", `{"a":{"output_hash_sha256":""}}`, "output_hash_sha256: must be present"},
		{"no object", `[1]`, "output_hash_sha256: must be in an object"},
		{"no json", `{"a":}`, "canonical form: "},
		{"twice", `{"output_hash_sha256":"","output_hash_sha256":""}`, "canonical form: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Hash([]byte(tt.doc)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Hash(%s) = %v, want %q", tt.doc, err, tt.want)
			}
		})
	}
}

// TestCanonicalNumbers: doubles of every size are spelled as the oracle spells them.
func TestCanonicalNumbers(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 3))
	for range 20000 {
		f := math.Float64frombits(rnd.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		got, err := canonical([]float64{f})
		if err != nil {
			t.Fatal(err)
		}
		want, err := jcs.Transform(got)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("canonical(%v) = %s, the oracle says %s, %v", f, got, want, err)
		}
	}
}

func TestDigest(t *testing.T) {
	a, errA := Digest([]Row{{Row: 1}, {Row: 2}})
	b, errB := Digest([]Row{{Row: 2}, {Row: 1}})
	c, errC := Digest([]Row{{Row: 2}, {Row: 3}})
	if errA != nil || errB != nil || errC != nil {
		t.Fatal(errA, errB, errC)
	}
	if a != b || a == c {
		t.Errorf("Digest = %s, %s, %s, want the first two equal and the third another", a, b, c)
	}
	if _, err := Digest([]float64{math.NaN()}); err == nil {
		t.Error("Digest(NaN) = nil, want an error")
	}
}
