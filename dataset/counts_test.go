package dataset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestCounts: the counts in data/READING.md are made from the shipped records. -update rewrites them.
func TestCounts(t *testing.T) {
	goldenPart(t, readingPage, "counts: made from the records by go test ./dataset -run TestCounts -update, do not edit by hand", "end of counts", countsOf(mustShipped(t)))
}

// countsOf is the table of what a dataset holds and of what its records lack.
func countsOf(set *Set) string {
	var out strings.Builder
	out.WriteString("\n| what | how many |\n|---|---:|\n")
	line := func(what string, n int) { fmt.Fprintf(&out, "| %s | %d |\n", what, n) }
	count := func(length int, is func(i int) bool) (n int) {
		for i := range length {
			if is(i) {
				n++
			}
		}
		return n
	}
	models, hardware := set.Models, set.Hardware
	line("models", len(models))
	line("models without a number of layers", count(len(models), func(i int) bool { return models[i].Architecture.NumLayers == nil }))
	line("models without a shape, listed in `SHAPES.md`", count(len(models), func(i int) bool { return len(models[i].ShapeGaps()) > 0 }))
	line("models without a release date", count(len(models), func(i int) bool { return models[i].ReleaseDate == nil }))
	line("models whose release date is a month or a year", count(len(models), func(i int) bool { d := models[i].ReleaseDate; return d != nil && len(*d) < len("2026-01-02") }))
	line("models without a licence", count(len(models), func(i int) bool { return models[i].License == nil }))
	line("models without a published file size", count(len(models), func(i int) bool {
		return !slices.ContainsFunc(models[i].Quantizations, func(q Quantization) bool { return q.Basis == Published })
	}))
	line("hardware", len(hardware))
	line("hardware without memory bandwidth", count(len(hardware), func(i int) bool { return hardware[i].MemoryBandwidthGBps == nil }))
	line("hardware without `fp16_tflops`", count(len(hardware), func(i int) bool { return hardware[i].FP16TFLOPS == nil }))
	line("hardware without a release date", count(len(hardware), func(i int) bool { return hardware[i].ReleaseDate == nil }))
	line("hardware with a street price", count(len(hardware), func(i int) bool { return hardware[i].StreetPriceUSD != nil }))
	line("tools", len(set.Tools))
	single, throughput, withdrawn, copied := 0, 0, 0, 0
	for _, b := range set.Benchmarks.All() {
		switch {
		case b.Withdrawn != nil:
			withdrawn++
		case b.IsThroughput():
			throughput++
		default:
			single++
		}
		if b.Notes != nil && strings.Contains(*b.Notes, "read through a transcription") {
			copied++
		}
	}
	line("measurements of tokens per second that count", single)
	line("throughput results of systems under load that count", throughput)
	line("withdrawn measurements, kept with the reason", withdrawn)
	line("measurements copied from a page that quotes the page they cite (their notes say \"read through a transcription\")", copied)
	origins := set.Origins
	line("sources", len(origins))
	line("sources whose pages and files, as far as they could be read, state no licence", count(len(origins), func(i int) bool { l := origins[i].License; return l != nil && *l == "none stated" }))
	line("sources no page or file of which could be examined for a licence", count(len(origins), func(i int) bool { return origins[i].License == nil }))
	out.WriteByte('\n')
	return out.String()
}

const mostWithoutShape = 64

// TestShapes: data/SHAPES.md lists the models without a shape, with what no page says that was read. It may only become shorter.
func TestShapes(t *testing.T) {
	var page strings.Builder
	page.WriteString("# Models without a shape\n\nTheir `shape` is null, because no page that was read (a configuration, the header of a file, a card of the maker) says\n" +
		"these fields. Made from the records by `go test ./dataset -run TestShapes -update`; do not edit by hand.\n\n| model | not known |\n|---|---|\n")
	without, set := 0, mustShipped(t)
	for i := range set.Models {
		if gaps := set.Models[i].ShapeGaps(); len(gaps) > 0 {
			without++
			fmt.Fprintf(&page, "| %s | `%s` |\n", set.Models[i].Slug, strings.Join(gaps, "`, `"))
		}
	}
	goldenFile(t, "../data/SHAPES.md", page.String())
	if without > mostWithoutShape {
		t.Errorf("%d models without a shape, at most %d before", without, mostWithoutShape)
	}
}
