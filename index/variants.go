package index

import (
	"slices"

	"modeldex/dataset"
)

// variants maps a slug to the slugs of the records that are forms of it. A filter by the slug
// matches them too, so that no benchmark is missed because its source was more exact. Models have
// none: a repackaging of the same weights has no record of its own, its names are aliases of the
// model, and its benchmarks are the model's.
type variants map[string][]string

// with adds the variants of each value.
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

// hardwareVariants links hardware of the same silicon. The forms of a part are its variants, the chips that
// contain it as integrated graphics, and the machines all of whose possible chips are forms of it. The forms of
// those are forms of the part too.
func hardwareVariants(recs []dataset.Hardware) variants {
	direct := map[dataset.Slug][]dataset.Slug{}
	for i := range recs {
		h := &recs[i]
		if h.Variants != nil {
			direct[h.Slug] = append(direct[h.Slug], *h.Variants...)
		}
		if h.IntegratedGPU != nil {
			direct[*h.IntegratedGPU] = append(direct[*h.IntegratedGPU], h.Slug)
		}
	}
	out := variants{}
	for i := range recs {
		forms := map[dataset.Slug]bool{recs[i].Slug: true}
		collect(forms, direct, recs[i].Slug)
		addMachines(forms, recs)
		if len(forms) > 1 {
			out.add(recs[i].Slug, forms)
		}
	}
	return out
}

// collect adds what is reached from a slug.
func collect(found map[dataset.Slug]bool, direct map[dataset.Slug][]dataset.Slug, from dataset.Slug) {
	for _, slug := range direct[from] {
		if !found[slug] {
			found[slug] = true
			collect(found, direct, slug)
		}
	}
}

// addMachines adds the machines all of whose possible chips are among the forms.
func addMachines(forms map[dataset.Slug]bool, recs []dataset.Hardware) {
	for i := range recs {
		if chips := recs[i].Chip; chips != nil && len(*chips) > 0 &&
			!slices.ContainsFunc(*chips, func(c dataset.Slug) bool { return !forms[c] }) {
			forms[recs[i].Slug] = true
		}
	}
}

// add records the forms of a slug, without itself.
func (v variants) add(slug dataset.Slug, forms map[dataset.Slug]bool) {
	for form := range forms {
		if form != slug {
			v[string(slug)] = append(v[string(slug)], string(form))
		}
	}
	slices.Sort(v[string(slug)])
}

// related says that the values of a filter are slugs that each mean several values of another
// field; Slug for the records themselves.
type related struct {
	by   Field
	with map[string][]string
}

// siliconOf maps the slug of each piece of hardware to all that share its silicon, itself included.
func siliconOf(recs []dataset.Hardware) map[string][]string {
	silicon, out := dataset.NewSilicon(recs), make(map[string][]string, len(recs))
	for i := range recs {
		out[string(recs[i].Slug)] = texts(silicon.Of(recs[i].Slug))
	}
	return out
}

// resolve is the set filter on the other field.
func (r related) resolve(s Set) Set {
	out := Set{Field: r.by, OnlySelf: true}
	for _, v := range s.Values {
		out.Values = append(out.Values, r.with[v]...)
	}
	slices.Sort(out.Values)
	out.Values = slices.Compact(out.Values)
	return out
}
