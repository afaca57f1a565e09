package importer

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	jsonv2 "github.com/goccy/go-json/v2"

	"modeldex/dataset/ndjson"
	"modeldex/snapshot"
)

// The files of a folder.
const (
	ConfigFile    = "build.json"
	AliasesFile   = "aliases.ndjson"
	DirectoryFile = "directory.ndjson"
)

// MaxFileBytes is the largest captured file read, after unpacking: a packed file of a few
// kilobytes can unpack to more than the memory.
const MaxFileBytes = 256 << 20

// config is build.json: the configuration of the build and where the captures are.
type config struct {
	snapshot.Config
	Captures map[snapshot.SourceID]captureConfig `json:"captures"`
}

type captureConfig struct {
	Form  string   `json:"form"`  // neutral or viewer
	Files []string `json:"files"` // paths or patterns in the folder; viewer: pages of /rows
	// TotalReported is how many table rows the source says it has; the viewer says it itself.
	TotalReported int64   `json:"total_rows_reported,omitempty"`
	Viewer        *Viewer `json:"viewer,omitempty"`
}

// Options are the parameters of a build that are not in the folder.
type Options struct {
	GeneratedAt time.Time
	BaseURL     string           // replaces base_url of build.json when not empty
	Directory   []snapshot.Entry // replaces directory.ndjson when not nil
}

// Build reads the folder and builds the document: all that `snapshot build` does.
// Errors name the file, or are those of snapshot.Build.
func Build(ctx context.Context, folder fs.FS, opt Options) ([]byte, snapshot.Report, error) {
	in, err := Load(folder, opt)
	if err != nil {
		return nil, snapshot.Report{}, err
	}
	return snapshot.Build(ctx, in)
}

// Load reads everything a build depends on. All unreadable files are reported together.
func Load(folder fs.FS, opt Options) (snapshot.Inputs, error) {
	var in snapshot.Inputs
	cfg, err := readConfig(folder)
	if err != nil {
		return in, err
	}
	in.Config, in.GeneratedAt = cfg.Config, opt.GeneratedAt
	if opt.BaseURL != "" {
		in.Config.BaseURL = opt.BaseURL
	}
	var errs []error
	if in.Aliases, err = readLines[snapshot.Alias](folder, AliasesFile); err != nil {
		errs = append(errs, err)
	}
	if err := loadDirectory(folder, opt, &in); err != nil {
		errs = append(errs, err)
	}
	in.Captures = map[snapshot.SourceID]snapshot.Capture{}
	for i := range in.Config.Sources {
		s := &in.Config.Sources[i]
		if in.Captures[s.SourceID], err = capture(folder, s, cfg.Captures[s.SourceID]); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.SourceID, err))
		}
	}
	return in, errors.Join(errs...)
}

func readConfig(folder fs.FS) (config, error) {
	var cfg config
	b, err := readFile(folder, ConfigFile)
	if err != nil {
		return cfg, err
	}
	if err := jsonv2.Unmarshal(b, &cfg, jsonv2.RejectUnknownMembers(true)); err != nil {
		return config{}, fmt.Errorf("%s: %w", ConfigFile, err)
	}
	return cfg, nil
}

// loadDirectory sets the resolver. A folder must have directory.ndjson, because without it no name would be matched; it
// may be empty.
func loadDirectory(folder fs.FS, opt Options, in *snapshot.Inputs) error {
	entries := opt.Directory
	if entries == nil {
		var err error
		entries, err = readLines[snapshot.Entry](folder, DirectoryFile)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: does not exist; restore it, or make it with snapshot build --models data", DirectoryFile)
		}
		if err != nil {
			return err
		}
	}
	digest, err := snapshot.Digest(entries)
	if err != nil {
		return fmt.Errorf("%s: %w", DirectoryFile, err)
	}
	d := snapshot.NewDirectory(entries)
	in.Resolve, in.Facts = d.Resolve, d.Facts
	in.From = []string{fmt.Sprintf("directory: %d models, sha256 of the sorted lines %s", len(entries), digest)}
	return nil
}

// WriteDirectory writes entries as directory.ndjson, sorted by slug: the directory as of a
// build, frozen beside its other inputs.
func WriteDirectory(w io.Writer, entries []snapshot.Entry) error {
	sorted := slices.Clone(entries)
	slices.SortFunc(sorted, func(a, b snapshot.Entry) int { return strings.Compare(a.Slug, b.Slug) })
	for _, e := range sorted {
		b, err := jsonv2.Marshal(e)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Slug, err)
		}
		if _, err := w.Write(append(b, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// capture reads the rows of one source in the form its configuration names.
func capture(folder fs.FS, s *snapshot.SourceConfig, c captureConfig) (snapshot.Capture, error) {
	files, err := expand(folder, c.Files)
	if err != nil {
		return snapshot.Capture{}, err
	}
	switch c.Form {
	case "neutral":
		return neutral(folder, files, c.TotalReported)
	case "viewer":
		return viewer(folder, files, s, c.Viewer)
	}
	return snapshot.Capture{}, fmt.Errorf("%s: captures: form must be neutral or viewer, got %q", ConfigFile, c.Form)
}

// expand finds the files of the patterns, sorted, each once.
func expand(folder fs.FS, patterns []string) ([]string, error) {
	var files []string
	for _, p := range patterns {
		found, err := fs.Glob(folder, p)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", p, err)
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%q: no such file", p)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: captures: files must not be empty", ConfigFile)
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// readFile reads a file of the folder and unpacks it when its name ends in .gz.
func readFile(folder fs.FS, name string) ([]byte, error) {
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	var r io.Reader = f
	if path.Ext(name) == ".gz" {
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r = z
	}
	b, err := io.ReadAll(io.LimitReader(r, MaxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(b) > MaxFileBytes {
		return nil, fmt.Errorf("%s: must be at most %d bytes", name, MaxFileBytes)
	}
	return b, nil
}

// readLines decodes NDJSON strictly.
func readLines[T any](folder fs.FS, name string) ([]T, error) {
	b, err := readFile(folder, name)
	if err != nil {
		return nil, err
	}
	return decodeLines[T](name, b, jsonv2.RejectUnknownMembers(true))
}

// decodeLines decodes each line into a fresh value.
func decodeLines[T any](name string, b []byte, opts ...jsonv2.Options) ([]T, error) {
	return ndjson.Decode(name, b, func(text []byte, v *T) error { return jsonv2.Unmarshal(text, v, opts...) })
}
