package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/cores"
	"modeldex/httpapi"
	"modeldex/httpapi/export"
	"modeldex/httpapi/rows"
	"modeldex/index"
)

// from names the place of the dataset in the notes of what was served from it.
func (cfg *Config) from() string {
	if cfg.Dir == "" {
		return "the copy inside the binary"
	}
	path, err := filepath.Abs(cfg.Dir) // a symbolic link stays: it may lead to another release tomorrow
	if err != nil {
		return cfg.Dir
	}
	return path
}

// findEarlier looks for the datasets that earlier processes served, so that as_of of one of them is
// answered with "try again" as long as it is not loaded.
func (r *reloader) findEarlier() {
	if r.cfg.Dumps != httpapi.DumpsOpen && r.cfg.Dumps != httpapi.DumpsKeyed {
		return
	}
	found, err := export.Earlier(r.cfg.DumpsDir, r.cfg.from(), r.live.Current().Digest.String(), r.cfg.Keep)
	if err != nil {
		r.cfg.Log.Warn("as_of: the datasets served before this start are not known", "cause", err)
	}
	r.earlier.Store(&found)
}

// awaited is httpapi.Config.Earlier.
func (r *reloader) awaited() []export.Served {
	if list := r.earlier.Load(); list != nil {
		return *list
	}
	return nil
}

// loadEarlier loads them in the background, newest first, until ctx ends or the function it returns is
// called, which waits for a load that is under way. A dataset that cannot be loaded is skipped.
func (r *reloader) loadEarlier(ctx context.Context) (stop func()) {
	list := r.awaited()
	if len(list) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() {
		for len(list) > 0 && cores.GiveWay(ctx) == nil {
			started := time.Now()
			s := list[0]
			about := []any{"version", s.Version, "digest", s.Digest}
			if err := r.loadAgain(ctx, &s); err == nil {
				r.cfg.Log.Info("earlier dataset kept for as_of", append(about, "took", time.Since(started).String())...)
			} else if ctx.Err() == nil {
				r.cfg.Log.Warn("earlier dataset skipped: as_of cannot name it", append(about, "cause", err)...)
			}
			list = slices.Clone(list[1:])
			r.earlier.Store(&list)
		}
		if ctx.Err() == nil {
			r.memory.worked()
		}
	})
	return func() {
		cancel()
		work.Wait()
	}
}

// errRoom is returned where as many datasets were loaded meanwhile as are kept.
var errRoom = errors.New("newer ones took its place")

// loadAgain loads the dataset of a dump and keeps it. It shares with the one being served what did not
// change between them, as if that had been made from it.
func (r *reloader) loadAgain(ctx context.Context, s *export.Served) error {
	return s.Unpack(ctx, func(dir string) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.memory.reloading()
		defer func() { r.memory.reloaded(rowBytes(r.live.Kept())) }()
		now := r.latest.Load()
		set, err := dataset.Load(ctx, dataset.Dir(dir), dataset.Options{Last: now.Set})
		if err != nil {
			return err
		}
		// A rejected document stays out, which the comparison below finds.
		catalog, _, err := r.catalog.Load().Reload(ctx, os.DirFS(filepath.Join(dir, "snapshots")))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		renderers := rows.RenderersOf(catalog)
		if set.Digest.String() != s.Digest || renderers.Edition != s.Content {
			return errors.New("its archive has other files than it was served from")
		}
		gen, err := index.Build(ctx, set, renderers)
		if err != nil {
			return fmt.Errorf("building the index: %w", err)
		}
		gen.Loaded = s.Loaded
		if !r.live.KeepOlder(gen) {
			return errRoom
		}
		return nil
	})
}
