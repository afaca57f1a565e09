package dataset

import (
	"fmt"
	"math"
	"strings"
)

// tuned are the endings by which makers tell the model for use from the base model of the same name.
var tuned = []string{"-instruct", "-it", "-chat"}

// checkKin warns of a model that is older than the base model of its name. It also warns of an exact
// parameter count that a model of another shape has to the last digit: it was copied.
func (l *loader) checkKin() {
	bySlug := make(map[Slug]*Model, len(l.models.recs))
	byCount := map[float64]*Model{}
	for _, m := range l.models.recs {
		bySlug[m.Slug] = m
	}
	for i, m := range l.models.recs {
		p := l.models.places[i]
		if base := baseOf(m, bySlug); base != nil && m.ReleaseDate != nil && base.ReleaseDate != nil && before(*m.ReleaseDate, *base.ReleaseDate) {
			l.warning(p, "release_date", fmt.Sprintf("is before that of the base model %s, got %q and %q", base.Slug, *m.ReleaseDate, *base.ReleaseDate))
		}
		if base := baseOf(m, bySlug); base != nil && m.License != nil && base.License != nil && *m.License != *base.License {
			l.warning(p, "license", fmt.Sprintf("is not that of the base model %s, %q, got %q", base.Slug, *base.License, *m.License))
		}
		if m.ParamsB == nil || !exact(*m.ParamsB) {
			continue
		}
		if other, ok := byCount[*m.ParamsB]; !ok {
			byCount[*m.ParamsB] = m
		} else if otherShape(&m.Architecture, &other.Architecture) {
			l.warning(p, "params_b", fmt.Sprintf("is that of %s to the last digit, which has other layers or widths, got %s", other.Slug, plainNumber(*m.ParamsB)), "architecture")
		}
	}
}

// licenseIDs are the SPDX ids that models and tools have, as SPDX spells them.
var licenseIDs = []string{
	"AGPL-3.0", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC-BY-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "CC-BY-SA-4.0", "CC0-1.0",
	"GPL-2.0", "GPL-3.0", "ISC", "LGPL-3.0", "MIT", "MPL-2.0",
}

// notInID are what people write around or inside an SPDX id.
var notInID = strings.NewReplacer("license", "", "licence", "", " version", "", " v", "", " ", "", "-", "", ",", "")

// checkLicenses warns of licences that are SPDX ids in another spelling: a filter by the id does not find them.
func (l *loader) checkLicenses() {
	ids := make(map[string]string, len(licenseIDs))
	for _, id := range licenseIDs {
		ids[notInID.Replace(strings.ToLower(id))] = id
	}
	check := func(p place, license *string) {
		if license == nil {
			return
		}
		if id, ok := ids[notInID.Replace(strings.ToLower(*license))]; ok && id != *license {
			l.warning(p, "license", fmt.Sprintf("is %q in the spelling of SPDX, got %q", id, *license))
		}
	}
	for i, m := range l.models.recs {
		check(l.models.places[i], m.License)
	}
	for i, t := range l.tools.recs {
		check(l.tools.places[i], t.License)
	}
}

// checkSilicon warns of records of one silicon that say different things: a processor and its graphics, a machine and
// its chips, and a record for several variants and these.
func (l *loader) checkSilicon() {
	bySlug := make(map[Slug]*Hardware, len(l.hardware.recs))
	for i, h := range l.hardware.recs {
		if !l.anyFaulty(l.hardware.places[i]) {
			bySlug[h.Slug] = h
		}
	}
	named := func(slugs *[]Slug) (of []*Hardware) {
		for _, slug := range slugsOf(slugs) {
			if h := bySlug[slug]; h != nil {
				of = append(of, h)
			}
		}
		return of
	}
	for i, h := range l.hardware.recs {
		p := l.hardware.places[i]
		if bySlug[h.Slug] == nil {
			continue
		}
		if h.IntegratedGPU != nil && bySlug[*h.IntegratedGPU] != nil {
			l.checkGraphics(h, bySlug[*h.IntegratedGPU], p)
		}
		l.checkMachine(h, named(h.Chip), p)
		l.checkVariants(h, named(h.Variants), p)
	}
}

// graphicsSlack is how far rates of a processor and of its graphics may be apart: both are rounded, and clocks of one
// kind of graphics differ a little between processors.
const graphicsSlack = 1.15

// checkGraphics compares the rates of a processor with those of its graphics.
func (l *loader) checkGraphics(h, graphics *Hardware, p place) {
	for _, rate := range []struct {
		field    string
		of, with *float64
	}{{"fp16_tflops", h.FP16TFLOPS, graphics.FP16TFLOPS}, {"fp32_tflops", h.FP32TFLOPS, graphics.FP32TFLOPS}} {
		if a, b := rate.of, rate.with; a != nil && b != nil && max(*a, *b) > graphicsSlack*min(*a, *b) {
			l.warning(p, rate.field, fmt.Sprintf("is far from that of its graphics %s, %s, got %s", graphics.Slug, plainNumber(*b), plainNumber(*a)), "integrated_gpu")
		}
	}
}

// checkMachine compares a machine with its chips: it has at most the memory of the largest, the bandwidth of its only
// chip, and is not older than the oldest.
func (l *loader) checkMachine(h *Hardware, chips []*Hardware, p place) {
	if len(chips) == 0 || len(chips) < len(*h.Chip) {
		return
	}
	most, oldest := 0.0, Date("")
	memory, dates := true, true
	for _, chip := range chips {
		if memory = memory && chip.VRAMGB != nil; memory {
			most = max(most, *chip.VRAMGB)
		}
		if dates = dates && chip.ReleaseDate != nil; dates && (oldest == "" || before(*chip.ReleaseDate, oldest)) {
			oldest = *chip.ReleaseDate
		}
	}
	if memory && h.VRAMGB != nil && *h.VRAMGB > most {
		l.warning(p, "vram_gb", fmt.Sprintf("is more than its chip can have, %s GB, got %s", plainNumber(most), plainNumber(*h.VRAMGB)), "chip")
	}
	if dates && h.ReleaseDate != nil && before(*h.ReleaseDate, oldest) {
		l.warning(p, "release_date", fmt.Sprintf("is before that of its chip, %q, got %q", oldest, *h.ReleaseDate), "chip")
	}
	if a, b := h.MemoryBandwidthGBps, chips[0].MemoryBandwidthGBps; len(chips) == 1 && a != nil && b != nil && *a != *b {
		l.warning(p, "memory_bandwidth_gbps", fmt.Sprintf("is not that of its chip %s, %s, got %s", chips[0].Slug, plainNumber(*b), plainNumber(*a)), "chip")
	}
}

// checkVariants holds a record for several variants to what these say.
func (l *loader) checkVariants(h *Hardware, variants []*Hardware, p place) {
	for _, v := range variants {
		for _, fact := range []struct {
			field    string
			of, with *float64
		}{
			{"vram_gb", h.VRAMGB, v.VRAMGB},
			{"memory_bandwidth_gbps", h.MemoryBandwidthGBps, v.MemoryBandwidthGBps},
			{"fp16_tflops", h.FP16TFLOPS, v.FP16TFLOPS},
			{"fp32_tflops", h.FP32TFLOPS, v.FP32TFLOPS},
			{"tdp_watts", h.TDPWatts, v.TDPWatts},
		} {
			if a, b := fact.of, fact.with; a != nil && b != nil && *a != *b {
				l.warning(p, fact.field, fmt.Sprintf("must be null where variants differ: %s has %s, got %s", v.Slug, plainNumber(*b), plainNumber(*a)), "variants")
			}
		}
	}
}

// baseOf is the base model that a model is named after, nil if there is none.
func baseOf(m *Model, known map[Slug]*Model) *Model {
	for _, ending := range tuned {
		if name, ok := strings.CutSuffix(string(m.Slug), ending); ok {
			return known[Slug(name)]
		}
	}
	return nil
}

// before compares two dates as far as both say: a year is not before a day in it.
func before(a, b Date) bool {
	n := min(len(a), len(b))
	return a[:n] < b[:n]
}

// exact reports whether a count in billions is known to the million or better, as no rounded name is.
func exact(params float64) bool {
	thousands := params * 1000
	return math.Abs(thousands-math.Round(thousands)) > 1e-6
}

// otherShape reports whether two shapes differ in more than entries added to a vocabulary.
func otherShape(a, b *Architecture) bool {
	differ := func(x, y *int64) bool { return x != nil && y != nil && *x != *y }
	return differ(a.NumLayers, b.NumLayers) || differ(a.HiddenSize, b.HiddenSize) ||
		differ(a.IntermediateSize, b.IntermediateSize) || differ(a.MoEIntermediateSize, b.MoEIntermediateSize)
}

// checkAccounts warns of an organization that is not that of the other models of its account on the Hub: it was copied
// with the rest of another record.
func (l *loader) checkAccounts() {
	accounts := map[string][]int{} // account -> models
	for i, m := range l.models.recs {
		if m.HFRepo != nil && !l.anyFaulty(l.models.places[i]) {
			account, _, _ := strings.Cut(strings.ToLower(*m.HFRepo), "/")
			accounts[account] = append(accounts[account], i)
		}
	}
	for account, models := range accounts {
		usual := l.usualOrganization(models)
		for _, i := range models {
			if got := l.models.recs[i].Organization; got != usual {
				l.warning(l.models.places[i], "organization", fmt.Sprintf("is not %q, that of other models of the account %s, got %q", usual, account, got), "hf_repo")
			}
		}
	}
}

// usualOrganization is the organization that most of the models have, the first of those that as many have.
func (l *loader) usualOrganization(models []int) (usual string) {
	count, most := map[string]int{}, 0
	for _, i := range models {
		count[l.models.recs[i].Organization]++
	}
	for _, i := range models {
		if n := count[l.models.recs[i].Organization]; n > most {
			usual, most = l.models.recs[i].Organization, n
		}
	}
	return usual
}

// checkOwn warns of what only one record has and another one has too: it is left over from the record that a new one was
// copied from.
func (l *loader) checkOwn() {
	own := owned{l, map[string]Slug{}}
	for i, m := range l.models.recs {
		for k := range m.Quantizations {
			q := &m.Quantizations[k]
			if q.Repo != nil && own.warn(l.models.places[i], m.Slug, fmt.Sprintf("quantizations.%d.repo", k), *q.Repo, "file "+q.Format+" "+q.Name) {
				break // the others were copied with it
			}
		}
	}
	for i, h := range l.hardware.recs {
		for k, id := range h.PCIIDs {
			own.warn(l.hardware.places[i], h.Slug, fmt.Sprintf("pci_ids.%d", k), id, ownID)
		}
	}
	for i, t := range l.tools.recs {
		own.address(l.tools.places[i], t.Slug, "repository", t.Repository)
		own.address(l.tools.places[i], t.Slug, "homepage", t.Homepage)
	}
}

const ownID = "id"

// owned knows the first record that has something.
type owned struct {
	*loader
	first map[string]Slug
}

func (o owned) warn(p place, slug Slug, field, value, what string) (warned bool) {
	key := what + "\x00" + strings.TrimSuffix(strings.ToLower(value), "/")
	switch first, known := o.first[key]; {
	case !known:
		o.first[key] = slug
	case first != slug:
		text := fmt.Sprintf("is that of %s as well", first)
		if what == ownID {
			text += ", and an id of several parts belongs in pci_ids_shared"
		}
		o.warning(p, field, fmt.Sprintf("%s, got %q", text, value))
		return true
	}
	return false
}

func (o owned) address(p place, slug Slug, field string, address *URL) {
	if address != nil {
		o.warn(p, slug, field, string(*address), field)
	}
}
