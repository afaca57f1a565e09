package index

import (
	"slices"

	"modeldex/dataset"
)

// variants maps a slug to the slugs of the records that are forms of it. A filter by the slug matches them too, so that
// no benchmark is missed because its source was more exact. Models have none: a repackaging of the same weights has no
// record of its own, its names are aliases of the model, and its benchmarks are the model's.
type variants map[string][]string

func (v variants) with(values []string) []string {
	if !slices.ContainsFunc(values, func(s string) bool { return len(v[s]) > 0 }) {
		return values
	}
	out := slices.Clone(values)
	for _, s := range values {
		out = append(out, v[s]...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// hardwareVariants maps the slug of each piece of hardware to its forms.
func hardwareVariants(recs []dataset.Hardware, relations *dataset.Relations) variants {
	out := variants{}
	for i := range recs {
		if forms := relations.Forms(recs[i].Slug); len(forms) > 0 {
			out[string(recs[i].Slug)] = texts(forms)
		}
	}
	return out
}

// related says that the values of a filter are slugs that each mean several values of another
// field; Slug for the records themselves.
type related struct {
	by   Field
	with map[string][]string
}

// siliconOf maps the slug of each piece of hardware to all that are related to it, itself included.
func siliconOf(recs []dataset.Hardware, relations *dataset.Relations) map[string][]string {
	out := make(map[string][]string, len(recs))
	for i := range recs {
		out[string(recs[i].Slug)] = texts(relations.Related(recs[i].Slug))
	}
	return out
}

func (r related) resolve(s Set) Set {
	out := Set{Field: r.by, OnlySelf: true}
	for _, v := range s.Values {
		out.Values = append(out.Values, r.with[v]...)
	}
	slices.Sort(out.Values)
	out.Values = slices.Compact(out.Values)
	return out
}
