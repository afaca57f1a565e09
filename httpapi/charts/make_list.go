package charts

import (
	"net/url"
	"strings"

	"modeldex/index"
)

// mostIDs is how many ids the filter of a list takes.
const mostIDs = 50

// ListOf is the address of the list of the runs of a group. They are those of one stream that the filter of a field
// gives, with this value of another field and this quantization, which is empty where it is not known. Filters name
// them, or their ids where the filters give others too: those of variants, or of every quantization.
func (m Maker) ListOf(field index.Field, slug string, other index.Field, value, quantization string) string {
	q := url.Values{string(field): {slug}, string(other): {value}, "settings": {index.SingleStream}, "sort": {"-generation_tps"}}
	sets := []index.Set{{Field: field, Values: []string{slug}}, {Field: other, Values: []string{value}}}
	if quantization != "" {
		q.Set("quantization", quantization)
		sets = append(sets, index.Set{Field: index.Quantization, Values: []string{quantization}})
	}
	var ids []string
	runs, total := m.runsOf(sets...)
	for _, r := range runs {
		if m.of(other, r) == value && m.of(index.Quantization, r) == quantization {
			ids = append(ids, m.gen.Benchmarks.Slug(r.ord))
		}
	}
	if len(ids) != total && len(ids) <= mostIDs {
		q = url.Values{"id": {strings.Join(ids, ",")}, "sort": {"-generation_tps"}}
	}
	return "/explore/benchmarks?" + strings.ReplaceAll(q.Encode(), "%2C", ",")
}
