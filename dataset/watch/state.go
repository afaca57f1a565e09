package watch

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modeldex/dataset"

	"github.com/fsnotify/fsnotify"
)

// A state is what a directory shows without reading files. Equal ones have equal files, but for two writes within a
// tick.
type state struct {
	at    time.Time
	files map[string]stamp // of what a load reads and of the extra folders, by path
	// folders are the dataset, its record folders and the extra ones, by path.
	folders map[string]stamp
	lock    string // of the git index above, empty outside a work tree
}

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

func stateOf(dir string, also []string) *state {
	s := &state{at: time.Now(), files: map[string]stamp{}, folders: foldersOf(dir, also), lock: gitLock(dir)}
	files, _ := dataset.Layout()
	for _, name := range files {
		name = filepath.Join(dir, name)
		s.files[name] = stampOf(name)
	}
	for folder := range s.folders {
		entries, _ := os.ReadDir(folder) // the stamp of the folder says why it has none
		for _, e := range entries {
			if name := filepath.Join(folder, e.Name()); folder != dir && !strings.HasPrefix(e.Name(), ".") {
				s.files[name] = stampOf(name)
			}
		}
	}
	return s
}

// foldersOf looks at the folders alone, which change with each file that comes, goes or is replaced.
func foldersOf(dir string, also []string) map[string]stamp {
	_, names := dataset.Layout()
	folders := map[string]stamp{dir: stampOf(dir)}
	for _, name := range append(append(names, dataset.ChangesDir), also...) {
		name = filepath.Join(dir, name)
		folders[name] = stampOf(name)
	}
	return folders
}

func stampOf(name string) stamp {
	info, err := os.Stat(name)
	if err != nil {
		return stamp{err: err.Error()}
	}
	return stamp{info: info}
}

func (s *state) same(o *state) bool { return o != nil && maps.EqualFunc(s.files, o.files, stamp.same) }

// staleLock is the age, in either direction, from which a lock was left behind by a killed git.
const staleLock = 10 * time.Minute

func (s *state) locked() bool {
	if s.lock == "" {
		return false
	}
	info, err := os.Lstat(s.lock)
	return err == nil && s.at.Sub(info.ModTime()).Abs() < staleLock
}

// gitLock is the path of the lock git holds while it writes the work tree that dir is in, empty if it is in none.
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

// notified tells of events in the folders of fs by a channel of size one.
func notified(fs *fsnotify.Watcher) <-chan struct{} {
	soon := make(chan struct{}, 1)
	go func() {
		for open := true; open; {
			select {
			case _, open = <-fs.Events:
			case _, open = <-fs.Errors: // events were lost
			}
			select {
			case soon <- struct{}{}:
			default: // not yet taken
			}
		}
	}()
	return soon
}
