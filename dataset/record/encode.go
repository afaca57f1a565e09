package record

import (
	"fmt"
	"math"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// Line returns a record in its one-line form, the form of .ndjson files and of API rows: every
// key present, in the order of the Go type, unknown as null.
func Line(rec any) ([]byte, error) { return jsonv2.Marshal(rec) }

// Pretty returns a record in the form of .json files: as Line, one member per line, indented by
// two blanks, with a line end.
func Pretty(rec any) ([]byte, error) {
	b, err := jsonv2.Marshal(rec, jsontext.WithIndent("  "))
	return append(b, '\n'), err
}

// AppendNumber appends a number as Line writes it. Infinities and NaN are errors.
func AppendNumber(dst []byte, v float64) ([]byte, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return dst, fmt.Errorf("%v has no form in JSON", v)
	}
	return jsontext.AppendFloat(dst, v, 64), nil
}
