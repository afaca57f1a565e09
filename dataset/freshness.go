package dataset

// Freshness says how old the facts of a dataset are. A date is null if no record has one.
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
	for i := range s.Benchmarks.Len() {
		newest(&f.NewestRun, s.Benchmarks.At(i).RunDate)
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
