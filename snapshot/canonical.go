package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	jsonv2 "github.com/goccy/go-json/v2"

	"github.com/goccy/go-json/jsontext"
)

// versionField is the member that says that a JSON object is a snapshot document.
const versionField = "schema_version"

// hashCanonical returns the 64 hex digits that belong into output_hash_sha256, and what the canonical bytes of a document
// have there: the SHA-256 of these bytes with that field set to the empty string.
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

// memberSpan finds the bytes of the value of a top-level member.
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
	hash, err := hashOf(doc)
	if err != nil {
		return nil, err
	}
	doc.OutputHash = hash
	return canonical(doc)
}

func hashOf(doc *Document) (string, error) {
	b, err := canonical(doc)
	if err != nil {
		return "", err
	}
	hash, _, err := hashCanonical(b)
	return hash, err
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
