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
	kind := kindOf(gen, t)
	if kind == "" {
		slug, _ = t.Resolve(name)
		return slug, a
	}
	a = gen.Names.Resolve(kind, name)
	return string(a.Slug), a
}

// exactly is named without reading names by rules, nor looking for similar ones.
func exactly(gen *index.Generation, t *index.Table, name string) string {
	if kind := kindOf(gen, t); kind != "" && !gen.Names.Has(kind, name) {
		return ""
	}
	slug, a := named(gen, t, name)
	if a.Confidence == resolve.Parsed {
		return ""
	}
	return slug
}

// kindOf is the kind of the names in a table, empty for benchmarks.
func kindOf(gen *index.Generation, t *index.Table) resolve.Kind {
	switch t {
	case gen.Models:
		return resolve.Model
	case gen.Hardware:
		return resolve.Hardware
	case gen.Tools:
		return resolve.Tool
	}
	return ""
}
