package record

import (
	"bytes"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A lineReader reads one-line records in canonical format: an object without blanks, with its members in
// the order of the Go type, texts without escapes, and numbers without exponents. Members may be left
// out. That is the form Format writes, so nearly every line of a dataset has it. Whatever else a line
// may be, valid or not, read leaves to the strict decoder; what it reads, the strict decoder reads
// equally and finds valid, which FuzzLineReader tests.
//
// It finds values that were met before by their bytes, so that it neither allocates nor checks them.
// BenchmarkDecoder compares it with the strict decoder: a third to a half of the time.
type lineReader[T any] struct {
	rec      *T // that is being read; its fields are those of values
	fields   []lineField
	required int // fields that must be there
	texts    room
}

// A lineField is one field of the record that is being read.
type lineField struct {
	*Field
	*seenValues
	key   string        // the member's name and colon
	null  string        // the member where it is null, with the comma after it; empty where it must not be
	value reflect.Value // the field, which can be set
	// Of the pointers to it, the one of its type is set, if there is one: writing through it costs a fraction of
	// setting it by reflection.
	text    **string
	number  **float64
	numbers []float64     // values of which number takes the next
	free    reflect.Value // a list of values, of which an optional field of another type takes the next
	used    int           // of them
	// Texts that were met lately, by a few of their bytes: comparing one costs less than half of finding it
	// in a map. Nil where the field has no texts.
	recent *[256]recentText
}

type recentText struct {
	text  string
	value reflect.Value // as in seenValues
	at    *string       // value, of a field with text
}

func newLineReader[T any](s *Schema, seen []seenValues) *lineReader[T] {
	r := &lineReader[T]{rec: new(T), fields: make([]lineField, len(s.Fields))}
	rec := reflect.ValueOf(r.rec).Elem()
	for i := range s.Fields {
		f := &s.Fields[i]
		r.fields[i] = lineField{Field: f, seenValues: &seen[i], key: strconv.Quote(f.Name) + ":", value: rec.FieldByIndex(f.Index)}
		switch to := r.fields[i].value.Addr().Interface().(type) {
		case **string:
			r.fields[i].text = to
		case **float64:
			r.fields[i].number = to
		}
		if seen[i].texts != nil {
			r.fields[i].recent = new([256]recentText)
		}
		if f.Nullable {
			r.fields[i].null = r.fields[i].key + "null,"
		} else {
			r.required++
		}
	}
	return r
}

// read reads a line into rec. Where it returns false, it has not changed rec.
func (r *lineReader[T]) read(line []byte, rec *T) bool {
	ok := r.members(line)
	if ok {
		*rec = *r.rec
	}
	var zero T
	*r.rec = zero
	return ok
}

// members reads the members of a line.
func (r *lineReader[T]) members(line []byte) bool {
	if len(line) < 2 || line[0] != '{' {
		return false
	}
	rest, next, required := line[1:], 0, 0
	for {
		for next < len(r.fields) && r.fields[next].startsNull(rest) {
			rest, next = rest[len(r.fields[next].null):], next+1
		}
		at, key := r.member(rest, next)
		if at < 0 {
			return false
		}
		f := &r.fields[at]
		n := f.read(rest[key:], &r.texts)
		if n <= 0 {
			return false
		}
		if !f.Nullable {
			required++
		}
		rest, next = rest[key+n:], at+1
		if len(rest) == 1 && rest[0] == '}' {
			return required == r.required
		}
		if len(rest) == 0 || rest[0] != ',' {
			return false
		}
		rest = rest[1:]
	}
}

// startsNull reports whether a line goes on with the member as null: most members of most lines do.
func (f *lineField) startsNull(line []byte) bool {
	return f.null != "" && len(line) > len(f.null) && string(line[:len(f.null)]) == f.null
}

// member returns the number of the field that a line goes on with, which is next or comes after it, and
// how many bytes its name and colon have; -1 where it is none. Most members that are left out are few in a
// row, so that the next ones are compared one after the other.
func (r *lineReader[T]) member(line []byte, next int) (at, size int) {
	for at = next; at < len(r.fields); at++ {
		key := r.fields[at].key
		if len(line) > len(key) && line[len(key)-1] == ':' && string(line[:len(key)]) == key {
			return at, len(key)
		}
	}
	return -1, 0
}

// read reads the value that text begins with into the field, and returns how many bytes it has; 0 where
// it is not plain or not valid.
func (f *lineField) read(text []byte, keep *room) int {
	if f.Nullable && len(text) > 0 && text[0] == 'n' && bytes.HasPrefix(text, []byte("null")) {
		return len("null")
	}
	switch f.Kind {
	case reflect.String:
		return f.readText(text, keep)
	case reflect.Int64:
		return f.readWhole(text)
	case reflect.Float64:
		return f.readNumber(text)
	case reflect.Bool:
		return f.readFlag(text)
	default:
		return 0
	}
}

func (f *lineField) readText(text []byte, keep *room) int {
	if len(text) == 0 || text[0] != '"' {
		return 0
	}
	end := bytes.IndexByte(text[1:], '"') + 1
	v := text[1:max(1, end)]
	if end == 0 || bytes.IndexByte(v, '\\') >= 0 {
		return 0
	}
	if f.meetText(v) {
		return end + 1
	}
	if !plain(v) || !f.Nullable && len(v) == 0 {
		return 0
	}
	kept := keep.text(v)
	if !f.ValidText(kept) {
		return 0
	}
	f.next().SetString(kept)
	if f.texts != nil && len(f.texts) < maxSeen {
		f.texts[kept] = f.copied()
	} else if f.met < maxSeen {
		f.texts = nil // hardly a value repeats: looking for them would cost more than it spares
	}
	return end + 1
}

// meetText gives the field the value of a text that was met before, if it was.
func (f *lineField) meetText(v []byte) bool {
	if f.texts == nil || len(v) == 0 {
		return false
	}
	n := len(v)
	recent := &f.recent[uint8(n+3*int(v[0])+5*int(v[n/3])+7*int(v[n/2])+11*int(v[n-1]))]
	if recent.text != string(v) {
		known, met := f.texts[string(v)]
		if !met {
			return false
		}
		*recent = recentText{text: reflect.Indirect(known).String(), value: known} // that text: it is kept already
		if f.text != nil {
			recent.at = known.Interface().(*string)
		}
	}
	if f.text != nil {
		*f.text = recent.at
	} else {
		f.value.Set(recent.value)
	}
	f.met++
	return true
}

// plain reports whether the bytes between quotes are the text they mean.
func plain(v []byte) bool {
	for _, c := range v {
		if c < ' ' {
			return false
		}
		if c >= utf8.RuneSelf {
			return utf8.Valid(v) && bytes.IndexFunc(v, func(r rune) bool { return r < ' ' }) < 0
		}
	}
	return true
}

// maxDigits is how many digits a whole number may have that surely fits in an int64.
const maxDigits = 18

func (f *lineField) readWhole(text []byte) int {
	n := numberLen(text, false)
	if n == 0 || n > maxDigits {
		return 0
	}
	v, negative := int64(0), text[0] == '-'
	for _, c := range text[boolInt(negative):n] {
		v = 10*v + int64(c-'0')
	}
	if negative {
		v = -v
	}
	if known, met := f.ints[v]; met {
		f.value.Set(known)
		f.met++
		return n
	}
	if v == 0 && (negative || !f.Nullable) || f.LimitProblem(float64(v)) != "" {
		return 0
	}
	f.next().SetInt(v)
	if f.ints != nil && len(f.ints) < maxSeen {
		f.ints[v] = f.copied()
	} else if f.met < maxSeen {
		f.ints = nil
	}
	return n
}

func (f *lineField) readNumber(text []byte) int {
	n := numberLen(text, true)
	if n == 0 {
		return 0
	}
	v, err := strconv.ParseFloat(string(text[:n]), 64)
	if err != nil || v == 0 && (text[0] == '-' || !f.Nullable) || f.LimitProblem(v) != "" {
		return 0
	}
	if f.number == nil {
		f.next().SetFloat(v)
		return n
	}
	if len(f.numbers) == 0 {
		f.numbers = make([]float64, roomEntries)
	}
	f.numbers[0] = v
	*f.number, f.numbers = &f.numbers[0], f.numbers[1:]
	return n
}

func (f *lineField) readFlag(text []byte) int {
	word, v := "false", false
	if bytes.HasPrefix(text, []byte("true")) {
		word, v = "true", true
	}
	if !bytes.HasPrefix(text, []byte(word)) || !v && !f.Nullable {
		return 0
	}
	if known, met := f.flags[v]; met {
		f.value.Set(known)
		return len(word)
	}
	f.next().SetBool(v)
	if f.flags != nil {
		f.flags[v] = f.copied()
	}
	return len(word)
}

// numberLen is how many bytes the number has that text begins with: digits without a leading zero, after
// a sign perhaps, and with decimals where they are allowed. 0 where it is none, or goes on in another way.
func numberLen(text []byte, decimals bool) int {
	digits := func(from int) (to int) {
		for to = from; to < len(text) && '0' <= text[to] && text[to] <= '9'; to++ {
		}
		return to
	}
	first := 0
	if len(text) > 0 && text[0] == '-' {
		first = 1
	}
	n := digits(first)
	if n == first || text[first] == '0' && n > first+1 || n == len(text) {
		return 0
	}
	if decimals && text[n] == '.' {
		point := n
		if n = digits(point + 1); n == point+1 || n == len(text) {
			return 0
		}
	}
	if c := text[n]; c != ',' && c != '}' {
		return 0
	}
	return n
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// next returns a value of its own that the field now has.
func (f *lineField) next() reflect.Value {
	if !f.Nullable {
		return f.value
	}
	if !f.free.IsValid() || f.used == f.free.Len() {
		f.free, f.used = reflect.MakeSlice(reflect.SliceOf(f.value.Type().Elem()), roomEntries, roomEntries), 0
	}
	v := f.free.Index(f.used)
	f.used++
	f.value.Set(v.Addr())
	return v
}

// copied is a copy of what the field has: a reflect.Value of a field changes with it.
func (f *lineField) copied() reflect.Value {
	c := reflect.New(f.value.Type()).Elem()
	c.Set(f.value)
	return c
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
