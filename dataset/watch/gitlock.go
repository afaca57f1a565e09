package watch

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

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

// gitLock is the path of the lock git holds while it writes the work tree that dir is in, empty
// where it is in none.
func gitLock(dir string) string {
	at, err := filepath.Abs(dir)
	if real, linked := filepath.EvalSymlinks(at); linked == nil {
		at = real
	}
	for ; err == nil; at = filepath.Dir(at) {
		dot := filepath.Join(at, ".git")
		if info, err := os.Stat(dot); err == nil && info.IsDir() {
			return filepath.Join(dot, "index.lock")
		} else if err == nil { // a linked work tree: the file says where its index is
			text, _ := os.ReadFile(dot) // unreadable is like not there
			if to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: "); ok {
				return filepath.Join(absoluteTo(at, to), "index.lock")
			}
		}
		if filepath.Dir(at) == at {
			break
		}
	}
	return ""
}

func absoluteTo(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}
