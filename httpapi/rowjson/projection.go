package rowjson

import (
	"reflect"
	"slices"
	"strings"

	jsonv2 "github.com/goccy/go-json/v2"
)

// FieldTree is the names of the fields of a row, as the parameter fields spells them.
type FieldTree struct{ Fields map[string]*FieldTree }

// TreeOf reads the names off the type of a row. Lists of objects count as their objects.
func TreeOf[Row any]() *FieldTree { return treeOfType(reflect.TypeFor[Row]()) }

func treeOfType(t reflect.Type) *FieldTree {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	out := &FieldTree{Fields: map[string]*FieldTree{}}
	if t.Kind() != reflect.Struct {
		return out
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		sub := treeOfType(f.Type)
		switch {
		case f.Anonymous && name == "":
			for n, s := range sub.Fields {
				out.Fields[n] = s
			}
		case name != "" && name != "-":
			out.Fields[name] = sub
		}
	}
	return out
}

// Has reports whether a dotted name is a field.
func (t *FieldTree) Has(name string) bool {
	head, rest, dotted := strings.Cut(name, ".")
	sub := t.Fields[head]
	return sub != nil && (!dotted || sub.Has(rest))
}

// Names lists all dotted names, sorted, for suggestions.
func (t *FieldTree) Names() []string {
	var out []string
	for name, sub := range t.Fields {
		out = append(out, name)
		for _, more := range sub.Names() {
			out = append(out, name+"."+more)
		}
	}
	slices.Sort(out)
	return out
}

// Projection is the fields to keep of a row: those of fields, whole if their own projection is nil.
type Projection struct{ Fields map[string]*Projection }

// NewProjection keeps the fields with dotted names.
func NewProjection(names []string) *Projection {
	out := &Projection{Fields: map[string]*Projection{}}
	for _, name := range names {
		out.keep(name)
	}
	return out
}

func (p *Projection) keep(name string) {
	head, rest, dotted := strings.Cut(name, ".")
	sub, ok := p.Fields[head]
	switch {
	case ok && sub == nil: // kept whole
	case !dotted:
		p.Fields[head] = nil
	default:
		if sub == nil {
			sub = &Projection{Fields: map[string]*Projection{}}
			p.Fields[head] = sub
		}
		sub.keep(rest)
	}
}

// Append appends what is kept of a JSON value: of an object the fields, of an array what is kept of each element,
// anything else whole. The value must be one that this program made: valid and without white space.
func (p *Projection) Append(dst []byte, value []byte) []byte {
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
func (p *Projection) appendObject(dst []byte, value []byte) []byte {
	dst = append(dst, '{')
	between := len(dst)
	rest := value[1:]
	for {
		name, member, left, ok := member(rest)
		if !ok {
			break
		}
		rest = left
		sub, kept := p.Fields[string(name[1:len(name)-1])] // names of fields need no escapes
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
			dst = sub.Append(dst, member)
		}
	}
	return closed(dst, rest, '}')
}

func (p *Projection) appendArray(dst []byte, value []byte) []byte {
	dst = append(dst, '[')
	rest := value[1:]
	for {
		n := end(rest)
		if n == 0 {
			break
		}
		dst = p.Append(dst, rest[:n])
		if rest = rest[n:]; rest[0] == ',' {
			dst, rest = append(dst, ','), rest[1:]
		}
	}
	return closed(dst, rest, ']')
}

// closed appends the bracket that ends a value. The rest of a row that this program wrote is nothing but that.
func closed(dst, rest []byte, bracket byte) []byte {
	if len(rest) != 1 || rest[0] != bracket {
		panic("a row is not in the form this program writes")
	}
	return append(dst, bracket)
}

// Sure is for reading JSON that this program made.
func Sure[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Marshal is the JSON of a value whose types can be marshaled, with sorted keys.
func Marshal(v any) []byte {
	b, err := jsonv2.Marshal(v, jsonv2.Deterministic(true))
	if err != nil {
		panic(err) // of numbers, texts and lists of them
	}
	return b
}
