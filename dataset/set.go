package dataset

import (
	"encoding/hex"
	"slices"

	"modeldex/dataset/history"
	"modeldex/dataset/record"
)

// Digest is the SHA-256 of everything a load read but the folder changes: equal digests mean equal records.
type Digest [32]byte

// String gives the digest in lower-case hex.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Set is all records of one load, checked, each table in default order: by slug, benchmarks
// by run date, newest first and unknown last, then by id. It is not changed after Load.
type Set struct {
	Info       Info
	Digest     Digest
	Models     []Model
	Hardware   []Hardware
	Tools      []Tool
	Benchmarks []*Benchmark
	// Quantizations are the known ways of storing weights, by place in their file.
	Quantizations []QuantizationType
	// Quality is what is published of the quality of quantizations, by id.
	Quality []Quality
	// Origins are the repositories and sites that facts were read from, by key: sources.json.
	Origins []Origin

	// Releases is what past releases changed. It is not part of the digest.
	Releases *history.Log

	source *source // nil in a set no load made
}

// LoadedFile is one file that a load read.
type LoadedFile struct {
	Name   string // in the dataset, with slashes
	Size   int64  // in bytes
	Digest Digest // SHA-256 of its bytes
}

// Files lists the files of the records, by name; nil for a set no load made. The digest is made of them.
func (s *Set) Files() []LoadedFile {
	if s.source == nil {
		return nil
	}
	out := make([]LoadedFile, 0, len(s.source.files))
	for _, f := range s.source.files {
		if kindOf(f.name) != ChangesDir { // it may change while the records stay
			out = append(out, LoadedFile{f.name, f.size, f.digest})
		}
	}
	return out
}

// Written returns the models as their files have them, without what is computed. The caller must not change them.
func (s *Set) Written() []Model {
	if s.source == nil {
		return s.Models
	}
	return values(s.source.models.recs)
}

func values[T any](recs []*T) []T {
	out := make([]T, len(recs))
	for i, r := range recs {
		out[i] = *r
	}
	return out
}

// place is where a record begins: file by number, line from 1, byte of that line from 0.
type place struct{ file, line, col int32 }

type table[T any] struct {
	recs   []*T
	places []place // by record
	lost   []lost
}

// lost is a record that could not be read. References to it are not faults, so its slug counts as known.
type lost struct {
	at   place
	slug Slug // empty if it could not be read either: then no name of the kind can be called unknown
}

func (t *table[T]) add(rec *T, at place) {
	t.recs, t.places = append(t.recs, rec), append(t.places, at)
}

func (t *table[T]) append(more recordTable) {
	o := more.(*table[T])
	t.recs, t.places, t.lost = append(t.recs, o.recs...), append(t.places, o.places...), append(t.lost, o.lost...)
}

func (t *table[T]) lose(l lost) { t.lost = append(t.lost, l) }

func (t *table[T]) gap() bool {
	return slices.ContainsFunc(t.lost, func(r lost) bool { return r.slug == "" })
}

func (t *table[T]) all(visit func(rec *T, at place)) {
	for i, rec := range t.recs {
		visit(rec, t.places[i])
	}
}

type tables struct {
	info          table[Info]
	quantizations table[QuantizationType]
	origins       table[Origin]
	models        table[Model]
	hardware      table[Hardware]
	tools         table[Tool]
	benchmarks    table[Benchmark]
	quality       table[Quality]
	changes       table[record.ChangeLine]
}

var kinds = []string{
	infoFile, quantizationsFile, sourcesFile, modelsDir, hardwareDir, toolsDir, benchmarksDir, qualityDir, ChangesDir,
}

func (t *tables) tableOf(kind string) recordTable {
	switch kind {
	case infoFile:
		return &t.info
	case quantizationsFile:
		return &t.quantizations
	case sourcesFile:
		return &t.origins
	case modelsDir:
		return &t.models
	case hardwareDir:
		return &t.hardware
	case toolsDir:
		return &t.tools
	case qualityDir:
		return &t.quality
	case ChangesDir:
		return &t.changes
	default:
		return &t.benchmarks
	}
}

type recordTable interface {
	// decode reads the record that begins at.col bytes into text, which begins with its line.
	decode(f *file, at place, text []byte)
	// lose notes a record that could not be read.
	lose(lost)
	// append adds the records of a table of the same kind.
	append(recordTable)
	// format writes the records in their order and form.
	format(f *file) ([]byte, error)
	// keys are those of the records, see keyOf.
	keys() []string
}

// keyOf is the slug of a record, or what other kinds have in its place; empty for dataset.json and lines of changes.
func keyOf(rec any) string {
	switch rec := rec.(type) {
	case *Model:
		return string(rec.Slug)
	case *Hardware:
		return string(rec.Slug)
	case *Tool:
		return string(rec.Slug)
	case *Benchmark:
		return string(rec.ID)
	case *Quality:
		return string(rec.ID)
	case *Origin:
		return rec.Key
	case *QuantizationType:
		return rec.Name
	}
	return ""
}

func (t *table[T]) keys() []string {
	out := make([]string, len(t.recs))
	for i, rec := range t.recs {
		out[i] = keyOf(rec)
	}
	return out
}

func (t *table[T]) decode(f *file, at place, text []byte) {
	rec, b := new(T), text[at.col:]
	problems := decodeRecord(b, rec)
	switch {
	case problems == nil:
		f.shared.Share(rec)
	default:
		f.fault(at, text, problems)
		if !record.Salvage(b, rec) {
			t.lose(lost{at, f.slugOf(b)})
			return
		}
	}
	t.add(rec, at)
}

func decodeRecord[T any](b []byte, rec *T) []record.Problem {
	if line, ok := any(rec).(*record.ChangeLine); ok {
		return record.DecodeChange(b, line)
	}
	return record.Decode(b, rec)
}
