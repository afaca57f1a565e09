package record

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// A Schema is what the Go type of a record says of its fields: their JSON names and the rules in their `jsonschema`
// tags. The same tags make the JSON Schemas and the field reference, so a rule is written once.
type Schema struct {
	Fields []Field
	byName map[string]*Field // JSON name -> field
}

// A Field is one member of a record.
type Field struct {
	Name     string // JSON name
	Index    []int  // reflect index, through embedded structs
	Nullable bool
	Sourced  bool // a value needs an entry in sources
	// Least and Most bound figures that can be true, 0 for no bound; Unit begins with a blank. See package dataset.
	Least, Most float64
	Unit        string
	Rule
}

// A Rule is what a value must be: the kind of JSON, and what the type and tag say beyond it.
type Rule struct {
	Kind    reflect.Kind
	Object  *Schema // of an object
	Entry   *Rule   // of each entry of a list
	Limits  []Limit
	MinLen  int      // entries of a list, bytes of a text
	MaxLen  int      // entries of a list; 0 means any number
	AsIs    bool     // a text is as a source prints it: blanks around it stay
	Set     []string // the closed set a text must be in
	Form    formed   // the form a text must have
	Pattern *regexp.Regexp
}

// A Limit is one bound of a number.
type Limit struct {
	OK   func(v float64) bool
	Text string // "must be greater than 0"
}

var shapes sync.Map // reflect.Type -> *Schema

// SchemaOf returns the shape of a struct type, made once a type.
func SchemaOf(t reflect.Type) *Schema {
	if s, ok := shapes.Load(t); ok {
		return s.(*Schema)
	}
	s := &Schema{byName: map[string]*Field{}}
	for _, sf := range reflect.VisibleFields(t) {
		if !sf.Anonymous {
			s.Fields = append(s.Fields, FieldOf(sf))
		}
	}
	for i := range s.Fields {
		s.byName[s.Fields[i].Name] = &s.Fields[i]
	}
	actual, _ := shapes.LoadOrStore(t, s)
	return actual.(*Schema)
}

// Field returns the field with a JSON name, nil for none.
func (s *Schema) Field(name string) *Field { return s.byName[name] }

// Has reports whether a dotted name is that of a field.
func (s *Schema) Has(name string) bool {
	for s != nil {
		first, rest, more := strings.Cut(name, ".")
		f, ok := s.byName[first]
		if !ok || !more {
			return ok
		}
		s, name = f.Object, rest
	}
	return false
}

// FieldOf returns the field a struct field declares.
func FieldOf(sf reflect.StructField) Field {
	t := sf.Type
	nullable := t.Kind() == reflect.Pointer
	if nullable {
		t = t.Elem()
	}
	f := Field{
		Name: sf.Tag.Get("json"), Index: sf.Index, Nullable: nullable, Sourced: sf.Tag.Get("fact") == "sourced",
		Rule: ruleOf(t, sf.Tag.Get("jsonschema")),
	}
	f.AsIs = sf.Tag.Get("fact") == "as printed"
	if least, rest, bounded := strings.Cut(sf.Tag.Get("bounds"), ".."); bounded {
		most := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
		f.Least, _ = strconv.ParseFloat(least, 64) // no number is no bound
		f.Most, _ = strconv.ParseFloat(most, 64)
		f.Unit = rest[len(most):]
	}
	return f
}

// ruleOf reads a type and a tag. minItems and maxItems of a list are its own, the rest is about its entries.
func ruleOf(t reflect.Type, tag string) Rule {
	r := Rule{Kind: t.Kind()}
	if t == anyValue {
		return Rule{Kind: reflect.Interface} // any JSON
	}
	switch r.Kind {
	case reflect.Struct:
		r.Object = SchemaOf(t)
	case reflect.Slice:
		entry := ruleOf(t.Elem(), tag)
		r.Entry = &entry
	case reflect.String:
		switch zero := reflect.Zero(t).Interface().(type) {
		case closedSet:
			r.Set = zero.Values()
		case formed:
			r.Form = zero
		}
	}
	const escaped = "\x00" // a comma of the value, as in the generator of the schemas
	for part := range strings.SplitSeq(strings.ReplaceAll(tag, `\,`, escaped), ",") {
		name, value, _ := strings.Cut(strings.ReplaceAll(part, escaped, ","), "=")
		r.add(name, value)
	}
	return r
}

func (r *Rule) add(name, value string) {
	n, err := strconv.ParseFloat(value, 64)
	list := r.Kind == reflect.Slice
	switch {
	case name == "pattern" && !list:
		r.Pattern = regexp.MustCompile(value)
	case name == "enum" && !list:
		r.Set = append(r.Set, value)
	case err != nil:
	case name == "minItems" && list, name == "minLength" && !list:
		r.MinLen = int(n)
	case name == "maxItems" && list:
		r.MaxLen = int(n)
	case list:
	case name == "minimum":
		r.limit("must be at least "+value, func(v float64) bool { return v >= n })
	case name == "exclusiveMinimum":
		r.limit("must be greater than "+value, func(v float64) bool { return v > n })
	case name == "maximum":
		r.limit("must be at most "+value, func(v float64) bool { return v <= n })
	case name == "const":
		r.limit("must be "+value, func(v float64) bool { return v == n })
	}
}

func (r *Rule) limit(text string, ok func(float64) bool) {
	r.Limits = append(r.Limits, Limit{ok, text})
}

// valid reports whether a decoded record surely keeps the rules. A required zero may have been left out, so it is not
// sure.
func (s *Schema) valid(v reflect.Value) bool {
	for i := range s.Fields {
		f := &s.Fields[i]
		fv := v.FieldByIndex(f.Index)
		switch {
		case f.Nullable && fv.IsNil():
			continue
		case f.Nullable:
			fv = fv.Elem()
		case fv.IsZero() && f.Kind == reflect.Interface:
			continue // may be left out, as null
		case fv.IsZero():
			return false
		}
		if !f.valid(fv) {
			return false
		}
	}
	return true
}

func (r *Rule) valid(v reflect.Value) bool {
	switch r.Kind {
	case reflect.Int64:
		return r.limitProblem(float64(v.Int())) == ""
	case reflect.Float64:
		return r.limitProblem(v.Float()) == ""
	case reflect.String:
		return r.validText(v.String())
	case reflect.Struct:
		return r.Object.valid(v)
	case reflect.Slice:
		n := v.Len()
		for i := range n {
			if e := v.Index(i); e.IsZero() || !r.Entry.valid(e) {
				return false
			}
		}
		return n >= r.MinLen && (r.MaxLen == 0 || n <= r.MaxLen)
	}
	return true
}

func (r *Rule) validText(s string) bool {
	switch {
	case r.Set != nil:
		return slices.Contains(r.Set, s)
	case r.Form != nil:
		return r.Form.valid(s)
	case len(s) < r.MinLen:
		return false
	}
	if r.blankProblem(s) != "" {
		return false
	}
	if !isASCII(s) {
		_, invisible := Invisible(s)
		_, mixed := Mixed(s)
		if invisible || mixed {
			return false
		}
	}
	return r.Pattern == nil || r.Pattern.MatchString(s)
}

func (r *Rule) blankProblem(s string) string {
	if s == "" {
		return ""
	}
	if first, last := s[0], s[len(s)-1]; first > ' ' && first < utf8.RuneSelf && last > ' ' && last < utf8.RuneSelf {
		return ""
	}
	switch trimmed := strings.TrimSpace(s); {
	case trimmed == "":
		return "must not be blank"
	case trimmed != s && !r.AsIs:
		return "must not begin or end with a blank"
	}
	return ""
}

func (r *Rule) limitProblem(n float64) string {
	for i := range r.Limits {
		if !r.Limits[i].OK(n) {
			return r.Limits[i].Text
		}
	}
	return ""
}

// A formed is a type whose values have a form: valid judges a text (the receiver does not count), rule words the form.
type formed interface {
	valid(s string) bool
	rule() string
}
