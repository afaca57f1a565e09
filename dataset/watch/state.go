package watch

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"modeldex/dataset"
)

// A state is what a dataset directory shows without reading its files, at one moment: their names, their sizes,
// and when they were written last. If two are equal, no file was changed in between, except for one written twice within
// a tick of the file system's clock. A state is immutable.
type state struct {
	at    time.Time
	files map[string]stamp // of what a load reads and of the extra folders, by path
	// folders are the directories whose entries decide what a load reads: the dataset, its
	// record folders, what holds them, and what holds the links on the way.
	folders map[string]folder
	lock    string // of the git index above, empty outside a work tree
}

type folder struct {
	info fs.FileInfo // nil: missing
	// names are the entries that matter; nil is all of them. Beside a dataset are files that
	// change all the time, the ledger for one.
	names []string
}

// stamp is what the file system says of one file. os.SameFile sees one that was replaced.
type stamp struct {
	info fs.FileInfo
	err  string // why info is missing
}

func (s stamp) same(o stamp) bool {
	if s.info == nil || o.info == nil {
		return s.info == nil && o.info == nil && s.err == o.err
	}
	return s.info.Size() == o.info.Size() && s.info.ModTime().Equal(o.info.ModTime()) && s.info.Mode() == o.info.Mode() &&
		os.SameFile(s.info, o.info)
}

// stateOf looks at a dataset directory and at more folders of it, see Options.ExtraDirs. It never fails: what
// cannot be seen is part of the picture.
func stateOf(dir string, also []string) *state {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	s := &state{at: time.Now(), files: map[string]stamp{}, folders: map[string]folder{}, lock: gitLock(dir)}
	files, folders := dataset.Layout()
	for _, name := range files {
		s.stamp(filepath.Join(dir, name))
	}
	for _, folder := range append(folders, dataset.ChangesDir) {
		s.addRecords(filepath.Join(dir, folder))
	}
	for _, name := range also {
		s.addRecords(filepath.Join(dir, name))
	}
	s.addFolder(dir)
	for _, h := range holders(dir) {
		s.addHolder(h)
	}
	return s
}

func (s *state) stamp(name string) {
	info, err := os.Stat(name)
	if err != nil {
		s.files[name] = stamp{err: err.Error()}
		return
	}
	s.files[name] = stamp{info: info}
}

func (s *state) addRecords(name string) {
	s.addFolder(name)
	entries, err := os.ReadDir(name)
	if err != nil {
		s.files[name] = stamp{err: err.Error()}
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			s.stamp(filepath.Join(name, e.Name()))
		}
	}
}

// addFolder adds a folder in which everything matters.
func (s *state) addFolder(name string) {
	info, err := os.Stat(name)
	if err != nil {
		info = nil
	}
	s.folders[name] = folder{info: info}
}

// addHolder adds a folder in which the entry that path names matters.
func (s *state) addHolder(path string) {
	name := filepath.Dir(path)
	f, known := s.folders[name]
	if !known {
		s.addFolder(name)
		f = s.folders[name]
	} else if f.names == nil {
		return
	}
	f.names = append(f.names, filepath.Base(path))
	s.folders[name] = f
}

// same reports whether no file changed between two scans.
func (s *state) same(o *state) bool { return maps.EqualFunc(s.files, o.files, stamp.same) }

// sameFolders reports whether events come from the same places.
func (s *state) sameFolders(o *state) bool {
	return maps.EqualFunc(s.folders, o.folders, func(a, b folder) bool {
		return slices.Equal(a.names, b.names) && (a.info == nil && b.info == nil || a.info != nil && b.info != nil && os.SameFile(a.info, b.info))
	})
}

// matter lists the folders and the names that matter in them.
func (s *state) matter() map[string][]string {
	out := make(map[string][]string, len(s.folders))
	for name, f := range s.folders {
		out[name] = f.names
	}
	return out
}

// tick is the coarsest clock of a file system, that of FAT.
const tick = 2 * time.Second

// holders lists the entries that decide the meaning of a path: itself, each link on the way to
// it, and where those lead. A link that is turned is an event in the folder that holds it and
// nowhere else.
func holders(path string) (out []string) {
	const mostLinks = 40 // as many as the kernel follows
	at, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	out = append(out, at)
	for range mostLinks {
		link, target, rest := firstLink(at)
		if link == "" {
			break
		}
		at = filepath.Join(absoluteTo(filepath.Dir(link), target), rest)
		out = append(out, link, at)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// firstLink finds the first element of an absolute path that is a symbolic link, where it
// points, and what of the path follows it.
func firstLink(path string) (link, target, rest string) {
	parts := strings.Split(filepath.Clean(path), string(filepath.Separator))
	for i := 1; i <= len(parts); i++ {
		head := strings.Join(parts[:i], string(filepath.Separator))
		if to, err := os.Readlink(head); err == nil && head != "" {
			return head, to, filepath.Join(parts[i:]...)
		}
	}
	return "", "", ""
}
