package httpapi

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"modeldex/dataset"
	"modeldex/index"
)

// readNumber takes plain decimals only: no sign, no exponent, no NaN.
func (p *parser) readNumber(pm *param, v string) string {
	n, ok := plainDecimal(v)
	switch {
	case !ok && len(v) > maxDigits:
		p.fault(invalidParameter, pm.name, v, fmt.Sprintf("must have at most %d characters", maxDigits))
		return ""
	case !ok:
		p.fault(invalidParameter, pm.name, v, "must be a plain decimal number such as 7 or 13.5")
		return ""
	}
	if pm.kind == atLeast {
		p.bound(pm, n, math.Inf(1))
	} else {
		p.bound(pm, math.Inf(-1), n)
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// maxDigits is the length of the longest number: no value of the dataset has half as many digits.
const maxDigits = 24

func plainDecimal(v string) (float64, bool) {
	whole, fraction, dot := strings.Cut(v, ".")
	if len(v) > maxDigits || !digits(whole) || dot && !digits(fraction) {
		return 0, false
	}
	n, err := strconv.ParseFloat(v, 64)
	return n, err == nil && n < 1e21 // so that its canonical spelling is none longer
}

func digits(v string) bool {
	return v != "" && strings.Trim(v, "0123456789") == ""
}

func (p *parser) readDate(pm *param, v string) string {
	if _, err := time.Parse(time.DateOnly, v); err != nil {
		p.fault(invalidParameter, pm.name, v, "must be a date as YYYY-MM-DD")
		return ""
	}
	d := dataset.Date(v)
	n := index.DateNumber(&d)
	if pm.kind == since {
		p.bound(pm, n, math.Inf(1))
	} else {
		p.bound(pm, math.Inf(-1), n)
	}
	return v
}

// bound narrows the range of a field; both ends of one field make one range.
func (p *parser) bound(pm *param, low, high float64) {
	for i := range p.out.Ranges {
		if r := &p.out.Ranges[i]; r.Field == pm.field.Name {
			r.Min, r.Max = max(r.Min, low), min(r.Max, high)
			return
		}
	}
	p.out.Ranges = append(p.out.Ranges, index.Range{Field: pm.field.Name, Min: low, Max: high})
	p.out.ranged = append(p.out.ranged, pm)
}

// checkRanges rejects ranges that end before they begin.
func (p *parser) checkRanges() {
	for i, r := range p.out.Ranges {
		if r.Min <= r.Max {
			continue
		}
		f := p.out.ranged[i].field
		p.fault(invalidParameter, f.Min, p.values[f.Min][0], "must not be above "+f.Max+", which is "+*clip(p.values[f.Max][0]))
	}
}
