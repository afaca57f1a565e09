package httpapi

import (
	"fmt"
	"sync"

	"modeldex/httpapi/export"
	"modeldex/index"
)

func formatNames() (out []string) {
	for _, f := range export.Formats {
		out = append(out, f.String())
	}
	return out
}

func (r *resource) filed() bool { return r != nil && r.columns != nil }

func schemaOf[Row any](table string) func() *export.Schema {
	return sync.OnceValue(func() *export.Schema { return export.SchemaOf[Row](table) })
}

func aboutOf(gen *index.Generation) export.About {
	return export.About{Title: gen.Info.Title, Version: gen.Info.Version, Digest: gen.Digest.String(), Licence: gen.Info.License}
}

// allRows is the limit of a complete result, and rowsPerCall how many of its rows one call pays for.
const (
	allRows     = "all"
	rowsPerCall = 500
)

var allText = fmt.Sprintf("%s: every row in one streamed response; needs a file format and a key above the free tier, and costs one call per started %d rows.", allRows, rowsPerCall)
