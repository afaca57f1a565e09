package facts

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"modeldex/dataset"
	"modeldex/dataset/record"
)

// merge adds what only the dataset has, and drops the benchmarks that name nothing known.
func (im *importer) merge() error {
	err := errors.Join(
		mergeFiles(im, "models", &im.models, modelSlug, carryModel),
		mergeFiles(im, "hardware", &im.hardware, hardwareSlug, carryNothing),
		mergeFiles(im, "tools", &im.tools, toolSlug, carryNothing),
		im.giveIDs(),
	)
	if err != nil {
		return err
	}
	im.leaveOut()
	return mergeFiles(im, "benchmarks", &im.benchmarks, benchmarkID, carryBenchmark)
}

func modelSlug(m *dataset.Model) dataset.Slug       { return m.Slug }
func hardwareSlug(h *dataset.Hardware) dataset.Slug { return h.Slug }
func toolSlug(t *dataset.Tool) dataset.Slug         { return t.Slug }
func benchmarkID(b *dataset.Benchmark) dataset.Slug { return b.ID }

// mergeFiles appends to the records of a table those that only the dataset has. Fields that no table has are
// copied from the record of the dataset by carry. Slugs become file names, so they are checked here already.
func mergeFiles[T any](im *importer, dir string, recs *[]T, slug func(*T) dataset.Slug, carry func(old, rec *T)) error {
	have := make(map[dataset.Slug]int, len(*recs))
	for i := range *recs {
		s := slug(&(*recs)[i])
		if _, twice := have[s]; twice || !s.Valid() {
			return fmt.Errorf("%s: slug %q is not valid or a duplicate", dir, s)
		}
		have[s] = i
	}
	old, err := existing[T](filepath.Join(im.dst, dir))
	if err != nil {
		return err
	}
	for i := range old {
		if j, ok := have[slug(&old[i])]; ok {
			carry(&old[i], &(*recs)[j])
			continue
		}
		*recs = append(*recs, old[i])
		im.report.Kept++
	}
	return nil
}

func carryNothing[T any](_, _ *T) {}

// carryModel keeps an effective size somebody added by hand, with its sources.
func carryModel(old, m *dataset.Model) {
	if m.EffectiveParamsB != nil || old.EffectiveParamsB == nil {
		return
	}
	m.EffectiveParamsB = old.EffectiveParamsB
	for _, s := range old.Sources {
		if slices.Contains(s.Fields, "effective_params_b") {
			m.Sources = append(m.Sources, s)
		}
	}
}

// carryBenchmark keeps a withdrawal and what somebody found out about the weights.
func carryBenchmark(old, b *dataset.Benchmark) {
	b.Withdrawn = cmp.Or(b.Withdrawn, old.Withdrawn)
	b.PartialOffload = cmp.Or(b.PartialOffload, old.PartialOffload)
	b.SizeIncludesProjector = cmp.Or(b.SizeIncludesProjector, old.SizeIncludesProjector)
}

// existing reads the records of a folder, none where there is no folder yet.
func existing[T any](folder string) (recs []T, err error) {
	files, err := fs.ReadDir(os.DirFS(folder), ".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, f := range files {
		path := filepath.Join(folder, f.Name())
		switch filepath.Ext(path) {
		case ".json":
			recs, err = appendFile(recs, path)
		case ".ndjson":
			recs, err = appendLines(recs, path)
		}
		if err != nil {
			return nil, err
		}
	}
	return recs, err
}

func appendFile[T any](recs []T, path string) ([]T, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var rec T
	name := filepath.Base(filepath.Dir(path)) + "/" + filepath.Base(path)
	if err := decode(dataset.WithoutSchema(name, b), &rec); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return append(recs, rec), nil
}

func appendLines[T any](recs []T, path string) ([]T, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	more, err := lines[T](path, b)
	return append(recs, more...), err
}

func (im *importer) giveIDs() error {
	for i := range im.benchmarks {
		b := &im.benchmarks[i]
		if b.ID != "" {
			continue
		}
		id, err := record.BenchmarkID(b)
		if err != nil {
			return err
		}
		b.ID = id
	}
	return nil
}

// leaveOut drops and counts the benchmarks that name something unknown.
func (im *importer) leaveOut() {
	known := map[string]bool{}
	for i := range im.models {
		known["model "+string(im.models[i].Slug)] = true
	}
	for i := range im.hardware {
		known["hardware "+string(im.hardware[i].Slug)] = true
	}
	for i := range im.tools {
		known["tool "+string(im.tools[i].Slug)] = true
	}
	kept := im.benchmarks[:0]
	for _, b := range im.benchmarks {
		missing := 0
		for _, name := range []string{"model " + string(b.Model), "hardware " + string(b.Hardware), "tool " + string(b.Tool)} {
			if !known[name] {
				im.report.LeftOut[name]++
				missing++
			}
		}
		if missing == 0 {
			kept = append(kept, b)
		} else {
			im.report.LeftOutBenchmarks++
		}
	}
	im.benchmarks = kept
}
