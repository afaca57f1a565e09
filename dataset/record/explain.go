package record

import (
	"bytes"
	"errors"
	"reflect"
	"strings"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// byteOrderMark is what some editors write at the start of a file in UTF-8.
var byteOrderMark = []byte("\ufeff")

// Explain words an error of the JSON decoder about b in the sentences of Decode. It is for types that are no records and
// have no rules in their tags.
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

// semanticText says what a value is that its Go type cannot have, empty where that is not known. b begins with the value.
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

// memberNames are the names of the members that a struct is read from.
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
