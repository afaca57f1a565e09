package httpapi

import (
	"modeldex/httpapi/export"
	"modeldex/index"
	"modeldex/snapshot"
)

func dumpSources(cfg *Config, gen *index.Generation) *export.Sources {
	src := &export.Sources{
		About: aboutOf(gen), FS: cfg.Files, Addresses: "/api/v1/dumps/",
		Extras: []string{"snapshots/" + snapshot.Pattern, "changes/*.ndjson"},
	}
	for _, f := range gen.Files {
		src.Originals = append(src.Originals, export.Original{Name: f.Name, Digest: f.Digest})
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
	}
	return src
}

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
