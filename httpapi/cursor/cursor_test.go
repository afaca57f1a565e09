package cursor

import (
	"errors"
	"slices"
	"testing"

	"modeldex/httpapi/rowjson"
	"modeldex/index"
)

// TestCursorLineEnds: base64 passes over line ends; a cursor does not, or links.self would repeat them.
func TestCursorLineEnds(t *testing.T) {
	const query = "/api/v1/models?family=llama"
	token := Encode(&index.Position{Text: "llama", Slug: "llama-2-7b", Known: true}, query)
	if _, bad := Decode(token, query); bad != nil {
		t.Fatalf("a good cursor is %v", bad)
	}
	for _, odd := range []string{token + "\n", token + "\r\n", "\r\n" + token, token[:5] + "\n" + token[5:], token[:5] + "\r" + token[5:]} {
		if _, bad := Decode(odd, query); !errors.Is(bad, ErrInvalid) {
			t.Errorf("%q: %v, want ErrInvalid", odd, bad)
		}
	}
}

// TestCursor: a cursor is read for the query it was made for, and only whole.
func TestCursor(t *testing.T) {
	const query = "/api/v1/models?family=llama"
	at := index.Position{Text: "llama", Slug: "llama-2-7b", Known: true, Num: 7.5, Home: -1}
	token := Encode(&at, query)
	if got, bad := Decode(token, query); bad != nil || *got != at {
		t.Errorf("got %v, %v; want %v", got, bad, at)
	}
	if _, bad := Decode(token, query+"s"); !errors.Is(bad, errOtherQuery) {
		t.Errorf("a cursor of another query: %v, want errOtherQuery", bad)
	}
	b := rowjson.Sure(tokens.DecodeString(token))
	for i := range b {
		b[i] ^= 1 << (i % 8)
		if _, bad := Decode(tokens.EncodeToString(b), query); !errors.Is(bad, ErrInvalid) {
			t.Errorf("byte %d changed: %v, want ErrInvalid", i, bad)
		}
		b[i] ^= 1 << (i % 8)
	}
}

// FuzzDecode forges cursors that pass the checksums: what is read comes back the same.
func FuzzDecode(f *testing.F) {
	const query = "/api/v1/models?"
	for _, token := range []string{Encode(&index.Position{Text: "llama", Slug: "llama-2-7b", Known: true}, query), Encode(&index.Position{Num: 1}, query)} {
		b := rowjson.Sure(tokens.DecodeString(token))
		f.Add(b[:len(b)-sumBytes])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) < 9 {
			return
		}
		tag := checksum([]byte(query))
		copy(body[1:9], tag[:])
		sum := checksum(body)
		p, err := Decode(tokens.EncodeToString(append(slices.Clone(body), sum[:]...)), query)
		if err != nil {
			return
		}
		if back, err := Decode(Encode(p, query), query); err != nil || *back != *p {
			t.Fatalf("%+v comes back as %+v, %v", p, back, err)
		}
	})
}
