package httpapi

import (
	"reflect"
	"slices"
	"strings"

	"modeldex/httpapi/rowjson"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// fieldTree is the names of the fields of a row, as the parameter fields spells them.
type fieldTree struct{ fields map[string]*fieldTree }

// treeOf reads the names off the type of a row. Lists of objects count as their objects.
func treeOf[Row any]() *fieldTree { return treeOfType(reflect.TypeFor[Row]()) }

func treeOfType(t reflect.Type) *fieldTree {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	out := &fieldTree{fields: map[string]*fieldTree{}}
	if t.Kind() != reflect.Struct {
		return out
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		sub := treeOfType(f.Type)
		switch {
		case f.Anonymous && name == "":
			for n, s := range sub.fields {
				out.fields[n] = s
			}
		case name != "" && name != "-":
			out.fields[name] = sub
		}
	}
	return out
}

// has reports whether a dotted name is a field.
func (t *fieldTree) has(name string) bool {
	head, rest, dotted := strings.Cut(name, ".")
	sub := t.fields[head]
	return sub != nil && (!dotted || sub.has(rest))
}

// names lists all dotted names, sorted, for suggestions.
func (t *fieldTree) names() []string {
	var out []string
	for name, sub := range t.fields {
		out = append(out, name)
		for _, more := range sub.names() {
			out = append(out, name+"."+more)
		}
	}
	slices.Sort(out)
	return out
}

// projection is the fields to keep of a row: those of fields, whole if their own projection is nil.
type projection struct{ fields map[string]*projection }

// newProjection keeps the fields with dotted names.
func newProjection(names []string) *projection {
	out := &projection{fields: map[string]*projection{}}
	for _, name := range names {
		out.keep(name)
	}
	return out
}

func (p *projection) keep(name string) {
	head, rest, dotted := strings.Cut(name, ".")
	sub, ok := p.fields[head]
	switch {
	case ok && sub == nil: // kept whole
	case !dotted:
		p.fields[head] = nil
	default:
		if sub == nil {
			sub = &projection{fields: map[string]*projection{}}
			p.fields[head] = sub
		}
		sub.keep(rest)
	}
}

// append appends what is kept of a JSON value: of an object the fields, of an array what is kept
// of each element, anything else whole. The value must be one that this program made: valid and
// without white space.
func (p *projection) append(dst []byte, value []byte) []byte {
	switch value[0] {
	case '{':
		return p.appendObject(dst, value)
	case '[':
		return p.appendArray(dst, value)
	default:
		return append(dst, value...)
	}
}

// appendObject is append of an object. It looks for the ends of names and values and at nothing in
// them, because a page of 500 rows has 20,000: reading each as a token took 11 ms.
func (p *projection) appendObject(dst []byte, value []byte) []byte {
	dst = append(dst, '{')
	between := len(dst)
	rest := value[1:]
	for {
		name, member, left, ok := rowjson.Member(rest)
		if !ok {
			break
		}
		rest = left
		sub, kept := p.fields[string(name[1:len(name)-1])] // names of fields need no escapes
		if !kept {
			continue
		}
		if len(dst) > between {
			dst = append(dst, ',')
		}
		dst = append(append(dst, name...), ':')
		if sub == nil {
			dst = append(dst, member...)
		} else {
			dst = sub.append(dst, member)
		}
	}
	return closed(dst, rest, '}')
}

func (p *projection) appendArray(dst []byte, value []byte) []byte {
	dst = append(dst, '[')
	rest := value[1:]
	for {
		n := rowjson.End(rest)
		if n == 0 {
			break
		}
		dst = p.append(dst, rest[:n])
		if rest = rest[n:]; rest[0] == ',' {
			dst, rest = append(dst, ','), rest[1:]
		}
	}
	return closed(dst, rest, ']')
}

// closed appends the bracket that ends a value. The rest of a row that this program wrote is nothing but that.
func closed(dst, rest []byte, bracket byte) []byte {
	if len(rest) != 1 || rest[0] != bracket {
		panic("a row is not what this program writes")
	}
	return append(dst, bracket)
}

// sure is for reading JSON that this program made.
func sure[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func appendString(b []byte, s string) []byte {
	out, err := jsontext.AppendQuote(b, s)
	if err != nil {
		panic(err) // addresses are escaped and versions checked
	}
	return out
}

// marshal is the JSON of a value whose types can be marshaled, with sorted keys.
func marshal(v any) []byte {
	b, err := jsonv2.Marshal(v, jsonv2.Deterministic(true))
	if err != nil {
		panic(err) // of numbers, texts and lists of them
	}
	return b
}
