// Package index answers questions about the records of one load from memory.
//
// A Table is one kind of record, frozen: its rows (finished JSON bytes) by ordinal, which is a record's place in
// default order; a posting for each field with values to filter by, which maps each value to the roaring bitmap of
// ordinals that have it; a column for each field with an order. A Query is a filter, an order and a place in it. A
// Generation is all tables of one load; Live has the one being served, behind one atomic pointer.
//
// Table.Conditions finds the records of each filter. Conditions.Page intersects them and walks along a column until the
// page is full. Facets leave out one condition after the other. Statistics sort the matches by the codes of their keys.
//
// Nothing in a generation changes after Build and nothing in it is a cache, so everything else here is safe for
// concurrent use without locks. The package does not know HTTP, callers, quotas or files.
package index

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/best"
	"modeldex/dataset/fit"
	"modeldex/dataset/resolve"
)

// Generation is all tables of one load, immutable after Publish.
type Generation struct {
	Number uint64 // from 1, in order of publishing; 0 before
	Info   dataset.Info
	Digest dataset.Digest
	Files  []dataset.LoadedFile // that were loaded, by name
	Loaded time.Time
	// Edition is Renderers.Edition of the models.
	Edition string

	Models, Hardware, Tools, Benchmarks, Quality *Table

	Freshness dataset.Freshness

	// Credits are the repositories and sites the facts were read from, those with most measurements
	// first, with how much each gave.
	Credits []dataset.Credit

	// Fit answers which model runs on what.
	Fit *fit.Engine
	// Names finds the records that texts mean. It is made of models, hardware and tools alone.
	Names *resolve.Resolver
	// Capabilities are the capabilities of models, without unrated ones. Read-only.
	Capabilities map[dataset.Slug]best.Capability
	// Best says what to choose of what runs.
	Best *best.Rule
}

// Renderers append the finished bytes of records to dst. The caller decides the shape of a row.
// benchmarks is how many benchmarks the generation has of the record.
type Renderers struct {
	Model       func(dst []byte, m *dataset.Model, benchmarks BenchmarkCounts, can *best.Capability) ([]byte, error)
	ModelDetail func(dst []byte, m *dataset.Model, benchmarks BenchmarkCounts, can *best.Capability, quality map[string]*dataset.SizeQuality) ([]byte, error)
	Hardware    func(dst []byte, h *dataset.Hardware, benchmarks BenchmarkCounts) ([]byte, error)
	Tool        func(dst []byte, t *dataset.Tool, benchmarks BenchmarkCounts) ([]byte, error)
	Quality     func(dst []byte, q *dataset.Quality) ([]byte, error)
	Benchmark   func(dst []byte, b *dataset.Benchmark, computed Computed) ([]byte, error)

	// Score is the composite intelligence score of a model, 0 to 100, from outside the dataset; NaN
	// if unknown. Nil: all are unknown.
	Score func(model dataset.Slug) float64
	// Evidence returns the published evaluations of a model, which are not in the dataset. It may be nil.
	Evidence func(model dataset.Slug) []best.Evidence
	// Edition names what Score and Model use beside the record.
	Edition string
}

// Computed is what the generation adds to a benchmark.
type Computed struct {
	// Roofline is the share of the memory bandwidth the speed accounts for, PerStreamTPS the
	// generation speed of each stream in tokens per second; NaN if unknown.
	Roofline, PerStreamTPS float64
	// ReproducedBy is how many other sources measured the same, -1 if unknown, see dataset.Reproduced.
	ReproducedBy int32
}

// Build makes a generation from a set. It reads the set and does not keep it. Errors come from
// the renderers, and from ctx soon after it has ended.
func Build(ctx context.Context, set *dataset.Set, r Renderers) (*Generation, error) {
	if r.Score == nil {
		r.Score = func(dataset.Slug) float64 { return math.NaN() }
	}
	if r.Evidence == nil {
		r.Evidence = func(dataset.Slug) []best.Evidence { return nil }
	}
	gen := &Generation{Info: set.Info, Digest: set.Digest, Files: set.Files(), Loaded: time.Now().UTC(), Edition: r.Edition}
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { gen.Fit = fit.NewUntil(ctx, set) })
	work.Go(func() { gen.Freshness = dataset.FreshnessOf(set) })
	work.Go(func() { gen.Credits = dataset.Credits(set) })
	work.Go(func() { gen.Names = resolve.New(set) })
	relations := dataset.NewRelations(set.Hardware)
	source, benchmarks := newBenchmarks(set, relations, r)
	gen.Benchmarks, gen.Capabilities = benchmarks, best.Capabilities(set.Models, r.Evidence)
	var err error
	if gen.Models, err = newModels(ctx, set, benchmarks, gen.Capabilities, r); err != nil { // rows show how many benchmarks there are
		return nil, err
	}
	if gen.Hardware, err = newHardware(ctx, set.Hardware, relations, benchmarks, r); err != nil {
		return nil, err
	}
	if gen.Tools, err = newTools(ctx, set.Tools, benchmarks, r); err != nil {
		return nil, err
	}
	if gen.Quality, err = newQuality(ctx, set, gen.Models, r); err != nil {
		return nil, err
	}
	benchmarks.search = newLinkSearch(benchmarks, map[Field]*Table{Model: gen.Models, Hardware: gen.Hardware, Tool: gen.Tools})
	if err := source.render(ctx, benchmarks); err != nil {
		return nil, err
	}
	work.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	runs := func(model dataset.Slug) int { return benchmarks.counts(Model, string(model)).Own }
	gen.Best = best.NewRule(set, gen.Capabilities, runs, gen.Fit)
	return gen, nil
}

// Bytes is the size of the rows of all tables.
func (g *Generation) Bytes() int {
	return g.Models.Bytes() + g.Hardware.Bytes() + g.Tools.Bytes() + g.Benchmarks.Bytes() + g.Quality.Bytes()
}

// Live holds the generation being served: the only mutable word on the read path. The zero
// value holds none. Safe for concurrent use.
type Live struct {
	current    atomic.Pointer[Generation]
	publishing sync.Mutex // numbers rise in the order generations are served
	count      uint64
}

// Current returns the generation being served, nil before the first. A request takes it once:
// two calls may return two generations.
func (l *Live) Current() *Generation { return l.current.Load() }

// Publish numbers a finished generation and makes it the one being served. The previous one stays
// valid for the requests that use it. Numbers count up from 1 and are assigned here only.
func (l *Live) Publish(gen *Generation) {
	l.publishing.Lock()
	defer l.publishing.Unlock()
	l.count++
	gen.Number = l.count
	l.current.Store(gen)
}
