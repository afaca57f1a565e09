// Package cursor writes the place where a page of a list ends as a token, and reads it.
//
// A cursor is the token of an index.Position: version, the query it belongs to, the position,
// and a checksum over all of it, in base64url. The checksum finds damage and typing; it is no
// secret, because a position tells nothing that a query would not.
package cursor

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"strings"

	"modeldex/index"

	"github.com/cespare/xxhash/v2"
)

// MaxLength is the length of the longest token that is read; a slug and a name fit several times.
const MaxLength = 512

var (
	// ErrInvalid is returned by Decode for a text that is no cursor, or was damaged.
	ErrInvalid = errors.New("not a cursor")
	// errOtherQuery is returned by Decode for the cursor of another query.
	errOtherQuery = errors.New("the cursor of another query")
)

const (
	version  = 2
	sumBytes = 8
)

var tokens = base64.RawURLEncoding.Strict()

func checksum(b []byte) (sum [sumBytes]byte) {
	binary.BigEndian.PutUint64(sum[:], xxhash.Sum64(b))
	return sum
}

// Encode makes the cursor of a position in the pages of a query: its canonical address without limit and cursor.
func Encode(p *index.Position, query string) string {
	const typical = 128
	tag := checksum([]byte(query))
	b := append(append(make([]byte, 0, typical), version), tag[:]...)
	known := byte(0)
	if p.Known {
		known = 1
	}
	b = append(b, known)
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(p.Num))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(p.Home))
	b = appendText(b, p.Text)
	b = appendText(b, p.Slug)
	sum := checksum(b)
	return tokens.EncodeToString(append(b, sum[:]...))
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// Decode gives the position of a cursor of a query, which is as in Encode. Its errors are ErrInvalid and errOtherQuery.
func Decode(token, query string) (*index.Position, error) {
	b, err := tokens.DecodeString(token)
	const fixed = 1 + 8 + 1 + 8 + 8
	lineEnds := strings.ContainsAny(token, "\r\n") // base64 passes over them, and links.self would repeat them
	if err != nil || lineEnds || len(token) > MaxLength || len(b) < fixed+sumBytes || b[0] != version {
		return nil, ErrInvalid
	}
	body := b[:len(b)-sumBytes]
	if sum := checksum(body); !bytes.Equal(sum[:], b[len(body):]) {
		return nil, ErrInvalid
	}
	if tag := checksum([]byte(query)); !bytes.Equal(body[1:9], tag[:]) {
		return nil, errOtherQuery
	}
	p := &index.Position{
		Known: body[9] == 1,
		Num:   math.Float64frombits(binary.BigEndian.Uint64(body[10:])),
		Home:  math.Float64frombits(binary.BigEndian.Uint64(body[18:])),
	}
	text, rest, ok := takeText(body[fixed:])
	slug, rest, ok2 := takeText(rest)
	if !ok || !ok2 || len(rest) != 0 || math.IsNaN(p.Num) || math.IsNaN(p.Home) {
		return nil, ErrInvalid
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
