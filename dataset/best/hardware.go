package best

import (
	"math"
	"slices"

	"modeldex/dataset"
	"modeldex/dataset/fit"
)

// Counts are the numbers of a card that are tried, the smallest that works first: slots of common boards.
var Counts = []int{1, 2, 4}

// fourBits is the least bits that hardware is compared for: with less memory it would seem fast for answering worse.
const fourBits = 4.25

// Points of hardware.
const (
	perDoubling  = 3.0  // for each doubling of the price above aThousand
	unknownPrice = 10.0 // where no price is known
	aThousand    = 1000.0
)

// Hardware finds the hardware that runs the model of a query, each with the fewest devices that have room for four
// bits, or with the count of the query.
func (r *Rule) Hardware(q fit.Query) (List, *fit.Fault) {
	if k := r.models[q.Model]; k == nil {
		_, fault := r.fit.Hardware(q)
		return List{}, fault
	}
	counts := Counts
	if q.Count > 0 {
		counts = []int{q.Count}
	}
	least := limits{fourBits, LeastTPS}
	if q.MinTPS > 0 {
		least.tps = 0
	}
	chosen, at := fit.Runs{}, map[dataset.Slug]int{}
	for i, count := range counts {
		one := q
		if one.Count = count; i > 0 {
			one.Only = func(slug dataset.Slug) bool {
				was, found := at[slug]
				h := r.hardware[slug] // only cards are put into one machine by twos and more
				return h.Type == "gpu" && !h.UnifiedMemory && (!found || r.against(&q, least, &chosen.Found[was]) != "")
			}
		}
		runs, fault := r.find(one, least, r.fit.Hardware)
		if fault != nil {
			return List{}, fault
		}
		if i == 0 {
			chosen = runs
			chosen.Found = nil
		}
		for _, b := range runs.Found {
			r.price(&b)
			was, found := at[b.Hardware]
			switch {
			case !found:
				at[b.Hardware] = len(chosen.Found)
				chosen.Found = append(chosen.Found, b)
			case r.against(&q, least, &chosen.Found[was]) != "" && r.against(&q, least, &b) == "":
				chosen.Found[was] = b
			}
		}
	}
	isFound := func(slug dataset.Slug) bool { // with another number of devices
		_, found := at[slug]
		return found
	}
	chosen.Undecided, chosen.NoSpeed = slices.DeleteFunc(chosen.Undecided, isFound), slices.DeleteFunc(chosen.NoSpeed, isFound)
	return order(chosen, func(b *fit.Best) string {
		if measured := b.Use != nil && *b.Use != fit.UseEstimate; len(r.hardware[b.Hardware].Backends) == 0 && !measured {
			return noProgram
		}
		return r.against(&q, least, b)
	}), nil
}

// price sets what a row costs, and points for the price in place of those that all rows share.
func (r *Rule) price(b *fit.Best) {
	h := r.hardware[b.Hardware]
	p := fit.Points{Quantization: b.Points.Quantization, Memory: b.Points.Memory, Speed: b.Points.Speed, Price: -unknownPrice}
	if h.StreetPriceUSD != nil {
		total := *h.StreetPriceUSD * float64(b.Count)
		b.TotalPriceUSD, b.PriceDate = &total, h.StreetPriceDate
		p.Price = -perDoubling * math.Log2(total/aThousand)
	}
	p.Sum()
	b.Points = &p
}
