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

// TestCursorVersions: cursors of every version are read, for the query they were made for, and only whole.
func TestCursorVersions(t *testing.T) {
	const query = "/api/v1/models?family=llama"
	at := index.Position{Text: "llama", Slug: "llama-2-7b", Known: true, Num: 7.5, Home: -1}
	for _, version := range []byte{shaVersion, version} {
		token := encode(version, &at, query)
		if got, bad := Decode(token, query); bad != nil || *got != at {
			t.Errorf("version %d: got %v, %v; want %v", version, got, bad, at)
		}
		if _, bad := Decode(token, query+"s"); !errors.Is(bad, errOtherQuery) {
			t.Errorf("version %d: a cursor of another query: %v, want errOtherQuery", version, bad)
		}
		b := rowjson.Sure(tokens.DecodeString(token))
		for i := range b {
			b[i] ^= 1 << (i % 8)
			if _, bad := Decode(tokens.EncodeToString(b), query); !errors.Is(bad, ErrInvalid) {
				t.Errorf("version %d: byte %d changed: %v, want ErrInvalid", version, i, bad)
			}
			b[i] ^= 1 << (i % 8)
		}
	}
	// What servers made when version 1 was new.
	const old = "AYxzMrHx_43ZAUAeAAAAAAAAv_AAAAAAAAAFbGxhbWEKbGxhbWEtMi03YsbyMzPmIKXa"
	if got := encode(shaVersion, &at, query); got != old {
		t.Errorf("version 1 is %s, was %s", got, old)
	}
}

// FuzzDecode forges cursors that pass the checksums: what is read comes back the same.
func FuzzDecode(f *testing.F) {
	const query = "/api/v1/models?"
	for _, token := range []string{Encode(&index.Position{Text: "llama", Slug: "llama-2-7b", Known: true}, query), encode(shaVersion, &index.Position{Num: 1}, query)} {
		b := rowjson.Sure(tokens.DecodeString(token))
		f.Add(b[:len(b)-sumBytes])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) < 9 {
			return
		}
		tag := checksum(body[0], []byte(query))
		copy(body[1:9], tag[:])
		sum := checksum(body[0], body)
		p, err := Decode(tokens.EncodeToString(append(slices.Clone(body), sum[:]...)), query)
		if err != nil {
			return
		}
		if back, err := Decode(Encode(p, query), query); err != nil || *back != *p {
			t.Fatalf("%+v comes back as %+v, %v", p, back, err)
		}
	})
}
