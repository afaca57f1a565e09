package charts

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/index"
)

type hardwareRow struct {
	Slug                string   `json:"slug"`
	Name                string   `json:"name"`
	Vendor              string   `json:"vendor"`
	Type                string   `json:"type"`
	VRAMGB              *float64 `json:"vram_gb"`
	MemoryBandwidthGBps *float64 `json:"memory_bandwidth_gbps"`
	LaunchPriceUSD      *float64 `json:"launch_price_usd"`
	ReleaseDate         *string  `json:"release_date"`
	StreetPriceUSD      *float64 `json:"street_price_usd"`
	StreetPriceDate     *string  `json:"street_price_date"`
	StreetPriceSource   *string  `json:"street_price_source"`
	StreetPriceKind     *string  `json:"street_price_condition"`
}

func (m Maker) hardware(slug string) (hardwareRow, bool) {
	ord, ok := m.gen.Hardware.Find(slug)
	if !ok {
		return hardwareRow{Slug: slug, Name: slug}, false
	}
	row := read[hardwareRow](m.gen.Hardware.Row(ord), hardwareMembers)
	return row, true
}

func number(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

// priced is hardware at the price seen in the street, or else that of its launch.
func (h *hardwareRow) priced() Priced {
	p := Priced{Name: h.Name, Href: "/hardware/" + h.Slug, PriceUSD: number(h.StreetPriceUSD), BandwidthGBps: number(h.MemoryBandwidthGBps), MemoryGB: number(h.VRAMGB)}
	switch {
	case h.StreetPriceUSD != nil:
		p.Street, p.PriceKind = true, "street"
		if h.StreetPriceKind != nil {
			p.PriceKind += ", " + *h.StreetPriceKind
		}
		if h.StreetPriceDate != nil {
			p.PriceKind += ", " + *h.StreetPriceDate
		}
		if h.StreetPriceSource != nil {
			p.PriceHref = *h.StreetPriceSource
		}
	case h.LaunchPriceUSD != nil:
		p.PriceUSD, p.PriceKind = *h.LaunchPriceUSD, "launch"
		if h.ReleaseDate != nil {
			p.PriceKind += ", " + *h.ReleaseDate
		}
	default:
		p.PriceKind = "unknown"
	}
	return p
}

// HardwareRoof draws the runs of a piece of hardware under the roof of its memory bandwidth.
func (m Maker) HardwareRoof(slug string) *Figure {
	h, _ := m.hardware(slug)
	runs, total := m.runs(index.Hardware, slug)
	d := RoofData{Hardware: h.Name, BandwidthGBps: number(h.MemoryBandwidthGBps), Total: total, Source: m.source(fmt.Sprintf("; runs published on %s", count(m.pages(runs), "page")))}
	modelNames := map[string]string{}
	for _, r := range runs {
		ratio := m.gen.Benchmarks.Number(index.Roofline, r.ord)
		if !(ratio > 0) || m.of(index.Hardware, r) != slug || len(d.Runs) == mostRoof {
			continue // variants may have another bandwidth
		}
		model := m.of(index.Model, r)
		if modelNames[model] == "" {
			modelNames[model] = m.modelName(model)
		}
		d.Runs = append(d.Runs, RoofRun{m.run(r), modelNames[model], ratio * d.BandwidthGBps / r.tps, ratio})
	}
	f := Roof(d)
	f.Address = address("hardware-roof", "hardware", slug)
	return f
}

// found is what runs on a piece of hardware, none where that cannot be said.
func (m Maker) found(slug string) []fit.Best {
	runs, _ := m.gen.Fit.Models(fit.Query{Hardware: dataset.Slug(slug), MeasuredFirst: true}, 0)
	return runs.Found
}

// scored are the models among those found that have a score and fit with at least four bits per weight. The
// score is of the full model, and says little about a smaller size.
func (m Maker) scored(found []fit.Best) (models []FitModel) {
	for i := range found {
		b := &found[i]
		ord, ok := m.gen.Models.Find(string(b.Model))
		if !ok || b.BelowLeastBits() {
			continue
		}
		score := m.gen.Models.Number("intelligence", ord)
		if math.IsNaN(score) {
			continue
		}
		out := FitModel{Quantization: b.Quantization, MemoryGB: float64(b.Total) / gib, TPS: number(b.TPS), Tight: b.Verdict == fit.Tight}
		out.Measured = b.Use != nil && *b.Use == fit.UseMeasured
		out.Name, out.Href, out.Score = m.modelName(string(b.Model)), "/models/"+string(b.Model), score
		models = append(models, out)
	}
	return models
}

// HardwareFits is the models with the highest scores that run on a piece of hardware.
func (m Maker) HardwareFits(slug string) *Figure { return m.FitsOf(slug, m.found(slug)) }

// FitsOf is HardwareFits of what was found to run on the hardware alone, measured sizes first.
func (m Maker) FitsOf(slug string, found []fit.Best) *Figure {
	f := Fits(FitsData{Hardware: m.hardwareName(slug), Models: m.scored(found), Total: len(found), Source: m.source("; scores of the newest snapshot, speeds measured or estimated from measurements")})
	f.Address = address("hardware-fits", "hardware", slug)
	return f
}

// HardwareFrontier is the intelligence of models against their speed on a piece of hardware.
func (m Maker) HardwareFrontier(slug string) *Figure { return m.FrontierOf(slug, m.found(slug)) }

// FrontierOf is HardwareFrontier of what was found, as FitsOf.
func (m Maker) FrontierOf(slug string, found []fit.Best) *Figure {
	f := Frontier(FrontierData{Hardware: m.hardwareName(slug), Models: m.scored(found), Source: m.source("; scores of the newest snapshot, speeds measured or estimated from measurements")})
	f.Address = address("hardware-frontier", "hardware", slug)
	return f
}

// HardwareNeighbours draws price and bandwidth of a piece of hardware among others of its type that
// are near it in price, bandwidth and memory.
func (m Maker) HardwareNeighbours(slug string) *Figure {
	h, ok := m.hardware(slug)
	d := NeighboursData{Hardware: h.Name, Of: h.priced(), Source: m.source("")}
	if ok && d.Of.known() {
		d.Others = m.near(slug, &h, d.Of.PriceUSD)
	}
	f := Neighbours(d)
	f.Address = address("hardware-neighbours", "hardware", slug)
	return f
}

// alike are the types that are compared with one another; others are compared with their own.
func alike(kind string) []string {
	if whole := []string{"apu", "soc", "desktop", "laptop"}; slices.Contains(whole, kind) { // processor, graphics and memory in one
		return whole
	}
	return []string{kind}
}

// near finds the nearest priced hardware of the types that are alike, by the columns of the table.
func (m Maker) near(slug string, h *hardwareRow, price float64) []Priced {
	t := m.gen.Hardware
	type candidate struct {
		ord      uint32
		distance float64
	}
	var found []candidate
	same, _ := t.First(index.Query{Sets: []index.Set{{Field: "type", Values: alike(h.Type)}}, Limit: t.Len()})
	for _, ord := range same {
		p := t.Number("street_price_usd", ord)
		if math.IsNaN(p) {
			p = t.Number("launch_price_usd", ord)
		}
		distance := apart(p, price) + apart(t.Number("memory_bandwidth_gbps", ord), number(h.MemoryBandwidthGBps))
		if memory := apart(t.Number("vram_gb", ord), number(h.VRAMGB)); finite(memory) {
			distance += memory
		}
		if finite(distance) && t.Slug(ord) != slug {
			found = append(found, candidate{ord, distance})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.ord, b.ord))
	})
	var out []Priced
	for _, c := range found[:min(len(found), mostNear)] {
		other, _ := m.hardware(t.Slug(c.ord))
		out = append(out, other.priced())
	}
	return out
}

// apart is the distance of two values as a logarithm, NaN where one is unknown or zero.
func apart(a, b float64) float64 { return math.Abs(math.Log(ratio(a, b))) }
