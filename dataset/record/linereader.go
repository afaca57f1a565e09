package record

import (
	"bytes"
	"reflect"
	"strconv"
	"strings"
)

// A lineReader reads one-line records in canonical format: an object without blanks, with its members in
// the order of the Go type, texts without escapes, and numbers without exponents. Members may be left
// out. That is the form Format writes, so nearly every line of a dataset has it. Whatever else a line
// may be, valid or not, read leaves to the strict decoder; what it reads, the strict decoder reads
// equally and finds valid, which FuzzLineReader tests.
//
// It finds values that were met before by their bytes, so that it neither allocates nor checks them. It writes
// fields through pointers that are found once, so that it needs no reflection. BenchmarkDecoder compares it
// with the strict decoder.
type lineReader[T any] struct {
	rec      *T // that is being read; its fields are those of values
	fields   []lineField
	follows  []int // by number of a field, the one before which a line left out the others last
	required int   // fields that must be there
}

// A lineField is one field of the record that is being read.
type lineField struct {
	key      string // the member's name and colon
	required bool
	lineValue
}

func newLineReader[T any](s *Schema) *lineReader[T] {
	r := &lineReader[T]{rec: new(T), fields: make([]lineField, len(s.Fields)), follows: make([]int, len(s.Fields))}
	rec, texts := reflect.ValueOf(r.rec).Elem(), new(room)
	for i := range s.Fields {
		f := &s.Fields[i]
		// The first field is the record's own key, which no other record has.
		r.fields[i] = lineField{strconv.Quote(f.Name) + ":", !f.Nullable, newLineValue(rec.FieldByIndex(f.Index), f, i > 0, texts)}
		r.follows[i] = i
		if !f.Nullable {
			r.required++
		}
	}
	return r
}

// read reads a line into rec. Where it returns false, it has not changed rec.
func (r *lineReader[T]) read(line []byte, rec *T) bool {
	ok := r.members(line)
	r.take(ok, rec)
	return ok
}

// take moves the record that was read to rec, where it is valid, and clears it.
func (r *lineReader[T]) take(valid bool, rec *T) {
	if valid {
		*rec = *r.rec
	}
	var zero T
	*r.rec = zero
}

// share checks the fields of the record that was read in another way, and has it share values met before.
func (r *lineReader[T]) share() bool {
	for i := range r.fields {
		if !r.fields[i].share() {
			return false
		}
	}
	return true
}

// members reads the members of a line.
func (r *lineReader[T]) members(line []byte) bool {
	if len(line) < 2 || line[0] != '{' {
		return false
	}
	rest, next, required := line[1:], 0, 0
	for {
		at := r.member(rest, next)
		if at < 0 {
			return false
		}
		f := &r.fields[at]
		rest, next = rest[len(f.key):], at+1
		switch n := 0; {
		case !f.required && startsWith(rest, "null"):
			rest = rest[len("null"):]
		default:
			if n = f.read(rest); n <= 0 {
				return false
			}
			rest = rest[n:]
			if f.required {
				required++
			}
		}
		if len(rest) == 1 && rest[0] == '}' {
			return required == r.required
		}
		if len(rest) == 0 || rest[0] != ',' {
			return false
		}
		rest = rest[1:]
	}
}

// member returns the number of the field whose name and colon a line goes on with, which is next or comes after
// it; -1 where it is none. Lines leave out the same members as the lines before them, so that the field that
// followed last is tried first.
func (r *lineReader[T]) member(line []byte, next int) int {
	if next == len(r.fields) {
		return -1
	}
	if at := r.follows[next]; startsWith(line, r.fields[at].key) {
		return at
	}
	for at := next; at < len(r.fields); at++ {
		if startsWith(line, r.fields[at].key) {
			r.follows[next] = at
			return at
		}
	}
	return -1
}

func startsWith(b []byte, s string) bool { return len(b) >= len(s) && string(b[:len(s)]) == s }

// textLen is how many bytes the text has that b begins with, between its quotes; -1 where it begins with none.
func textLen(b []byte) int {
	if len(b) == 0 || b[0] != '"' {
		return -1
	}
	return bytes.IndexByte(b[1:], '"')
}

// numberLen is how many bytes the number has that text begins with: digits without a leading zero, after
// a sign perhaps, and with decimals where they are allowed. 0 where it is none, or goes on in another way.
func numberLen(text []byte, decimals bool) int {
	first := 0
	if len(text) > 0 && text[0] == '-' {
		first = 1
	}
	n := digitsFrom(text, first)
	if n == first || text[first] == '0' && n > first+1 || n == len(text) {
		return 0
	}
	if decimals && text[n] == '.' {
		point := n
		if n = digitsFrom(text, point+1); n == point+1 || n == len(text) {
			return 0
		}
	}
	if c := text[n]; c != ',' && c != '}' {
		return 0
	}
	return n
}

// digitsFrom is where the digits end that begin at a place of text.
func digitsFrom(text []byte, at int) int {
	for at < len(text) && '0' <= text[at] && text[at] <= '9' {
		at++
	}
	return at
}

// A room keeps texts together in memory, of which it reserves much at a time.
type room struct{ b *strings.Builder }

// text returns a text with the bytes of t.
func (r *room) text(t []byte) string {
	if r.b == nil || len(t) > r.b.Cap()-r.b.Len() {
		r.b = new(strings.Builder)
		r.b.Grow(max(len(t), roomBytes))
	}
	r.b.Write(t)
	all := r.b.String()
	return all[len(all)-len(t):]
}
