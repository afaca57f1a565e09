package pages

import (
	"cmp"
	"html/template"
	"slices"
	"strings"

	"modeldex/httpapi/rowjson"
	"modeldex/index"
)

// A Choice is one of the values that a list offers.
type Choice struct {
	Value, Label string
	Selected     bool
}

// Choices are a list to choose from.
type Choices []Choice

// Options are the elements of the list.
func (list Choices) Options() template.HTML {
	b := make([]byte, 0, 80*len(list))
	for i := range list {
		b = append(appendEscaped(append(b, `<option value="`...), list[i].Value), `">`...)
		b = append(appendEscaped(b, list[i].Label), "</option>"...)
	}
	return template.HTML(b) //nolint:gosec // texts are escaped
}

// choices are values that are their own labels, one of which is chosen now.
func choices(values []string, now string) Choices {
	out := make(Choices, len(values))
	for i, v := range values {
		out[i] = Choice{v, v, v == now}
	}
	return out
}

// offered is how many records a field suggests.
const offered = 150

// mostMeasured are the records with the most benchmarks, by name.
func mostMeasured(t *index.Table) Choices {
	page := t.Select(index.Query{Sort: index.Sort{Field: index.BenchmarkCount, Desc: true}, Limit: offered})
	type entry struct {
		Choice
		sortedBy string
	}
	entries := make([]entry, len(page.Ords))
	for i, ord := range page.Ords {
		slug := t.Slug(ord)
		name := cmp.Or(rowjson.Text(t.Row(ord), "name"), slug)
		entries[i] = entry{Choice{Value: slug, Label: name}, strings.ToLower(name)}
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.sortedBy, b.sortedBy) })
	out := make(Choices, len(entries))
	for i := range entries {
		out[i] = entries[i].Choice
	}
	return out
}
