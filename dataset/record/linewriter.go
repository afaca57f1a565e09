package record

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// A lineWriter writes benchmarks as Line does. It writes a copy of each, whose fields it found by
// reflection once; most of them are unknown, and consecutive unknown ones are written at once. It is for
// one goroutine.
type lineWriter struct {
	rec    Benchmark // the copy
	fields []writtenField
	nulls  string // every member as null, with a comma before each
	nullAt []int  // where the member of each field begins in it, and where the last one ends
}

// A writtenField is a field of the copy. Of the pointers to it, the one of its type is set.
type writtenField struct {
	key    string // the member's name, with the comma before it and the colon
	text   *string
	whole  *int64
	texts  **string
	wholes **int64
	number **float64
	flag   **bool
	other  reflect.Value // of any other type
}

var lineWriters = sync.Pool{New: func() any { return newLineWriter() }}

func newLineWriter() *lineWriter {
	w := &lineWriter{nullAt: []int{0}}
	rec, nulls := reflect.ValueOf(&w.rec).Elem(), new(strings.Builder)
	for _, f := range SchemaOf(rec.Type()).Fields {
		out := writtenField{key: `,"` + f.Name + `":`}
		v := rec.FieldByIndex(f.Index)
		switch to := v.Addr().Interface().(type) {
		case *string:
			out.text = to
		case *Slug:
			out.text = (*string)(to)
		case *Source:
			out.text = (*string)(to)
		case *int64:
			out.whole = to
		case **string:
			out.texts = to
		case **int64:
			out.wholes = to
		case **float64:
			out.number = to
		case **bool:
			out.flag = to
		default:
			out.other = v
		}
		w.fields = append(w.fields, out)
		nulls.WriteString(out.key + "null")
		w.nullAt = append(w.nullAt, nulls.Len())
	}
	w.nulls = nulls.String()
	return w
}

// append appends the line of the copy.
func (w *lineWriter) append(dst []byte) (_ []byte, err error) {
	start := len(dst)
	for i := 0; i < len(w.fields); i++ {
		first := i
		for i < len(w.fields) && w.fields[i].unknown() {
			i++
		}
		dst = append(dst, w.nulls[w.nullAt[first]:w.nullAt[i]]...)
		if i == len(w.fields) {
			break
		}
		f := &w.fields[i]
		if dst, err = f.append(append(dst, f.key...)); err != nil {
			return dst, fmt.Errorf("%s: %w", f.key[2:len(f.key)-2], err)
		}
	}
	dst[start] = '{' // in place of the comma of the first member
	return append(dst, '}'), nil
}

func (f *writtenField) unknown() bool {
	switch {
	case f.number != nil:
		return *f.number == nil
	case f.texts != nil:
		return *f.texts == nil
	case f.wholes != nil:
		return *f.wholes == nil
	case f.flag != nil:
		return *f.flag == nil
	case f.other.IsValid():
		return f.other.IsZero()
	default:
		return false
	}
}

// append appends the value of a field that is known.
func (f *writtenField) append(dst []byte) ([]byte, error) {
	switch {
	case f.number != nil:
		return AppendNumber(dst, **f.number)
	case f.texts != nil:
		return appendText(dst, **f.texts)
	case f.wholes != nil:
		return strconv.AppendInt(dst, **f.wholes, 10), nil
	case f.flag != nil:
		return strconv.AppendBool(dst, **f.flag), nil
	case f.text != nil:
		return appendText(dst, *f.text)
	case f.whole != nil:
		return strconv.AppendInt(dst, *f.whole, 10), nil
	}
	if v := f.other.Elem(); v.Kind() == reflect.String {
		return appendText(dst, v.String())
	}
	line, err := jsonv2.Marshal(f.other.Interface())
	return append(dst, line...), err
}

// verbatim says of each byte whether a text in quotes has it as it is.
var verbatim = func() (is [256]bool) {
	for c := ' '; c <= '~'; c++ {
		is[c] = c != '"' && c != '\\'
	}
	return is
}()

// appendText appends a text in quotes.
func appendText(dst []byte, s string) ([]byte, error) {
	for i := range len(s) {
		if !verbatim[s[i]] {
			return jsontext.AppendQuote(dst, s)
		}
	}
	return append(append(append(dst, '"'), s...), '"'), nil
}
