package facts

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"modeldex/dataset"
)

func (im *importer) write() error {
	im.report.Models, im.report.Hardware, im.report.Tools = len(im.models), len(im.hardware), len(im.tools)
	im.report.Benchmarks, im.report.Quantizations = len(im.benchmarks), len(im.quantizations)
	return errors.Join(
		writeFiles(im.dst, "models", im.models, modelSlug),
		writeFiles(im.dst, "hardware", im.hardware, hardwareSlug),
		writeFiles(im.dst, "tools", im.tools, toolSlug),
		im.writeBenchmarks(),
		im.writeQuantizations(),
	)
}

// writeFiles writes one file a record.
func writeFiles[T any](dst, dir string, recs []T, slug func(*T) dataset.Slug) error {
	folder := filepath.Join(dst, dir)
	if err := empty(folder); err != nil {
		return err
	}
	for i := range recs {
		name := string(slug(&recs[i])) + ".json"
		b, err := dataset.File(dir+"/"+name, &recs[i])
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// empty makes a folder and takes the record files out of it: all their records are in hand and
// will be written again, each to its own place.
func empty(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, pattern := range []string{"*.json", "*.ndjson"} {
		old, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return err
		}
		for _, name := range old {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeBenchmarks writes one file a year of the run date, oldest line first, so that new
// measurements are appended to the newest file.
func (im *importer) writeBenchmarks() error {
	folder := filepath.Join(im.dst, "benchmarks")
	if err := empty(folder); err != nil {
		return err
	}
	slices.SortFunc(im.benchmarks, func(a, b dataset.Benchmark) int {
		return cmp.Or(cmp.Compare(runDate(&a), runDate(&b)), cmp.Compare(a.ID, b.ID))
	})
	files := map[string]*bytes.Buffer{}
	for i := range im.benchmarks {
		line, err := dataset.Line(&im.benchmarks[i])
		if err != nil {
			return err
		}
		name := fileOf(&im.benchmarks[i])
		if files[name] == nil {
			files[name] = &bytes.Buffer{}
		}
		files[name].Write(append(line, '\n'))
	}
	for name, buf := range files {
		if err := os.WriteFile(filepath.Join(folder, name), buf.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func runDate(b *dataset.Benchmark) dataset.Date {
	if b.RunDate == nil {
		return ""
	}
	return *b.RunDate
}

// fileOf is the file a benchmark stands in.
func fileOf(b *dataset.Benchmark) string {
	if d := runDate(b); d.Valid() {
		return string(d[:len("2006")]) + ".ndjson"
	}
	return "undated.ndjson"
}

func (im *importer) writeQuantizations() error {
	b, err := dataset.Pretty(im.quantizations)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(im.dst, "quantizations.json"), b, 0o644)
}
