package diff

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/datasettest"
	"modeldex/dataset/record"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func loadFixture(t *testing.T, archive string, opt dataset.Options) *dataset.Set {
	t.Helper()
	fsys, _ := datasettest.Fixture(txtar.Parse([]byte(archive)))
	opt.Now = datasettest.Day
	set, err := dataset.Load(context.Background(), fsys, opt)
	datasettest.Must(t, err)
	return set
}

// after lays over the base dataset one change of every kind.
const after = `
-- dataset.json --
{"schema_version": 1, "version": "2", "released": "2026-01-02", "title": "fixture | @octocat", "licence": "CC-BY-SA-4.0"}
-- models/alpha-8b.json --
{
  "slug": "alpha-8b", "name": "Alpha 8B", "organization": "Alpha", "family": "alpha",
  "params_b": 8, "params_basis": "published", "modalities": ["text", "image"], "aliases": ["alpha:8b"],
  "architecture": {"type": "dense", "num_layers": 32},
  "quantizations": [{"name": "Q8_0", "format": "gguf", "size_bytes": 8000000000, "basis": "published", "source": "https://example.com/q8"}],
  "sources": [{"fields": ["params_b", "architecture"], "url": "https://example.com/alpha2"}]
}
-- models/beta-1b.json --
{"slug": "beta-1b", "name": "Beta", "organization": "Beta", "family": "beta", "modalities": ["text"], "aliases": [], "sources": []}
-- removed --
benchmarks/2026.ndjson
-- benchmarks/0001.ndjson --
{"id": "bm-1", "model": "alpha-8b", "model_raw": "Alpha", "quantization": "Q4_0", "hardware": "nvidia-card", "hardware_raw": "Card", "hardware_count": 1, "tool": "runner", "generation_tps": 50, "source": "community", "source_url": "https://example.com/1", "run_date": "2026-01-01", "date_basis": "run", "withdrawn": {"date": "2026-05-01", "reason": "a faulty driver"}}
{"id": "bm-2", "model": "beta-1b", "model_raw": "Beta", "hardware": "nvidia-card", "hardware_raw": "Card", "hardware_count": 1, "tool": "runner", "generation_tps": 90, "source": "owner"}
`

// TestCompareReport holds each form of each direction to a golden file.
func TestCompareReport(t *testing.T) {
	from, to := loadFixture(t, "", dataset.Options{}), loadFixture(t, after, dataset.Options{})
	for name, c := range map[string]*Changes{"forth": Compare(from, to), "back": Compare(to, from), "none": Compare(to, to)} {
		for _, form := range Forms {
			t.Run(name+"/"+form, func(t *testing.T) {
				var b bytes.Buffer
				datasettest.Must(t, c.Report(&b, form))
				golden := filepath.Join("testdata", name+"."+form)
				if *update {
					datasettest.PutFile(t, golden, b.String())
				}
				want, err := os.ReadFile(golden)
				datasettest.Must(t, err)
				if diff := cmp.Diff(string(want), b.String()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", golden, diff)
				}
			})
		}
	}
	if err := Compare(from, to).Report(&bytes.Buffer{}, "yaml"); err == nil || !strings.Contains(err.Error(), "text, json, markdown") {
		t.Errorf("Report in a form there is none of = %v", err)
	}
}

// TestCompareAlike: a set loaded after the other gives the changes that one loaded
// without gives, and so do sets no load made.
func TestCompareAlike(t *testing.T) {
	from := loadFixture(t, "", dataset.Options{})
	apart, near := loadFixture(t, after, dataset.Options{}), loadFixture(t, after, dataset.Options{Last: from})
	want := Compare(from, apart)
	if diff := cmp.Diff(want, Compare(from, near)); diff != "" {
		t.Errorf("with the older set at hand (-want +got):\n%s", diff)
	}
}

// TestCompareModel compares random changes of benchmarks with the changes that were made.
func TestCompareModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	set, err := dataset.Load(context.Background(), datasettest.Sample(t), dataset.Options{})
	datasettest.Must(t, err)
	for range datasettest.Rounds(5, 20) {
		next, want := *set, map[string]record.Act{}
		runs := values(set.Benchmarks)
		for i := len(runs) - 1; i >= 0; i-- {
			b := &runs[i]
			switch r.IntN(40) {
			case 0:
				want[string(b.ID)] = record.Removed
				runs = slices.Delete(runs, i, i+1)
			case 1:
				want[string(b.ID)] = record.Changed
				day := dataset.Date(fmt.Sprintf("20%02d-01-01", 10+r.IntN(10)))
				b.RunDate = &day
			case 2:
				want[string(b.ID)] = record.Changed
				b.HardwareCount += 100
			case 3:
				fresh := *b
				fresh.ID += "-copy"
				want[string(fresh.ID)] = record.Added
				runs = append(runs, fresh)
			case 4: // equal, not the same memory
				name := strings.Clone(b.HardwareRaw)
				b.HardwareRaw = name
				if b.RunDate != nil {
					day := *b.RunDate
					b.RunDate = &day
				}
			}
		}
		slices.SortFunc(runs, func(a, b dataset.Benchmark) int { return record.NewerRun(&a, &b) })
		next.Benchmarks = dataset.Pointers(runs)
		got := map[string]record.Act{}
		for _, rec := range Compare(set, &next).Records {
			got[rec.Slug] = rec.Change
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("changes (-made +found):\n%s", diff)
		}
	}
}

// TestMarkdownIsBounded: a comment with more changes than fit says how many it leaves out.
func TestMarkdownIsBounded(t *testing.T) {
	c := &Changes{}
	for i := range 10_000 {
		c.Records = append(c.Records, RecordChange{Table: "benchmarks", Slug: fmt.Sprint("bm-", i), Change: record.Added})
	}
	var b bytes.Buffer
	datasettest.Must(t, c.Report(&b, "markdown"))
	listed := strings.Count(b.String(), "- added ")
	if want := fmt.Sprintf("\n%d more records are left out here.\n", len(c.Records)-listed); b.Len() > 65_536 || listed == 0 || !strings.HasSuffix(b.String(), want) {
		t.Errorf("%d bytes, %d records listed, end %q, want %q", b.Len(), listed, b.String()[b.Len()-60:], want)
	}
}
