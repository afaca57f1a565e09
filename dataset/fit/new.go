package fit

import "modeldex/dataset"

// New makes an engine of a dataset, of which it keeps parts. Only measurements that compare are
// kept, so that a table of a million rows costs one pass.
func New(set *dataset.Set) *Engine {
	e := &Engine{
		models:   make(map[dataset.Slug]*target, len(set.Models)),
		hardware: make(map[dataset.Slug]*dataset.Hardware, len(set.Hardware)),
		proofs:   map[dataset.Slug][]proof{},
		line:     dataset.NewRoofline(set.Models, set.Hardware, set.Quantizations),
	}
	for i := range set.Models {
		t := &target{Model: &set.Models[i], shape: shapeOf(&set.Models[i]), weights: weightsByFormat(&set.Models[i])}
		t.order = t.inOrder()
		e.models[t.Slug] = t
		e.bySlug = append(e.bySlug, t.Slug)
	}
	for i := range set.Hardware {
		e.hardware[set.Hardware[i].Slug] = &set.Hardware[i]
		e.hwBySlug = append(e.hwBySlug, set.Hardware[i].Slug)
	}
	e.learn(set)
	e.prepare()
	return e
}
