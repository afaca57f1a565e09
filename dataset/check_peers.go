package dataset

import (
	"fmt"
	"regexp"
	"slices"
)

// The rules of this file hold a figure or name against those of similar records: what is far from all of them is a slip.

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
				c.warning(p, name.field, fmt.Sprintf("begins as a formula of a spreadsheet, got %q", name.text))
			case markup.MatchString(name.text):
				c.warning(p, name.field, fmt.Sprintf("has markup, got %q", name.text))
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

// checkCardMemory compares the memory of a card with that of the other cards of its architecture, which have the same
// chips or smaller ones.
func checkCardMemory(c *checker, _ all, _ place) {
	type kind struct{ architecture, memory string }
	of := func(h *Hardware) (kind, bool) {
		return kind{textOf(h.Architecture), memoryKind(h)}, h.Type == "gpu" && h.VRAMGB != nil && h.Architecture != nil && memoryKind(h) != ""
	}
	groups := map[kind][]*Hardware{}
	for _, h := range c.hardware.recs {
		if k, ok := of(h); ok {
			groups[k] = append(groups[k], h)
		}
	}
	c.hardware.all(func(h *Hardware, p place) {
		k, ok := of(h)
		if !ok || len(groups[k]) < fewest {
			return
		}
		most := 0.0
		for _, other := range groups[k] {
			if other != h {
				most = max(most, *other.VRAMGB)
			}
		}
		if *h.VRAMGB > mostOfCards*most {
			c.warning(p, "vram_gb", fmt.Sprintf("is more than %d times the most of %d other cards of its architecture, %s GB, got %s", mostOfCards, len(groups[k])-1, plainNumber(most), plainNumber(*h.VRAMGB)), "architecture", "memory_type")
		}
	})
}

// checkPeerPrices compares the prices of a part in US dollars with its price at launch, or else with the street prices of
// parts of its architecture and form.
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
				c.warning(p, field, fmt.Sprintf("is more than %d times what such hardware costs, %s US dollars, got %s", mostOfPrices, plainNumber(*usual), plainNumber(price)))
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

// checkContexts compares context lengths among models of one family, shape and vocabulary.
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
				c.warning(m.at, "architecture.context_length", fmt.Sprintf("is far from that of models of its family and shape, half of which have %s or less, got %s", plainNumber(half), plainNumber(m.value)))
			}
		}
	}
}
