package dataset

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// The rules of this file hold records of one table against each other.

// tuned are the endings by which makers tell the model for use from the base model of the same name.
var tuned = []string{"-instruct", "-it", "-chat"}

func checkAgainstBaseModel(c *checker, _ all, _ place) {
	bySlug := make(map[Slug]*Model, len(c.models.recs))
	byCount := map[float64]*Model{}
	for _, m := range c.models.recs {
		bySlug[m.Slug] = m
	}
	for i, m := range c.models.recs {
		p := c.models.places[i]
		var base *Model
		for _, ending := range tuned {
			if name, ok := strings.CutSuffix(string(m.Slug), ending); ok {
				base = bySlug[Slug(name)]
			}
		}
		if base != nil {
			if m.ReleaseDate != nil && base.ReleaseDate != nil && before(*m.ReleaseDate, *base.ReleaseDate) {
				c.warning(p, "release_date", fmt.Sprintf("is %q, before its base model %s was released (%q)", *m.ReleaseDate, base.Slug, *base.ReleaseDate))
			}
			if textOf(base.Form) == "chat" {
				c.warning(p, "slug", fmt.Sprintf("is fine-tuned from %[1]s, so %[1]s must have form \"base\", not \"chat\"", base.Slug))
			}
			if m.License != nil && base.License != nil && *m.License != *base.License {
				c.warning(p, "license", fmt.Sprintf("is %q, but its base model %s has %q", *m.License, base.Slug, *base.License))
			}
		}
		if m.ParamsB == nil || math.Abs(*m.ParamsB*1000-math.Round(*m.ParamsB*1000)) <= 1e-6 { // it is rounded
			continue
		}
		if other, ok := byCount[*m.ParamsB]; !ok {
			byCount[*m.ParamsB] = m
		} else if otherShape(&m.Architecture, &other.Architecture) {
			c.warning(p, "params_b", fmt.Sprintf("is %s, exactly the same as %s, which has other layers or widths", plainNumber(*m.ParamsB), other.Slug), "architecture")
		}
	}
}

var licenseIDs = []string{
	"AGPL-3.0", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC-BY-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "CC-BY-SA-4.0", "CC0-1.0",
	"GPL-2.0", "GPL-3.0", "ISC", "LGPL-3.0", "MIT", "MPL-2.0",
}

var notInID = strings.NewReplacer("license", "", "licence", "", " version", "", " v", "", " ", "", "-", "", ",", "")

func checkLicenses(c *checker, _ all, _ place) {
	ids := make(map[string]string, len(licenseIDs))
	for _, id := range licenseIDs {
		ids[notInID.Replace(strings.ToLower(id))] = id
	}
	check := func(p place, license *string) {
		if license == nil {
			return
		}
		if id, ok := ids[notInID.Replace(strings.ToLower(*license))]; ok && id != *license {
			c.warning(p, "license", fmt.Sprintf("must be spelled as the SPDX id %q, got %q", id, *license))
		}
	}
	for i, m := range c.models.recs {
		check(c.models.places[i], m.License)
	}
	for i, t := range c.tools.recs {
		check(c.tools.places[i], t.License)
	}
}

func checkSilicon(c *checker, _ all, _ place) {
	bySlug := make(map[Slug]*Hardware, len(c.hardware.recs))
	for i, h := range c.hardware.recs {
		if !c.anyFaulty(c.hardware.places[i]) {
			bySlug[h.Slug] = h
		}
	}
	named := func(slugs *[]Slug) (of []*Hardware) {
		for _, slug := range known(slugs) {
			if h := bySlug[slug]; h != nil {
				of = append(of, h)
			}
		}
		return of
	}
	for i, h := range c.hardware.recs {
		p := c.hardware.places[i]
		if bySlug[h.Slug] == nil {
			continue
		}
		if h.IntegratedGPU != nil && bySlug[*h.IntegratedGPU] != nil {
			c.checkGraphics(h, bySlug[*h.IntegratedGPU], p)
		}
		c.checkMachine(h, named(h.Chip), p)
		c.checkVariants(h, named(h.Variants), p)
	}
}

// graphicsSlack allows for rounding and for clocks that differ between processors with the same graphics.
const graphicsSlack = 1.15

func (c *checker) checkGraphics(h, graphics *Hardware, p place) {
	compare := func(field string, a, b *float64) {
		if a != nil && b != nil && max(*a, *b) > graphicsSlack*min(*a, *b) {
			c.warning(p, field, fmt.Sprintf("is %s, far from %s of its graphics %s", plainNumber(*a), plainNumber(*b), graphics.Slug), "integrated_gpu")
		}
	}
	compare("fp16_tflops", h.FP16TFLOPS, graphics.FP16TFLOPS)
	compare("fp32_tflops", h.FP32TFLOPS, graphics.FP32TFLOPS)
}

func (c *checker) checkMachine(h *Hardware, chips []*Hardware, p place) {
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
		c.warning(p, "vram_gb", fmt.Sprintf("is %s GB, but its chip has at most %s GB", plainNumber(*h.VRAMGB), plainNumber(most)), "chip")
	}
	if dates && h.ReleaseDate != nil && before(*h.ReleaseDate, oldest) {
		c.warning(p, "release_date", fmt.Sprintf("is %q, before its chip was released (%q)", *h.ReleaseDate, oldest), "chip")
	}
	if a, b := h.MemoryBandwidthGBps, chips[0].MemoryBandwidthGBps; len(chips) == 1 && a != nil && b != nil && *a != *b {
		c.warning(p, "memory_bandwidth_gbps", fmt.Sprintf("is %s, but its chip %s has %s", plainNumber(*a), chips[0].Slug, plainNumber(*b)), "chip")
	}
}

func (c *checker) checkVariants(h *Hardware, variants []*Hardware, p place) {
	for _, v := range variants {
		compare := func(field string, a, b *float64) {
			if a != nil && b != nil && *a != *b {
				c.warning(p, field, fmt.Sprintf("must be null because variants differ: %s has %s, got %s", v.Slug, plainNumber(*b), plainNumber(*a)), "variants")
			}
		}
		compare("vram_gb", h.VRAMGB, v.VRAMGB)
		compare("memory_bandwidth_gbps", h.MemoryBandwidthGBps, v.MemoryBandwidthGBps)
		compare("fp16_tflops", h.FP16TFLOPS, v.FP16TFLOPS)
		compare("fp32_tflops", h.FP32TFLOPS, v.FP32TFLOPS)
		compare("tdp_watts", h.TDPWatts, v.TDPWatts)
	}
}

func otherShape(a, b *Architecture) bool {
	differ := func(x, y *int64) bool { return x != nil && y != nil && *x != *y }
	return differ(a.NumLayers, b.NumLayers) || differ(a.HiddenSize, b.HiddenSize) ||
		differ(a.IntermediateSize, b.IntermediateSize) || differ(a.MoEIntermediateSize, b.MoEIntermediateSize)
}

func checkAccounts(c *checker, _ all, _ place) {
	type member struct {
		at           place
		organization string
	}
	accounts := map[string][]member{}
	c.models.all(func(m *Model, p place) {
		if m.HFRepo != nil && !c.anyFaulty(p) {
			account, _, _ := strings.Cut(strings.ToLower(*m.HFRepo), "/")
			accounts[account] = append(accounts[account], member{p, m.Organization})
		}
	})
	for account, models := range accounts {
		count := map[string]int{}
		for _, m := range models {
			count[m.organization]++
		}
		usual := slices.MaxFunc(models, func(a, b member) int { return cmp.Compare(count[a.organization], count[b.organization]) })
		for _, m := range models {
			if m.organization != usual.organization {
				c.warning(m.at, "organization", fmt.Sprintf("is %q, but other models of the account %s have %q", m.organization, account, usual.organization), "hf_repo")
			}
		}
	}
}

func checkOwn(c *checker, _ all, _ place) {
	firsts := map[string]Slug{} // the record that has a value first
	own := func(p place, slug Slug, field, value, what, hint string) (warned bool) {
		key := what + "\x00" + strings.TrimSuffix(strings.ToLower(value), "/")
		first, known := firsts[key]
		if !known {
			firsts[key] = slug
		}
		if warned = known && first != slug; warned {
			c.warning(p, field, fmt.Sprintf("%q also belongs to %s%s", value, first, hint))
		}
		return warned
	}
	for i, m := range c.models.recs {
		for k := range m.Quantizations {
			q := &m.Quantizations[k]
			if q.Repo != nil && own(c.models.places[i], m.Slug, fmt.Sprintf("quantizations.%d.repo", k), *q.Repo, "file "+q.Format+" "+q.Name, "") {
				break // the others were copied with it
			}
		}
	}
	for i, h := range c.hardware.recs {
		for k, id := range h.PCIIDs {
			own(c.hardware.places[i], h.Slug, fmt.Sprintf("pci_ids.%d", k), id, "id", "; ids shared by several devices belong in pci_ids_shared")
		}
	}
	for i, t := range c.tools.recs {
		for field, page := range map[string]*URL{"repository": t.Repository, "homepage": t.Homepage} {
			if page != nil {
				own(c.tools.places[i], t.Slug, field, string(*page), field, "")
			}
		}
	}
}

func checkFP16Siblings(c *checker, _ all, _ place) {
	type kind struct{ architecture, basis, memory string }
	groups := map[kind][]judged{}
	c.hardware.all(func(h *Hardware, p place) {
		if memory := memoryKind(h); h.FP16TFLOPS != nil && h.FP16Basis != nil && h.FP32TFLOPS != nil && h.Architecture != nil && memory != "" {
			k := kind{*h.Architecture, *h.FP16Basis, memory}
			groups[k] = append(groups[k], judged{p, *h.FP16TFLOPS / *h.FP32TFLOPS})
		}
	})
	outliers(c, "fp16_tflops", groups, fewest, func(_ kind, v, half float64, n int) string {
		if v <= 2.5*half && v >= half/2.5 {
			return ""
		}
		return fmt.Sprintf("is %s times fp32_tflops; the median of %d parts of the architecture is %s", roughNumber(v), n, roughNumber(half))
	}, "fp32_tflops")
}

// memoryKind tells HBM (data centres), LPDDR (boards, laptops) and other memory apart: their chips have other units.
func memoryKind(h *Hardware) string {
	kind := strings.ToUpper(textOf(h.MemoryType))
	for _, name := range []string{"HBM", "LPDDR"} {
		if strings.HasPrefix(kind, name) {
			return name
		}
	}
	if kind != "" {
		return "other"
	}
	return ""
}

// notShape are the fields that models of one network differ in: a tune may have more tokens and a longer context.
var notShape = []string{"vocab_size", "context_length", "context_length_basis", "rope_theta", "activation", "norm"}

// checkTwins looks at the first of several equal models.
func checkTwins(c *checker, _ all, _ place) {
	type kind struct {
		family         Slug
		layers, hidden int64
	}
	type twin struct {
		*Model
		fields []named
	}
	groups := map[kind][]twin{}
	c.models.all(func(m *Model, p place) {
		if m.Architecture.NumLayers == nil || m.Architecture.HiddenSize == nil || m.ParamsB == nil || c.anyFaulty(p) {
			return
		}
		fields := append(shapeFields("architecture.", m.Architecture), shapeFields("kv_cache.", m.KVCache)...)
		k := kind{m.Family, *m.Architecture.NumLayers, *m.Architecture.HiddenSize}
		if slices.ContainsFunc(groups[k], func(t twin) bool { return slices.Equal(t.fields, fields) }) {
			return
		}
		for _, t := range groups[k] {
			at := onlyDifference(fields, t.fields)
			if at >= 0 && fields[at].value != nil && t.fields[at].value != nil && math.Abs(*m.ParamsB / *t.ParamsB - 1) < sameParams {
				c.warning(p, fields[at].name, fmt.Sprintf("is %v, the only difference from %s, which has %v", fields[at].value, t.Slug, t.fields[at].value))
			}
		}
		groups[k] = append(groups[k], twin{m, fields})
	})
}

// sameParams is how far the parameters of models of one network are apart at most, which round them and add tokens.
const sameParams = 0.03

type named struct {
	name  string
	value any
}

func shapeFields(prefix string, part any) (fields []named) {
	v := reflect.ValueOf(part)
	for i := range v.NumField() {
		name, value := v.Type().Field(i).Tag.Get("json"), any(nil)
		if p := v.Field(i); !p.IsNil() {
			value = p.Elem().Interface()
		}
		if !slices.Contains(notShape, name) {
			fields = append(fields, named{prefix + name, value})
		}
	}
	return fields
}

// onlyDifference is the place of the one value that two lists differ in, -1 if they do not differ in exactly one.
func onlyDifference(a, b []named) (at int) {
	at = -1
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		if at >= 0 {
			return -1
		}
		at = i
	}
	return at
}

// The rules in this file compare values and names with similar records, to find slips.

// markup is what a name has that was copied from a page, and formula how a cell of a spreadsheet begins that is computed.
var (
	markup  = regexp.MustCompile("<[A-Za-z/!]|&(#[0-9]+|[a-z]+);|\\]\\(|\\*\\*|`")
	formula = regexp.MustCompile(`^[=+\-@]`)
)

func checkNameTexts(c *checker, _ all, _ place) {
	check := func(p place, names []alias) {
		for _, name := range names {
			switch {
			case formula.MatchString(name.text):
				c.warning(p, name.field, fmt.Sprintf("must not start like a spreadsheet formula, got %q", name.text))
			case markup.MatchString(name.text):
				c.warning(p, name.field, fmt.Sprintf("must not contain markup, got %q", name.text))
			}
		}
	}
	c.models.all(func(m *Model, p place) { _, names := modelNames(m); check(p, names) })
	c.hardware.all(func(h *Hardware, p place) { _, names := hardwareNames(h); check(p, names) })
	c.tools.all(func(t *Tool, p place) { _, names := toolNames(t); check(p, names) })
}

const (
	mostOfCards   = 2  // times the most memory of other cards of an architecture
	mostOfPrices  = 30 // times the price of peers
	mostOfContext = 32 // times the context length of models of one shape, either way
)

func checkCardMemory(c *checker, _ all, _ place) {
	type kind struct{ architecture, memory string }
	groups := map[kind][]judged{}
	c.hardware.all(func(h *Hardware, p place) {
		if memory := memoryKind(h); h.Type == "gpu" && h.VRAMGB != nil && h.Architecture != nil && memory != "" {
			k := kind{*h.Architecture, memory}
			groups[k] = append(groups[k], judged{p, *h.VRAMGB})
		}
	})
	farAhead(c, "vram_gb", groups, mostOfCards, func(_ kind, top, next float64, others int) string {
		return fmt.Sprintf("is %s GB, more than %d times the most of %d other cards of its architecture (%s GB)", plainNumber(top), mostOfCards, others, plainNumber(next))
	}, "architecture", "memory_type")
}

func checkPeerPrices(c *checker, _ all, _ place) {
	type kind struct{ architecture, form string }
	of := func(h *Hardware) kind { return kind{textOf(h.Architecture), textOf(h.FormFactor)} }
	street := map[kind][]float64{}
	for _, h := range c.hardware.recs {
		if h.StreetPriceUSD != nil {
			street[of(h)] = append(street[of(h)], *h.StreetPriceUSD)
		}
	}
	for _, prices := range street {
		slices.Sort(prices)
	}
	c.hardware.all(func(h *Hardware, p place) {
		usual := h.LaunchPriceUSD
		if peers := street[of(h)]; usual == nil && len(peers) >= fewest && h.Architecture != nil {
			usual = &peers[len(peers)/2]
		}
		if usual == nil {
			return
		}
		check := func(field string, price float64) {
			if price > mostOfPrices**usual {
				c.warning(p, field, fmt.Sprintf("is %s, more than %d times the price of similar hardware (%s US dollars)", plainNumber(price), mostOfPrices, plainNumber(*usual)))
			}
		}
		if h.StreetPriceUSD != nil {
			check("street_price_usd", *h.StreetPriceUSD)
		}
		for i := range h.PriceObservations {
			if o := &h.PriceObservations[i]; o.Currency == "USD" {
				check(fmt.Sprintf("price_observations.%d.amount", i), o.Amount)
			}
		}
	})
}

func checkContexts(c *checker, _ all, _ place) {
	type kind struct {
		family                Slug
		layers, hidden, vocab int64
	}
	groups := map[kind][]judged{}
	c.models.all(func(m *Model, p place) {
		if a := &m.Architecture; a.ContextLength != nil && a.NumLayers != nil && a.HiddenSize != nil && !c.anyFaulty(p) {
			k := kind{m.Family, *a.NumLayers, *a.HiddenSize, numberOf(a.VocabSize)}
			groups[k] = append(groups[k], judged{p, float64(*a.ContextLength)})
		}
	})
	for _, members := range groups {
		for i, m := range members {
			others := slices.Delete(slices.Clone(members), i, i+1)
			if len(others) == 0 {
				continue
			}
			if half := median(others); max(m.value, half) > mostOfContext*min(m.value, half) {
				c.warning(m.at, "architecture.context_length", fmt.Sprintf("is %s, far from the median of models of its family and shape (%s)", plainNumber(m.value), plainNumber(half)))
			}
		}
	}
}
