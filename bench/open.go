//go:build linux

package main

import "fmt"

// Open is the latencies of one target at one fixed rate.
type Open struct {
	Target string    `json:"target"`
	Share  float64   `json:"share"` // of what our server gave in a closed loop
	Rate   float64   `json:"rate"`  // requests per second
	P50    []float64 `json:"p50_us"`
	P99    []float64 `json:"p99_us"`
	P999   []float64 `json:"p999_us"`
	Kept   []float64 `json:"kept"` // answers per second over requests per second, by round
}

// shares are how much of the closed loop's rate is asked for.
var shares = []float64{0.25, 0.5, 0.75, 0.9}

// openLoop asks the first page by a clock. Rates are shares of what our server gave, and the
// same for all.
func (o *options) openLoop(q question, ts []*target, saturation float64) ([]*Open, error) {
	var out []*Open
	for _, share := range shares {
		at := make([]*Open, len(ts))
		for i, t := range ts {
			at[i] = &Open{Target: t.name, Share: share, Rate: share * saturation}
		}
		for range o.Rounds {
			for i, t := range ts {
				got, err := o.round(t, o.Round, at[i].Rate)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", q.name, err)
				}
				at[i].P50 = append(at[i].P50, micros(got.Quantile(0.5)))
				at[i].P99 = append(at[i].P99, micros(got.Quantile(0.99)))
				at[i].P999 = append(at[i].P999, micros(got.Quantile(0.999)))
				at[i].Kept = append(at[i].Kept, got.Rate()/at[i].Rate)
			}
		}
		out = append(out, at...)
	}
	return out, nil
}
