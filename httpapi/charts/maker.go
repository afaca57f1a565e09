package charts

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"modeldex/dataset/text"
	"modeldex/httpapi/rowjson"
	"modeldex/index"
)

// Maker makes the figures of a generation. Slugs that are not known give figures without a drawing.
type Maker struct{ gen *index.Generation }

// For returns the maker of a generation.
func For(gen *index.Generation) Maker { return Maker{gen} }

// The bounds of what one figure reads and draws.
const (
	mostRead   = 3000 // runs read, the newest first
	mostRows   = 14   // rows of a plot of speeds
	mostDots   = 40   // runs drawn in one row
	mostSame   = 14   // rows of a comparison
	mostPoints = 150  // models against their speed
)

func (m Maker) modelName(slug string) string { return nameIn(m.gen.Models, slug) }

func (m Maker) hardwareName(slug string) string { return nameIn(m.gen.Hardware, slug) }

func nameIn(t *index.Table, slug string) string {
	ord, ok := t.Find(slug)
	if !ok {
		return slug
	}
	return rowjson.Text(t.Row(ord), "name")
}

type run struct {
	ord uint32
	tps float64
}

// runsOf reads the newest runs of one stream that match all sets, and how many there are.
func (m Maker) runsOf(sets ...index.Set) ([]run, int) {
	sets = append(sets, index.Set{Field: index.Settings, Values: []string{index.SingleStream}})
	ords, total := m.gen.Benchmarks.First(index.Query{Sets: sets, Limit: mostRead})
	out := make([]run, 0, len(ords))
	for _, ord := range ords {
		if tps := m.gen.Benchmarks.Number(index.GenerationTPS, ord); tps > 0 {
			out = append(out, run{ord, tps})
		}
	}
	return out, total
}

func is(f index.Field, value string) index.Set { return index.Set{Field: f, Values: []string{value}} }

func (m Maker) of(f index.Field, r run) string { return m.gen.Benchmarks.Text(f, r.ord) }

func (m Maker) described(r run) string {
	return joined(text.Rounded(r.tps)+" tok/s", m.of(index.Quantization, r), rowjson.Text(m.gen.Benchmarks.Row(r.ord), "run_date"))
}

func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), ", ")
}

func (m Maker) source() string {
	return "Source: modeldex " + m.gen.Info.Version + ", " + m.gen.Info.License + "."
}

func address(preset, param, slugs string) string {
	return "/charts/" + preset + ".svg?" + param + "=" + strings.ReplaceAll(url.QueryEscape(slugs), "%2C", ",")
}

func (m Maker) fastestFirst(runs []run) []run {
	slices.SortFunc(runs, func(a, b run) int {
		return cmp.Or(cmp.Compare(b.tps, a.tps), strings.Compare(m.gen.Benchmarks.Slug(a.ord), m.gen.Benchmarks.Slug(b.ord)))
	})
	return runs
}

func middle(runs []run) float64 { return (runs[(len(runs)-1)/2].tps + runs[len(runs)/2].tps) / 2 }

// most is the text that was counted most; the first in order of letters where several were.
func most(counts map[string]int) string {
	best := ""
	for s, n := range counts {
		if s != "" && (best == "" || n > counts[best] || n == counts[best] && s < best) {
			best = s
		}
	}
	return best
}

// every keeps the first and the last of a list and, evenly spaced, as many between them as may be.
func every[T any](all []T, most int) []T {
	if len(all) <= most {
		return all
	}
	out := make([]T, most)
	for i := range out {
		out[i] = all[i*(len(all)-1)/(most-1)]
	}
	return out
}

// mostIDs is how many ids the filter of a list takes.
const mostIDs = 50

// ListOf is the address of the list of the runs of a group. They are those of one stream that the filter of a field
// gives, with this value of another field and this quantization, which is empty if it is not known. Filters name
// them, or their ids where the filters give others too: those of variants, or of every quantization.
func (m Maker) ListOf(field index.Field, slug string, other index.Field, value, quantization string) string {
	q := url.Values{string(field): {slug}, string(other): {value}, "settings": {index.SingleStream}, "sort": {"-generation_tps"}}
	sets := []index.Set{is(field, slug), is(other, value)}
	if quantization != "" {
		q.Set("quantization", quantization)
		sets = append(sets, is(index.Quantization, quantization))
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
