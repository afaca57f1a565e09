package httpapi

import (
	"context"
	"os"
	"testing"

	"modeldex/httpapi/export"
)

// BenchmarkDump makes the dump of the shipped dataset.
func BenchmarkDump(b *testing.B) {
	shipped := mustShipped(b)
	cfg := Config{Files: os.DirFS("../data")}
	for range b.N {
		if _, err := export.Build(context.Background(), dumpSources(&cfg, shipped.live.Current())); err != nil {
			b.Fatal(err)
		}
	}
}
