package charts

import (
	"fmt"
	"net/url"
	"strings"

	"modeldex/dataset"
	"modeldex/httpapi/rowjson"
	"modeldex/index"

	jsonv2 "github.com/goccy/go-json/v2"
)

// Maker makes the figures of a generation. Slugs that are not known give figures without a drawing.
type Maker struct{ gen *index.Generation }

// For returns the maker of a generation.
func For(gen *index.Generation) Maker { return Maker{gen} }

// The bounds of what one figure reads and draws.
const (
	mostRead = 3000 // runs read, the newest first
	mostRows = 24   // rows of a plot of speeds
	mostDots = 40   // runs drawn in one row
	mostRoof = 400  // runs drawn under a roof
	mostSame = 14   // rows of a comparison
	mostNear = 16   // neighbours
)

// The names of what is read of rows.
var (
	modelMembers    = rowjson.NamesFor[modelDetail]()
	hardwareMembers = rowjson.NamesFor[hardwareRow]()
)

// read decodes the members of a row of the index that a type has. The row was encoded by the same program.
func read[T any](row []byte, members rowjson.Names) (out T) {
	if err := jsonv2.Unmarshal(rowjson.Pick(row, members), &out); err != nil {
		panic(fmt.Errorf("a row of the index is not what it was: %w", err))
	}
	return out
}

func (m Maker) modelName(slug string) string { return nameIn(m.gen.Models, slug) }

func (m Maker) hardwareName(slug string) string { return nameIn(m.gen.Hardware, slug) }

func nameIn(t *index.Table, slug string) string {
	ord, ok := t.Find(slug)
	if !ok {
		return slug
	}
	return rowjson.Text(t.Row(ord), "name")
}

// runMembers are the members of a run that are read of its row, in the order of rows.
var runMembers = []string{"id", "quantization", "tool", "tool_version", "backend", "context_depth", "flash_attention", "source_url", "run_date"}

// run reads a run, for those that are drawn.
func (m Maker) run(r measured) Run {
	var b dataset.Benchmark
	rowjson.ReadRun(&b, m.gen.Benchmarks.Row(r.ord), runMembers)
	return Run{ID: string(b.ID), TPS: r.tps, Quantization: known(b.Quantization), Settings: settings(&b), Source: string(known(b.SourceURL))}
}

// known is a value, or the zero value where it is unknown.
func known[T any](v *T) (out T) {
	if v != nil {
		out = *v
	}
	return out
}

// settings says in words how a run was made.
func settings(b *dataset.Benchmark) string {
	parts := append(make([]string, 0, 5), string(b.Tool))
	if b.ToolVersion != nil {
		parts[0] += " " + *b.ToolVersion
	}
	if b.Backend != nil {
		parts = append(parts, *b.Backend)
	}
	if depth := known(b.ContextDepth); depth > 0 {
		parts = append(parts, "at "+tokens(depth)+" tokens")
	}
	if known(b.FlashAttention) {
		parts = append(parts, "flash attention")
	}
	if b.RunDate != nil {
		parts = append(parts, string(*b.RunDate))
	}
	return strings.Join(parts, ", ")
}

// A measured run is one with a speed, by its ordinal. What figures group and count by is read from the columns.
type measured struct {
	ord uint32
	tps float64
}

// runs reads the newest runs of one stream of a record and its variants, and how many there are.
func (m Maker) runs(f index.Field, slug string) ([]measured, int) {
	return m.runsOf(index.Set{Field: f, Values: []string{slug}})
}

// runsOf is runs of what matches all sets.
func (m Maker) runsOf(sets ...index.Set) ([]measured, int) {
	ords, total := m.gen.Benchmarks.First(index.Query{Sets: append(sets, index.Set{Field: index.Settings, Values: []string{index.SingleStream}}), Limit: mostRead})
	out := make([]measured, 0, len(ords))
	for _, ord := range ords {
		if tps := m.gen.Benchmarks.Number(index.GenerationTPS, ord); tps > 0 {
			out = append(out, measured{ord, tps})
		}
	}
	return out, total
}

// of is the value of a field of a run, empty where it is unknown.
func (m Maker) of(f index.Field, r measured) string { return m.gen.Benchmarks.Text(f, r.ord) }

// source is the line about where the values of a figure come from.
func (m Maker) source(what string) string {
	return fmt.Sprintf("Source: modeldex %s, %s%s.", m.gen.Info.Version, m.gen.Info.License, what)
}

// pages counts the pages that runs were published on.
func (m Maker) pages(runs []measured) int {
	seen := map[uint32]bool{}
	for _, r := range runs {
		seen[m.gen.Benchmarks.SourcePage(r.ord)] = true
	}
	return len(seen)
}

func address(preset string, params ...string) string {
	v := url.Values{}
	for i := 0; i+1 < len(params); i += 2 {
		v.Set(params[i], params[i+1])
	}
	return "/charts/" + preset + ".svg?" + strings.ReplaceAll(v.Encode(), "%2C", ",")
}
