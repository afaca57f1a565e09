// Package record defines the records of the directory and the rules of a single record.
//
// A record is one decoded thing, such as a Model. A Slug is its stable public key; a benchmark's is its id. A closed
// set is a type of text with a fixed list of values. A Schema is what a Go type and its tags say of its fields: JSON
// Schemas, field reference and checks follow from the same tags. A Problem is one thing wrong inside one record.
//
// Decode reads one record strictly; only an invalid one is read again by Diagnose, which lists every problem. Rules
// across records belong to package dataset.
//
// Unknown is nil: a field that may be null is a pointer. The package knows neither files nor directories. Everything in
// it is safe for concurrent use.
package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-json"
	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// strict rejects unknown fields; the decoder itself rejects duplicate keys, invalid UTF-8 and trailing text.
var strict = jsonv2.RejectUnknownMembers(true)

// Problem is one problem in a record, with its byte offset.
type Problem struct {
	Offset int    // in bytes
	Field  string // dotted
	Text   string // the rule, then what was found
	Broken bool   // the text is no record: not JSON, or JSON of another kind
}

// Decode reads one record strictly. Only in doubt is the text read again by Diagnose, which says what is wrong and
// where. After faults the record must not be served.
func Decode[T any](b []byte, rec *T) []Problem {
	s := SchemaOf(reflect.TypeFor[T]())
	err := jsonv2.Unmarshal(b, rec, strict)
	if err == nil && s.valid(reflect.ValueOf(rec).Elem()) {
		return nil
	}
	faults := Diagnose(b, s)
	if len(faults) == 0 && err != nil {
		return []Problem{syntaxProblem(b, err)} // the walk is laxer than the decoder in some corner
	}
	return faults
}

// Validate holds a record made in memory to the rules of its type. The error names every field that breaks one.
func Validate[T Model | Hardware | Tool | Benchmark](rec *T) error {
	line, err := Line(rec)
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range Diagnose(line, SchemaOf(reflect.TypeFor[T]())) {
		errs = append(errs, fmt.Errorf("%s: %s", f.Field, f.Text))
	}
	return errors.Join(errs...)
}

// Salvage reads every value of the right type of a record with faults. It is false if the text is not a JSON object.
func Salvage[T any](b []byte, rec *T) bool {
	var zero T
	*rec = zero
	err := json.Unmarshal(b, rec)
	var wrong *json.UnmarshalTypeError // the old decoder notes the first and goes on
	return len(b) > 0 && b[0] == '{' && (err == nil || errors.As(err, &wrong))
}

func syntaxProblem(b []byte, err error) Problem {
	if len(bytes.Trim(b, blanks)) == 0 {
		return Problem{Text: "the file is empty", Broken: true}
	}
	var syn *jsontext.SyntacticError
	if errors.As(err, &syn) {
		if line := conflictAt(b, int(syn.ByteOffset)); line != "" {
			return Problem{Offset: int(syn.ByteOffset), Text: Conflict + line, Broken: true}
		}
		return Problem{Offset: int(syn.ByteOffset), Field: dotted(syn.JSONPointer), Text: syntaxText(syn.Err) + syntaxHint(b, int(syn.ByteOffset)), Broken: true}
	}
	var sem *jsonv2.SemanticError
	if errors.As(err, &sem) && sem.Err != nil {
		return Problem{Offset: int(sem.ByteOffset), Field: dotted(sem.JSONPointer), Text: "does not fit: " + sem.Err.Error()}
	}
	return Problem{Text: syntaxText(err), Broken: true}
}

// Conflict begins the text of a problem at a line that git puts around the two sides of a conflict.
const Conflict = "unresolved merge conflict: "

// syntaxHint says what people often do at an offset that JSON does not allow, empty for anything else.
func syntaxHint(b []byte, offset int) string {
	if offset < 0 || offset >= len(b) {
		return ""
	}
	at, _ := utf8.DecodeRune(b[offset:])
	behind := bytes.TrimLeft(b[offset+1:], blanks)
	afterComma := bytes.HasSuffix(bytes.TrimRight(b[:offset], blanks), []byte{','})
	switch {
	case b[offset] >= 0xfe:
		return "; the file must be in UTF-8"
	case strings.ContainsRune("“”„‘’'", at):
		return `; put text in straight double quotes`
	case at == '/' || at == '#':
		return "; comments are not allowed"
	case at == '\n' || at == '\r': // only a text cannot go on behind one
		return `; a quote is missing, or a line break must be written as \n`
	case strings.ContainsRune("TFN", at):
		return "; write true, false and null in lower case; an unknown value is null"
	case afterComma && strings.ContainsRune("}],", at), at == ',' && (len(behind) == 0 || behind[0] == '}' || behind[0] == ']'):
		return "; remove the extra comma"
	case '0' <= at && at <= '9' && afterComma:
		return "; write decimals with a point"
	}
	return ""
}

func conflictAt(b []byte, offset int) string {
	if offset < 0 || offset > len(b) || offset > 0 && b[offset-1] != '\n' {
		return ""
	}
	line, _, _ := bytes.Cut(b[offset:], []byte{'\n'})
	line = bytes.TrimRight(line, "\r")
	mark, _, _ := bytes.Cut(line, []byte{' '})
	switch string(mark) {
	case "<<<<<<<", "|||||||", "=======", ">>>>>>>":
		return string(line[:min(len(line), 100)])
	}
	return ""
}

// EndsInside is the text of a problem of a record whose last bracket is not closed; LineEndsInside where the record is one
// line of its file.
const (
	EndsInside     = "the file ends inside the record"
	LineEndsInside = "the line ends inside the record"
)

// Error gives the problem as a sentence, with its field first.
func (p Problem) Error() string {
	if p.Field == "" {
		return p.Text
	}
	return p.Field + ": " + p.Text
}

func syntaxText(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return EndsInside
	}
	return "not JSON: " + strings.TrimPrefix(err.Error(), "jsontext: ")
}

func dotted(p jsontext.Pointer) string {
	if strings.Count(string(p), "/") > 8 {
		return ""
	}
	return strings.ReplaceAll(strings.TrimPrefix(string(p), "/"), "/", ".")
}

// Span is the place of one record in the bytes of a file.
type Span struct{ From, To int }

const blanks = " \t\r\n"

// Split finds the records of a .json file. A fault of syntax ends an array; the entries before it still count.
func Split(b []byte) (spans []Span, array bool, f *Problem) {
	from, to := len(b)-len(bytes.TrimLeft(b, blanks)), len(bytes.TrimRight(b, blanks))
	if from >= to || b[from] != '[' {
		return []Span{{min(from, to), to}}, false, nil
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	spans, err := entries(dec)
	if err == nil {
		return spans, true, nil
	}
	found := syntaxProblem(b, err)
	return spans, true, &Problem{Offset: found.Offset, Text: found.Text, Broken: found.Broken}
}

func entries(dec *jsontext.Decoder) (spans []Span, err error) {
	if _, err = dec.ReadToken(); err != nil {
		return nil, err
	}
	for dec.PeekKind() != jsontext.KindEndArray {
		v, err := dec.ReadValue()
		if err != nil {
			return spans, err
		}
		end := int(dec.InputOffset())
		spans = append(spans, Span{end - len(v), end})
	}
	if _, err = dec.ReadToken(); err != nil {
		return spans, err
	}
	at := valueOffset(dec)
	if _, err = dec.ReadToken(); errors.Is(err, io.EOF) {
		return spans, nil
	}
	if err == nil {
		err = &jsontext.SyntacticError{ByteOffset: int64(at), Err: errors.New("unexpected data after the array")}
	}
	return spans, err
}

// Locate returns the offset of a field's value by its dotted name, or of the nearest value it would be in.
func Locate(b []byte, field string) int { return locate(b, strings.SplitSeq(field, ".")) }

func locate(b []byte, names iter.Seq[string]) int {
	dec, at := jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowDuplicateNames(true)), 0
	for name := range names {
		offset, ok := descend(dec, name)
		if !ok {
			break
		}
		at = offset
	}
	return at
}

// descend enters a value and stops before its member or entry called name, whose offset it returns.
func descend(dec *jsontext.Decoder, name string) (int, bool) {
	open, err := dec.ReadToken()
	if err != nil || open.Kind() != jsontext.KindBeginObject && open.Kind() != jsontext.KindBeginArray {
		return 0, false
	}
	object := open.Kind() == jsontext.KindBeginObject
	for i := 0; ; i++ {
		switch dec.PeekKind() {
		case jsontext.KindEndObject, jsontext.KindEndArray, jsontext.KindInvalid:
			return 0, false
		}
		key := fmt.Sprint(i)
		if object {
			quoted, err := dec.ReadValue()
			if err != nil {
				return 0, false
			}
			key = unquote(quoted)
		}
		if key == name {
			return valueOffset(dec), true
		}
		if dec.SkipValue() != nil {
			return 0, false
		}
	}
}

func valueOffset(dec *jsontext.Decoder) int {
	dec.PeekKind()
	rest := dec.UnreadBuffer()
	return int(dec.InputOffset()) + len(rest) - len(bytes.TrimLeft(rest, blanks+":,"))
}

// TextAt returns the text a field of a broken record holds, empty if it cannot be read.
func TextAt(b []byte, field string) string {
	v, err := jsontext.NewDecoder(bytes.NewBuffer(b[Locate(b, field):])).ReadValue()
	if err != nil || v.Kind() != jsontext.KindString {
		return ""
	}
	return unquote(v)
}

func unquote(quoted []byte) string {
	s, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		return string(quoted)
	}
	return string(s)
}

// Line returns a record in one line: every key present, in the order of the Go type, unknown as null.
func Line(rec any) ([]byte, error) { return jsonv2.Marshal(rec) }

// Pretty returns a record as Line does, one member per line, indented by two blanks, with a line end.
func Pretty(rec any) ([]byte, error) {
	b, err := jsonv2.Marshal(rec, jsontext.WithIndent("  "))
	return append(b, '\n'), err
}
