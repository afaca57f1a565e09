package dataset

import (
	"maps"
	"slices"
)

// Relation says how two hardware records are related. It is symmetric; the zero value is for records that are not.
type Relation string

// The relations, the nearest first.
const (
	SamePart Relation = "same"    // one record
	Variant  Relation = "variant" // a record for several products and one of them, or a chip and its graphics
	Machine  Relation = "machine" // a machine and the chip it is, or can be, built from
	Sibling  Relation = "sibling" // variants of the same record, or machines with the same chip, of the same memory bandwidth
)

// RelationKinds are the relations, the nearest first.
var RelationKinds = []Relation{SamePart, Variant, Machine, Sibling}

// Relations says which hardware records are related, by their fields chip, integrated_gpu and variants. It is built
// once, does not change, and is safe for concurrent use.
//
// The forms of a record are its variants, the chips that contain it as integrated graphics, and the machines all of
// whose possible chips are forms of it; and their forms. What was measured on a form was measured on the record.
//
// A record and its forms are related, and so are a machine and each of its possible chips: as Machine if one of them is a
// machine, else as Variant. Two forms of one record are a Sibling of each other if their memory bandwidth is known and
// equal, but not two chips that have only their graphics in common.
type Relations struct {
	forms map[Slug][]Slug
	of    map[Slug]map[Slug]Relation
}

// NewRelations works out the relations of all records.
func NewRelations(hardware []Hardware) *Relations {
	r := &Relations{forms: map[Slug][]Slug{}, of: map[Slug]map[Slug]Relation{}}
	bySlug, parts, withGraphics := map[Slug]*Hardware{}, map[Slug][]Slug{}, map[Slug][]Slug{}
	var machines []*Hardware
	for i := range hardware {
		h := &hardware[i]
		bySlug[h.Slug], r.of[h.Slug] = h, map[Slug]Relation{h.Slug: SamePart}
		parts[h.Slug] = append(parts[h.Slug], known(h.Variants)...)
		withGraphics[h.Slug] = append(withGraphics[h.Slug], known(h.Variants)...)
		if isMachine(h) {
			machines = append(machines, h)
		}
		if h.IntegratedGPU != nil {
			withGraphics[*h.IntegratedGPU] = append(withGraphics[*h.IntegratedGPU], h.Slug)
		}
	}
	relate := func(a, b *Hardware, as Relation) {
		if a != nil && b != nil && r.of[a.Slug][b.Slug] == "" {
			r.of[a.Slug][b.Slug], r.of[b.Slug][a.Slug] = as, as
		}
	}
	direct := func(a, b *Hardware) {
		if a != nil && b != nil && isMachine(a) != isMachine(b) {
			relate(a, b, Machine)
		}
		relate(a, b, Variant)
	}
	for i := range hardware {
		h := &hardware[i]
		r.forms[h.Slug] = formsOf(h.Slug, withGraphics, machines)
		for _, slug := range slices.Concat(r.forms[h.Slug], known(h.Chip)) {
			direct(h, bySlug[slug])
		}
	}
	for i := range hardware {
		forms := formsOf(hardware[i].Slug, parts, machines)
		for at, a := range forms {
			for _, b := range forms[at+1:] {
				if speed := bandwidthOf(bySlug[a], bySlug); speed > 0 && speed == bandwidthOf(bySlug[b], bySlug) {
					relate(bySlug[a], bySlug[b], Sibling)
				}
			}
		}
	}
	return r
}

func isMachine(h *Hardware) bool { return h.Chip != nil && len(*h.Chip) > 0 }

func formsOf(of Slug, links map[Slug][]Slug, machines []*Hardware) []Slug {
	found, next := map[Slug]bool{of: true}, []Slug{of}
	for len(next) > 0 {
		slug := next[0]
		next = next[1:]
		for _, form := range links[slug] {
			if !found[form] {
				found[form] = true
				next = append(next, form)
			}
		}
	}
	for _, m := range machines {
		if !slices.ContainsFunc(*m.Chip, func(chip Slug) bool { return !found[chip] }) {
			found[m.Slug] = true
		}
	}
	delete(found, of)
	return slices.Sorted(maps.Keys(found))
}

// bandwidthOf is the bandwidth of a record, or the one that all chips of a machine share; 0 if unknown.
func bandwidthOf(h *Hardware, bySlug map[Slug]*Hardware) (gbps float64) {
	if h == nil {
		return 0
	}
	if h.MemoryBandwidthGBps != nil {
		return *h.MemoryBandwidthGBps
	}
	for i, slug := range known(h.Chip) {
		chip := bySlug[slug]
		if chip == nil || chip.MemoryBandwidthGBps == nil || i > 0 && *chip.MemoryBandwidthGBps != gbps {
			return 0
		}
		gbps = *chip.MemoryBandwidthGBps
	}
	return gbps
}

// Forms returns the forms of a record, by slug, without itself. The caller must not change them.
func (r *Relations) Forms(slug Slug) []Slug { return r.forms[slug] }

// Related returns the records that are related to one: itself first, then the others by slug; nil for no record.
func (r *Relations) Related(slug Slug) []Slug {
	if r.of[slug] == nil {
		return nil
	}
	others := slices.Sorted(maps.Keys(r.of[slug]))
	return append([]Slug{slug}, slices.DeleteFunc(others, func(s Slug) bool { return s == slug })...)
}

// Between returns how two records are related, empty if they are not.
func (r *Relations) Between(a, b Slug) Relation { return r.of[a][b] }

func known[T any](list *[]T) []T {
	if list == nil {
		return nil
	}
	return *list
}
