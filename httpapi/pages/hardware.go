package pages

import (
	"cmp"
	"net/url"
	"strings"

	"modeldex/dataset/text"
	"modeldex/httpapi/charts"
	"modeldex/httpapi/rows"
	"modeldex/index"
)

const shownBest = 8

func (s *Site) hardware(gen *index.Generation, ord uint32, c Conditions, at Place) *Sheet {
	row := gen.Hardware.Detail(ord)
	h, slug, n := decode[rows.Hardware](row), gen.Hardware.Slug(ord), newNames(gen)
	v := s.recordSheet(gen, at, "hardware", h.Name, h.Name+": "+hardwareLead(h)+". Which models run on it, and how fast.")
	v.Lead, v.Title = hardwareLead(h), h.Name+": which models run on it, and how fast" // what people search for
	v.Crumbs = append(v.Crumbs, Link{Text: vendorName(string(h.Vendor)), Href: address("/explore/hardware", "vendor", string(h.Vendor))})
	v.Sources, v.Groups = v.groupsOf(n, hardwareFields, row, h.Sources)
	v.Invite = &Link{Text: "Contribute a benchmark on this hardware", Href: address("/contribute", "hardware", slug)}
	with, _ := url.ParseQuery(at.Query) // made by this program
	with.Set("hardware", slug)
	all := Place{Path: "/fit"}.with(with)
	v.offer("All models that run on it", all)
	v.offer("Compare", address("/compare", "hardware", slug))
	if h.VRAMGB != nil {
		gb := exactPlain(*h.VRAMGB)
		v.offer("Other hardware with "+text.Exact(*h.VRAMGB)+" GB", address("/explore/hardware", "max_vram_gb", gb, "min_vram_gb", gb, "sort", "-memory_bandwidth_gbps"))
	}
	if h.Note != nil {
		v.Notes = append(v.Notes, plainNote(*h.Note))
	}
	ask := c.query("", h.Slug)
	runs, _ := gen.Best.Models(ask) // none at all without its memory
	best := runs.Found
	v.Picks = machinePicks(gen, ask, best)
	v.Switches = append(memorySwitches(gen, h, at), contextSwitch(at))
	v.Chart = plot(charts.For(gen).FrontierOf(slug, best), "plot", at.Base)
	list := runsTable(gen, ask, best[:min(shownBest, len(best))])
	list.Title, list.Empty = "Best models for this hardware", "No known model fits."
	if c.MemoryGB == 0 && len(gen.Fit.Unpublished(h.Slug)) > 0 {
		list.Empty = chooseMemory
	}
	if len(best) > shownBest {
		list.More = &Link{Text: "All " + text.Whole(len(best)) + " models that run on it", Href: all}
	}
	v.Tables = []Table{list}
	v.Tabs = []Table{speedTable(gen, index.Hardware, slug, index.Model), pricesTable(h)}
	return v
}

func vendorName(vendor string) string {
	return cmp.Or(shownAs[vendor], Sentence(vendor))
}

func typeName(kind string) string {
	return cmp.Or(map[string]string{"gpu": "graphics card", "cpu": "processor", "apu": "processor with integrated graphics", "soc": "system on a chip"}[kind], kind)
}

func hardwareLead(h *rows.Hardware) string {
	parts := []string{vendorName(string(h.Vendor)) + " " + typeName(string(h.Type))}
	if h.VRAMGB != nil {
		memory := text.Exact(*h.VRAMGB) + " GB"
		if h.UnifiedMemory {
			memory += " unified memory"
		}
		parts = append(parts, memory)
	}
	if h.MemoryBandwidthGBps != nil {
		parts = append(parts, text.Rounded(*h.MemoryBandwidthGBps)+" GB/s")
	}
	if price, kind := priceOf(h); price != nil {
		parts = append(parts, strings.TrimSuffix(text.Dollars(*price)+" "+kind.Text+" ("+kind.Note+")", " ()"))
	}
	if h.ReleaseDate != nil {
		parts = append(parts, "released "+str(h.ReleaseDate))
	}
	return strings.Join(parts, " · ")
}

// priceOf is the price seen in the street, else that of the launch, and which it is.
func priceOf(h *rows.Hardware) (price *float64, kind Cell) {
	condition, _, _ := strings.Cut(str(h.StreetPriceCondition), ",") // after the comma, how it was worked out
	switch {
	case h.StreetPriceUSD != nil:
		return h.StreetPriceUSD, Cell{Text: cmp.Or(map[string]string{"mixed": "new or used", "not stated": "market price"}[condition], condition, "market price"), Note: str(h.StreetPriceDate), Href: webAddress(str(h.StreetPriceSource))}
	case h.LaunchPriceUSD != nil:
		return h.LaunchPriceUSD, Cell{Text: "at launch", Note: str(h.ReleaseDate)}
	}
	return nil, cell("")
}

func pricesTable(h *rows.Hardware) Table {
	t := Table{ID: "prices", Title: "Prices", Columns: columns("Date", "#Price", "Condition", "Type", "Source"), Empty: "No known prices."}
	for i := range h.PriceObservations {
		p := &h.PriceObservations[i]
		price := Cell{Text: inCurrency(p.Amount, p.Currency), Title: str(p.Note)}
		if r := value(p.AmountRange); len(r) == 2 {
			price.Note = "to " + inCurrency(r[1], p.Currency)
		}
		t.Rows = append(t.Rows, []Cell{{Text: string(p.Date)}, price, {Text: p.Condition}, cell(shown(str(p.Kind))), {Text: host(string(p.Source)), Href: webAddress(string(p.Source))}})
	}
	return t
}

func inCurrency(amount float64, currency string) string {
	if currency == "USD" {
		return text.Dollars(amount)
	}
	return text.Amount(amount) + " " + currency
}

func (s *Site) tool(gen *index.Generation, ord uint32, at Place) *Sheet {
	row := gen.Tools.Detail(ord)
	t, slug := decode[rows.Tool](row), gen.Tools.Slug(ord)
	v := s.recordSheet(gen, at, "tools", t.Name, t.Description)
	v.Lead = t.Description
	v.Crumbs = append(v.Crumbs, Link{Text: Sentence(shown(string(t.Category))), Href: address("/explore/tools", "category", string(t.Category))})
	v.Sources, v.Groups = v.groupsOf(newNames(gen), toolFields, row, t.Sources)
	if t.BenchmarkCount > 0 {
		v.Tabs = []Table{runsOf(gen, index.Tool, slug)}
	}
	v.FactsFirst = true
	return v
}
