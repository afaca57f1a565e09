package fit

import (
	"slices"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/record"
)

// tdpShare is the part of the TDP that a machine draws while it generates, an assumption: decoding waits for memory.
const tdpShare = 0.8

// priceAge is how old a price may be before the answer says so.
const priceAge = 180 * 24 * time.Hour

// cost works out the costs of the speed of a size.
func (a *evaluation) cost(s *Speed) *Cost {
	q, c := a.q, &Cost{Reasons: []string{}, Notices: []string{}}
	if s == nil || s.TPS == nil {
		c.Reasons = append(c.Reasons, "the speed is unknown")
		return c
	}
	hours := 1e6 / *s.TPS / 3600 // for a million tokens
	if c.power(a, s); c.Watts != nil {
		c.KWhPerMTok = new(round3(*c.Watts / 1000 * hours))
	} else {
		c.Reasons = append(c.Reasons, "no run measured the power, and the hardware has no tdp_watts")
	}
	switch perHour, why := c.price(q, a.m); {
	case why != "":
		c.Reasons = append(c.Reasons, why)
	case q.USDPerHour != nil:
		c.USDPerMTok = new(round3(perHour * hours))
	case q.USDPerKWh == nil:
		c.Reasons = append(c.Reasons, "usd_per_kwh is not given")
	case c.Watts != nil:
		c.USDPerMTok = new(round3(perHour*hours + *c.Watts/1000*hours**q.USDPerKWh))
	}
	return c
}

// power is the median of what runs of this pair measured, else a part of the TDP.
func (c *Cost) power(a *evaluation, s *Speed) {
	q, h, watts := a.q, a.m.hw, a.watts(s)
	for _, of := range []struct {
		basis  dataset.PowerBasis
		notice string
	}{
		{record.PowerDevice, ""},
		{record.PowerWall, "the power was measured at the wall, for the whole machine"},
		{"", "the runs do not say whether they measured the power of the device or of the whole machine"},
	} {
		if list := watts[of.basis]; len(list) > 0 {
			c.Watts, c.PowerBasis = new(round3(record.Median(list))), new("measured")
			if of.notice != "" {
				c.Notices = append(c.Notices, of.notice)
			}
			return
		}
	}
	if h == nil || h.TDPWatts == nil {
		return
	}
	most := *h.TDPWatts
	if of := val(h.TDPRangeWatts); len(of) > 0 {
		most = slices.Max(of) // machines are sold with each of them
	}
	c.Watts, c.PowerBasis = new(round3(most*tdpShare*float64(q.Count))), new("tdp_x_0.8")
	if q.Count > 1 && s.Measured == nil {
		c.Notices = append(c.Notices, "the power assumes that all devices work at once, so it is an upper bound if they take turns")
	}
}

// watts is the power of the measured runs by what it was measured of, empty if they do not say. That of another part of the
// machine than the one whose speed is used, or of a sibling, does not count.
func (a *evaluation) watts(s *Speed) map[dataset.PowerBasis][]float64 {
	out := map[dataset.PowerBasis][]float64{}
	if a.m.hw == nil || s.Measured == nil {
		return out
	}
	elsewhere := s.Measured.Grade/2 == otherWork
	for _, r := range a.runs {
		b := a.e.benchmarks[r.at]
		if b.PowerWatts != nil && int(b.HardwareCount) == a.q.Count && a.e.sameBandwidth(a.m, b.Hardware) &&
			elsewhere == (a.rank(b) == otherWork) && a.relation(b) != dataset.Sibling {
			out[val(b.PowerBasis)] = append(out[val(b.PowerBasis)], *b.PowerWatts)
		}
	}
	return out
}

// price is what an hour costs without energy: rent, or the price over the hours of use; why says what is not known.
func (c *Cost) price(q *Query, m *machine) (perHour float64, why string) {
	switch h := m.hw; {
	case q.USDPerHour != nil:
		c.PriceBasis = new("rented")
		return *q.USDPerHour, ""
	case h == nil:
		return 0, "a machine described by its memory has no known price, and usd_per_hour is not given"
	case q.HoursPerDay == nil || q.Years == nil:
		return 0, "hours_per_day and years, or usd_per_hour, are not given"
	case h.StreetPriceUSD != nil:
		c.PriceBasis, c.PriceUSD, c.PriceDate = new("street"), new(*h.StreetPriceUSD*float64(q.Count)), h.StreetPriceDate
	case h.LaunchPriceUSD != nil:
		c.PriceBasis, c.PriceUSD, c.PriceDate = new("launch"), new(*h.LaunchPriceUSD*float64(q.Count)), h.ReleaseDate
	default:
		return 0, "the price of the hardware is unknown"
	}
	seen, known := val(c.PriceDate).Time()
	if !known || q.Today.Sub(seen) > priceAge {
		c.Notices = append(c.Notices, "the price is older than 180 days")
	}
	if of := val(m.hw.MemoryOptionsGB); len(of) > 0 && m.memory > bytesOf(slices.Min(of))*int64(q.Count) {
		c.Notices = append(c.Notices, "the hardware is also sold with less memory, and the price may be for that version")
	}
	return *c.PriceUSD / (*q.Years * 365.25 * *q.HoursPerDay), ""
}
