package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/diff"
	"modeldex/dataset/watch"
	"modeldex/httpapi/changes"
	"modeldex/httpapi/rows"
	"modeldex/httpapi/webhook"
	"modeldex/index"
	"modeldex/snapshot"
)

// reloader keeps what is being served in step with the files.
type reloader struct {
	cfg     *Config
	live    index.Live
	history changes.History
	catalog atomic.Pointer[snapshot.Catalog]
	watcher atomic.Pointer[watcher]
	// hooks is notified of every generation; nil before the ledger is open, and where it keeps no webhooks.
	hooks atomic.Pointer[webhook.Service]
	// latest is what is being served, for hooks.
	latest atomic.Pointer[webhook.Dataset]
	// last is what the generation being served was made of. Once there is a watcher it belongs to
	// the watcher's goroutine, as does looked.
	last   *dataset.Set
	looked time.Time // when the look that is under way began
	unread string    // why the snapshots could not be read, as it was logged; of the goroutine that looks
}

func newReloader(cfg *Config) *reloader {
	return &reloader{cfg: cfg}
}

func (r *reloader) first(ctx context.Context) error {
	r.loadSnapshots(ctx) // rows of models show what the newest snapshot says
	started := time.Now()
	set, err := dataset.Load(ctx, r.cfg.Files, dataset.Options{})
	var findings dataset.Findings
	if errors.As(err, &findings) && r.cfg.Dir != "" {
		err = findings.Under(r.cfg.Dir)
	}
	if err == nil {
		err = r.publish(ctx, set, started)
	}
	return err
}

var extraDirs = []string{"snapshots"}

// start follows the files of the dataset, if they are in a directory. Once ctx has ended, a load under way ends
// soon and changes nothing.
func (r *reloader) start(ctx context.Context, start watchFunc) watcher {
	if r.cfg.Dir == "" {
		return nil
	}
	if start == nil {
		start = watchFiles
	}
	w := start(ctx, r.cfg.Dir, r.last, watch.Options{
		ExtraDirs: extraDirs,
		BeforeLoad: func() {
			r.looked = time.Now()
			r.loadSnapshots(ctx)
		},
		AfterLoad: giveBack, // of reading the files, and of the generation that is no longer served
	}, func(set *dataset.Set, err error) { r.reload(ctx, set, err) })
	r.watcher.Store(&w)
	return w
}

func (r *reloader) rescan() {
	if w := r.watcher.Load(); w != nil {
		(*w).Rescan()
	}
}

// reload is given what the watcher loaded, or why it could not. A rejected load leaves the last
// good generation in service.
func (r *reloader) reload(ctx context.Context, set *dataset.Set, err error) {
	wasRefused := r.history.Refused(r.live.Current()) != nil
	if err == nil {
		err = r.publish(ctx, set, r.looked)
	}
	if ctx.Err() != nil {
		return // the service stops
	}
	if err != nil {
		refused := r.history.Refuse(err, r.live.Current())
		r.cfg.Log.Error("dataset rejected; the last good one stays in use", "findings", refused.FindingCount, "cause", refused.Text, "list", refused.Findings)
		return
	}
	if wasRefused {
		r.cfg.Log.Info("dataset accepted again", "digest", set.Digest.String())
	}
}

// publish makes the generation of a set and of the newest snapshot, and serves it. If both are
// those of the generation being served, it changes nothing.
func (r *reloader) publish(ctx context.Context, set *dataset.Set, started time.Time) error {
	prev := r.live.Current()
	renderers := rows.RenderersOf(r.catalog.Load())
	if prev != nil && prev.Digest == set.Digest && prev.Edition == renderers.Edition {
		r.last = set
		r.history.Take(set) // the recorded changes are no part of the digest
		r.history.Accept()
		return nil
	}
	gen, err := index.Build(ctx, set, renderers)
	if err != nil {
		return fmt.Errorf("building the index: %w", err)
	}
	before := r.last
	if before == nil {
		before = set // the first has nothing before it
	}
	changes := diff.Compare(before, set)
	r.history.Take(set) // before it is served: a response made from it finds how it came about
	r.live.Publish(gen)
	r.last = set
	r.latest.Store(&webhook.Dataset{Set: set, Generation: gen})
	if hooks := r.hooks.Load(); hooks != nil {
		hooks.Published()
	}
	r.cfg.Log.Info("dataset loaded", "generation", gen.Number, "version", gen.Info.Version, "digest", gen.Digest.String(),
		"models", gen.Models.Len(), "hardware", gen.Hardware.Len(), "tools", gen.Tools.Len(), "benchmarks", gen.Benchmarks.Len(),
		"changes", changes.Summary(), "took", time.Since(started).String())
	return nil
}

// loadSnapshots reads the published documents. It logs a rejected one once per reason and keeps its last good form. If
// ctx has ended, it keeps all documents.
func (r *reloader) loadSnapshots(ctx context.Context) {
	files, err := fs.Sub(r.cfg.Files, "snapshots")
	if err != nil {
		r.cfg.Log.Error("snapshots not read", "cause", err)
		return
	}
	was := r.catalog.Load()
	catalog, findings, err := was.Reload(ctx, files)
	for _, f := range findings {
		if was == nil || !slices.Contains(was.Rejected(), f) {
			r.cfg.Log.Error("snapshot rejected", "finding", f.String())
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // a dataset need not have any
	}
	switch {
	case ctx.Err() != nil:
		return // the service stops
	case err != nil:
		if err.Error() != r.unread {
			r.cfg.Log.Error("snapshots not read", "cause", err)
		}
		r.unread = err.Error()
		return
	}
	r.unread = ""
	r.catalog.Store(catalog)
}

func giveBack() {
	runtime.GC() // the second collection, of FreeOSMemory, empties pools
	debug.FreeOSMemory()
	forgetProgram()
}
