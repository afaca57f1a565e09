package httpapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"math"
	"strings"

	"modeldex/index"
)

// A cursor is the token of an index.Position: version, the query it belongs to, the position,
// and a checksum over all of it, in base64url. The checksum finds damage and typing; it is no
// secret, for a position gives nothing a query would not.

const (
	cursorVersion = 1
	cursorSum     = 8
	maxCursor     = 512 // bytes of token; a slug and a name fit several times
)

var cursorEncoding = base64.RawURLEncoding.Strict()

// queryTag names the query a cursor belongs to: the canonical address without limit and cursor.
func queryTag(canonical string) [8]byte {
	sum := sha256.Sum256([]byte(canonical))
	return [8]byte(sum[:8])
}

func encodeCursor(p *index.Position, tag [8]byte) string {
	b := append([]byte{cursorVersion}, tag[:]...)
	known := byte(0)
	if p.Known {
		known = 1
	}
	b = append(b, known)
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(p.Num))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(p.Home))
	b = appendText(b, p.Text)
	b = appendText(b, p.Slug)
	sum := sha256.Sum256(b)
	return cursorEncoding.EncodeToString(append(b, sum[:cursorSum]...))
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// decodeCursor gives the failing code, nil on success.
func decodeCursor(token string, tag [8]byte) (*index.Position, *code) {
	b, err := cursorEncoding.DecodeString(token)
	const fixed = 1 + 8 + 1 + 8 + 8
	lineEnds := strings.ContainsAny(token, "\r\n") // base64 passes over them, and links.self would repeat them
	if err != nil || lineEnds || len(token) > maxCursor || len(b) < fixed+cursorSum || b[0] != cursorVersion {
		return nil, &invalidCursor
	}
	body := b[:len(b)-cursorSum]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:cursorSum], b[len(body):]) {
		return nil, &invalidCursor
	}
	if !bytes.Equal(body[1:9], tag[:]) {
		return nil, &cursorMismatch
	}
	p := &index.Position{
		Known: body[9] == 1,
		Num:   math.Float64frombits(binary.BigEndian.Uint64(body[10:])),
		Home:  math.Float64frombits(binary.BigEndian.Uint64(body[18:])),
	}
	text, rest, ok := takeText(body[fixed:])
	slug, rest, ok2 := takeText(rest)
	if !ok || !ok2 || len(rest) != 0 || math.IsNaN(p.Num) || math.IsNaN(p.Home) {
		return nil, &invalidCursor
	}
	p.Text, p.Slug = text, slug
	return p, nil
}

func takeText(b []byte) (text string, rest []byte, ok bool) {
	n, used := binary.Uvarint(b)
	if used <= 0 || n > uint64(len(b)-used) {
		return "", nil, false
	}
	return string(b[used : used+int(n)]), b[used+int(n):], true
}
