package httpapi

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"modeldex/httpapi/charts"
	"modeldex/httpapi/rows"
	"modeldex/index"
	"modeldex/snapshot"
)

// shippedFigures are figures of the shipped dataset by name.
func shippedFigures(m charts.Maker) map[string]*charts.Figure {
	cards := []string{"nvidia-rtx-4090", "nvidia-rtx-3090", "apple-m3-max", "amd-rx-7900-xtx"}
	return map[string]*charts.Figure{
		"model-speeds":      m.ModelSpeeds("llama-3.1-8b-instruct"),
		"model-speeds-oss":  m.ModelSpeeds("gpt-oss-20b"),
		"hardware-frontier": m.HardwareFrontier("nvidia-rtx-4090"),
		"compare":           m.CompareHardware(cards),
		"compare-models":    m.CompareModels([]string{"llama-3.1-8b-instruct", "gpt-oss-20b", "qwen3-8b"}),
	}
}

// TestPictures keeps every figure as a file in every form, to be looked at.
func TestPictures(t *testing.T) {
	dir := os.Getenv("MODELDEX_PICTURES")
	if dir == "" {
		t.Skip("MODELDEX_PICTURES names no directory to keep pictures in")
	}
	catalog, _, err := snapshot.Open(os.DirFS("../data/snapshots"))
	if err != nil {
		t.Fatal(err)
	}
	gen, err := index.Build(context.Background(), mustShipped(t).set, rows.RenderersOf(catalog))
	if err != nil {
		t.Fatal(err)
	}
	m := charts.For(gen)
	for name, f := range shippedFigures(m) {
		for _, width := range []int{360, 680} {
			for _, scheme := range []charts.Scheme{charts.Light, charts.Dark} {
				file := filepath.Join(dir, name+"-"+string(scheme)+"-"+map[int]string{360: "narrow", 680: "wide"}[width]+".svg")
				if err := os.WriteFile(file, f.SVG(scheme, width), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
