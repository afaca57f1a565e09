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
type Decoder[T any] struct {
	schema *Schema
	seen   []seenValues // by field
	lines  *lineReader[T]
}

// seenValues is the values of one field that were met: a reflect.Value of the type of the field.
type seenValues struct {
	texts map[string]reflect.Value
	ints  map[int64]reflect.Value
	flags map[bool]reflect.Value
	met   int // times that a text or whole number was met again by the lineReader
}

// maxSeen bounds the values that are remembered per field. Some, such as the address, may be
// different in every record.
const maxSeen = 1 << 14

// NewDecoder returns a Decoder that has met nothing.
func NewDecoder[T any]() *Decoder[T] {
	s := SchemaOf(reflect.TypeFor[T]())
	d := &Decoder[T]{schema: s, seen: make([]seenValues, len(s.Fields))}
	for i := 1; i < len(s.Fields); i++ { // the first is the record's own key
		switch f := &s.Fields[i]; f.Kind {
		case reflect.String:
			d.seen[i].texts = map[string]reflect.Value{}
		case reflect.Int64:
			d.seen[i].ints = map[int64]reflect.Value{}
		case reflect.Bool:
			d.seen[i].flags = map[bool]reflect.Value{}
		}
	}
	d.lines = newLineReader[T](s, d.seen)
	return d
}

// Decode reads one record strictly, see the function Decode.
func (d *Decoder[T]) Decode(b []byte, rec *T) []Problem {
	if d.lines.read(b, rec) {
		return nil
	}
	if err := jsonv2.Unmarshal(b, rec, strict); err == nil && d.valid(reflect.ValueOf(rec).Elem()) {
		return nil
	}
	var zero T // some values are those of other records: they must not be written to
	*rec = zero
	return Decode(b, rec)
}

// valid is Schema.valid for the records of the decoder.
func (d *Decoder[T]) valid(rec reflect.Value) bool {
	for i := range d.schema.Fields {
		f := &d.schema.Fields[i]
		field := rec.FieldByIndex(f.Index)
		v := field
		if f.Nullable {
			if field.IsNil() {
				continue
			}
			v = field.Elem()
		} else if field.IsZero() {
			return false
		}
		ok := false
		switch seen := &d.seen[i]; {
		case seen.texts != nil:
			ok = meet(seen.texts, v.String(), &f.Rule, v, field)
		case seen.ints != nil:
			ok = meet(seen.ints, v.Int(), &f.Rule, v, field)
		case seen.flags != nil:
			ok = meet(seen.flags, v.Bool(), &f.Rule, v, field)
		default:
			ok = f.valid(v)
		}
		if !ok {
			return false
		}
	}
	return true
}

// meet sets a field to the value met before, or checks and remembers its value.
func meet[K comparable](seen map[K]reflect.Value, key K, r *Rule, v, field reflect.Value) bool {
	if known, met := seen[key]; met {
		field.Set(known)
		return true
	}
	if !r.valid(v) {
		return false
	}
	if len(seen) < maxSeen {
		kept := reflect.New(field.Type()).Elem() // a copy: a reflect.Value of a field changes with it
		kept.Set(field)
		seen[key] = kept
	}
	return true
}
