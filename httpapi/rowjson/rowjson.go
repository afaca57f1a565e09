// Package rowjson finds members in rows that this program made: JSON without white space, whose members
// are in a known order. It only looks for where names and values end, at about half a nanosecond per byte;
// a decoder checks and copies each token. In valid JSON it finds what a decoder finds. It never reads past
// the end, and reports where it cannot go on: callers that have a decoder use that then. All functions are safe for concurrent use.
//
// A Projection keeps some fields of a row, by their names in a FieldTree. Marshal writes JSON that cannot fail.
package rowjson

import (
	"bytes"
	"iter"

	"github.com/goccy/go-json/jsontext"
)

// end is the length of the JSON value that b begins with. It is 0 if b begins with no value, white space
// included, or the value does not end. Of lists and objects only texts and brackets are looked at, of
// other values whether their characters can occur in them.
func end(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case '"':
		return textEnd(b)
	case '{', '[':
		return nestedEnd(b)
	case 'n':
		return literalEnd(b, "null")
	case 't':
		return literalEnd(b, "true")
	case 'f':
		return literalEnd(b, "false")
	default:
		n := 0
		for n < len(b) && kinds[b[n]] == digit {
			n++
		}
		return n
	}
}

func literalEnd(b []byte, literal string) int {
	if len(b) < len(literal) || string(b[:len(literal)]) != literal {
		return 0
	}
	return len(literal)
}

func textEnd(b []byte) int {
	if len(b) == 0 || b[0] != '"' {
		return 0
	}
	for i := 1; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return 0
		}
		i += n + 1
		first := i - 1 // backslashes before the quote; an odd number escapes it
		for first > 1 && b[first-1] == '\\' {
			first--
		}
		if (i-1-first)%2 == 0 {
			return i
		}
	}
}

// kind is what a byte can be outside of texts.
type kind uint8

const (
	other kind = iota
	digit      // of a number: also its signs, point and exponent
	quote
	opening
	closing
)

var kinds = func() (out [256]kind) {
	for _, of := range []struct {
		kind  kind
		bytes string
	}{{digit, "0123456789+-.eE"}, {quote, `"`}, {opening, "[{"}, {closing, "]}"}} {
		for _, c := range []byte(of.bytes) {
			out[c] = of.kind
		}
	}
	return out
}()

func nestedEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch kinds[b[i]] {
		case quote:
			n := textEnd(b[i:])
			if n == 0 {
				return 0
			}
			i += n - 1
		case opening:
			depth++
		case closing:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// plain is the content of a JSON string, as a subslice. ok is false if it has escapes.
func plain(quoted []byte) (text []byte, ok bool) {
	return quoted[1 : len(quoted)-1], bytes.IndexByte(quoted, '\\') < 0
}

// member is the first member of what is left of an object, behind its brace or a comma. It gives the name in
// quotes, the value, and what is left behind the comma, if there is one. ok is false at the end of the object, and
// where the object is not as this program writes it.
func member(rest []byte) (name, value, left []byte, ok bool) {
	n := textEnd(rest)
	if n == 0 || n == len(rest) || rest[n] != ':' {
		return nil, nil, nil, false
	}
	name, rest = rest[:n], rest[n+1:]
	if n = end(rest); n == 0 || n == len(rest) {
		return nil, nil, nil, false
	}
	value, left = rest[:n:n], rest[n:]
	if left[0] == ',' {
		left = left[1:]
	}
	return name, value, left, true
}

// Members goes through the names in quotes and the values of a row, in its order.
func Members(row []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for rest := row[1:]; ; {
			name, value, left, ok := member(rest)
			if !ok || !yield(name, value) {
				return
			}
			rest = left
		}
	}
}

// Text is a text that is a member of a row, empty if it is null or not there. It reads no further than that: names
// are the second member of rows that have thousands of bytes.
func Text(row []byte, member string) string {
	for name, value := range Members(row) {
		if string(name[1:len(name)-1]) != member {
			continue
		}
		return Unquote(value)
	}
	return ""
}

// Unquote is what a JSON text says; empty for other values, such as null.
func Unquote(value []byte) string {
	if textEnd(value) == 0 {
		return ""
	}
	if text, ok := plain(value); ok {
		return string(text)
	}
	text, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return ""
	}
	return string(text)
}
