package index

import (
	"cmp"
	"context"
	"math"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/cores"
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

	Models, Hardware, Tools, Benchmarks *Table

	// Credits are the repositories and sites the facts were read from, those with most measurements
	// first, with how much each gave.
	Credits []dataset.Credit

	// Fit answers which model runs on what.
	Fit *fit.Engine
	// Names finds the records that texts mean. It is made of models, hardware and tools alone.
	Names *resolve.Resolver
}

// Renderers append the finished bytes of records to dst. The caller decides the shape of a row.
// benchmarks is how many benchmarks the generation has of the record.
type Renderers struct {
	Model       func(dst []byte, m *dataset.Model, benchmarks BenchmarkCounts) ([]byte, error)
	ModelDetail func(dst []byte, m *dataset.Model, benchmarks BenchmarkCounts) ([]byte, error)
	Hardware    func(dst []byte, h *dataset.Hardware, benchmarks BenchmarkCounts) ([]byte, error)
	Tool        func(dst []byte, t *dataset.Tool, benchmarks BenchmarkCounts) ([]byte, error)
	Benchmark   func(dst []byte, b *dataset.Benchmark, computed Computed) ([]byte, error)

	// Score is the composite intelligence score of a model, 0 to 100, from outside the dataset; NaN
	// if unknown. Nil: all are unknown.
	Score func(model dataset.Slug) float64
	// Edition names what Score and Model use beside the record. Rebuild makes all models again if it
	// is another than before.
	Edition string
}

// Computed is what the generation adds to a benchmark.
type Computed struct {
	// Roofline is the share of the memory bandwidth the speed accounts for, PerStreamTPS the
	// generation speed of each stream in tokens per second; NaN if unknown.
	Roofline, PerStreamTPS float64
	// ReproducedBy is how many other sources measured the same, -1 if unknown, see
	// dataset.Reproduced.
	ReproducedBy int32
}

func (r *Renderers) score(model dataset.Slug) float64 {
	if r.Score == nil {
		return math.NaN()
	}
	return r.Score(model)
}

func (r *Renderers) benchmark(dst []byte, b *benchmarkRecord) ([]byte, error) {
	return r.Benchmark(dst, b.Benchmark, Computed{b.roofline(), PerStreamTPS(b.Benchmark), b.reproduced()})
}

// Build makes a generation from a set. It reads the set and does not keep it. Errors come from
// the renderers, and from ctx soon after it has ended.
func Build(ctx context.Context, set *dataset.Set, r Renderers) (*Generation, error) {
	gen := &Generation{Info: set.Info, Digest: set.Digest, Files: set.Files(), Loaded: time.Now().UTC(), Edition: r.Edition}
	engine := gen.makeEngine(set)
	defer engine.Wait()
	engine.Go(func() { gen.Names = resolve.New(set) })
	benchmarks := startBenchmarks(ctx, set, r)
	gen.Benchmarks = benchmarks.table
	err := ctx.Err() // what has been made of the benchmarks is whole without one
	if err == nil {
		err = gen.buildOthers(set, r)
	}
	if err = cmp.Or(benchmarks.wait(), err); err != nil {
		return nil, err
	}
	gen.link()
	return gen, nil
}

// buildOthers makes the tables of models, hardware and tools, which show how many benchmarks there are of each record.
func (g *Generation) buildOthers(set *dataset.Set, r Renderers) (err error) {
	if g.Models, err = buildModels(set.Models, g.Benchmarks, r); err != nil {
		return err
	}
	if g.Hardware, err = buildHardware(set.Hardware, g.Benchmarks, r); err != nil {
		return err
	}
	g.Tools, err = buildTools(set.Tools, g.Benchmarks, r)
	return err
}

// makeEngine makes the engine and the credits of a set while the tables are built. The generation is
// complete after Wait.
func (g *Generation) makeEngine(set *dataset.Set) *cores.Group {
	var work cores.Group
	work.Go(func() { g.Fit = fit.New(set) })
	work.Go(func() { g.Credits = dataset.Credits(set) })
	return &work
}

// Bytes is the size of the rows and details of all tables.
func (g *Generation) Bytes() int {
	return g.Models.Bytes() + g.Hardware.Bytes() + g.Tools.Bytes() + g.Benchmarks.Bytes()
}

// BytesBeside is how many bytes of rows and details a generation has that another does not share with
// it: what keeping it costs beside that one, without columns and bitmaps.
func (g *Generation) BytesBeside(other *Generation) (n int) {
	for _, pair := range [][2]*Table{{g.Models, other.Models}, {g.Hardware, other.Hardware}, {g.Tools, other.Tools}, {g.Benchmarks, other.Benchmarks}} {
		if pair[0] != pair[1] {
			n += pair[0].details.bytes + pair[0].rows.sizeBeside(&pair[1].rows.blob)
		}
	}
	return n
}

// link makes the search of benchmarks use the names of the records they refer to.
func (g *Generation) link() {
	g.Benchmarks.search = newLinkSearch(g.Benchmarks, map[Field]*Table{Model: g.Models, Hardware: g.Hardware, Tool: g.Tools})
}
