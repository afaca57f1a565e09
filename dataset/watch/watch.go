// Package watch loads a dataset again when its files change.
//
// A Watcher looks at the files soon after an event of the file system, and, as events get lost, at the folders every
// two seconds and at each file every ten. Changed files are read once two looks a moment apart agree. A load under
// which a file changed, or while git holds the lock of its index, is not handed over. Reading may never end, as on a
// network mount that hangs: each look has a goroutine of its own, which Close does not wait for.
package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"modeldex/dataset"

	"github.com/fsnotify/fsnotify"
)

var errMoving = errors.New("the files keep changing while they are read")

// Options says how to watch. The zero value is what a server needs.
type Options struct {
	// Load is how the dataset is loaded; its Last and Workers are set by the watcher.
	Load dataset.Options
	// Every is how often the folders are looked at, and five times as long how often each file is; zero means 2 s.
	Every time.Duration
	// Quiet is how long after a change the files must stay as they are before they are read; zero means 250 ms.
	Quiet time.Duration
	// ExtraDirs names more folders of the dataset that are watched; they are not read here.
	ExtraDirs []string
	// BeforeLoad is called before the files are read, AfterLoad when what was read has been handed over or dropped;
	// each may be nil.
	BeforeLoad, AfterLoad func()

	noEvents bool   // for a test
	loaded   func() // the same, before the files are looked at again; may be nil
}

// A Watcher loads a dataset again when its files change. Its methods are safe for concurrent use.
type Watcher struct {
	ctx  context.Context // of all loads
	dir  string
	opt  Options
	take func(*dataset.Set, error)

	again chan struct{} // of size one: any number of requests causes one look
	stop  chan struct{}
	done  sync.WaitGroup

	events *fsnotify.Watcher // nil for none: the looks find all changes too, later
	soon   <-chan struct{}   // what it tells, see notified

	// Owned by the only goroutine that checks the files:
	wait     time.Duration // until the next look
	skipped  int           // looks at folders since the last one at each file
	last     *dataset.Set
	seen     *state // at the last look that found a difference
	read     *state // in which the files were read, when it was first seen; nil before
	settled  bool   // they were read when that state was older than a tick: a later change shows
	pending  bool   // they could not be read: try again
	rejected string // the reason handed over last, empty where a set was
	tries    int    // looks in a row that found a difference

	mu     sync.Mutex // held while take runs
	closed bool
}

// Watch watches the dataset directory dir. last is the set that was loaded from it, nil for none. Watch calls take, one
// call at a time, with each set that differs from the one before, or with the error of the newest files. After an error
// it hands over the same set again once the files are as they were. Once ctx has ended, no load is handed over.
func Watch(ctx context.Context, dir string, last *dataset.Set, opt Options, take func(*dataset.Set, error)) *Watcher {
	opt.Every, opt.Quiet = cmp.Or(opt.Every, 2*time.Second), cmp.Or(opt.Quiet, 250*time.Millisecond)
	opt.Load.Workers = max(1, runtime.GOMAXPROCS(0)-1) // a core is left to requests
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	w := &Watcher{ctx: ctx, dir: dir, opt: opt, take: take, last: last, again: make(chan struct{}, 1), stop: make(chan struct{})}
	if !opt.noEvents {
		if events, err := fsnotify.NewWatcher(); err == nil {
			w.events, w.soon = events, notified(events)
		}
	}
	w.done.Go(w.run)
	return w
}

// Rescan has the files read soon, whether they seem to have changed or not.
func (w *Watcher) Rescan() {
	select {
	case w.again <- struct{}{}:
	default: // it is due already
	}
}

// Close ends the watch: take is not called again. It waits for a call under way, not for a file that is being read.
func (w *Watcher) Close() {
	close(w.stop)
	w.done.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
}

func (w *Watcher) run() {
	next := time.NewTimer(0) // files may have changed since last was loaded
	defer next.Stop()
	if w.events != nil {
		defer w.events.Close()
	}
	soon := w.soon
	for {
		asked := false
		select {
		case <-w.stop:
			return
		case <-w.again:
			asked = true
		case <-next.C:
		case <-soon:
			soon, w.skipped = nil, eachFile // one look for all events of a moment
			next.Reset(w.opt.Quiet)
			continue
		}
		looked := make(chan struct{})
		go func() {
			defer close(looked)
			w.look(asked)
		}()
		select {
		case <-w.stop:
			return
		case <-looked:
			next.Reset(w.wait)
			soon = w.soon
		}
	}
}

const eachFile = 5

func (w *Watcher) look(asked bool) {
	w.wait = w.opt.Every
	folders := foldersOf(w.dir, w.opt.ExtraDirs)
	for folder := range folders {
		if w.events != nil {
			_ = w.events.Add(folder)
		}
	}
	if w.skipped++; !asked && w.skipped < eachFile && w.read != nil && maps.EqualFunc(folders, w.read.folders, stamp.same) {
		return
	}
	w.skipped = 0
	before := stateOf(w.dir, w.opt.ExtraDirs)
	switch {
	case before.locked(): // a checkout may pause for long between two files
		w.seen, w.read, w.wait = nil, nil, w.opt.Quiet
		return
	case asked:
	case before.same(w.read) && !w.pending && (w.settled || before.at.Sub(w.read.at) < tick):
		w.read.folders = before.folders // files that are not read came or went
		return
	case !before.same(w.read) && !before.same(w.seen):
		w.moved(before)
		return
	}
	if w.opt.BeforeLoad != nil {
		w.opt.BeforeLoad()
	}
	if w.opt.AfterLoad != nil {
		defer w.opt.AfterLoad()
	}
	opt := w.opt.Load
	opt.Last = w.last
	set, err := dataset.Load(w.ctx, dataset.Dir(w.dir), opt)
	if w.ctx.Err() != nil {
		return
	}
	if w.opt.loaded != nil {
		w.opt.loaded()
	}
	after := stateOf(w.dir, w.opt.ExtraDirs)
	if after.locked() || !after.same(before) {
		w.moved(after)
		return
	}
	w.tries, w.seen = 0, nil
	if after.same(w.read) {
		w.settled = before.at.Sub(w.read.at) >= tick
	} else {
		w.read, w.settled = after, false
	}
	w.hand(set, err)
}

func (w *Watcher) moved(now *state) {
	const manyTries = 10
	w.seen, w.read, w.wait = now, nil, w.opt.Quiet
	if w.tries++; w.tries%manyTries == 0 {
		w.hand(nil, fmt.Errorf("reading dataset: %w", errMoving))
	}
}

// hand reports a load. A file that cannot be read is reported again only when the reason changes.
func (w *Watcher) hand(set *dataset.Set, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	var findings dataset.Findings
	w.pending = err != nil && (!errors.As(err, &findings) || findings.Unreadable())
	switch {
	case err != nil && w.pending && err.Error() == w.rejected:
	case err != nil:
		w.rejected = err.Error()
		w.take(nil, err)
	case w.last != nil && set.Digest == w.last.Digest && set.Releases == w.last.Releases && w.rejected == "": // no news
	default:
		w.last, w.rejected = set, ""
		w.take(set, nil)
	}
}
