package httpapi

import (
	"slices"

	"modeldex/httpapi/export"
	"modeldex/httpapi/rowjson"
	"modeldex/index"
	"modeldex/snapshot"
)

// dumpSources is what the dump of a generation is made of.
func dumpSources(cfg *Config, gen *index.Generation) *export.Sources {
	src := &export.Sources{
		About: aboutOf(gen), FS: cfg.Files,
		Extras: []string{"snapshots/" + snapshot.Pattern, "changes/*.ndjson"},
	}
	for _, f := range gen.Files {
		src.Originals = append(src.Originals, export.Original{Name: f.Name, Size: f.Size, Digest: f.Digest})
	}
	table := func(schema *export.Schema, t *index.Table, row func(uint32) []byte) export.Table {
		return export.Table{Schema: schema, Count: t.Len(), Rows: func() export.Rows { return allRowsOf(t, row) }}
	}
	src.Tables = []export.Table{
		table(models.detail.columns().Without("benchmarks").Without("fit"), gen.Models, gen.Models.Detail),
		table(hardware.columns().Without("fit"), gen.Hardware, gen.Hardware.Row),
		table(tools.columns(), gen.Tools, gen.Tools.Row),
		table(benchmarks.columns(), gen.Benchmarks, gen.Benchmarks.Row),
		table(quality.columns(), gen.Quality, gen.Quality.Row),
		wideTable(gen),
	}
	return src
}

// facts are the columns of a table that are not lists, for tables that are joined with it.
type facts struct {
	member  string // of a joined row
	columns []export.Column
	kept    *rowjson.Projection
}

func factsOf(member string, r *resource) *facts {
	f := &facts{member: member}
	var names []string
	for _, c := range r.columns().Without("fit").Columns {
		if c.Type != export.Texts && c.Type != export.Any {
			names = append(names, c.Name)
			c.Name = member + "." + c.Name
			f.columns = append(f.columns, c)
		}
	}
	f.kept = rowjson.NewProjection(names)
	return f
}

// of gives the facts of records by slug, as a member of a row.
func (f *facts) of(t *index.Table) func(dst []byte, slug string) []byte {
	made := map[string][]byte{} // by slug
	return func(dst []byte, slug string) []byte {
		if made[slug] == nil {
			ord, _ := t.Find(slug) // the checks rule out that it is not there
			made[slug] = f.kept.Append([]byte(`,"`+f.member+`":`), t.Row(ord))
		}
		return append(dst, made[slug]...)
	}
}

// wideTable is the benchmarks, each with the facts of its model and its hardware.
func wideTable(gen *index.Generation) export.Table {
	ofModel, ofHardware := factsOf("model_facts", models), factsOf("hardware_facts", hardware)
	return export.Table{
		Schema: export.NewSchema("benchmarks_wide", slices.Concat(benchmarks.columns().Columns, ofModel.columns, ofHardware.columns)),
		Count:  gen.Benchmarks.Len(),
		Rows: func() export.Rows {
			model, machine := ofModel.of(gen.Models), ofHardware.of(gen.Hardware)
			var line []byte
			b := gen.Benchmarks
			return allRowsOf(b, func(ord uint32) []byte {
				row := b.Row(ord)
				line = model(append(line[:0], row[:len(row)-1]...), b.Text(index.Model, ord))
				line = append(machine(line, b.Text(index.Hardware, ord)), '}')
				return line
			})
		},
	}
}

// allRowsOf gives the rows of a table in its order.
func allRowsOf(t *index.Table, row func(ord uint32) []byte) export.Rows {
	next := uint32(0)
	return func() []byte {
		if int(next) == t.Len() {
			return nil
		}
		next++
		return row(next - 1)
	}
}
