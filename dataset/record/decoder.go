package record

import (
	"reflect"

	jsonv2 "github.com/goccy/go-json/v2"
)

// A Decoder decodes many records of one type as Decode does. It remembers the texts, whole
// numbers and flags it met: a value met before is valid and shares its memory. Of a benchmark's
// 16 texts a dozen repeat thousands of times, so that this halves the memory of a record and
// spares most of the checks. Lines in canonical format it reads itself, see lineReader. It is for one
// goroutine.
type Decoder[T any] struct{ lines *lineReader[T] }

// NewDecoder returns a Decoder that has met nothing.
func NewDecoder[T any]() *Decoder[T] {
	return &Decoder[T]{newLineReader[T](SchemaOf(reflect.TypeFor[T]()))}
}

// Decode reads one record strictly, see the function Decode. *rec is zero.
func (d *Decoder[T]) Decode(b []byte, rec *T) []Problem {
	if d.lines.read(b, rec) {
		return nil
	}
	ok := jsonv2.Unmarshal(b, d.lines.rec, strict) == nil && d.lines.share()
	d.lines.take(ok, rec)
	if ok {
		return nil
	}
	return Decode(b, rec)
}
