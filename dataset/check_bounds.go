package dataset

import (
	"fmt"
	"reflect"
	"strconv"

	"modeldex/dataset/record"
)

// Bounds of figures that depend on other fields; those of single fields are in their tags. All are far beyond what is
// built and measured, so that new products fit: what they find is a figure in another unit, in the wrong field, or made
// by a program.
const (
	minBandwidth  = 1      // GB/s; the least published is 17
	minHBM        = 50     // GB/s of memory with wide buses; the least published is 410
	minOfRated    = 0.5    // of channels x 8 bytes x rated speed
	maxBandwidth  = 30_000 // GB/s of memory beside the chip; HBM4 parts reach 22,000
	maxOnChip     = 1e8    // GB/s of memory on the chip; a wafer-scale engine has 21,000,000
	channelSlack  = 1.02   // of channels x 8 bytes x rated speed, for rounding
	maxPriceUSD   = 1e7    // of one part
	maxAmount     = 1e11   // of a price in any currency
	maxDevices    = 1e5    // of one measurement; the most published are 288
	maxSpeedTPS   = 1e6    // of one device, prompt or generation; the most published is some 60,000
	minWeightBits = 0.8    // of a file; the smallest published have 1.6
	maxWeightBits = 40     // of a file; 32-bit floats with some parts twice reach 35
	minYear       = "1990" // nothing here is older
)

// bounded holds the figures of a record, to which rec points, to the bounds in the tags of its type.
func (c *checker) bounded(p place, rec any) { c.boundedIn(p, "", reflect.ValueOf(rec).Elem()) }

func (c *checker) boundedIn(p place, at string, v reflect.Value) {
	s := record.SchemaOf(v.Type())
	for i := range s.Fields {
		f := &s.Fields[i]
		fv, name := reflect.Indirect(v.FieldByIndex(f.Index)), record.Join(at, f.Name)
		switch {
		case !fv.IsValid():
		case f.Object != nil:
			c.boundedIn(p, name, fv)
		case f.Least == 0 && f.Most == 0:
		case f.Kind == reflect.Slice:
			for i := range fv.Len() {
				c.bound(p, record.Join(name, strconv.Itoa(i)), fv.Index(i), f)
			}
		default:
			c.bound(p, name, fv, f)
		}
	}
}

func (c *checker) bound(p place, name string, v reflect.Value, f *record.Field) {
	n, text := 0.0, func() string { return strconv.FormatInt(v.Int(), 10) }
	if v.CanInt() {
		n = float64(v.Int())
	} else {
		n, text = v.Float(), func() string { return plainNumber(v.Float()) }
	}
	switch {
	case f.Least != 0 && n < f.Least:
		c.at(p, name, fmt.Sprintf("must be at least %s%s, got %s", plainNumber(f.Least), f.Unit, text()))
	case f.Most != 0 && n > f.Most:
		c.at(p, name, fmt.Sprintf("must be at most %s%s, got %s", plainNumber(f.Most), f.Unit, text()))
	}
}

func (c *checker) atMost(p place, field string, v *float64, bound float64, why string) {
	if v != nil && *v > bound {
		c.at(p, field, fmt.Sprintf("must be at most %s%s, got %s", plainNumber(bound), why, plainNumber(*v)))
	}
}

func (c *checker) atLeast(p place, field string, v *float64, bound float64, why string) {
	if v != nil && *v < bound {
		c.at(p, field, fmt.Sprintf("must be at least %s%s, got %s", plainNumber(bound), why, plainNumber(*v)))
	}
}
