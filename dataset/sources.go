package dataset

import (
	"fmt"
	"reflect"
	"strings"
)

// checkSources holds a record to its sources: every fact that is known is named by one, itself
// or with the object it stands in, and every name is that of a field.
func checkSources[T any](l *loader, p place, rec *T, sources []SourceRef) {
	s, named := shapeOf(reflect.TypeFor[T]()), map[string]bool{}
	for i := range sources {
		for j, name := range sources[i].Fields {
			if named[name] = true; !s.has(name) {
				l.at(p, fmt.Sprintf("sources.%d.fields.%d", i, j), fmt.Sprintf("no field is called %q", name))
			}
		}
	}
	s.unsourced(reflect.ValueOf(rec).Elem(), "", false, named, func(name string) {
		l.at(p, name, "must be named by an entry of sources", "sources")
	})
}

// has reports whether a dotted name is that of a field.
func (s *shape) has(name string) bool {
	for s != nil {
		first, rest, more := strings.Cut(name, ".")
		f, ok := s.byName[first]
		if !ok || !more {
			return ok
		}
		s, name = f.shape, rest
	}
	return false
}

// unsourced visits the facts that are known and that no source names. Inside an object that
// needs sources every field does.
func (s *shape) unsourced(v reflect.Value, at string, all bool, named map[string]bool, visit func(name string)) {
	for i := range s.fields {
		f := &s.fields[i]
		name := join(at, f.name)
		fv := v.FieldByIndex(f.index)
		switch {
		case !f.sourced && !all, named[name], fv.IsZero(), f.kind == reflect.Slice && !f.nullable && fv.Len() == 0:
		case f.shape != nil:
			f.shape.unsourced(reflect.Indirect(fv), name, true, named, visit)
		default:
			visit(name)
		}
	}
}
