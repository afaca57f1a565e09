package watch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"modeldex/dataset"
)

// errMoving is handed over when the files keep changing while they are read, so that no load can
// be trusted. The watcher keeps trying.
var errMoving = errors.New("the files keep changing while they are read")

// Options says how to watch. The zero value is what a server needs.
type Options struct {
	// Load is how the dataset is loaded; its Last is set by the watcher.
	Load dataset.Options
	// Debounce is how long no event must come before the files are read; zero means 250 ms.
	Debounce time.Duration
	// MaxDelay is how long events may put that off; zero means 2 s.
	MaxDelay time.Duration
	// RescanEvery is how often the watcher looks without any event; zero means 10 s.
	RescanEvery time.Duration
	// ExtraDirs names more folders of the dataset that are watched; they are not read here.
	ExtraDirs []string
	// BeforeLoad, if set, is called before the files are read for an event, a Rescan or a change
	// that a look found.
	BeforeLoad func()
	// AfterLoad, if set, is called after that, when what was read has been handed over or dropped.
	AfterLoad func()
	// OnError, if set, is called with the reason when file events cannot be had; the regular looks
	// go on.
	OnError func(error)

	notify notifier // nil means fsnotify
}

func (o *Options) setDefaults() {
	for d, value := range map[*time.Duration]time.Duration{&o.Debounce: 250 * time.Millisecond, &o.MaxDelay: 2 * time.Second, &o.RescanEvery: 10 * time.Second} {
		if *d == 0 {
			*d = value
		}
	}
	if o.BeforeLoad == nil {
		o.BeforeLoad = func() {}
	}
	if o.AfterLoad == nil {
		o.AfterLoad = func() {}
	}
	if o.OnError == nil {
		o.OnError = func(error) {}
	}
	if o.notify == nil {
		o.notify = notifyFS
	}
}

// A Watcher loads a dataset again when its files change. Its methods are safe for concurrent
// use.
type Watcher struct {
	ctx  context.Context // of all loads
	dir  string
	opt  Options
	take func(*dataset.Set, error)

	again chan struct{} // of size one: any number of events causes one look
	stop  chan struct{}
	done  sync.WaitGroup

	// Of the goroutine that looks, of which there is one at a time:
	last     *dataset.Set
	seen     *state      // what the last finished look saw, when it was first seen; nil before the first
	settled  bool        // the files were read when seen was older than a tick: a later change shows
	rejected string      // the reason handed over last, empty where a set was
	pending  bool        // the last look could not read the files: try again
	armed    *state      // what the events come from, nil where some do not come
	watchErr string      // why they do not, as it was reported
	tries    int         // looks in a row during which the files changed
	rescan   *time.Timer // counted from the end of a look, which may take longer

	mu     sync.Mutex // held while take runs
	closed bool
	disarm func() // ends the events
}

// Watch watches the dataset directory dir. last is the set that was loaded from it, nil for none. Watch calls
// take, one call at a time, with each set that differs from the one before. If the newest files are rejected,
// it calls take with the Findings or the error. After a rejection take is also called with the set before it
// once the files are as they were. A set is handed over only when no file changed while it was read and no git
// checkout was under way.
//
// Once ctx has ended, a load under way ends without being handed over. Watch keeps the set handed over last. Close ends it.
func Watch(ctx context.Context, dir string, last *dataset.Set, opt Options, take func(*dataset.Set, error)) *Watcher {
	opt.setDefaults()
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs // events name files by the path of their folder, as it was given
	}
	w := &Watcher{
		ctx: ctx, dir: dir, opt: opt, take: take, last: last, disarm: func() {},
		again: make(chan struct{}, 1), stop: make(chan struct{}), rescan: time.NewTimer(opt.RescanEvery),
	}
	// Before it returns: a change made after that is an event.
	w.arm(stateOf(dir, opt.ExtraDirs))
	w.Rescan() // for what changed between the load of last and now
	w.done.Go(w.run)
	return w
}

// Rescan makes the watcher look at the files soon, whether an event came or not.
func (w *Watcher) Rescan() {
	select {
	case w.again <- struct{}{}:
	default: // a look is due already
	}
}

// Close ends the watch. When it returns, take does not run and is not called again. It waits for
// a call of take under way, but not for a file that is being read. It is called once.
func (w *Watcher) Close() {
	close(w.stop)
	w.done.Wait()
	w.rescan.Stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.disarm()
}

func (w *Watcher) run() {
	for {
		asked := false
		select {
		case <-w.stop:
			return
		case <-w.again:
			if asked = true; !w.debounce() {
				return
			}
		case <-w.rescan.C:
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
			w.rescan.Reset(w.opt.RescanEvery)
		}
	}
}

// debounce waits until no event has come for a while; false means that the watch ends.
func (w *Watcher) debounce() bool {
	quiet, most := time.NewTimer(w.opt.Debounce), time.NewTimer(w.opt.MaxDelay)
	defer quiet.Stop()
	defer most.Stop()
	for {
		select {
		case <-w.stop:
			return false
		case <-w.again:
			quiet.Reset(w.opt.Debounce)
		case <-quiet.C:
			return true
		case <-most.C:
			return true
		}
	}
}

// look reads the files if they may have changed. asked says that an event or a Rescan came, after
// which they are read; a regular look reads them only where the file system shows a difference.
func (w *Watcher) look(asked bool) {
	before := stateOf(w.dir, w.opt.ExtraDirs)
	w.arm(before)
	switch {
	case before.locked():
		// A checkout may pause for longer than Debounce, and its end is not an event here.
		w.seen = nil
		w.Rescan()
		return
	case !asked && !w.pending && w.seen != nil && before.same(w.seen) && w.settled:
		return
	}
	w.opt.BeforeLoad()
	defer w.opt.AfterLoad()
	opt := w.opt.Load
	opt.Last = w.last
	opt.Workers = max(1, runtime.GOMAXPROCS(0)-1) // a core is left to requests
	set, err := dataset.Load(w.ctx, dataset.Dir(w.dir), opt)
	if w.ctx.Err() != nil {
		return
	}
	after := stateOf(w.dir, w.opt.ExtraDirs)
	if after.locked() || !after.same(before) {
		w.moved()
		return
	}
	if w.tries = 0; w.seen != nil && after.same(w.seen) {
		w.settled = before.at.Sub(w.seen.at) >= tick
	} else {
		w.seen, w.settled = after, false
	}
	w.hand(set, err)
}

// moved starts again after the files changed during a look. Files that never stop changing are
// reported every few looks.
func (w *Watcher) moved() {
	const manyTries = 10
	w.seen, w.pending = nil, true
	if w.tries++; w.tries%manyTries == 0 {
		w.hand(nil, fmt.Errorf("reading dataset: %w", errMoving))
	}
	w.Rescan()
}

// hand reports the outcome of a look. Files that could not be read are tried again at each
// regular look, and reported again when the reason changes; other findings last until a file
// changes.
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
	case w.last != nil && set.Digest == w.last.Digest && set.Releases == w.last.Releases && w.rejected == "": // unchanged: no error, and no news
	default:
		w.last, w.rejected = set, ""
		w.take(set, nil)
	}
}

// arm subscribes to the events of the folders as they are now. A folder that was renamed away, or
// to which a link no longer leads, sends none for the one that took its place.
func (w *Watcher) arm(now *state) {
	if w.armed != nil && now.sameFolders(w.armed) {
		return
	}
	end, err := w.opt.notify(now.matter(), w.Rescan)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		end()
		return
	}
	w.disarm()
	w.disarm, w.armed = end, &state{folders: now.folders} // its files are those of another moment soon
	if err == nil {
		w.watchErr = ""
		return
	}
	w.armed = nil // try again at the next look
	if err.Error() != w.watchErr {
		w.watchErr = err.Error()
		w.opt.OnError(fmt.Errorf("watching %s: some changes send no event and are found only every %s: %w", w.dir, w.opt.RescanEvery, err))
	}
}
