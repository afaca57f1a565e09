package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

const versionField = "schema_version"

// hashCanonical is the hash of canonical bytes with an empty output_hash_sha256, and what they have in that field.
func hashCanonical(canonical []byte) (hash string, value []byte, err error) {
	from, to, err := memberSpan(canonical, hashField)
	if err != nil {
		return "", nil, err
	}
	h := sha256.New()
	h.Write(canonical[:from])
	io.WriteString(h, `""`) //nolint:errcheck // a hash never fails
	h.Write(canonical[to:])
	return hex.EncodeToString(h.Sum(nil)), canonical[from:to], nil
}

func memberSpan(doc []byte, name string) (from, to int, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(doc))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return 0, 0, fmt.Errorf("%s: must be in an object", name)
	}
	for d.PeekKind() == '"' {
		key, err := d.ReadToken()
		if err != nil {
			return 0, 0, err
		}
		found := key.String() == name
		v, err := d.ReadValue()
		if err != nil {
			return 0, 0, err
		}
		if found {
			to = int(d.InputOffset())
			return to - len(v), to, nil
		}
	}
	return 0, 0, fmt.Errorf("%s: must be present", name)
}

func seal(doc *Document) ([]byte, error) {
	doc.OutputHash = ""
	b, err := canonical(doc)
	if err == nil {
		doc.OutputHash, _, err = hashCanonical(b)
	}
	if err != nil {
		return nil, err
	}
	return canonical(doc)
}

func canonical(v any) ([]byte, error) {
	b, err := jsonv2.Marshal(v, jsonv2.Deterministic(true))
	if err != nil {
		return nil, err
	}
	c := jsontext.Value(b)
	if err := c.Canonicalize(); err != nil {
		return nil, err
	}
	return c, nil
}

// Digest is the SHA-256 of the sorted lines of the canonical JSON of values. An error is a value JSON cannot hold.
func Digest[T any](values []T) (string, error) {
	lines := make([]string, len(values))
	for i, v := range values {
		b, err := canonical(v)
		if err != nil {
			return "", err
		}
		lines[i] = string(b)
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:]), nil
}

func round4(x float64) float64 { return math.Round(float64(x*1e4)) / 1e4 }

func round6(x float64) float64 { return math.Round(float64(x*1e6)) / 1e6 }

// weightedMean is the composite of components, rounded; nil without any weight, or with weights too large to add.
func weightedMean(parts []Component) *float64 {
	var sum, weights float64
	for _, p := range parts {
		sum += float64(p.Weight * p.Normalized)
		weights += p.Weight
	}
	if !(weights > 0) || math.IsInf(weights, 0) || math.IsInf(sum, 0) {
		return nil
	}
	x := round4(sum / weights)
	return &x
}

// or is what p points at, or another value where it is nil.
func or[T any](p *T, other T) T {
	if p == nil {
		return other
	}
	return *p
}

// shown is a number in a format, or a word where there is none.
func shown(f *float64, format, none string) string {
	if f == nil {
		return none
	}
	return fmt.Sprintf(format, *f)
}
