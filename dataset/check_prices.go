package dataset

import (
	"fmt"
	"strconv"
	"strings"

	"modeldex/dataset/record"
)

// checkPrices checks the prices of a piece of hardware. The street price is complete, and is one of
// the prices seen, of the same day, page and condition. Each condition says whether the goods were
// new. No street price is older than a year on the day of release.
func (l *loader) checkPrices(h *Hardware, p place) {
	l.pair(p, "street_price_usd", h.StreetPriceUSD != nil, "street_price_date", h.StreetPriceDate != nil)
	l.pair(p, "street_price_usd", h.StreetPriceUSD != nil, "street_price_source", h.StreetPriceSource != nil)
	l.date(p, "street_price_date", h.StreetPriceDate)
	for i := range h.PriceObservations {
		o, at := &h.PriceObservations[i], "price_observations."+strconv.Itoa(i)
		l.date(p, at+".date", &o.Date)
		l.spread(p, at+".amount_range", o.AmountRange)
		l.checkCondition(p, at+".condition", o.Condition)
	}
	if h.StreetPriceUSD == nil || h.StreetPriceDate == nil || h.StreetPriceSource == nil {
		return
	}
	switch c := h.StreetPriceCondition; {
	case c == nil:
		l.warning(p, "street_price_usd", "must have a street_price_condition, which says whether it is of new or used goods", "street_price_condition")
	case !seen(h, *c):
		l.warning(p, "street_price_usd", fmt.Sprintf("is no price of price_observations in US dollars with the same day, page and condition, got %s", plainNumber(*h.StreetPriceUSD)), "price_observations", "street_price_condition", "street_price_source")
	default:
		l.checkCondition(p, "street_price_condition", *c)
	}
	if len(l.info.recs) == 1 && olderThanYear(*h.StreetPriceDate, l.info.recs[0].Released) {
		l.warning(p, "street_price_date", fmt.Sprintf("is more than a year before the day of release, %s, got %q", l.info.recs[0].Released, *h.StreetPriceDate))
	}
}

// checkCondition warns of a condition that does not begin by saying what the price was of.
func (l *loader) checkCondition(p place, field, condition string) {
	if _, ok := record.ConditionOf(condition); !ok {
		l.warning(p, field, fmt.Sprintf("must begin with one of %s, got %q", strings.Join(record.Texts(record.PriceConditions), ", "), condition))
	}
}

// seen reports whether the street price is one of the prices seen, of the same condition.
func seen(h *Hardware, condition string) bool {
	want, _ := record.ConditionOf(condition)
	for i := range h.PriceObservations {
		o := &h.PriceObservations[i]
		if got, _ := record.ConditionOf(o.Condition); got == want && o.Currency == "USD" && o.Amount == *h.StreetPriceUSD && o.Date == *h.StreetPriceDate && o.Source == *h.StreetPriceSource {
			return true
		}
	}
	return false
}

// olderThanYear reports whether a date is more than a year before a day, as far as both say.
func olderThanYear(date, day Date) bool {
	if len(day) < 4 {
		return false
	}
	year, err := strconv.Atoi(string(day[:4]))
	return err == nil && before(date, Date(fmt.Sprintf("%04d", year-1))+day[4:])
}
