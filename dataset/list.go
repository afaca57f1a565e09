package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"modeldex/dataset/record"
)

// list finds the files of the dataset, in order of path, and adds up their sizes. What is not a
// regular file is a finding and is never opened: opening a named pipe waits for ever, and a
// device has no end.
func (l *loader) list() error {
	if _, err := fs.Stat(l.fsys, "."); err != nil {
		return fmt.Errorf("reading dataset: %w", err)
	}
	files, folders := Layout()
	for _, name := range files {
		if st, err := fs.Stat(l.fsys, name); errors.Is(err, fs.ErrNotExist) && !l.linked(name) {
			if name == sourcesFile {
				continue // see checkCredits
			}
			l.add(Finding{Path: name, Text: "the file is missing"})
		} else {
			l.addFile(name, st, err)
		}
	}
	for _, dir := range folders {
		l.listDir(dir)
	}
	l.listStray(files, folders)
	if _, err := fs.Stat(l.fsys, ChangesDir); err == nil || l.linked(ChangesDir) {
		l.listDir(ChangesDir)
	}
	slices.SortFunc(l.listed, func(a, b listedFile) int { return strings.Compare(a.name, b.name) })
	l.files, l.sizes = make([]string, len(l.listed)), make([]int64, len(l.listed))
	for i, f := range l.listed {
		l.files[i], l.sizes[i] = f.name, f.size
		l.total += f.size
	}
	l.listed = nil
	return nil
}

// besideRecords are the folders of a dataset that this package does not read.
var besideRecords = []string{"snapshots", "schemas"}

// listStray warns of files at the root, and of folders, that look like records and are not read.
func (l *loader) listStray(files, folders []string) {
	if !l.warn {
		return
	}
	entries, _ := fs.ReadDir(l.fsys, ".") // what cannot be read has no names
	known := append(slices.Clone(folders), ChangesDir)
	for _, e := range entries {
		name := e.Name()
		switch {
		case strings.HasPrefix(name, "."): // editors and version control
		case !e.IsDir() && path.Ext(name) == ".json" && !slices.Contains(files, name):
			l.add(Finding{Path: name, Severity: Warning, Text: "is not read: a record belongs into the folder of its kind"})
		case e.IsDir() && !slices.Contains(known, name) && !slices.Contains(besideRecords, name) && l.hasRecords(name):
			text := "is not read: a record belongs into the folder of its kind"
			if near := record.Near(name, known, 1); len(near) > 0 {
				text = fmt.Sprintf("is not read: did you mean %q", near[0])
			}
			l.add(Finding{Path: name, Severity: Warning, Text: text})
		}
	}
}

// hasRecords reports whether a folder has a file that looks like one of records.
func (l *loader) hasRecords(dir string) bool {
	entries, _ := fs.ReadDir(l.fsys, dir)
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		ext := path.Ext(e.Name())
		return !e.IsDir() && (ext == ".json" || ext == ".ndjson")
	})
}

// A listedFile is a file that will be read.
type listedFile struct {
	name string
	size int64 // in bytes
}

// linked reports whether a name is that of a symbolic link, which may lead nowhere.
func (l *loader) linked(name string) bool {
	st, err := fs.Lstat(l.fsys, name)
	return err == nil && st.Mode()&fs.ModeSymlink != 0
}

func (l *loader) listDir(dir string) {
	entries, err := fs.ReadDir(l.fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		l.add(Finding{Path: dir, Text: "the folder is missing"})
		l.missed(path.Join(dir, "any"))
		return
	}
	if err != nil {
		l.unreadable(dir, err)
		return
	}
	for _, e := range entries {
		name := e.Name()
		switch ext := path.Ext(name); {
		case strings.HasPrefix(name, "."): // editors and version control
		case e.IsDir():
			l.add(Finding{Path: path.Join(dir, name), Text: "a record folder must hold files only, got a folder"})
		case dir == ChangesDir && !changesFile.MatchString(name) && ext != ".md":
			l.add(Finding{Path: path.Join(dir, name), Text: "must be named <year>.ndjson"})
		case ext != ".json" && ext != ".ndjson" && ext != ".md":
			l.add(Finding{Path: path.Join(dir, name), Text: "must be a .json or .ndjson file"})
		case dir == benchmarksDir && !benchmarksFile.MatchString(name) && ext != ".md":
			l.add(Finding{Path: path.Join(dir, name), Text: "must be named <year>.ndjson or undated.ndjson"})
			l.missed(path.Join(dir, name)) // not read: of a copy, the lines of the right file would seem to be the copies
		case ext != ".md":
			l.addEntry(path.Join(dir, name), e)
		}
	}
}

// addEntry adds an entry of a folder. Reading the folder has described all but what links lead to.
func (l *loader) addEntry(name string, e fs.DirEntry) {
	st, err := e.Info()
	if !e.Type().IsRegular() {
		st, err = fs.Stat(l.fsys, name)
	}
	l.addFile(name, st, err)
}

// addFile adds a file to the list where it is a regular one of a size that can be read; st and err describe it.
func (l *loader) addFile(name string, st fs.FileInfo, err error) {
	switch {
	case err != nil:
		l.unreadable(name, err)
	case !st.Mode().IsRegular():
		l.add(Finding{Path: name, Text: "must be a regular file, got a " + typeOf(st.Mode())})
		l.missed(name)
	case st.Size() > maxSize(name):
		l.add(Finding{Path: name, Text: fmt.Sprintf("%s, got %d", tooLarge(name), st.Size()>>20)})
		l.missed(name)
	default:
		l.listed = append(l.listed, listedFile{name, st.Size()})
	}
}

// unreadable adds a finding about a file that could not be read.
func (l *loader) unreadable(name string, err error) {
	var in *fs.PathError
	if errors.As(err, &in) {
		err = in.Err // the path is in the message already
	}
	text := "cannot be read: " + err.Error()
	if errors.Is(err, errOutside) {
		text = err.Error()
	}
	l.add(Finding{Path: name, Text: text, unreadable: true})
	l.missed(name)
}

// missed notes that a file, or a folder, has records that were not read: what refers to them is
// not to blame.
func (l *loader) missed(name string) {
	unknown := []undecodable{{}}
	switch kindOf(name) {
	case infoFile:
		l.info.put(chunk[Info]{undecodable: unknown})
	case sourcesFile:
		l.origins.put(chunk[Origin]{undecodable: unknown})
	case modelsDir:
		l.models.put(chunk[Model]{undecodable: unknown})
	case hardwareDir:
		l.hardware.put(chunk[Hardware]{undecodable: unknown})
	case toolsDir:
		l.tools.put(chunk[Tool]{undecodable: unknown})
	case benchmarksDir:
		l.benchmarks.put(chunk[Benchmark]{undecodable: unknown})
	case ChangesDir:
		l.changes.put(chunk[record.ChangeLine]{undecodable: unknown})
	}
}

func typeOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "folder"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	default:
		return "file of another kind"
	}
}
