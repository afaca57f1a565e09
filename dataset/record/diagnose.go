package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// walker reads a record token by token against its shape, and keeps every fault.
type walker struct {
	dec    *jsontext.Decoder
	faults []Problem
}

// Diagnose lists everything about b that breaks a rule of its shape. The first fault of syntax ends the list.
func Diagnose(b []byte, s *Schema) []Problem {
	w := &walker{dec: jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowDuplicateNames(true))}
	err := w.value(&Rule{Kind: reflect.Struct, Object: s}, false, "")
	if err == nil {
		err = w.end()
	}
	if err != nil {
		w.faults = append(w.faults, syntaxProblem(b, err))
	}
	return w.faults
}

func (w *walker) end() error {
	at := valueOffset(w.dec)
	_, err := w.dec.ReadToken()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		w.add(at, "", "unexpected data after the record")
	}
	return err
}

func (w *walker) add(offset int, field, text string) {
	w.faults = append(w.faults, Problem{Offset: offset, Field: field, Text: text, Broken: field == ""})
}

func (w *walker) value(r *Rule, nullable bool, at string) error {
	switch kind := w.dec.PeekKind(); {
	case r.Kind == reflect.Interface, kind == jsontext.KindNull && nullable:
		return w.dec.SkipValue()
	case r.Kind == reflect.Struct && kind == jsontext.KindBeginObject:
		return w.object(r.Object, at)
	case r.Kind == reflect.Slice && kind == jsontext.KindBeginArray:
		return w.list(r, at)
	default:
		v, err := w.dec.ReadValue()
		if err != nil {
			return err
		}
		if text := r.Check(v, nullable); text != "" {
			w.add(int(w.dec.InputOffset())-len(v), at, text)
		}
		return nil
	}
}

func (w *walker) list(r *Rule, at string) error {
	if _, err := w.dec.ReadToken(); err != nil {
		return err
	}
	start, n := int(w.dec.InputOffset())-1, 0
	for ; w.dec.PeekKind() != jsontext.KindEndArray; n++ {
		if err := w.value(r.Entry, false, Join(at, strconv.Itoa(n))); err != nil {
			return err
		}
	}
	if n < r.MinLen {
		w.add(start, at, fmt.Sprintf("must have at least %d %s, got %d", r.MinLen, Noun(r.MinLen, "entry", "entries"), n))
	}
	if r.MaxLen > 0 && n > r.MaxLen {
		w.add(start, at, fmt.Sprintf("must have at most %d %s, got %d", r.MaxLen, Noun(r.MaxLen, "entry", "entries"), n))
	}
	_, err := w.dec.ReadToken()
	return err
}

func (w *walker) object(s *Schema, at string) error {
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
	for i := range s.Fields {
		if f := &s.Fields[i]; f.Required() && !seen[f.Name] {
			w.add(start, Join(at, f.Name), "is required")
		}
	}
	return nil
}

func (w *walker) member(s *Schema, name string, offset int, at string, seen map[string]bool) error {
	f, known := s.byName[name]
	switch {
	case seen[name]:
		w.add(offset, Join(at, name), "duplicate field")
		return w.dec.SkipValue()
	case !known:
		seen[name] = true
		if err := w.dec.SkipValue(); err != nil {
			return err
		}
		names := make([]string, len(s.Fields))
		for i := range s.Fields {
			names[i] = s.Fields[i].Name
		}
		text := "is not a known field" + Suggestion(name, names)
		if name == "$schema" {
			text = "must be the first field of a file and name the schema of its kind"
		}
		w.add(offset, Join(at, name), text)
		return nil
	default:
		seen[name] = true
		return w.value(&f.Rule, f.Nullable, Join(at, name))
	}
}

// Required reports whether a record must have the field. One that may be null, an object and an empty list may be left
// out.
func (f *Field) Required() bool {
	return !f.Nullable && (f.MinLen > 0 || f.Kind != reflect.Slice && f.Kind != reflect.Struct && f.Kind != reflect.Interface)
}

// Suggestion ends a sentence with the nearest of the known words, if one is near.
func Suggestion(word string, known []string) string {
	if near := Near(word, known, 1); len(near) > 0 {
		return fmt.Sprintf("; did you mean %q?", near[0])
	}
	return ""
}

var wanted = map[reflect.Kind]string{
	reflect.String: "text", reflect.Int64: "a whole number", reflect.Float64: "a number",
	reflect.Bool: "true or false", reflect.Struct: "an object", reflect.Slice: "a list",
}

// Check says what is wrong with a value that is not an object or list, or not the one asked for.
func (r *Rule) Check(v jsontext.Value, nullable bool) string {
	fits, text := false, ""
	switch kind := v.Kind(); r.Kind {
	case reflect.Interface:
		return "" // any value
	case reflect.String:
		if fits = kind == jsontext.KindString; fits {
			text = r.textFault(unquote(v))
		}
	case reflect.Bool:
		fits = kind == jsontext.KindTrue || kind == jsontext.KindFalse
	case reflect.Int64:
		n, err := strconv.ParseInt(string(v), 10, 64)
		fits, text = err == nil, r.limitProblem(float64(n))
	case reflect.Float64:
		n, err := strconv.ParseFloat(string(v), 64)
		fits, text = kind == jsontext.KindNumber && err == nil, r.limitProblem(n)
	}
	switch {
	case fits && text == "":
		return ""
	case fits && r.Set != nil:
		return text + ", got " + short(v) + Suggestion(unquote(v), r.Set)
	case fits:
		return text + ", got " + short(v)
	case nullable:
		return "must be " + wanted[r.Kind] + " or null, got " + short(v)
	}
	return "must be " + wanted[r.Kind] + ", got " + short(v)
}

// patternWords are the rules of patterns in words, where people write something else than the pattern asks for.
var patternWords = map[string]string{
	`^[0-9A-Za-z._-]+/[0-9A-Za-z._-]+$`: "must be OWNER/NAME without https://huggingface.co/",
}

func (r *Rule) textFault(s string) string {
	switch {
	case r.validText(s):
		return ""
	case r.Set != nil:
		return "must be one of " + strings.Join(r.Set, ", ")
	case r.Form != nil:
		return r.Form.rule()
	case len(s) < r.MinLen:
		return "must not be empty"
	}
	if c, found := Invisible(s); found {
		return fmt.Sprintf("must not contain control or invisible characters such as %U", c)
	}
	if text := r.blankProblem(s); text != "" {
		return text
	}
	if c, found := Mixed(s); found {
		return fmt.Sprintf("must not mix %U, which looks like a Latin letter, with Latin letters", c)
	}
	if words, ok := patternWords[r.Pattern.String()]; ok {
		return words
	}
	return "must match " + r.Pattern.String()
}

func short(v []byte) string {
	const most = 60
	var b strings.Builder
	for _, r := range Printable(Clip(strings.Join(strings.FieldsFunc(string(v), func(r rune) bool { return r < utf8.RuneSelf && unicode.IsSpace(r) }), " "), most)) {
		if r >= utf8.RuneSelf && unicode.IsSpace(r) {
			fmt.Fprintf(&b, `\u%04x`, r) // else it looks like a blank
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Join returns the dotted name of a member of an object.
func Join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

var byteOrderMark = []byte("\ufeff")

// Explain words an error of the JSON decoder about b as Decode does, for types that have no rules in their tags.
func Explain(b []byte, err error) Problem {
	if bytes.HasPrefix(b, byteOrderMark) {
		return Problem{Text: "must not begin with a byte order mark", Broken: true}
	}
	var syn *jsontext.SyntacticError
	if errors.As(err, &syn) && errors.Is(syn.Err, jsontext.ErrDuplicateName) {
		return Problem{Offset: int(syn.ByteOffset), Field: dotted(syn.JSONPointer), Text: "duplicate field"}
	}
	var sem *jsonv2.SemanticError
	if errors.As(err, &sem) && syn == nil {
		at := locate(b, sem.JSONPointer.Tokens())
		if text := semanticText(b[min(at, len(b)):], sem); text != "" {
			return Problem{Offset: at, Field: dotted(sem.JSONPointer), Text: text}
		}
	}
	return syntaxProblem(b, err)
}

// ExplainLine is Explain for a line of a file.
func ExplainLine(b []byte, err error) Problem {
	p := Explain(b, err)
	if p.Text == EndsInside {
		p.Text = LineEndsInside
	}
	return p
}

// semanticText says what a value is that its Go type cannot have, empty if that is not known. b begins with the value.
func semanticText(b []byte, err *jsonv2.SemanticError) string {
	if err.GoType == nil {
		return ""
	}
	t := err.GoType
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if errors.Is(err.Err, jsonv2.ErrUnknownName) {
		return "is not a known field" + Suggestion(err.JSONPointer.LastToken(), memberNames(t))
	}
	r := Rule{Kind: t.Kind()}
	switch {
	case t.Kind() == reflect.Map:
		r.Kind = reflect.Struct
	case t.Kind() == reflect.Array:
		r.Kind = reflect.Slice
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uintptr:
		r.Kind = reflect.Int64
	case t.Kind() == reflect.Float32:
		r.Kind = reflect.Float64
	}
	v, readErr := jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowDuplicateNames(true)).ReadValue()
	if _, known := wanted[r.Kind]; !known || readErr != nil {
		return ""
	}
	return r.Check(v, false)
}

func memberNames(t reflect.Type) (names []string) {
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}
