package httpapi

import (
	"testing"

	"modeldex/httpapi/rowjson"
	"modeldex/index"
)

// TestCursorLineEnds: base64 passes over line ends; a cursor does not, or links.self would repeat them.
func TestCursorLineEnds(t *testing.T) {
	const query = "/api/v1/models?family=llama"
	token := encodeCursor(&index.Position{Text: "llama", Slug: "llama-2-7b", Known: true}, query)
	if _, bad := decodeCursor(token, query); bad != nil {
		t.Fatalf("a good cursor is %s", bad.name)
	}
	for _, odd := range []string{token + "\n", token + "\r\n", "\r\n" + token, token[:5] + "\n" + token[5:], token[:5] + "\r" + token[5:]} {
		if _, bad := decodeCursor(odd, query); bad != invalidCursor {
			t.Errorf("%q: %v, want invalid_cursor", odd, bad)
		}
	}
}

// TestCursorVersions: cursors of every version are read, for the query they were made for, and only whole.
func TestCursorVersions(t *testing.T) {
	const query = "/api/v1/models?family=llama"
	at := index.Position{Text: "llama", Slug: "llama-2-7b", Known: true, Num: 7.5, Home: -1}
	for _, version := range []byte{shaVersion, cursorVersion} {
		token := cursorOf(version, &at, query)
		if got, bad := decodeCursor(token, query); bad != nil || *got != at {
			t.Errorf("version %d: got %v, %v; want %v", version, got, bad, at)
		}
		if _, bad := decodeCursor(token, query+"s"); bad != cursorMismatch {
			t.Errorf("version %d: a cursor of another query: %v, want cursor_mismatch", version, bad)
		}
		b := rowjson.Sure(cursorEncoding.DecodeString(token))
		for i := range b {
			b[i] ^= 1 << (i % 8)
			if _, bad := decodeCursor(cursorEncoding.EncodeToString(b), query); bad != invalidCursor {
				t.Errorf("version %d: byte %d changed: %v, want invalid_cursor", version, i, bad)
			}
			b[i] ^= 1 << (i % 8)
		}
	}
	// What servers made when version 1 was new.
	const old = "AYxzMrHx_43ZAUAeAAAAAAAAv_AAAAAAAAAFbGxhbWEKbGxhbWEtMi03YsbyMzPmIKXa"
	if got := cursorOf(shaVersion, &at, query); got != old {
		t.Errorf("version 1 is %s, was %s", got, old)
	}
}
