package fit

import (
	"slices"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/record"
)

// Part of the TDP a machine draws while it generates: decoding waits for memory, so cards stay
// below their limit. A stated assumption, labelled in every answer that uses it.
const tdpShare = 0.8

// priceAge is how old a price may be before the answer says so.
const priceAge = 180 * 24 * time.Hour

// cost works out the costs of the speed of a size.
func (a *evaluation) cost(size int, s *Speed) *Cost {
	q, m := a.q, a.m
	c := &Cost{Reasons: []string{}, Notices: []string{}}
	if s == nil || s.TPS == nil {
		c.Reasons = append(c.Reasons, "no speed is known")
		return c
	}
	hours := 1e6 / *s.TPS / 3600 // for a million tokens
	c.power(a, size, s)
	if c.Watts != nil {
		kwh := round3(*c.Watts / 1000 * hours)
		c.KWhPerMTok = &kwh
	} else {
		c.Reasons = append(c.Reasons, "no power was measured and the hardware has no tdp_watts")
	}
	perHour, ok := c.price(q, m)
	switch {
	case !ok:
	case q.USDPerHour == nil && q.USDPerKWh == nil:
		c.Reasons = append(c.Reasons, "usd_per_kwh is not given")
	case q.USDPerHour == nil && c.Watts == nil: // the reason is already there
	default:
		usd := perHour * hours
		if q.USDPerHour == nil {
			usd += *c.Watts / 1000 * hours * *q.USDPerKWh
		}
		usd = round3(usd)
		c.USDPerMTok = &usd
	}
	return c
}

// power is the median of what runs of this pair measured, else a part of the TDP.
func (c *Cost) power(a *evaluation, size int, s *Speed) {
	q, h, watts := a.q, a.m.hw, a.watts(size, s)
	for _, of := range []struct {
		basis  dataset.PowerBasis
		notice string
	}{
		{dataset.PowerDevice, ""},
		{dataset.PowerWall, "the power was measured of the whole machine at the wall"},
		{"", "the runs do not say whether their power is that of the device or of the whole machine"},
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
	if of := h.TDPRangeWatts; of != nil && len(*of) > 0 {
		most = slices.Max(*of) // machines are sold with each of them
	}
	c.Watts, c.PowerBasis = new(round3(most*tdpShare*float64(q.Count))), new("tdp_x_0.8")
	if q.Count > 1 && s.Measured == nil {
		c.Notices = append(c.Notices, "the power is that of all devices at work, which is an upper bound where they work in turn")
	}
}

// watts reads the power of the measured runs by what it was measured of, empty if they do not say. They are not mixed.
// The power of another part of the machine than that whose speed is used says nothing: a neural engine draws a tenth of
// the graphics beside it. Nor does that of a sibling, which may have more cores.
func (a *evaluation) watts(size int, s *Speed) map[dataset.PowerBasis][]float64 {
	out := map[dataset.PowerBasis][]float64{}
	if a.m.hw == nil || s.Measured == nil {
		return out
	}
	of := a.tried(size, generation)
	elsewhere := len(of.speeds) == 0 || of.rank == otherWork
	for _, r := range a.runs {
		b := a.e.pack.At(int(r.at))
		if b.PowerWatts != nil && int(b.HardwareCount) == a.q.Count && a.e.sameBandwidth(a.m, b.Hardware) &&
			elsewhere == (a.rank(b) == otherWork) && a.relation(b) != dataset.Sibling {
			out[val(b.PowerBasis)] = append(out[val(b.PowerBasis)], *b.PowerWatts)
		}
	}
	return out
}

// price is what an hour of use costs without energy: the rent, or the price over the hours the
// caller plans.
func (c *Cost) price(q *Query, m *machine) (perHour float64, ok bool) {
	basis := "rented"
	if q.USDPerHour != nil {
		c.PriceBasis = &basis
		return *q.USDPerHour, true
	}
	if m.hw == nil {
		c.Reasons = append(c.Reasons, "no price is known of a machine described by its memory; usd_per_hour is not given")
		return 0, false
	}
	if q.HoursPerDay == nil || q.Years == nil {
		c.Reasons = append(c.Reasons, "hours_per_day and years, or usd_per_hour, are not given")
		return 0, false
	}
	var usd float64
	switch h := m.hw; {
	case h.StreetPriceUSD != nil:
		basis, usd, c.PriceDate = "street", *h.StreetPriceUSD, h.StreetPriceDate
	case h.LaunchPriceUSD != nil:
		basis, usd, c.PriceDate = "launch", *h.LaunchPriceUSD, h.ReleaseDate
	default:
		c.Reasons = append(c.Reasons, "no price of the hardware is known")
		return 0, false
	}
	usd *= float64(q.Count)
	c.PriceUSD, c.PriceBasis = &usd, &basis
	if old(c.PriceDate, q.Today) {
		c.Notices = append(c.Notices, "the price is older than 180 days")
	}
	if of := m.hw.MemoryOptionsGB; of != nil && len(*of) > 0 && m.memory > bytesOf(slices.Min(*of))*int64(q.Count) {
		c.Notices = append(c.Notices, "the hardware is sold with less memory than counts here, and the price may be of that")
	}
	return usd / (*q.Years * 365.25 * *q.HoursPerDay), true
}

// old reports whether a date is more than priceAge before today, or unknown.
func old(d *dataset.Date, today time.Time) bool {
	if d == nil {
		return true
	}
	n := int(d.Number())
	t := time.Date(n/10000, time.Month(max(n/100%100, 1)), max(n%100, 1), 0, 0, 0, 0, time.UTC)
	return today.Sub(t) > priceAge
}
