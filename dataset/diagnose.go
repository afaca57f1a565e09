package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-json/jsontext"
)

// walker reads a record token by token against its shape and keeps every fault, where the
// decoder stops at the first. It says the same as the decoder followed by sound, in words.
type walker struct {
	dec    *jsontext.Decoder
	faults []fault
}

// diagnose lists everything about b that breaks a rule of its shape: unknown, missing and
// null fields, fields that stand twice, wrong types, values out of their bounds, and the first
// fault of syntax, which ends the list.
func diagnose(b []byte, s *shape) []fault {
	w := &walker{dec: jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowDuplicateNames(true))}
	err := w.value(&rule{kind: reflect.Struct, shape: s}, false, "")
	if err == nil {
		err = w.end()
	}
	if err != nil {
		w.faults = append(w.faults, decoderFault(err))
	}
	return w.faults
}

// end sees to it that nothing follows the record.
func (w *walker) end() error {
	at := valueOffset(w.dec)
	_, err := w.dec.ReadToken()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		w.add(at, "", "a second value follows the record")
	}
	return err
}

func (w *walker) add(offset int, field, text string) {
	w.faults = append(w.faults, fault{offset, field, text})
}

// value reads one value; the error is one of syntax and ends the walk.
func (w *walker) value(r *rule, nullable bool, at string) error {
	switch kind := w.dec.PeekKind(); {
	case kind == jsontext.KindNull && nullable:
		return w.dec.SkipValue()
	case r.kind == reflect.Struct && kind == jsontext.KindBeginObject:
		return w.object(r.shape, at)
	case r.kind == reflect.Slice && kind == jsontext.KindBeginArray:
		return w.list(r, at)
	default:
		v, err := w.dec.ReadValue()
		if err != nil {
			return err
		}
		if text := r.fault(v, nullable); text != "" {
			w.add(int(w.dec.InputOffset())-len(v), at, text)
		}
		return nil
	}
}

func (w *walker) list(r *rule, at string) error {
	if _, err := w.dec.ReadToken(); err != nil {
		return err
	}
	start, n := int(w.dec.InputOffset())-1, 0
	for ; w.dec.PeekKind() != jsontext.KindEndArray; n++ {
		if err := w.value(r.entry, false, join(at, strconv.Itoa(n))); err != nil {
			return err
		}
	}
	if n < r.minLen {
		w.add(start, at, fmt.Sprintf("must have at least %d %s, got %d", r.minLen, plural(r.minLen), n))
	}
	if r.maxLen > 0 && n > r.maxLen {
		w.add(start, at, fmt.Sprintf("must have at most %d %s, got %d", r.maxLen, plural(r.maxLen), n))
	}
	_, err := w.dec.ReadToken()
	return err
}

func plural(n int) string {
	if n == 1 {
		return "entry"
	}
	return "entries"
}

func (w *walker) object(s *shape, at string) error {
	if _, err := w.dec.ReadToken(); err != nil {
		return err
	}
	start, seen := int(w.dec.InputOffset())-1, map[string]bool{}
	for w.dec.PeekKind() == jsontext.KindString {
		quoted, err := w.dec.ReadValue()
		if err != nil {
			return err
		}
		where := int(w.dec.InputOffset()) - len(quoted)
		if err := w.member(s, unquote(quoted), where, at, seen); err != nil {
			return err
		}
	}
	if _, err := w.dec.ReadToken(); err != nil {
		return err
	}
	w.missing(s, seen, start, at)
	return nil
}

func (w *walker) member(s *shape, name string, offset int, at string, seen map[string]bool) error {
	f, known := s.byName[name]
	switch {
	case seen[name]:
		w.add(offset, join(at, name), "stands twice in one object")
		return w.dec.SkipValue()
	case !known:
		seen[name] = true
		w.add(offset, join(at, name), s.unknown(name))
		return w.dec.SkipValue()
	default:
		seen[name] = true
		return w.value(&f.rule, f.nullable, join(at, name))
	}
}

// missing names the fields that must be there and are not. A field that may be null, a list
// that may be empty and an object may be left out.
func (w *walker) missing(s *shape, seen map[string]bool, offset int, at string) {
	for i := range s.fields {
		if f := &s.fields[i]; f.required() && !seen[f.name] {
			w.add(offset, join(at, f.name), "is required")
		}
	}
}

func (f *field) required() bool {
	return !f.nullable && (f.minLen > 0 || f.kind != reflect.Slice && f.kind != reflect.Struct)
}

func (s *shape) unknown(name string) string {
	names := make([]string, len(s.fields))
	for i := range s.fields {
		names[i] = s.fields[i].name
	}
	return "is not a known field" + suggestion(name, names)
}

// suggestion ends a sentence with the nearest of the known words, if one is near.
func suggestion(word string, known []string) string {
	if near := Near(word, known, 1); len(near) > 0 {
		return fmt.Sprintf("; did you mean %q", near[0])
	}
	return ""
}

// wanted says in a person's words what JSON a Go kind reads.
var wanted = map[reflect.Kind]string{
	reflect.String: "text", reflect.Int64: "a whole number", reflect.Float64: "a number",
	reflect.Bool: "true or false", reflect.Struct: "an object", reflect.Slice: "a list",
}

// fault says what is wrong with a value that is no object or list, or not the one asked for.
func (r *rule) fault(v jsontext.Value, nullable bool) string {
	fits, text := false, ""
	switch kind := v.Kind(); r.kind {
	case reflect.String:
		if fits = kind == jsontext.KindString; fits {
			text = r.textFault(unquote(v))
		}
	case reflect.Bool:
		fits = kind == jsontext.KindTrue || kind == jsontext.KindFalse
	case reflect.Int64:
		n, err := strconv.ParseInt(string(v), 10, 64)
		fits, text = err == nil, r.limitFault(float64(n))
	case reflect.Float64:
		n, err := strconv.ParseFloat(string(v), 64)
		fits, text = kind == jsontext.KindNumber && err == nil, r.limitFault(n)
	}
	switch {
	case fits && text == "":
		return ""
	case fits && r.set != nil:
		return text + ", got " + short(v) + suggestion(unquote(v), r.set)
	case fits:
		return text + ", got " + short(v)
	case nullable:
		return "must be " + wanted[r.kind] + " or null, got " + short(v)
	default:
		return "must be " + wanted[r.kind] + ", got " + short(v)
	}
}

func (r *rule) textFault(s string) string {
	switch {
	case r.textSound(s):
		return ""
	case r.set != nil:
		return "must be one of " + strings.Join(r.set, ", ")
	case r.form != nil:
		return r.form.rule()
	case len(s) < r.minLen:
		return "must not be empty"
	default:
		return "must match " + r.pattern.String()
	}
}

// short cuts what was found to a length a message can carry, between characters, on one line.
func short(v []byte) string {
	const most = 60
	v = bytes.Join(bytes.Fields(v), []byte(" "))
	if len(v) <= most {
		return string(v)
	}
	end := most
	for !utf8.RuneStart(v[end]) {
		end--
	}
	return string(v[:end]) + "…"
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}
