package dataset

import (
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A shape is what the Go type of a record says of its fields: their JSON names and the rules
// in their `jsonschema` tags. The same tags make the JSON Schemas and the field reference, so a
// rule is written once.
type shape struct {
	fields []field
	byName map[string]*field // JSON name -> field
}

// A field is one member of a record.
type field struct {
	name     string
	index    []int // reflect index, through embedded structs
	nullable bool
	sourced  bool // a value must be named by an entry of sources
	rule
}

// A rule is what a value must be: the kind of JSON, and what the type and tag say beyond it.
type rule struct {
	kind    reflect.Kind
	shape   *shape // of an object
	entry   *rule  // of each entry of a list
	limits  []limit
	minLen  int      // entries of a list, bytes of a text
	maxLen  int      // entries of a list; 0 means any number
	set     []string // the closed set a text must be in
	form    formed   // the form a text must have
	pattern *regexp.Regexp
}

// A limit is one bound of a number.
type limit struct {
	ok   func(v float64) bool
	text string // "must be greater than 0"
}

var shapes sync.Map // reflect.Type -> *shape

// shapeOf returns the shape of a struct type, made once a type.
func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s := &shape{byName: map[string]*field{}}
	for _, sf := range reflect.VisibleFields(t) {
		if !sf.Anonymous {
			s.fields = append(s.fields, fieldOf(sf))
		}
	}
	for i := range s.fields {
		s.byName[s.fields[i].name] = &s.fields[i]
	}
	actual, _ := shapes.LoadOrStore(t, s)
	return actual.(*shape)
}

func fieldOf(sf reflect.StructField) field {
	t := sf.Type
	nullable := t.Kind() == reflect.Pointer
	if nullable {
		t = t.Elem()
	}
	return field{
		name: sf.Tag.Get("json"), index: sf.Index, nullable: nullable, sourced: sf.Tag.Get("fact") == "sourced",
		rule: ruleOf(t, sf.Tag.Get("jsonschema")),
	}
}

// ruleOf reads a type and a tag. In the tag of a list minItems and maxItems speak of the list
// and the rest of its entries, as in the schemas.
func ruleOf(t reflect.Type, tag string) rule {
	r := rule{kind: t.Kind()}
	switch r.kind {
	case reflect.Struct:
		r.shape = shapeOf(t)
	case reflect.Slice:
		entry := ruleOf(t.Elem(), tag)
		r.entry = &entry
	case reflect.String:
		switch zero := reflect.Zero(t).Interface().(type) {
		case closedSet:
			r.set = zero.Values()
		case formed:
			r.form = zero
		}
	}
	for part := range strings.SplitSeq(tag, ",") {
		name, value, _ := strings.Cut(part, "=")
		r.add(name, value)
	}
	return r
}

// add takes one part of a tag. What follows an escaped comma of an example lands here too and
// names no rule.
func (r *rule) add(name, value string) {
	n, err := strconv.ParseFloat(value, 64)
	list := r.kind == reflect.Slice
	switch {
	case name == "pattern" && !list:
		r.pattern = regexp.MustCompile(value)
	case err != nil:
	case name == "minItems" && list, name == "minLength" && !list:
		r.minLen = int(n)
	case name == "maxItems" && list:
		r.maxLen = int(n)
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

func (r *rule) limit(text string, ok func(float64) bool) {
	r.limits = append(r.limits, limit{ok, text})
}

// sound reports whether a decoded record surely keeps the rules of its type. False asks for a
// second look at its text, for a required value that reads as zero may have been left out: the
// decoder does not tell. This runs for every record, so it says neither what nor where.
func (s *shape) sound(v reflect.Value) bool {
	for i := range s.fields {
		f := &s.fields[i]
		fv := v.FieldByIndex(f.index)
		if f.nullable {
			if fv.IsNil() {
				continue
			}
			fv = fv.Elem()
		} else if fv.IsZero() {
			return false
		}
		if !f.sound(fv) {
			return false
		}
	}
	return true
}

func (r *rule) sound(v reflect.Value) bool {
	switch r.kind {
	case reflect.Int64:
		return r.limitFault(float64(v.Int())) == ""
	case reflect.Float64:
		return r.limitFault(v.Float()) == ""
	case reflect.String:
		return r.textSound(v.String())
	case reflect.Struct:
		return r.shape.sound(v)
	case reflect.Slice:
		return r.listSound(v)
	default:
		return true
	}
}

func (r *rule) listSound(v reflect.Value) bool {
	n := v.Len()
	if n < r.minLen || r.maxLen > 0 && n > r.maxLen {
		return false
	}
	for i := range n {
		if e := v.Index(i); e.IsZero() || !r.entry.sound(e) {
			return false
		}
	}
	return true
}

func (r *rule) textSound(s string) bool {
	switch {
	case r.set != nil:
		return r.inSet(s)
	case r.form != nil:
		return r.form.valid(s)
	case len(s) < r.minLen:
		return false
	default:
		return r.pattern == nil || r.pattern.MatchString(s)
	}
}

func (r *rule) inSet(s string) bool {
	for _, v := range r.set {
		if s == v {
			return true
		}
	}
	return false
}

// limitFault returns the limit n breaks, empty where it breaks none.
func (r *rule) limitFault(n float64) string {
	for i := range r.limits {
		if !r.limits[i].ok(n) {
			return r.limits[i].text
		}
	}
	return ""
}
