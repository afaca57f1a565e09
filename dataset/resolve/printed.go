package resolve

import (
	"fmt"
	"slices"

	"modeldex/dataset"
)

// Review makes what compares the names that measurements have as printed with the records they name, for
// dataset.Options. It warns where the two cannot be one: a name of models of another family or size, or of hardware that
// has nothing to do with the record, or one that states another size, maker or number of devices. A name that says none
// of this says nothing, and neither does one that two releases of one size share.
func Review(models []*dataset.Model, hardware []*dataset.Hardware) func(*dataset.Benchmark) (field, text string) {
	set := &dataset.Set{}
	for _, m := range models {
		set.Models = append(set.Models, *m)
	}
	for _, h := range hardware {
		set.Hardware = append(set.Hardware, *h)
	}
	r, read := New(set), map[string]Answer{} // measurements have few different names
	means := func(kind Kind, name string) Answer {
		a, ok := read[string(kind)+name]
		if !ok {
			a = r.Strict(kind, name)
			read[string(kind)+name] = a
		}
		return a
	}
	return func(b *dataset.Benchmark) (field, text string) {
		if text := r.contradiction(means(Model, b.ModelRaw), b.Model); text != "" {
			return "model_raw", text
		}
		a := means(Hardware, b.HardwareRaw)
		if text := r.contradiction(a, b.Hardware); text != "" {
			return "hardware_raw", text
		}
		if a.Count != 0 && int64(a.Count) != b.HardwareCount {
			text = fmt.Sprintf("is %d, but hardware_raw %q says %d", b.HardwareCount, b.HardwareRaw, a.Count)
		}
		return "hardware_count", text
	}
}

// contradiction is what in a name contradicts the record that a page says it means, empty for nothing. The types that
// llama-bench prints are of models of other names, too.
func (r *Resolver) contradiction(a Answer, slug dataset.Slug) (text string) {
	x := r.lexicon(a.Kind)
	at, ok := x.exact[string(slug)]
	if !ok {
		return ""
	}
	meant := []Candidate{{Slug: a.Slug}}
	if a.Slug == "" && a.Ambiguous && len(a.Candidates) < MaxCandidates && !says("printed type", a.Input) { // all there are
		meant = a.Candidates
	}
	may := func(c Candidate) bool { return r.mayBe(&x.recs[x.exact[string(c.Slug)]], &x.recs[at]) }
	maker := makerOf(cutHardware(clean(a.Input)).main)
	switch {
	case len(meant) > 0 && meant[0].Slug != "" && !slices.ContainsFunc(meant, may):
		text = "is a name of " + string(meant[0].Slug)
	case a.Kind == Model:
		text = compareSize(a.ParamsB, x.recs[at].model)
	case maker != "" && maker != x.recs[at].hardware.Vendor:
		text = fmt.Sprintf("says %q", maker)
	}
	if text != "" {
		text = fmt.Sprintf("%s, where %s is %q, got %q", text, a.Kind, slug, a.Input)
	}
	return text
}

// compareSize compares a size in billions of parameters (0 for none) with the parameter counts of a model, because
// names use any of them.
func compareSize(size float64, m *dataset.Model) string {
	if size == 0 || m.ParamsB == nil {
		return ""
	}
	for _, own := range []*float64{m.ParamsB, m.ActiveParamsB, m.EffectiveParamsB} {
		if own != nil && *own > size*0.55 && *own < size*1.8 {
			return ""
		}
	}
	return fmt.Sprintf("says %v billion parameters", size)
}

// releases is how far the sizes of two releases of one model are apart at most: 7.2 and 7.6 billion are two models.
const releases = 1.03

// mayBe reports whether two records may be one to those who print names: releases of one size, related devices, and sizes
// of memory of one card.
func (r *Resolver) mayBe(a, b *known) bool {
	if m, other := a.model, b.model; m != nil {
		return a.slug == b.slug || m.Family == other.Family && (m.ParamsB == nil || other.ParamsB == nil ||
			*m.ParamsB < *other.ParamsB*releases && *other.ParamsB < *m.ParamsB*releases)
	}
	words, _ := hwWords(string(a.slug))
	others, _ := hwWords(string(b.slug))
	return r.Related(a.slug, b.slug) || slices.Equal(words, others)
}

// Related reports whether two records of hardware can describe one device: they are the same record, a record of several
// variants and one of these, graphics and their processor, or a machine and its chip.
func (r *Resolver) Related(a, b dataset.Slug) bool {
	how := r.relations.Between(a, b)
	return how != "" && how != dataset.Sibling
}
