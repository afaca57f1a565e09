package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"modeldex/dataset/record"
)

type listing struct {
	fsys     fs.FS
	warn     bool // list warnings too
	files    []*file
	findings Findings
	missed   []string // the kinds of files and folders with records that cannot be read
}

// listFiles finds the files of a dataset, by path. It opens none: a named pipe would wait for ever.
func listFiles(fsys fs.FS, warn bool) (*listing, error) {
	if _, err := fs.Stat(fsys, "."); err != nil {
		return nil, fmt.Errorf("reading dataset: %w", err)
	}
	l := &listing{fsys: fsys, warn: warn}
	files, folders := Layout()
	for _, name := range files {
		st, err := fs.Stat(fsys, name)
		switch absent := errors.Is(err, fs.ErrNotExist) && !l.linked(name); {
		case !absent:
			l.addFile(name, st, err)
		case name != sourcesFile: // see checkCredits
			l.add(name, "the file is missing")
		}
	}
	for _, dir := range folders {
		l.addFolder(dir)
	}
	l.addStray(files, folders)
	if _, err := fs.Stat(fsys, ChangesDir); err == nil || l.linked(ChangesDir) {
		l.addFolder(ChangesDir)
	}
	slices.SortFunc(l.files, func(a, b *file) int { return strings.Compare(a.name, b.name) })
	for i, f := range l.files {
		f.number = int32(i)
	}
	return l, nil
}

func (l *listing) add(name, text string) {
	l.findings = append(l.findings, Finding{Path: name, Text: text})
}

func (l *listing) addWarning(name, text string) {
	if l.warn {
		l.findings = append(l.findings, Finding{Path: name, Severity: Warning, Text: text})
	}
}

// besideRecords are the folders of a dataset that this package does not read.
var besideRecords = []string{"snapshots", "schemas"}

// addStray warns of files at the root, and of folders, that look like records and are not read.
func (l *listing) addStray(files, folders []string) {
	if !l.warn {
		return
	}
	entries, _ := fs.ReadDir(l.fsys, ".") // what cannot be read has no names
	known := append(slices.Clone(folders), ChangesDir)
	for _, e := range entries {
		name, text := e.Name(), "is not read: a record belongs in the folder of its kind"
		switch {
		case strings.HasPrefix(name, "."): // editors and version control
			continue
		case !e.IsDir() && path.Ext(name) == ".json" && !slices.Contains(files, name) && name != acceptedFile:
		case e.IsDir() && !slices.Contains(known, name) && !slices.Contains(besideRecords, name) && l.hasRecords(name):
			if near := record.Near(name, known, 1); len(near) > 0 {
				text = fmt.Sprintf("is not read; did you mean %q?", near[0])
			}
		default:
			continue
		}
		l.addWarning(name, text)
	}
}

// leftover is the form of names that editors, merges and file managers leave beside a file.
var leftover = regexp.MustCompile(`(?i)(~|\.(orig|rej|bak|tmp|swp)|^thumbs\.db|^desktop\.ini)$`)

func (l *listing) hasRecords(dir string) bool {
	entries, _ := fs.ReadDir(l.fsys, dir)
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		ext := path.Ext(e.Name())
		return !e.IsDir() && (ext == ".json" || ext == ".ndjson")
	})
}

func (l *listing) linked(name string) bool {
	st, err := fs.Lstat(l.fsys, name)
	return err == nil && st.Mode()&fs.ModeSymlink != 0
}

func (l *listing) addFolder(dir string) {
	entries, err := fs.ReadDir(l.fsys, dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && dir == qualityDir:
	case errors.Is(err, fs.ErrNotExist):
		l.add(dir, "the folder is missing")
		l.missed = append(l.missed, dir)
	case err != nil:
		l.unreadable(dir, err)
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch ext := path.Ext(name); {
		case strings.HasPrefix(e.Name(), "."): // editors and version control
		case e.IsDir():
			l.add(name, "a record folder must contain only files, got a folder")
		case leftover.MatchString(e.Name()):
			l.addWarning(name, "is left over from an editor or another program and is not read: remove it")
		case ext == ".md":
		case dir == ChangesDir && !changesFile.MatchString(e.Name()):
			l.add(name, "must be named <year>.ndjson")
		case ext != ".json" && ext != ".ndjson":
			l.add(name, "must be a .json or .ndjson file")
		case dir == benchmarksDir && !benchmarksFile.MatchString(e.Name()):
			l.add(name, "must be named <year>.ndjson or undated.ndjson")
			l.missed = append(l.missed, dir) // not read: of a copy, the lines of the right file would seem to be the copies
		case e.Type().IsRegular():
			st, err := e.Info()
			l.addFile(name, st, err)
		default: // a link
			st, err := fs.Stat(l.fsys, name)
			l.addFile(name, st, err)
		}
	}
}

// addFile adds a file to the list if it is a regular one of a size that can be read; st and err describe it.
func (l *listing) addFile(name string, st fs.FileInfo, err error) {
	switch {
	case err != nil:
		l.unreadable(name, err)
		return
	case !st.Mode().IsRegular():
		l.add(name, "must be a regular file, got a "+cmp.Or(fileTypes[st.Mode().Type()&^fs.ModeCharDevice], "file of another kind"))
	case st.Size() > maxSize(name):
		l.add(name, fmt.Sprintf("%s, got %d", tooLarge(name), st.Size()>>20))
	default:
		l.files = append(l.files, &file{name: name, size: st.Size()})
		return
	}
	l.missed = append(l.missed, kindOf(name))
}

func (l *listing) unreadable(name string, err error) {
	l.findings = append(l.findings, unreadable(name, err))
	l.missed = append(l.missed, kindOf(name))
}

func unreadable(name string, err error) Finding {
	var in *fs.PathError
	if errors.As(err, &in) {
		err = in.Err // the path is in the message already
	}
	text := "cannot be read: " + err.Error()
	if errors.Is(err, errOutside) {
		text = err.Error()
	}
	return Finding{Path: name, Text: text, unreadable: true}
}

var fileTypes = map[fs.FileMode]string{
	fs.ModeDir: "folder", fs.ModeNamedPipe: "named pipe", fs.ModeSocket: "socket", fs.ModeDevice: "device",
}

// The folders of a dataset and the files at its root.
const (
	infoFile          = "dataset.json"
	quantizationsFile = "quantizations.json"
	sourcesFile       = "sources.json" // a dataset whose measurements name no source_key need not have it
	modelsDir         = "models"
	hardwareDir       = "hardware"
	toolsDir          = "tools"
	benchmarksDir     = "benchmarks"
	qualityDir        = "quality" // a dataset need not have it
	// ChangesDir is the folder of what past releases changed. A dataset need not have it, and it is
	// not part of the digest, because it has digests.
	ChangesDir = "changes"
)

// The largest files that are read. A larger one is a finding: the largest .json of the shipped
// data has 0.2 MB, and a million benchmarks in one .ndjson file have 0.9 GB.
const (
	maxJSON   = 32 << 20
	maxNDJSON = 2 << 30
)

func maxSize(name string) int64 {
	if path.Ext(name) == ".ndjson" {
		return maxNDJSON
	}
	return maxJSON
}

func tooLarge(name string) string {
	return fmt.Sprintf("the file must have at most %d MiB", maxSize(name)>>20)
}

// Layout returns the names of the files at the root of a dataset and of its record folders.
func Layout() (files, folders []string) {
	return []string{infoFile, quantizationsFile, sourcesFile}, []string{modelsDir, hardwareDir, toolsDir, benchmarksDir, qualityDir}
}

var changesFile = regexp.MustCompile(`^[0-9]{4}\.ndjson$`)

// benchmarksFile is a year, another number for a part of a generated dataset, or undated.
var benchmarksFile = regexp.MustCompile(`^([0-9]{4}|undated)\.ndjson$`)

// kindOf is the folder of a file, or the name of a file at the root.
func kindOf(name string) string {
	if dir := path.Dir(name); dir != "." {
		return dir
	}
	return name
}
