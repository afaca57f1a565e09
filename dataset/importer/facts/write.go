package facts

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/record"
)

// An OverwriteError is returned by Import where it would change or remove files and was not
// told to.
type OverwriteError struct {
	Files []string // paths below the dataset, sorted
}

// Error names the first files and counts the rest.
func (e *OverwriteError) Error() string {
	const shown = 20
	text := fmt.Sprintf("%s would change or be removed; --overwrite allows it:\n  ", record.Counted(len(e.Files), "file"))
	text += strings.Join(e.Files[:min(shown, len(e.Files))], "\n  ")
	if more := len(e.Files) - shown; more > 0 {
		text += fmt.Sprintf("\n  and %d more", more)
	}
	return text
}

// write makes all files in memory, compares them with what is there, and only then changes
// anything.
func (im *importer) write(overwrite bool) error {
	im.report.Models, im.report.Hardware, im.report.Tools = len(im.models), len(im.hardware), len(im.tools)
	im.report.Benchmarks, im.report.Quantizations = len(im.benchmarks), len(im.quantizations)
	files := map[string][]byte{} // path below the dataset -> content
	err := errors.Join(
		recordFiles(files, "models", im.models, modelSlug),
		recordFiles(files, "hardware", im.hardware, hardwareSlug),
		recordFiles(files, "tools", im.tools, toolSlug),
		im.benchmarkFiles(files),
		im.quantizationsFile(files),
	)
	if err != nil {
		return err
	}
	old, err := im.changed(files)
	if err != nil {
		return err
	}
	if len(old) > 0 && !overwrite {
		return &OverwriteError{old}
	}
	for _, name := range old {
		if _, kept := files[name]; !kept {
			if err := os.Remove(filepath.Join(im.dst, filepath.FromSlash(name))); err != nil {
				return err
			}
		}
	}
	for name, b := range files {
		path := filepath.Join(im.dst, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// changed lists the files of the dataset that differ from those to write or are not among them.
func (im *importer) changed(files map[string][]byte) (out []string, err error) {
	names := []string{"quantizations.json"}
	for _, dir := range []string{"models", "hardware", "tools", "benchmarks"} {
		for _, pattern := range []string{"*.json", "*.ndjson"} {
			old, err := fs.Glob(os.DirFS(im.dst), dir+"/"+pattern)
			if err != nil {
				return nil, err
			}
			names = append(names, old...)
		}
	}
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(im.dst, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if now, kept := files[name]; !kept || !bytes.Equal(b, now) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// recordFiles adds one file per record.
func recordFiles[T any](files map[string][]byte, dir string, recs []T, slug func(*T) dataset.Slug) error {
	for i := range recs {
		name := dir + "/" + string(slug(&recs[i])) + ".json"
		b, err := dataset.File(name, &recs[i])
		if err != nil {
			return err
		}
		files[name] = b
	}
	return nil
}

// benchmarkFiles adds one file per year of the run date, oldest line first, so that new
// measurements are appended to the newest file.
func (im *importer) benchmarkFiles(files map[string][]byte) error {
	slices.SortFunc(im.benchmarks, func(a, b dataset.Benchmark) int {
		return cmp.Or(cmp.Compare(runDate(&a), runDate(&b)), cmp.Compare(a.ID, b.ID))
	})
	for i := range im.benchmarks {
		line, err := record.Line(&im.benchmarks[i])
		if err != nil {
			return err
		}
		name := "benchmarks/" + fileOf(&im.benchmarks[i])
		files[name] = append(append(files[name], line...), '\n')
	}
	return nil
}

func runDate(b *dataset.Benchmark) dataset.Date {
	if b.RunDate == nil {
		return ""
	}
	return *b.RunDate
}

// fileOf is the file of a benchmark.
func fileOf(b *dataset.Benchmark) string {
	if d := runDate(b); d.Valid() {
		return string(d[:len("2006")]) + ".ndjson"
	}
	return "undated.ndjson"
}

func (im *importer) quantizationsFile(files map[string][]byte) error {
	b, err := record.Pretty(im.quantizations)
	files["quantizations.json"] = b
	return err
}
