package fit

import (
	"cmp"
	"context"

	"modeldex/dataset"
)

// New makes an engine for a dataset and keeps its comparable measurements.
func New(set *dataset.Set) *Engine { return NewUntil(context.Background(), set) }

// NewUntil is New that gives up soon after ctx has ended; the engine is of no use then.
func NewUntil(ctx context.Context, set *dataset.Set) *Engine {
	e := engine(set)
	r := e.read(ctx, set)
	e.learn(ctx, r)
	if ctx.Err() == nil {
		e.choose()
	}
	return e
}

// engine makes an engine that has read no measurements.
func engine(set *dataset.Set) *Engine {
	e := &Engine{
		models:    make(map[dataset.Slug]*target, len(set.Models)),
		hardware:  make(map[dataset.Slug]*piece, len(set.Hardware)),
		proofs:    map[dataset.Slug][]proof{},
		shown:     map[string]Share{},
		line:      dataset.NewRoofline(set.Models, set.Hardware, set.Quantizations),
		relations: dataset.NewRelations(set.Hardware),
		numbers:   numbers{},
		cards:     cardBandwidths(set.Hardware),
		kinds:     kindsOf(set),
		year:      yearOf(&set.Info.Released),
	}
	for i := range set.Models {
		m := &set.Models[i]
		t := &target{Model: m, network: networkOf(m), layout: layoutOf(m), limit: val(m.Architecture.ContextLength), weights: weightsByFormat(m)}
		t.fourBits = m.TrainedBits != nil && *m.TrainedBits >= LeastBits
		t.least, _ = shapeOf(m, e.line.BitsPerWeight, false)
		t.most, t.missing = shapeOf(m, e.line.BitsPerWeight, true)
		t.order = t.inOrder("")
		e.models[t.Slug] = t
		e.bySlug = append(e.bySlug, t.Slug)
	}
	for i := range set.Hardware {
		h := &set.Hardware[i]
		e.hardware[h.Slug] = &piece{Hardware: h, bandwidth: e.line.Bandwidth(h.Slug)}
		e.hwBySlug = append(e.hwBySlug, h.Slug)
	}
	for _, h := range e.hardware {
		h.memoryGB = e.memoryGB(h.Hardware)
	}
	e.linkSilicon(set.Hardware)
	for _, h := range e.hardware {
		silicon := e.siliconOf(h.Slug)
		h.silicon, h.arch = e.numbers.of("silicon "+silicon), e.numbers.of("arch "+cmp.Or(val(h.Architecture), silicon))
	}
	e.bodies()
	return e
}
