package fit

import (
	"cmp"
	"fmt"
	"slices"

	"modeldex/dataset"
)

// Companion is a projector, MTP layer or draft model next to a model on the first device.
type Companion struct {
	// projector: reads images. mtp: a layer of the model that drafts tokens. draft: a separate model that drafts tokens.
	Kind string `json:"kind" jsonschema:"enum=projector,enum=mtp,enum=draft,example=draft"`
	// Slug of the draft model; otherwise null.
	Model *dataset.Slug `json:"model" jsonschema:"nullable,example=qwen3-0.6b"`
	Bytes
}

// drafts is the weights of the layer that drafts tokens: one more layer, and a matrix that joins two hidden states.
func (a *evaluation) drafts(l *load, s storage) int64 {
	if !a.q.MTP || a.q.WeightsGB > 0 {
		return 0
	}
	hidden := float64(val(a.t.Architecture.HiddenSize))
	return (l.dense+l.experts)/l.layers + int64(2*hidden*hidden*s.blocks/8)
}

// companions are what a query counts beside its model.
func (e *Engine) companions(t *target, q *Query) (out []Companion, fault *Fault) {
	add := func(kind string, bytes int64, basis Basis, model *dataset.Slug) {
		out = append(out, Companion{kind, model, exact(bytes, basis, "companion."+kind)})
	}
	switch {
	case q.ProjectorGB > 0:
		add("projector", bytesOf(q.ProjectorGB)+PictureBuffer, Given, nil)
	case q.Projector && t.ProjectorBytes == nil:
		return nil, &Fault{Field: "projector", Text: fmt.Sprintf("must be false: the projector size of %s is unknown; set projector_gb to the size of its file", t.Slug)}
	case q.Projector && slices.ContainsFunc(t.Sources, func(s dataset.SourceRef) bool { return s.Note != nil && slices.Contains(s.Fields, "projector_bytes") }):
		add("projector", *t.ProjectorBytes+PictureBuffer, Computed, nil)
	case q.Projector:
		add("projector", *t.ProjectorBytes+PictureBuffer, Published, nil)
	}
	if q.MTP {
		one := t.most
		one.globalLayers, one.slidingLayers, one.recurrent = 1, 0, 0
		add("mtp", one.cache(q).Bytes.Bytes+one.compute(q), Estimated, nil)
	}
	if q.Draft == "" {
		return out, nil
	}
	of := *q
	of.Model, of.Quantization, of.Draft, of.AllowExtended = q.Draft, cmp.Or(q.DraftQuantization, "Q8_0"), "", true
	of.WeightsGB, of.Projector, of.ProjectorGB = 0, false, 0
	d, fault := e.target(&of)
	if fault != nil {
		fault.Field = map[string]string{"model": "draft", "quantization": "draft_quantization"}[fault.Field]
		return nil, fault
	}
	weights := d.Quantizations[d.named(of.Quantization)[0]].SizeBytes
	add("draft", weights+d.most.cache(&of).Bytes.Bytes+d.most.compute(&of), Computed, &d.Slug)
	return out, nil
}
