package snapshot

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/best"
	"modeldex/dataset/datasettest"
)

// TestCapabilityPredicts holds out each source for a tenth of its models at a time. Capability must predict what the source
// says of the models that others have evaluated, too, better than the goals and inside the intervals that it claims.
func TestCapabilityPredicts(t *testing.T) {
	catalog, findings, err := Open(os.DirFS("../data/snapshots"))
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	files, err := filepath.Glob("../data/models/*.json")
	datasettest.Must(t, err)
	models := make([]dataset.Model, len(files))
	for i, name := range files {
		b, err := os.ReadFile(name)
		datasettest.Must(t, err)
		datasettest.Must(t, json.Unmarshal(b, &models[i]))
	}
	goals := map[SourceID]float64{SourceA: 0.95, SourceB: 0.93, SourceC: 0.76}
	for _, id := range sourceIDs {
		var predicted, said []float64
		inside := 0
		for f := range folds {
			held := func(model dataset.Slug) []best.Evidence {
				return slices.DeleteFunc(slices.Clone(catalog.Evidence(model)), func(e best.Evidence) bool {
					return e.Source == string(id) && fold(string(model)) == f
				})
			}
			can := best.Capabilities(models, held)
			for i := range models {
				slug := models[i].Slug
				c, known := can[slug]
				at := slices.IndexFunc(catalog.Evidence(slug), func(e best.Evidence) bool { return e.Source == string(id) })
				if !known || at < 0 || fold(string(slug)) != f || len(held(slug)) == 0 {
					continue
				}
				e := catalog.Evidence(slug)[at]
				predicted, said = append(predicted, c.Score), append(said, e.Score)
				half := (c.Interval[1] - c.Interval[0]) / 2
				if d := e.Score - c.Score; d*d <= half*half+intervalZ*intervalZ*e.Variance {
					inside++
				}
			}
		}
		got, share := spearman(predicted, said), float64(inside)/float64(len(said))
		t.Logf("%s: %d models, rank correlation %.3f, %.1f %% inside the interval", id, len(said), got, 100*share)
		if got < goals[id] || share < 0.9 {
			t.Errorf("%s: rank correlation %.3f, inside the interval %.3f; want %.2f and 0.9", id, got, share, goals[id])
		}
	}
}
