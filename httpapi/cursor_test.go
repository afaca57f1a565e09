package httpapi

import (
	"testing"

	"modeldex/index"
)

// TestCursorLineEnds: base64 passes over line ends; a cursor does not, or links.self would repeat them.
func TestCursorLineEnds(t *testing.T) {
	var tag [8]byte
	token := encodeCursor(&index.Position{Text: "llama", Slug: "llama-2-7b", Known: true}, tag)
	if _, bad := decodeCursor(token, tag); bad != nil {
		t.Fatalf("a good cursor is %s", bad.name)
	}
	for _, odd := range []string{token + "\n", token + "\r\n", "\r\n" + token, token[:5] + "\n" + token[5:], token[:5] + "\r" + token[5:]} {
		if _, bad := decodeCursor(odd, tag); bad != &invalidCursor {
			t.Errorf("%q: %v, want invalid_cursor", odd, bad)
		}
	}
}
