package watch

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modeldex/dataset"
)

// A state is what a dataset directory shows at one moment without reading its files. If two are equal, no file was
// changed in between, except for one written twice within a tick of the file system's clock. It is immutable.
type state struct {
	at    time.Time
	files map[string]stamp // of what a load reads and of the extra folders, by path
	lock  string           // of the git index above, empty outside a work tree
}

// tick is the coarsest clock of a file system, that of FAT.
const tick = 2 * time.Second

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

// stateOf looks at a dataset directory and at more folders of it. What cannot be seen is part of the picture.
func stateOf(dir string, also []string) *state {
	s := &state{at: time.Now(), files: map[string]stamp{}, lock: gitLock(dir)}
	files, folders := dataset.Layout()
	for _, name := range files {
		s.stamp(filepath.Join(dir, name))
	}
	for _, folder := range append(append(folders, dataset.ChangesDir), also...) {
		folder = filepath.Join(dir, folder)
		entries, err := os.ReadDir(folder)
		if err != nil {
			s.files[folder] = stamp{err: err.Error()}
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") {
				s.stamp(filepath.Join(folder, e.Name()))
			}
		}
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

// same reports whether no file changed between two looks; of which the other may be nil.
func (s *state) same(o *state) bool { return o != nil && maps.EqualFunc(s.files, o.files, stamp.same) }

// staleLock is the age from which a lock counts as left behind by a killed git. A lock that far in the future
// counts too: the clock has gone back since.
const staleLock = 10 * time.Minute

// locked reports whether git was writing the work tree.
func (s *state) locked() bool {
	if s.lock == "" {
		return false
	}
	info, err := os.Lstat(s.lock)
	return err == nil && s.at.Sub(info.ModTime()).Abs() < staleLock
}

// gitLock is the path of the lock git holds while it writes the work tree that dir is in, empty where it is in none.
func gitLock(dir string) string {
	at, err := filepath.Abs(dir)
	if real, linked := filepath.EvalSymlinks(at); linked == nil {
		at = real
	}
	for up := ""; err == nil && up != at; at, up = filepath.Dir(at), at {
		dot := filepath.Join(at, ".git")
		info, err := os.Stat(dot)
		switch {
		case err == nil && info.IsDir():
			return filepath.Join(dot, "index.lock")
		case err == nil: // a linked work tree: the file says where its index is
			text, _ := os.ReadFile(dot) // unreadable is like not there
			if to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: "); ok {
				if !filepath.IsAbs(to) {
					to = filepath.Join(at, to)
				}
				return filepath.Join(to, "index.lock")
			}
		}
	}
	return ""
}
