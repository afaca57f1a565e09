package watch

import "github.com/fsnotify/fsnotify"

// events tells that something happened in one of some folders. The zero value never does, as where the system gives no
// events.
type events struct {
	fs   *fsnotify.Watcher
	soon chan struct{} // of size one
}

func newEvents() events {
	fs, err := fsnotify.NewWatcher()
	if err != nil { // the looks find all changes too, later
		return events{}
	}
	e := events{fs, make(chan struct{}, 1)}
	go func() {
		for open := true; open; {
			select {
			case _, open = <-fs.Events:
			case _, open = <-fs.Errors: // events were lost
			}
			select {
			case e.soon <- struct{}{}:
			default: // not yet taken
			}
		}
	}()
	return e
}

// add watches folders. One that was replaced since is watched anew; one that is missing is found by a look.
func (e events) add(folders map[string]stamp) {
	for folder := range folders {
		if e.fs != nil {
			_ = e.fs.Add(folder)
		}
	}
}

func (e events) close() {
	if e.fs != nil {
		_ = e.fs.Close()
	}
}
