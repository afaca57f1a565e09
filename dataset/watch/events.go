package watch

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// A notifier calls again for every event that matters in the folders (by path, with the names
// that matter; nil means all) until it is ended. The error says which events will not come.
type notifier func(folders map[string][]string, again func()) (end func(), err error)

// notifyFS is a notifier by the events of the operating system.
func notifyFS(folders map[string][]string, again func()) (end func(), err error) {
	n, err := fsnotify.NewWatcher()
	if err != nil {
		return func() {}, explain(err)
	}
	for _, folder := range slices.Sorted(maps.Keys(folders)) { // in order, so that the error is the same each time
		// A folder that is missing is waited for by watching the one it will be in.
		if failed := n.Add(folder); failed != nil && !errors.Is(failed, os.ErrNotExist) && err == nil {
			err = fmt.Errorf("%s: %w", folder, explain(failed))
		}
	}
	var forwarding sync.WaitGroup
	forwarding.Go(func() { forward(n.Events, n.Errors, folders, again) })
	return func() {
		_ = n.Close() // nothing to do about it, and nothing comes from it any more
		forwarding.Wait()
	}, err
}

// explain names the setting behind an error of inotify, whose texts are of disks and files.
func explain(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%w: too few watches for this user (on Linux fs.inotify.max_user_watches)", err)
	case errors.Is(err, syscall.EMFILE):
		return fmt.Errorf("%w: too few watchers for this user (on Linux fs.inotify.max_user_instances), or open files for this process", err)
	}
	return err
}

// forward calls again for every event that matters and every error until both channels are
// closed. An error such as fsnotify.ErrEventOverflow means that events were lost: all the more
// reason to look. Changes of mode count: one may have made a file readable.
func forward(events <-chan fsnotify.Event, errs <-chan error, folders map[string][]string, again func()) {
	for events != nil || errs != nil {
		select {
		case event, open := <-events:
			if !open {
				events = nil
			} else if matters(folders, event.Name) {
				again()
			}
		case _, open := <-errs:
			if !open {
				errs = nil
			} else {
				again()
			}
		}
	}
}

// matters reports whether a path is one of the names that matter in its folder. A folder itself
// always does.
func matters(folders map[string][]string, path string) bool {
	names, watched := folders[filepath.Dir(path)]
	_, itself := folders[path]
	return !watched || names == nil || itself || slices.Contains(names, filepath.Base(path))
}
