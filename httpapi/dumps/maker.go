// Package dumps makes a dump of each generation in the background, and keeps the newest.
//
// A Maker looks for new generations while it runs (Start). A dump that an earlier process left on the disk is taken
// from there, see package export. List has the dumps that are kept; Ask has one made at once, and Make makes it
// before it returns. The package knows no requests, and is safe for concurrent use.
package dumps

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"modeldex/httpapi/export"
	"modeldex/index"
)

const (
	// keptDumps is how many editions are kept: the newest, and those a download may have begun with.
	keptDumps = 3
	// dumpSettle is how long a generation must have been served before its dump is made without being asked for.
	// Edits that follow each other are one dump, and a short run makes none.
	dumpSettle = 2 * time.Second
	dumpLook   = 500 * time.Millisecond
	dumpRetry  = 30 * time.Second // after a dump could not be made
)

// Config is what a Maker needs.
type Config struct {
	// Current is the generation being served, nil before the first, and what its dump is made of: the dump is made again
	// where that is another.
	Current func() (gen *index.Generation, content [16]byte)
	// Sources are what the dump of a generation is made of.
	Sources func(gen *index.Generation) *export.Sources
	// Dir and From are where dumps are kept and which dataset they are of, see export.Earlier.
	Dir, From string
	Log       *slog.Logger
	// Worked, if set, is called after each attempt, which took much memory.
	Worked func()
}

// A Maker makes a dump of each generation in the background, unless an earlier run left it on the disk,
// and keeps the newest.
type Maker struct {
	cfg   Config
	asked chan struct{} // of size one: somebody waits for a dump

	mu   sync.Mutex
	kept []*export.Dump // newest first
}

// New is a Maker that has not started.
func New(cfg Config) *Maker { return &Maker{cfg: cfg, asked: make(chan struct{}, 1)} }

// Start makes dumps until the function it returns is called, which waits for the end.
func (d *Maker) Start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { d.follow(ctx) })
	return func() {
		cancel()
		work.Wait()
	}
}

// follow looks for new generations. One dump is made at a time.
func (d *Maker) follow(ctx context.Context) {
	look := time.NewTicker(dumpLook)
	defer look.Stop()
	var made, seen [16]byte
	var since, retry time.Time
	for ctx.Err() == nil {
		asked := false
		select {
		case <-ctx.Done():
			return
		case <-d.asked:
			asked = true
		case <-look.C:
		}
		gen, content := d.cfg.Current()
		if content != seen {
			seen, since, retry = content, time.Now(), time.Time{}
		}
		if gen == nil || content == made || time.Now().Before(retry) || !asked && time.Since(since) < dumpSettle {
			continue
		}
		err := d.Make(ctx, gen)
		if d.cfg.Worked != nil {
			d.cfg.Worked()
		}
		switch {
		case err == nil:
			made = content
			continue
		case ctx.Err() != nil:
			return
		case !errors.Is(err, export.ErrChanged):
			d.cfg.Log.Warn("dump not made", "version", gen.Info.Version, "digest", gen.Digest.String(), "cause", err)
		case retry.IsZero(): // no fault: those files are loaded next, or were rejected
			d.cfg.Log.Info("no dump of a dataset whose files were changed", "version", gen.Info.Version, "digest", gen.Digest.String(), "cause", err)
		}
		retry = time.Now().Add(dumpRetry)
	}
}

// Make makes the dump of a generation, or finds it, and keeps it.
func (d *Maker) Make(ctx context.Context, gen *index.Generation) error {
	started := time.Now()
	dump, reused, err := export.Make(ctx, d.cfg.Sources(gen))
	if err != nil {
		return err
	}
	// Noted before it is listed: a dump that a caller saw is known after a kill too.
	if err := dump.Note(d.cfg.From, gen.Edition, gen.Loaded); err != nil {
		d.cfg.Log.Warn("dataset not noted: after a restart as_of cannot name it", "version", dump.Version, "digest", dump.Digest, "cause", err)
	}
	if len(d.List()) == 0 {
		d.findEarlier(ctx, gen) // before there is a list, so that none of their addresses is 404
	}
	d.keep(dump)
	var bytes int64
	for _, f := range dump.Files {
		bytes += f.Size
	}
	said := "dump made"
	if reused {
		said = "dump found"
	}
	d.cfg.Log.Info(said, "version", dump.Version, "digest", dump.Digest, "edition", dump.Edition, "bytes", bytes, "took", time.Since(started).String())
	return nil
}

// findEarlier keeps the dumps of datasets that earlier processes served: their addresses stay.
func (d *Maker) findEarlier(ctx context.Context, gen *index.Generation) {
	found, err := export.Earlier(d.cfg.Dir, d.cfg.From, gen.Digest.String(), keptDumps-1)
	if err != nil {
		d.cfg.Log.Warn("the dumps made before this start are not known", "cause", err)
	}
	for _, s := range found {
		dump, err := s.Open(ctx)
		if err != nil && ctx.Err() == nil {
			d.cfg.Log.Warn("earlier dump skipped", "version", s.Version, "digest", s.Digest, "cause", err)
		}
		if err == nil {
			d.mu.Lock()
			d.kept = append(d.kept, dump)
			d.mu.Unlock()
		}
	}
}

func (d *Maker) keep(dump *export.Dump) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept = slices.DeleteFunc(d.kept, func(old *export.Dump) bool { return old.Edition == dump.Edition })
	d.kept = slices.Insert(d.kept, 0, dump)
	d.kept = d.kept[:min(len(d.kept), keptDumps)]
}

// List is the dumps that are kept, newest first. The slice is the caller's.
func (d *Maker) List() []*export.Dump {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.kept)
}

// Ask has a dump made at once where there is none.
func (d *Maker) Ask() {
	select {
	case d.asked <- struct{}{}:
	default: // a request is waiting already
	}
}
