package resolve

import (
	"fmt"
	"regexp"
	"slices"

	"modeldex/dataset"
)

// Parts are pieces of hardware by slug.
type Parts map[dataset.Slug]*dataset.Hardware

// Related reports whether two records can describe one device. They are the same record, a record of several
// variants and one of these, graphics and their processor, or a machine and its chip.
func (parts Parts) Related(a, b dataset.Slug) bool {
	return a == b || parts.has(a, b) || parts.has(b, a)
}

// has reports whether a stands for b or has it inside.
func (parts Parts) has(a, b dataset.Slug) bool {
	in := func(list *[]dataset.Slug, slug dataset.Slug) bool { return list != nil && slices.Contains(*list, slug) }
	h, other := parts[a], parts[b]
	if h == nil {
		return false
	}
	if in(h.Variants, b) || in(h.Chip, b) || h.IntegratedGPU != nil && *h.IntegratedGPU == b {
		return true
	}
	// a machine whose chip comes in the variants b stands for
	return h.Chip != nil && other != nil && slices.ContainsFunc(*h.Chip, func(chip dataset.Slug) bool { return in(other.Variants, chip) })
}

// Review makes what compares the names that measurements have as printed with the records they name, for dataset.Options. It warns where the
// two cannot be one. Such is a name of models of another family or size, or of hardware that has nothing to do with the record. So is one that
// states another size, maker or number of devices. A name that says none of this says nothing, and neither does one that two releases of one
// size share.
func Review(models []*dataset.Model, hardware []*dataset.Hardware) func(*dataset.Benchmark) (field, text string) {
	set := &dataset.Set{}
	for _, m := range models {
		set.Models = append(set.Models, *m)
	}
	for _, h := range hardware {
		set.Hardware = append(set.Hardware, *h)
	}
	return New(set).Review(models, hardware)
}

// Review is Review for the records that r was made of: to make a Resolver costs most of judging a few measurements.
func (r *Resolver) Review(models []*dataset.Model, hardware []*dataset.Hardware) func(*dataset.Benchmark) (field, text string) {
	p := printed{names: r, parts: make(Parts, len(hardware)), models: make(map[dataset.Slug]*dataset.Model, len(models)), said: map[asPrinted]string{}, counts: map[string]int{}}
	for _, m := range models {
		p.models[m.Slug] = m
	}
	for _, h := range hardware {
		p.parts[h.Slug] = h
	}
	return p.review
}

// printed knows what names as printed say against the records. Measurements have few different ones.
type printed struct {
	names  *Resolver
	models map[dataset.Slug]*dataset.Model
	parts  Parts
	said   map[asPrinted]string
	counts map[string]int // of devices, by name of hardware
}

// asPrinted is a name with the record that a page says it means.
type asPrinted struct {
	kind Kind
	name string
	slug dataset.Slug
}

func (p *printed) review(b *dataset.Benchmark) (field, text string) {
	if text := p.against(asPrinted{Model, b.ModelRaw, b.Model}); text != "" {
		return "model_raw", text
	}
	if text := p.against(asPrinted{Hardware, b.HardwareRaw, b.Hardware}); text != "" {
		return "hardware_raw", text
	}
	return "hardware_count", p.againstCount(b)
}

// againstCount compares the number of devices in a name ("8x H100") with hardware_count.
func (p *printed) againstCount(b *dataset.Benchmark) string {
	count, known := p.counts[b.HardwareRaw]
	if !known {
		count = p.names.Strict(Hardware, b.HardwareRaw).Count
		p.counts[b.HardwareRaw] = count
	}
	if count == 0 || int64(count) == b.HardwareCount {
		return ""
	}
	return fmt.Sprintf("is not the %d in hardware_raw %q, got %d", count, b.HardwareRaw, b.HardwareCount)
}

// against is what in a name contradicts the record that a page says it means, empty for nothing.
func (p *printed) against(name asPrinted) string {
	text, known := p.said[name]
	if !known {
		if text = p.compare(name); text != "" {
			text = fmt.Sprintf("%s, where %s is %q, got %q", text, name.kind, name.slug, name.name)
		}
		p.said[name] = text
	}
	return text
}

// printedType is what llama-bench calls a file: its architecture and size. Models of other names have them too.
var printedType = regexp.MustCompile(`^[a-z]+[0-9]*(?:moe|vl)? [0-9.]+[BM](?:\.A[0-9.]+B)? `)

func (p *printed) compare(name asPrinted) string {
	a := p.names.Strict(name.kind, name.name)
	may := p.mayBePart
	if name.kind == Model {
		may = p.mayBeModel
	}
	meant := []dataset.Slug{a.Slug}
	if a.Slug == "" && a.Ambiguous && len(a.Candidates) < MaxCandidates && !printedType.MatchString(name.name) { // all there are
		meant = meant[:0]
		for _, c := range a.Candidates {
			meant = append(meant, c.Slug)
		}
	}
	switch {
	case len(meant) > 0 && meant[0] != "" && !slices.ContainsFunc(meant, func(slug dataset.Slug) bool { return may(slug, name.slug) }):
		return "is a name of " + string(meant[0])
	case name.kind == Model:
		return p.compareSize(a.ParamsB, p.models[name.slug])
	default:
		return p.compareMaker(cutHardware(clean(limit(name.name))).main, p.parts[name.slug])
	}
}

// compareSize compares a size in billions of parameters, 0 for none, with those of a model: makers call models by any of them.
func (p *printed) compareSize(size float64, m *dataset.Model) string {
	if size == 0 || m == nil || m.ParamsB == nil {
		return ""
	}
	for _, own := range []*float64{m.ParamsB, m.ActiveParamsB, m.EffectiveParamsB} {
		if own != nil && *own > size*0.55 && *own < size*1.8 {
			return ""
		}
	}
	return fmt.Sprintf("says %v billion parameters", size)
}

func (p *printed) compareMaker(name string, h *dataset.Hardware) string {
	if maker := makerOf(name); h != nil && maker != "" && maker != h.Vendor {
		return fmt.Sprintf("says %q", maker)
	}
	return ""
}

// releases is how far the sizes of two releases of one model are apart at most: 7.2 and 7.6 billion are two models.
const releases = 1.03

// mayBeModel reports whether two records may be one model to those who print names: releases of one size.
func (p *printed) mayBeModel(a, b dataset.Slug) bool {
	m, other := p.models[a], p.models[b]
	if a == b || m == nil || other == nil || m.Family == other.Family && (m.ParamsB == nil || other.ParamsB == nil) {
		return true
	}
	return m.Family == other.Family && *m.ParamsB < *other.ParamsB*releases && *other.ParamsB < *m.ParamsB*releases
}

// mayBePart reports whether two records may be one device to those who print names: related ones, and sizes of
// memory of one card.
func (p *printed) mayBePart(a, b dataset.Slug) bool {
	if p.parts.Related(a, b) || p.parts[a] == nil || p.parts[b] == nil {
		return true
	}
	words, _ := hwWords(string(a))
	others, _ := hwWords(string(b))
	return slices.Equal(words, others)
}
