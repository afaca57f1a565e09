package dataset

import "slices"

// Silicon says which hardware records share one silicon: a chip, the graphics inside it, the
// machines built from it, and the record of its variants. It follows the fields
// chip, integrated_gpu and variants both ways, but not from one chip over shared graphics or a
// machine with several chips to another chip. It is built once, does not change, and is safe for
// concurrent use.
type Silicon struct {
	of map[Slug][]Slug
}

// NewSilicon works out the links of all records.
func NewSilicon(hardware []Hardware) *Silicon {
	s := &Silicon{of: map[Slug][]Slug{}}
	machines, hosts, standIns := map[Slug][]Slug{}, map[Slug][]Slug{}, map[Slug][]Slug{} // chip -> machines; graphics -> chips; variant -> records that stand for it
	byslug := make(map[Slug]*Hardware, len(hardware))
	for i := range hardware {
		h := &hardware[i]
		byslug[h.Slug] = h
		for _, chip := range slugsOf(h.Chip) {
			machines[chip] = append(machines[chip], h.Slug)
		}
		if h.IntegratedGPU != nil {
			hosts[*h.IntegratedGPU] = append(hosts[*h.IntegratedGPU], h.Slug)
		}
		for _, v := range slugsOf(h.Variants) {
			standIns[v] = append(standIns[v], h.Slug)
		}
	}
	for i := range hardware {
		h := &hardware[i]
		chips := append(slugsOf(h.Chip), hosts[h.Slug]...)
		if len(chips) == 0 {
			chips = []Slug{h.Slug}
		}
		group := []Slug{h.Slug}
		add := func(slugs ...Slug) {
			for _, slug := range slugs {
				if !slices.Contains(group, slug) {
					group = append(group, slug)
				}
			}
		}
		for _, chip := range chips {
			add(chip)
			add(machines[chip]...)
			add(standIns[chip]...)
			if c := byslug[chip]; c != nil {
				add(slugsOf(c.Variants)...)
				if c.IntegratedGPU != nil {
					add(*c.IntegratedGPU)
				}
			}
		}
		slices.Sort(group[1:])
		s.of[h.Slug] = group
	}
	return s
}

// Of returns the records that share the silicon of a record: the record itself first, then the
// others by slug. It is nil for a slug no record has; the caller must not change it.
func (s *Silicon) Of(slug Slug) []Slug { return s.of[slug] }

func slugsOf(list *[]Slug) []Slug {
	if list == nil {
		return nil
	}
	return slices.Clone(*list)
}
