// Package facts turns tables of gathered facts (one JSON object per line: models, hardware,
// tools, benchmarks, and bits per weight of quantization types) into the files of a dataset.
//
// It only changes form. Field names, units and null rules survive; the few names that are
// changed are listed in renamed, with the reason. Fields the tables have no column for are filled
// from amendments.ndjson and from the notes of a benchmark, see amend. A benchmark whose model, hardware or tool neither
// a table nor the dataset has is left out and counted. Nothing is computed here but the id of a
// benchmark that has none.
//
// An import merges the tables into the dataset. Records of the tables are written again. Records that only the
// dataset has are kept, so that nothing that was published is lost. An import is for one caller at a time,
// reads and writes files only, and holds all tables in memory.
package facts

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/ndjson"
	"modeldex/dataset/record"

	jsonv2 "github.com/goccy/go-json/v2"
)

// Report says what an import did.
type Report struct {
	// Models, Hardware, Tools, Benchmarks and Quantizations count the records written.
	Models, Hardware, Tools, Benchmarks, Quantizations int
	// Kept counts records of the dataset that no table has.
	Kept int
	// LeftOutBenchmarks counts the benchmarks that were not written.
	LeftOutBenchmarks int
	// LeftOut counts benchmarks that name something unknown, by what they name, as in
	// "model phi-5"; one that names two unknown things counts for both.
	LeftOut map[string]int
}

// renamed are the words of the fact tables that would mislead or differ from the API's word;
// data/README.md says why.
var renamed = []struct{ from, to string }{
	{`"size_basis":`, `"basis":`},
	{`in models.ndjson`, `in this directory`},
}

// Import reads the fact tables in src and writes the record files of a dataset into dst. Tables beside a main
// one (hardware.owner.ndjson) are read after it; tables called *.left-out.ndjson are not read. dst/dataset.json
// is left alone. On an error of reading nothing is written, and the error names every line that cannot be read.
// If files of dst would change or be removed, and overwrite is false, nothing is written either and the error
// is an *OverwriteError. An empty or missing directory needs no permission.
func Import(src fs.FS, dst string, overwrite bool) (Report, error) {
	im := &importer{src: src, dst: dst, report: Report{LeftOut: map[string]int{}}}
	err := errors.Join(
		readTable(im, "models", &im.models),
		readTable(im, "hardware", &im.hardware),
		readTable(im, "tools", &im.tools),
		readTable(im, "benchmarks", &im.benchmarks),
		im.readQuantizations(),
	)
	if err == nil {
		err = errors.Join(im.amend(), im.merge())
	}
	if err != nil {
		return im.report, err
	}
	return im.report, im.write(overwrite)
}

type importer struct {
	src    fs.FS
	dst    string
	report Report

	models        []dataset.Model
	hardware      []dataset.Hardware
	tools         []dataset.Tool
	benchmarks    []dataset.Benchmark
	quantizations []dataset.QuantizationType
}

// readTable decodes every line of name.ndjson and name.*.ndjson strictly: a field the
// directory has no place for is an error rather than a loss.
func readTable[T any](im *importer, name string, out *[]T) error {
	files, err := fs.Glob(im.src, name+".*ndjson")
	if err != nil {
		return err
	}
	if !slices.Contains(files, name+".ndjson") {
		return fmt.Errorf("%s.ndjson: the table is missing", name)
	}
	var errs []error
	for _, file := range files {
		if strings.HasSuffix(file, ".left-out.ndjson") {
			continue
		}
		b, err := fs.ReadFile(im.src, file)
		if err != nil {
			return err
		}
		recs, err := lines[T](file, b)
		errs = append(errs, err)
		*out = append(*out, recs...)
	}
	return errors.Join(errs...)
}

// lines decodes the lines of a table.
func lines[T any](file string, b []byte) ([]T, error) {
	return ndjson.Decode(file, b, func(text []byte, rec *T) error {
		err := decode(text, rec)
		if p := (record.Problem{}); errors.As(err, &p) && p.Text == record.EndsInside {
			p.Text = record.LineEndsInside
			return p
		}
		return err
	})
}

func decode(line []byte, rec any) error {
	for _, r := range renamed {
		line = bytes.ReplaceAll(line, []byte(r.from), []byte(r.to))
	}
	if err := jsonv2.Unmarshal(line, rec, jsonv2.RejectUnknownMembers(true)); err != nil {
		return record.Explain(line, err)
	}
	return nil
}

func (im *importer) readQuantizations() error {
	b, err := fs.ReadFile(im.src, "quant_bpw.json")
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("quant_bpw.json: the table is missing")
	}
	if err != nil {
		return err
	}
	var table struct {
		About string                     `json:"about"`
		Types []dataset.QuantizationType `json:"types"`
	}
	if err := decode(b, &table); err != nil {
		return fmt.Errorf("quant_bpw.json: %w", err)
	}
	im.quantizations = table.Types
	return nil
}
