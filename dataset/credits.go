package dataset

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Credit is a source repository or site, and the amount of data from it.
type Credit struct {
	Origin
	Measurements int // benchmarks, and measurements of quality, whose page it has
	Models       int // that name a page of it
	Hardware     int // that name a page of it
	Tools        int // that name a page of it
}

// Credits lists the origins of a set: those with most measurements first, then with most records, then by key.
func Credits(s *Set) []Credit {
	out := make([]Credit, len(s.Origins))
	at := make(map[string]*Credit, len(out))
	for i, o := range s.Origins {
		out[i].Origin = o
		at[o.Key] = &out[i]
	}
	measured := func(key string) {
		if c := at[key]; c != nil {
			c.Measurements++
		}
	}
	for i := range s.Quality {
		measured(s.Quality[i].SourceURL.OriginKey())
	}
	for _, b := range s.Benchmarks {
		measured(valueOf(b.SourceKey))
	}
	once := func(count func(*Credit)) (visit func(string, URL)) {
		var seen []string // a record names few
		return func(_ string, page URL) {
			key := page.OriginKey()
			if c := at[key]; c != nil && !slices.Contains(seen, key) {
				count(c)
				seen = append(seen, key)
			}
		}
	}
	for i := range s.Models {
		modelPages(&s.Models[i], once(func(c *Credit) { c.Models++ }))
	}
	for i := range s.Hardware {
		hardwarePages(&s.Hardware[i], once(func(c *Credit) { c.Hardware++ }))
	}
	for i := range s.Tools {
		sourcePages(s.Tools[i].Sources, once(func(c *Credit) { c.Tools++ }))
	}
	slices.SortFunc(out, func(a, b Credit) int {
		return cmp.Or(b.Measurements-a.Measurements, b.Models+b.Hardware+b.Tools-a.Models-a.Hardware-a.Tools, cmp.Compare(a.Key, b.Key))
	})
	return out
}

func sourcePages(list []SourceRef, visit func(field string, page URL)) {
	for i := range list {
		at := "sources." + strconv.Itoa(i)
		if list[i].URL != nil {
			visit(at+".url", *list[i].URL)
		}
		if via := list[i].Via; via != nil {
			if copied, _, _ := strings.Cut(*via, " "); URL(copied).Valid() {
				visit(at+".via", URL(copied))
			}
		}
	}
}

func modelPages(m *Model, visit func(field string, page URL)) {
	sourcePages(m.Sources, visit)
	for i := range m.Quantizations {
		if q := &m.Quantizations[i]; q.Source != nil && q.Basis == Published {
			visit("quantizations."+strconv.Itoa(i)+".source", *q.Source)
		}
	}
}

func hardwarePages(h *Hardware, visit func(field string, page URL)) {
	sourcePages(h.Sources, visit)
	for i := range h.PriceObservations {
		visit("price_observations."+strconv.Itoa(i)+".source", h.PriceObservations[i].Source)
	}
}

// Freshness is how recent the data is. A date is null if no record has one.
type Freshness struct {
	// Day of the newest model.
	NewestModel *Date `json:"newest_model" jsonschema:"nullable,example=2026-08-21"`
	// Day of the newest hardware.
	NewestHardware *Date `json:"newest_hardware" jsonschema:"nullable,example=2026-03-03"`
	// Day of the newest run.
	NewestRun *Date `json:"newest_run" jsonschema:"nullable,example=2026-11-20"`
	// Number of hardware records with a street price.
	Priced int `json:"priced_hardware" jsonschema:"minimum=0,example=133"`
	// Day of the newest street price.
	NewestPrice *Date `json:"newest_price" jsonschema:"nullable,example=2026-10-30"`
	// Day of the oldest street price.
	OldestPrice *Date `json:"oldest_price" jsonschema:"nullable,example=2026-02-11"`
}

// FreshnessOf looks at every record of a set once.
func FreshnessOf(s *Set) (f Freshness) {
	newest := func(into **Date, d *Date) {
		if d != nil && (*into == nil || **into < *d) {
			*into = d
		}
	}
	for i := range s.Models {
		newest(&f.NewestModel, s.Models[i].ReleaseDate)
	}
	for _, b := range s.Benchmarks {
		newest(&f.NewestRun, b.RunDate)
	}
	for i := range s.Hardware {
		h := &s.Hardware[i]
		newest(&f.NewestHardware, h.ReleaseDate)
		if h.StreetPriceUSD == nil || h.StreetPriceDate == nil {
			continue
		}
		f.Priced++
		newest(&f.NewestPrice, h.StreetPriceDate)
		if f.OldestPrice == nil || *h.StreetPriceDate < *f.OldestPrice {
			f.OldestPrice = h.StreetPriceDate
		}
	}
	return f
}
