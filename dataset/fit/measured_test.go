package fit

import (
	"slices"
	"testing"

	"modeldex/dataset"
)

// TestMeasuredOn: whatever shipped hardware a speed is asked for, each measurement names the record it was made on and how
// that is related, and a speed that was measured on siblings alone is not called measured.
func TestMeasuredOn(t *testing.T) {
	t.Parallel()
	set, e := shippedSet(t), shippedEngine(t)
	relations, on := dataset.NewRelations(set.Hardware), map[dataset.Slug]dataset.Slug{}
	for _, b := range set.Benchmarks {
		on[b.ID] = b.Hardware
	}
	uses := map[string]int{}
	for i := range set.Hardware {
		h := set.Hardware[i].Slug
		answer, fault := e.Fit(Query{Model: "llama-2-7b", Hardware: h})
		if fault != nil {
			continue
		}
		for _, z := range answer.Sizes {
			if z.Speed == nil || z.Speed.Measured == nil {
				continue
			}
			m, farthest := z.Speed.Measured, 0
			for n, run := range m.On {
				is := relations.Between(h, on[run.ID])
				if run.ID != m.Runs[n] || run.MeasuredOn.MeasuredOn != on[run.ID] || is == "" || *run.Relation != is {
					t.Errorf("%s %s: %+v was measured on %s, which is %q", h, z.Quantization, run, on[run.ID], is)
				}
				farthest = max(farthest, slices.Index(dataset.RelationKinds, is))
			}
			if m.N == len(m.On) && m.Relation != dataset.RelationKinds[farthest] {
				t.Errorf("%s %s: the farthest measurement is %q, not %q", h, z.Quantization, dataset.RelationKinds[farthest], m.Relation)
			}
			siblings := !slices.ContainsFunc(m.On, func(r MeasuredRun) bool { return *r.Relation != dataset.Sibling })
			if (*z.Speed.Use == UseSibling) != siblings || !siblings && m.Relation == dataset.Sibling {
				t.Errorf("%s %s: %d measurements, the farthest %q, are called %q", h, z.Quantization, m.N, m.Relation, *z.Speed.Use)
			}
			uses[*z.Speed.Use]++
		}
	}
	if uses[UseMeasured] == 0 || uses[UseSibling] == 0 {
		t.Errorf("uses of measurements: %v, want measured and sibling", uses)
	}
}
