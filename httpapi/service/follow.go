package service

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/mirror"
)

// Follow says which service the dataset is mirrored from.
type Follow struct {
	// Origin is its address, Key the API key where its dumps need one.
	Origin, Key string
	// Every is how often it is asked.
	Every time.Duration
}

// firstWait is how long a first start waits for an origin that answers but is not ready. An origin that has
// just started makes its dump within seconds, or within a minute if it has millions of rows.
const firstWait = 2 * time.Minute

// openMirror takes the dataset directory for a mirror and sees to it that there is a copy. With a
// copy the origin is not asked: a server must start while the origin is away.
func (r *reloader) openMirror(ctx context.Context) (*mirror.Mirror, error) {
	f := r.cfg.Follow
	m, err := mirror.New(mirror.Config{
		Origin: f.Origin, Dir: r.cfg.Dir, Key: f.Key, Every: f.Every, Log: r.cfg.Log,
		Last: r.served, BeforeLoad: r.memory.reloading, Replaced: r.rescan,
	})
	if err != nil {
		return nil, err
	}
	if !m.Has() {
		if err := r.firstCopy(ctx, m); err != nil {
			return nil, errors.Join(fmt.Errorf("no copy of %s in %s yet, and none can be made: %w", f.Origin, r.cfg.Dir, err), m.Close())
		}
	}
	return m, nil
}

// firstCopy asks the origin until it has a dump, for a while.
func (r *reloader) firstCopy(ctx context.Context, m *mirror.Mirror) error {
	ctx, cancel := context.WithTimeout(ctx, firstWait)
	defer cancel()
	for {
		_, err := m.Once(ctx)
		var later *mirror.RetryError
		if !errors.As(err, &later) {
			return err
		}
		r.cfg.Log.Info("mirror: the origin is not ready yet", "cause", err)
		select {
		case <-ctx.Done():
			return err
		case <-time.After(max(later.After, time.Second)):
		}
	}
}

// firstMirrored is first, for a copy. One that is damaged, as it may be after a loss of power, is
// loaded from the origin again.
func (r *reloader) firstMirrored(ctx context.Context, m *mirror.Mirror) error {
	err := r.first(ctx)
	if err == nil || ctx.Err() != nil {
		return err
	}
	r.cfg.Log.Warn("mirror: the copy cannot be served and is loaded again", "cause", err)
	m.Refetch()
	if again := r.firstCopy(ctx, m); again != nil {
		return errors.Join(err, again)
	}
	return r.first(ctx)
}

// served is the set being served, nil before the first.
func (r *reloader) served() *dataset.Set {
	if latest := r.latest.Load(); latest != nil {
		return latest.Set
	}
	return nil
}

// rescan has the files looked at, once there is a watcher.
func (r *reloader) rescan() {
	if w := r.watcher.Load(); w != nil {
		(*w).Rescan()
	}
}

// follow keeps the copy in step until ctx ends or the function it returns is called, which waits for
// a check that is under way.
func (r *reloader) follow(ctx context.Context) (stop func()) {
	if r.mirror == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { r.mirror.Follow(ctx) })
	return func() {
		cancel()
		work.Wait()
	}
}

// mirrorState is httpapi.Config.Mirror.
func (r *reloader) mirrorState() func() *mirror.State {
	if r.mirror == nil {
		return nil
	}
	return r.mirror.State
}
