package history

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset/record"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// Undo takes changes of a record back. The record is one line of JSON as record.Line writes it.
func Undo(rec jsontext.Value, fields []record.FieldChange) (_ jsontext.Value, err error) {
	for i := range fields {
		f := &fields[i]
		if rec, err = set(rec, strings.Split(f.Field, "."), f.At, f.New, f.Old); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Field, err)
		}
	}
	return rec, nil
}

var errOtherRecord = errors.New("the record is not the one that was changed")

// set gives the value at a path within v another value, or a stretch of its list.
func set(v jsontext.Value, path []string, at *int64, from, to jsontext.Value) (jsontext.Value, error) {
	if len(path) == 0 {
		if at == nil {
			return to, nil
		}
		return splice(v, int(*at), from, to)
	}
	switch v.Kind() {
	case '{':
		var members []member
		if err := jsonv2.Unmarshal(v, (*object)(&members)); err != nil {
			return nil, err
		}
		for i := range members {
			if members[i].name != path[0] {
				continue
			}
			inner, err := set(members[i].value, path[1:], at, from, to)
			if err != nil {
				return nil, err
			}
			members[i].value = inner
			return jsonv2.Marshal(object(members))
		}
		inner, err := set(nil, path[1:], at, from, to) // a field the record left out
		if err != nil {
			return nil, err
		}
		return jsonv2.Marshal(object(append(members, member{path[0], inner})))
	case '[':
		var entries []jsontext.Value
		if err := jsonv2.Unmarshal(v, &entries); err != nil {
			return nil, err
		}
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i >= len(entries) {
			return nil, errOtherRecord
		}
		if entries[i], err = set(entries[i], path[1:], at, from, to); err != nil {
			return nil, err
		}
		return jsonv2.Marshal(entries)
	default:
		return nil, errOtherRecord
	}
}

// splice puts a stretch of a list in the place of another.
func splice(v jsontext.Value, at int, from, to jsontext.Value) (jsontext.Value, error) {
	var list, old, fresh []jsontext.Value
	for _, part := range []struct {
		text jsontext.Value
		into *[]jsontext.Value
	}{{v, &list}, {from, &old}, {to, &fresh}} {
		if part.text == nil {
			continue
		}
		if err := jsonv2.Unmarshal(part.text, part.into); err != nil {
			return nil, err
		}
	}
	if at < 0 || at+len(old) > len(list) {
		return nil, errOtherRecord
	}
	return jsonv2.Marshal(slices.Concat(list[:at:at], fresh, list[at+len(old):]))
}

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value jsontext.Value
}

// UnmarshalJSONFrom reads an object.
func (o *object) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		key := strings.Clone(name.String())
		value, err := dec.ReadValue()
		if err != nil {
			return err
		}
		*o = append(*o, member{key, value.Clone()})
	}
	_, err := dec.ReadToken()
	return err
}

// MarshalJSONTo writes an object.
func (o object) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, m := range o {
		if err := enc.WriteToken(jsontext.String(m.name)); err != nil {
			return err
		}
		if err := enc.WriteValue(m.value); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}
