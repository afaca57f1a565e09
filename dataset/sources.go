package dataset

import (
	"fmt"
	"reflect"

	"modeldex/dataset/record"
)

// checkSources compares a record with its sources. Each known fact must be named by a source, itself or with
// the object it is in. Each name in a source must be that of a field.
func checkSources[T any](c *checker, p place, rec *T, sources []SourceRef) {
	s, named := record.SchemaOf(reflect.TypeFor[T]()), map[string]bool{}
	for i := range sources {
		for j, name := range sources[i].Fields {
			if named[name] = true; !s.Has(name) {
				c.at(p, fmt.Sprintf("sources.%d.fields.%d", i, j), fmt.Sprintf("no field is called %q", name))
			}
		}
	}
	unsourced(s, reflect.ValueOf(rec).Elem(), "", false, named, func(name string) {
		c.at(p, name, "must be named by an entry of sources", "sources")
	})
}

// unsourced visits the facts that are known and that no source names. Inside an object that
// needs sources every field does.
func unsourced(s *record.Schema, v reflect.Value, at string, all bool, named map[string]bool, visit func(name string)) {
	for i := range s.Fields {
		f := &s.Fields[i]
		name := record.Join(at, f.Name)
		fv := v.FieldByIndex(f.Index)
		switch {
		case !f.Sourced && !all, named[name], fv.IsZero(), f.Kind == reflect.Slice && !f.Nullable && fv.Len() == 0:
		case f.Object != nil:
			unsourced(f.Object, reflect.Indirect(fv), name, true, named, visit)
		default:
			visit(name)
		}
	}
}
