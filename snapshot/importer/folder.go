// Package importer reads captured evaluation tables and runs a build over a folder.
//
// A folder has build.json, aliases.ndjson, directory.ndjson and the captured files, as data/snapshots: all that a build
// depends on, so that a fresh clone gives the bytes of the published document. A captured file is NDJSON, one snapshot.Row
// per line, whose further members are ignored; one whose name ends in .gz is unpacked. The package fetches nothing. The
// readers of boards.go turn a downloaded table of three publishers into rows. Functions share nothing.
package importer

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	jsonv2 "github.com/goccy/go-json/v2"

	"modeldex/dataset"
	"modeldex/dataset/ndjson"
	"modeldex/dataset/record"
	"modeldex/dataset/wholefile"
	"modeldex/snapshot"
)

// The files of a folder.
const (
	configFile    = "build.json"
	aliasesFile   = "aliases.ndjson"
	directoryFile = "directory.ndjson"
)

type config struct {
	snapshot.Config
	Captures map[snapshot.SourceID]captureConfig `json:"captures"`
}

type captureConfig struct {
	Files         []string `json:"files"`               // paths or patterns in the folder, of NDJSON rows
	TotalReported int64    `json:"total_rows_reported"` // how many table rows the source says it has
}

// Options are the parameters of a build that are not in the folder.
type Options struct {
	GeneratedAt time.Time
	BaseURL     string           // replaces base_url of build.json when not empty
	Directory   []snapshot.Entry // replaces directory.ndjson when not nil
	Dir         string           // path of the folder, which errors put before the names of its files; empty for none
}

type folder struct {
	fs.FS
	dir string
}

func (f folder) place(name string) string { return path.Join(f.dir, name) }

// Build reads the folder and builds the document. Errors name the file, or are those of snapshot.Build.
func Build(ctx context.Context, files fs.FS, opt Options) ([]byte, snapshot.Report, error) {
	in, err := Load(files, opt)
	if err != nil {
		return nil, snapshot.Report{}, err
	}
	return snapshot.Build(ctx, in)
}

// Load reads everything a build depends on. All unreadable files are reported together.
func Load(files fs.FS, opt Options) (snapshot.Inputs, error) {
	var in snapshot.Inputs
	folder := folder{files, opt.Dir}
	b, err := readFile(folder, configFile)
	if err != nil {
		return in, err
	}
	var cfg config
	if err := jsonv2.Unmarshal(b, &cfg, jsonv2.RejectUnknownMembers(true)); err != nil {
		found := record.Explain(b, err)
		line := 1 + bytes.Count(b[:min(found.Offset, len(b))], []byte{'\n'})
		return in, fmt.Errorf("%s:%d: %w", folder.place(configFile), line, found)
	}
	in.Config, in.GeneratedAt = cfg.Config, opt.GeneratedAt
	if opt.BaseURL != "" {
		in.Config.BaseURL = opt.BaseURL
	}
	var errs []error
	if in.Aliases, err = readLines[snapshot.Alias](folder, aliasesFile); err != nil {
		errs = append(errs, err)
	}
	if err := loadDirectory(folder, opt, &in); err != nil {
		errs = append(errs, err)
	}
	in.Captures = map[snapshot.SourceID]snapshot.Capture{}
	for i := range in.Config.Sources {
		s := &in.Config.Sources[i]
		if in.Captures[s.SourceID], err = capture(folder, cfg.Captures[s.SourceID]); err != nil {
			errs = append(errs, err)
		}
	}
	return in, errors.Join(errs...)
}

// loadDirectory sets the resolver. directory.ndjson must exist, for no name matches without it, and may be empty.
func loadDirectory(folder folder, opt Options, in *snapshot.Inputs) error {
	entries := opt.Directory
	if entries == nil {
		var err error
		entries, err = readLines[snapshot.Entry](folder, directoryFile)
		if errors.Is(err, errMissing) {
			return fmt.Errorf("%s: does not exist; restore it, or make it with snapshot build --models data", folder.place(directoryFile))
		}
		if err != nil {
			return err
		}
	}
	digest, err := snapshot.Digest(entries)
	if err != nil {
		return fmt.Errorf("%s: %w", folder.place(directoryFile), err)
	}
	in.Directory = snapshot.NewDirectory(entries)
	in.From = []string{fmt.Sprintf("directory: %d models, sha256 of the sorted lines %s", len(entries), digest)}
	return nil
}

// WriteLines writes values as NDJSON.
func WriteLines[T any](w io.Writer, values []T) error {
	for _, v := range values {
		b, err := jsonv2.Marshal(v)
		if err != nil {
			return err
		}
		if _, err := w.Write(append(b, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func capture(folder folder, cfg captureConfig) (snapshot.Capture, error) {
	var files []string
	for _, p := range cfg.Files {
		found, err := fs.Glob(folder, p)
		if err != nil {
			return snapshot.Capture{}, fmt.Errorf("%q: %w", p, err)
		}
		if len(found) == 0 {
			return snapshot.Capture{}, fmt.Errorf("%s: does not exist", folder.place(p))
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return snapshot.Capture{}, fmt.Errorf("%s: captures: files must not be empty", folder.place(configFile))
	}
	slices.Sort(files)
	files = slices.Compact(files)
	c := snapshot.Capture{TotalReported: cfg.TotalReported, From: "neutral rows of " + strings.Join(files, ", ")}
	var errs []error
	for _, name := range files {
		b, err := readFile(folder, name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		rows, err := decodeRows(folder.place(name), b)
		if err != nil {
			errs = append(errs, err)
		}
		c.Rows = append(c.Rows, rows...)
	}
	return c, errors.Join(errs...)
}

// decodeRows decodes rows, which may have more members than a Row; name goes into errors as name:line.
func decodeRows(name string, b []byte) ([]snapshot.Row, error) {
	return ndjson.Decode(name, b, func(line int, text []byte, r *snapshot.Row) error {
		r.At = fmt.Sprintf("%s:%d", name, line)
		if err := unmarshalLine(text, r); err != nil {
			return err
		}
		for _, member := range []struct {
			name  string
			given bool
		}{
			{"source", r.Source != ""},
			{"config", r.Config != ""},
			{"split", r.Split != ""},
			{"row", r.Row > 0},
			{"model_raw", r.ModelRaw != ""},
			{"metric", r.Metric != ""},
		} {
			if !member.given {
				return fmt.Errorf("%s: must be given", member.name)
			}
		}
		return nil
	})
}

var errMissing = errors.New("does not exist")

func readFile(folder folder, name string) (b []byte, err error) {
	defer func() {
		var at *fs.PathError
		switch {
		case err == nil:
			return
		case errors.Is(err, fs.ErrNotExist):
			err = errMissing
		case errors.Is(err, syscall.EISDIR):
			err = errors.New("must be a file, got a directory")
		case errors.As(err, &at):
			err = at.Err
		}
		err = fmt.Errorf("%s: %w", folder.place(name), err)
	}()
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	var r io.Reader = f
	if path.Ext(name) == ".gz" {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, errors.New("is not gzip; pack it with gzip -n")
		}
	}
	b, err = io.ReadAll(r)
	if errors.Is(err, io.ErrUnexpectedEOF) { // of a packed file
		err = errors.New("is cut short")
	}
	return b, err
}

func unmarshal(b []byte, v any) error {
	if err := jsonv2.Unmarshal(b, v); err != nil {
		return record.Explain(b, err)
	}
	return nil
}

func unmarshalLine(b []byte, v any, opts ...jsonv2.Options) error {
	if err := jsonv2.Unmarshal(b, v, opts...); err != nil {
		return record.ExplainLine(b, err)
	}
	return nil
}

func readLines[T any](folder folder, name string) ([]T, error) {
	b, err := readFile(folder, name)
	if err != nil {
		return nil, err
	}
	return ndjson.Decode(folder.place(name), b, func(_ int, text []byte, v *T) error {
		return unmarshalLine(text, v, jsonv2.RejectUnknownMembers(true))
	})
}

// DirectoryOf gives the models of a dataset as a snapshot needs them. All have published weights, so each is open.
func DirectoryOf(models []dataset.Model) []snapshot.Entry {
	open := snapshot.OpenWeights
	entries := make([]snapshot.Entry, len(models))
	for i := range models {
		m := &models[i]
		e := snapshot.Entry{Slug: string(m.Slug), Name: m.Name, Aliases: m.Aliases}
		if m.HFRepo != nil {
			e.HFRepo = *m.HFRepo
		}
		e.Provider, e.Openness, e.License, e.ParameterBillions = &m.Organization, &open, m.License, m.ParamsB
		if n := m.Architecture.ContextLength; n != nil {
			window := float64(*n)
			e.ContextWindow = &window
		}
		for _, modality := range m.Modalities {
			e.Modalities = append(e.Modalities, string(modality))
		}
		entries[i] = e
	}
	return entries
}

// FreezeDirectory writes directory.ndjson into a folder, sorted by slug, so that a build can be repeated.
func FreezeDirectory(folder string, entries []snapshot.Entry) error {
	sorted := slices.SortedFunc(slices.Values(entries), func(a, b snapshot.Entry) int { return strings.Compare(a.Slug, b.Slug) })
	return wholefile.Write(filepath.Join(folder, directoryFile), func(w io.Writer) error { return WriteLines(w, sorted) })
}
