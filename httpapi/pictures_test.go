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
		"model-memory":        m.ModelMemory("gpt-oss-20b"),
		"model-memory-8b":     m.ModelMemory("llama-3.1-8b-instruct"),
		"model-speeds":        m.ModelSpeeds("llama-3.1-8b-instruct"),
		"model-speeds-oss":    m.ModelSpeeds("gpt-oss-20b"),
		"hardware-roof":       m.HardwareRoof("nvidia-rtx-4090"),
		"hardware-neighbours": m.HardwareNeighbours("nvidia-rtx-4090"),
		"hardware-frontier":   m.HardwareFrontier("nvidia-rtx-4090"),
		"compare":             m.CompareHardware(cards),
		"compare-models":      m.CompareModels([]string{"llama-3.1-8b-instruct", "gpt-oss-20b", "qwen3-8b"}),
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
	for name, of := range map[string][2]string{"badge": {"gpt-oss-20b", "nvidia-rtx-4090"}, "badge-many": {"llama-2-7b", "nvidia-rtx-4090"}, "badge-none": {"llama-2-7b", "broadcom-raspberry-pi-5"}} {
		if err := os.WriteFile(filepath.Join(dir, name+".svg"), charts.Badge(m.BadgeOf(of[0], of[1], "")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
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
