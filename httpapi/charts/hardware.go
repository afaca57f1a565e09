package charts

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/text"
	"modeldex/index"
)

// HardwareRoof draws the runs of a piece of hardware by the weights a token reads, under the line that no run of one
// stream can cross without drafts: bandwidth divided by those weights.
func (m Maker) HardwareRoof(slug string) *Figure {
	runs, total := m.runsOf(is(index.Hardware, slug))
	f := &Figure{
		Title: m.hardwareName(slug) + ": its runs under the bandwidth roof", Address: address("hardware-roof", "hardware", slug),
		Source: m.published(runs), Missing: "No run of one stream is known whose weights per token are.",
	}
	ord, _ := m.gen.Hardware.Find(slug)
	bandwidth := m.gen.Hardware.Number("memory_bandwidth_gbps", ord)
	if !(bandwidth > 0) {
		f.Missing = "The memory bandwidth of this hardware is not published."
		return f
	}
	out := &scatter{x: axis{"Weights read per token (GB)", true}, y: axis{"Generation speed (tok/s)", true}}
	var shares []float64
	low, high, fastest, slowest := math.Inf(1), 0.0, 0.0, math.Inf(1)
	for _, r := range m.fastestFirst(runs) {
		share := m.gen.Benchmarks.Number(index.Roofline, r.ord)
		if !(share > 0) || m.of(index.Hardware, r) != slug || len(shares) == mostRoof {
			continue // variants may have another bandwidth
		}
		gb, name := share*bandwidth/r.tps, m.modelName(m.of(index.Model, r))
		shares = append(shares, share)
		low, high, fastest, slowest = min(low, gb), max(high, gb), max(fastest, r.tps), min(slowest, r.tps)
		out.points = append(out.points, point{x: gb, y: r.tps, class: markClass(0), tip: name + ": " + m.described(r) + ", " + text.Percent(share) + " of the bandwidth"})
	}
	if f.drawn(out); f.Empty() {
		return f
	}
	from := max(low, bandwidth/(fastest*3)) // a part of the roof is above all runs
	if to := min(high, bandwidth/slowest); from < to {
		out.line = [][2]float64{{from, bandwidth / from}, {to, bandwidth / to}}
		out.name = "roof: " + text.Rounded(bandwidth) + " GB/s"
	}
	slices.Sort(shares)
	f.Note = "One dot for each run of a single stream on one device. A token reads its weights once, so the bandwidth divided by them is a roof; dots above it used drafts, or something in their record is wrong. Both axes are logarithmic."
	if len(shares) < total {
		f.Note += fmt.Sprintf(" %s of %s runs are shown: those whose weights are known.", text.Whole(len(shares)), text.Whole(total))
	}
	f.Summary = fmt.Sprintf("%s under a roof of %s GB/s; the median run uses %s of it.", text.Count(len(shares), "run", "runs"), text.Rounded(bandwidth), text.Percent(shares[len(shares)/2]))
	return f
}

// sizeRule says at which of its quantizations a model is drawn: see fit.Query.MeasuredFirst.
const sizeRule = "the most precise size of four to nine bits that was measured on this hardware, else one of more bits that was, else the most precise of up to nine that fits with 8k of context"

// HardwareFrontier draws the intelligence of models against their speed on a piece of hardware, with a line through
// those that no other beats in both.
func (m Maker) HardwareFrontier(slug string) *Figure {
	runs, _ := m.gen.Fit.Models(fit.Query{Hardware: dataset.Slug(slug), MeasuredFirst: true}, 0) // none where that cannot be said
	return m.FrontierOf(slug, runs.Found)
}

// scored is a model that runs, with its score.
type scored struct {
	*fit.Best
	score    float64 // intelligence, 0 to 100
	measured bool
}

// FrontierOf is HardwareFrontier of what was found to run on the hardware alone, measured quantizations first.
func (m Maker) FrontierOf(slug string, found []fit.Best) *Figure {
	f := &Figure{
		Title: m.hardwareName(slug) + ": intelligence against speed", Address: address("hardware-frontier", "hardware", slug),
		Source:  m.source("; scores of the newest snapshot, speeds measured or estimated from measurements"),
		Note:    "Each model at " + sizeRule + "; those that fit only with fewer than four bits per weight are not drawn, for a score is of the full model. Filled: speed measured. Hollow: estimated. The line joins the models that no other beats in both. The axis of speed is logarithmic.",
		Missing: "No model that runs on this hardware with four bits per weight or more has both an intelligence score and a known speed.",
	}
	var models []scored
	for i := range found {
		b := &found[i]
		ord, ok := m.gen.Models.Find(string(b.Model))
		if ok && !b.BelowLeastBits() && b.TPS != nil && !math.IsNaN(m.gen.Models.Number("intelligence", ord)) {
			models = append(models, scored{b, m.gen.Models.Number("intelligence", ord), b.Use != nil && *b.Use == fit.UseMeasured})
		}
	}
	slices.SortStableFunc(models, func(a, b scored) int { return cmp.Or(cmp.Compare(*a.TPS, *b.TPS), cmp.Compare(a.Model, b.Model)) })
	best := fit.Pareto(models, func(s *scored) (x, y float64, ok bool) { return *s.TPS, s.score, true })
	slices.SortStableFunc(best, func(a, b scored) int { return cmp.Compare(*a.TPS, *b.TPS) })
	out := &scatter{x: axis{"Generation speed (tok/s)", true}, y: axis{"Intelligence (composite, 0 to 100)", false}}
	for i, b := range best {
		if i > 0 { // a step: between two models only the slower one's speed is reached with its score
			out.line = append(out.line, [2]float64{out.line[len(out.line)-1][0], b.score})
		}
		out.line = append(out.line, [2]float64{*b.TPS, b.score})
	}
	for _, s := range slices.Backward(models) {
		p := point{x: *s.TPS, y: s.score, class: "open"}
		speed := "~" + text.Rounded(*s.TPS) + " tok/s estimated"
		if s.measured {
			p.class, speed = markClass(0), text.Rounded(*s.TPS)+" tok/s measured"
		}
		name := m.modelName(string(s.Model))
		if slices.ContainsFunc(best, func(b scored) bool { return b.Best == s.Best }) {
			p.label, p.loud = name, true
		}
		p.tip = fmt.Sprintf("%s: %s of 100, %s, %s", name, text.Tenths(s.score), s.Quantization, speed)
		out.points = append(out.points, p)
	}
	if f.drawn(out); !f.Empty() {
		say := func(s scored) string {
			return fmt.Sprintf("%s (%s tok/s, %s of 100)", m.modelName(string(s.Model)), text.Rounded(*s.TPS), text.Tenths(s.score))
		}
		f.Summary = fmt.Sprintf("%s; %d are on the line, from %s to %s.", text.Count(len(models), "model", "models"), len(best), say(best[0]), say(best[len(best)-1]))
	}
	return f
}

type hardwareRow struct {
	Slug                string   `json:"slug"`
	Name                string   `json:"name"`
	Type                string   `json:"type"`
	VRAMGB              *float64 `json:"vram_gb"`
	MemoryBandwidthGBps *float64 `json:"memory_bandwidth_gbps"`
	LaunchPriceUSD      *float64 `json:"launch_price_usd"`
	ReleaseDate         *string  `json:"release_date"`
	StreetPriceUSD      *float64 `json:"street_price_usd"`
	StreetPriceDate     *string  `json:"street_price_date"`
	StreetPriceKind     *string  `json:"street_price_condition"`
}

func (m Maker) hardware(slug string) hardwareRow {
	ord, ok := m.gen.Hardware.Find(slug)
	if !ok {
		return hardwareRow{Slug: slug, Name: slug}
	}
	return read[hardwareRow](m.gen.Hardware.Row(ord))
}

// price is the price seen in the street, or else that of the launch, and which of them it is.
func (h *hardwareRow) price() (usd *float64, kind string) {
	parts := []string{"street", known(h.StreetPriceKind), known(h.StreetPriceDate)}
	switch {
	case h.StreetPriceUSD != nil:
		usd = h.StreetPriceUSD
	case h.LaunchPriceUSD != nil:
		usd, parts = h.LaunchPriceUSD, []string{"launch", known(h.ReleaseDate)}
	default:
		return nil, "unknown"
	}
	return usd, strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// HardwareNeighbours draws price and bandwidth of a piece of hardware among others of its type that
// are near it in price, bandwidth and memory.
func (m Maker) HardwareNeighbours(slug string) *Figure {
	h := m.hardware(slug)
	f := &Figure{
		Title: h.Name + ": price and bandwidth among its neighbours", Address: address("hardware-neighbours", "hardware", slug), Source: m.source(""),
		Note:    "Beside it is what is most like it and nearest in price, bandwidth and memory. Filled: a price seen in the street. Hollow: the price at launch. Both axes are logarithmic; up and to the left is more bandwidth for the money.",
		Missing: "No price in US dollars or no memory bandwidth is known of this hardware.",
	}
	usd, kind := h.price()
	if usd == nil || h.MemoryBandwidthGBps == nil {
		return f
	}
	out := &scatter{x: axis{"Price (US dollars)", true}, y: axis{"Memory bandwidth (GB/s)", true}}
	others := m.near(slug, &h, *usd)
	for i, o := range append([]hardwareRow{h}, others...) {
		price, kind := o.price()
		memory := math.NaN()
		if o.VRAMGB != nil {
			memory = *o.VRAMGB
		}
		p := point{x: *price, y: *o.MemoryBandwidthGBps, label: o.Name, class: markClass(min(i, 1) ^ 1), ring: i == 0, loud: i == 0}
		if o.StreetPriceUSD == nil {
			p.class = "open"
		}
		p.tip = fmt.Sprintf("%s: %s (%s), %s GB/s, %s GB", o.Name, text.Dollars(*price), kind, text.Rounded(p.y), text.Rounded(memory))
		out.points = append(out.points, p)
	}
	if len(others) == 0 {
		f.Missing = "No price and bandwidth of hardware like it are known."
		return f
	}
	f.Summary = fmt.Sprintf("%s: %s (%s) and %s GB/s, among %s of hardware near it.", h.Name, text.Dollars(*usd), kind, text.Rounded(*h.MemoryBandwidthGBps), text.Count(len(others), "piece", "pieces"))
	return f.drawn(out)
}

// alike are the types that are compared with one another; others are compared with their own.
func alike(kind string) []string {
	if whole := []string{"apu", "soc", "desktop", "laptop"}; slices.Contains(whole, kind) { // processor, graphics and memory in one
		return whole
	}
	return []string{kind}
}

// near finds the nearest priced hardware of the types that are alike, by the columns of the table.
func (m Maker) near(slug string, h *hardwareRow, price float64) (out []hardwareRow) {
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
		distance := distanceOf(p, price) + distanceOf(t.Number("memory_bandwidth_gbps", ord), *h.MemoryBandwidthGBps)
		if h.VRAMGB != nil {
			if memory := distanceOf(t.Number("vram_gb", ord), *h.VRAMGB); finite(memory) {
				distance += memory
			}
		}
		if finite(distance) && t.Slug(ord) != slug {
			found = append(found, candidate{ord, distance})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.ord, b.ord))
	})
	for _, c := range found[:min(len(found), mostNear)] {
		out = append(out, m.hardware(t.Slug(c.ord)))
	}
	return out
}

// distanceOf is the distance of two values as a logarithm, not finite where one is unknown or zero.
func distanceOf(a, b float64) float64 { return math.Abs(math.Log(a / b)) }
