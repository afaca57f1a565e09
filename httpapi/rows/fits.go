package rows

import (
	"strconv"

	"modeldex/dataset/fit"
	"modeldex/httpapi/rowjson"
)

// AppendFit appends what runs as JSON: as marshal writes it, at a third of its cost. A page has up to 200.
func AppendFit(b []byte, f *fit.Best) []byte {
	b = rowjson.AppendString(append(b, `{"model":`...), string(f.Model))
	b = rowjson.AppendString(append(b, `,"hardware":`...), string(f.Hardware))
	b = strconv.AppendInt(append(b, `,"count":`...), int64(f.Count), 10)
	b = rowjson.AppendString(append(b, `,"quantization":`...), f.Quantization)
	b = appendFloatOrNull(append(b, `,"bits_per_weight":`...), f.BitsPerWeight)
	b = rowjson.AppendString(append(b, `,"verdict":`...), string(f.Verdict))
	b = strconv.AppendInt(append(b, `,"total_bytes":`...), f.Total, 10)
	b = appendFloatOrNull(append(b, `,"tps":`...), f.TPS)
	b = append(b, `,"speed_basis":`...)
	if f.Use == nil {
		b = append(b, "null"...)
	} else {
		b = rowjson.AppendString(b, *f.Use)
	}
	return append(strconv.AppendInt(append(b, `,"depth":`...), f.Depth, 10), '}')
}

func appendFloatOrNull(b []byte, v *float64) []byte {
	if v == nil {
		return append(b, "null"...)
	}
	return appendFloat(b, *v)
}
