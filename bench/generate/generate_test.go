package generate

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"modeldex/dataset"
	"modeldex/dataset/datasettest"
)

func TestMain(m *testing.M) { datasettest.Main(m) }

// shipped is the dataset of this repository.
var shipped = os.DirFS("../../data")

// made writes a dataset and returns its files by name.
func made(t *testing.T, source fs.FS, opt Options) (dir string, files map[string]string) {
	t.Helper()
	dir = t.TempDir()
	size, err := Write(dir, source, opt)
	if err != nil {
		t.Fatalf("Write: %v", err)
	}
	files = map[string]string{}
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		files[name] = string(b)
		if strings.HasPrefix(name, "benchmarks/") {
			size -= int64(len(b))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if size != 0 {
		t.Errorf("Write returned %d bytes more than the files have", size)
	}
	return dir, files
}

func load(t *testing.T, dir string) *dataset.Set {
	t.Helper()
	set, err := dataset.Load(context.Background(), os.DirFS(dir), dataset.Options{})
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return set
}

// TestLoads: what is made loads clean, is in the order of files, and is cut into shards.
func TestLoads(t *testing.T) {
	tests := []struct {
		name   string
		opt    Options
		shards int
		least  int // bytes per line, on average
		most   int
	}{
		{"none", Options{Rows: 0}, 0, 0, 0},
		{"one", Options{Rows: 1, Seed: 9}, 1, 500, 2000},
		{"full", Options{Rows: 1500, Seed: 1}, 1, 1100, 1700},
		{"lean", Options{Rows: 3000, Seed: 2, Lean: true, shardLines: 2000}, 2, 380, 450},
	}
	source := datasettest.Sample(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, files := made(t, source, tt.opt)
			set := load(t, dir)
			if set.Benchmarks.Len() != tt.opt.Rows {
				t.Errorf("%d benchmarks, want %d", set.Benchmarks.Len(), tt.opt.Rows)
			}
			shards, size := 0, 0
			for name, text := range files {
				if strings.HasPrefix(name, "benchmarks/") {
					shards, size = shards+1, size+len(text)
				}
			}
			if shards != tt.shards {
				t.Errorf("%d shards, want %d", shards, tt.shards)
			}
			if rows := tt.opt.Rows; size < tt.least*rows || size > tt.most*rows {
				t.Errorf("%d bytes a line, want %d to %d", size/max(1, rows), tt.least, tt.most)
			}
			checkOrder(t, files)
		})
	}
}

func checkOrder(t *testing.T, files map[string]string) {
	t.Helper()
	var names []string
	for name := range files {
		if strings.HasPrefix(name, "benchmarks/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	last := [2]string{}
	for _, name := range names {
		for line := range strings.Lines(files[name]) {
			at := [2]string{value(line, "run_date"), value(line, "id")}
			if slices.Compare(last[:], at[:]) >= 0 {
				t.Fatalf("%s: %q stands behind %q", name, at, last)
			}
			last = at
		}
	}
}

// value is the text of a member of a line, empty where it is null or left out.
func value(line, member string) string {
	_, rest, _ := strings.Cut(line, `"`+member+`":"`)
	text, _, _ := strings.Cut(rest, `"`)
	return text
}

// TestSeed: equal seeds give equal files, others others.
func TestSeed(t *testing.T) {
	opt := Options{Rows: 500, Seed: 7}
	source := datasettest.Sample(t)
	_, first := made(t, source, opt)
	_, again := made(t, source, opt)
	if diff := gocmp.Diff(first, again); diff != "" {
		t.Errorf("two runs with seed 7 (-first +second):\n%s", diff)
	}
	opt.Seed = 8
	_, other := made(t, source, opt)
	if first["benchmarks/0001.ndjson"] == other["benchmarks/0001.ndjson"] {
		t.Error("seeds 7 and 8 give the same benchmarks")
	}
	want, err := fs.ReadFile(shipped, "quantizations.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, []byte(first["quantizations.json"])) {
		t.Error("quantizations.json differs from that of the source")
	}
}

// TestLikeness holds what is made to what it was made from: what is popular stays so, what is
// unknown stays unknown about as often, and every filter keeps its values.
func TestLikeness(t *testing.T) {
	datasettest.NeedLong(t, "it makes 20,000 records, without which shares say little")
	source, err := dataset.Load(context.Background(), shipped, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir, _ := made(t, shipped, Options{Rows: 20_000, Seed: 3})
	got, want := load(t, dir).Benchmarks.All(), source.Benchmarks.All()
	first, models, hardware := top(want, modelOf, 1), top(want, modelOf, 10), top(want, hardwareOf, 10)
	shares := []struct {
		name string
		of   func(b *dataset.Benchmark) bool
	}{
		{"generation_tps known", func(b *dataset.Benchmark) bool { return b.GenerationTPS != nil }},
		{"prompt_tps known", func(b *dataset.Benchmark) bool { return b.PromptTPS != nil }},
		{"quantization known", func(b *dataset.Benchmark) bool { return b.Quantization != nil }},
		{"run_date known", func(b *dataset.Benchmark) bool { return b.RunDate != nil }},
		{"source owner", func(b *dataset.Benchmark) bool { return b.Source == dataset.Owner }},
		{"backend cuda", func(b *dataset.Benchmark) bool { return b.Backend != nil && *b.Backend == "cuda" }},
		{"top model", func(b *dataset.Benchmark) bool { return b.Model == first[0] }},
		{"top ten models", func(b *dataset.Benchmark) bool { return slices.Contains(models, b.Model) }},
		{"top ten hardware", func(b *dataset.Benchmark) bool { return slices.Contains(hardware, b.Hardware) }},
	}
	for _, tt := range shares {
		is, was := share(got, tt.of), share(want, tt.of)
		if was == 0 || is < 0.75*was-0.01 || is > 1.25*was+0.01 {
			t.Errorf("%s: %.3f of the made, %.3f of the real", tt.name, is, was)
		}
	}
	if n := len(top(got, modelOf, 1<<30)); n < len(source.Models)*9/10 {
		t.Errorf("%d of %d models have benchmarks, want nearly all", n, len(source.Models))
	}
}

func modelOf(b *dataset.Benchmark) dataset.Slug    { return b.Model }
func hardwareOf(b *dataset.Benchmark) dataset.Slug { return b.Hardware }

func share(all []dataset.Benchmark, of func(*dataset.Benchmark) bool) float64 {
	n := 0
	for i := range all {
		if of(&all[i]) {
			n++
		}
	}
	return float64(n) / float64(len(all))
}

// top lists the n most frequent slugs, most frequent first.
func top(all []dataset.Benchmark, of func(*dataset.Benchmark) dataset.Slug, n int) []dataset.Slug {
	counts := map[dataset.Slug]int{}
	for i := range all {
		counts[of(&all[i])]++
	}
	var slugs []dataset.Slug
	for s := range counts {
		slugs = append(slugs, s)
	}
	slices.SortFunc(slugs, func(a, b dataset.Slug) int { return cmp.Or(-cmp.Compare(counts[a], counts[b]), cmp.Compare(a, b)) })
	return slugs[:min(n, len(slugs))]
}

func TestWriteRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(dir, shipped, Options{Rows: 1}); err == nil || !strings.Contains(err.Error(), "must be empty, has mine.txt") {
		t.Errorf("Write into a full directory = %v, want a refusal", err)
	}
	if _, err := Write(t.TempDir(), os.DirFS(t.TempDir()), Options{Rows: 1}); err == nil {
		t.Error("Write from an empty source = nil, want an error")
	}
}

// TestIDs: numbers that must differ do, over more than one cycle of the low bits.
func TestIDs(t *testing.T) {
	m := &maker{opt: Options{Seed: 5}}
	seen := make(map[uint64]int, 300_000)
	for i := range 300_000 {
		id := m.id(i)
		if other, ok := seen[id]; ok || id >= 1<<48 {
			t.Fatalf("id(%d) = %x, as of %d", i, id, other)
		}
		seen[id] = i
	}
}
