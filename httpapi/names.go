package httpapi

import (
	"modeldex/dataset/resolve"
	"modeldex/index"
)

// known is nil for the zero value, which JSON shows as null.
func known[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}

// named is the slug of the record of a table that a name means, empty for none. Filters, paths and
// questions of fit find names here and nowhere else. The answer is empty for a slug itself, which
// needs no reading, and for benchmarks, which have ids only.
func named(gen *index.Generation, t *index.Table, name string) (slug string, a resolve.Answer) {
	if _, ok := t.Find(name); ok {
		return name, a
	}
	switch t {
	case gen.Models:
		a = gen.Names.Resolve(resolve.Model, name)
	case gen.Hardware:
		a = gen.Names.Resolve(resolve.Hardware, name)
	case gen.Tools:
		a = gen.Names.Resolve(resolve.Tool, name)
	default:
		slug, _ = t.Resolve(name)
		return slug, a
	}
	return string(a.Slug), a
}
