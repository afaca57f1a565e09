package facts

import (
	_ "embed"
	"regexp"
	"slices"

	"modeldex/dataset"
)

// amendments are facts with a source that the tables have no column for. A table that grows one
// wins.
//
//go:embed amendments.ndjson
var amendments []byte

type amendment struct {
	Model            dataset.Slug      `json:"model"`
	EffectiveParamsB *float64          `json:"effective_params_b"`
	Source           dataset.SourceRef `json:"source"`
}

// amend fills the fields the tables have no column for: from the amendments, and from what the
// notes of a benchmark say in so many words.
func (im *importer) amend() error {
	all, err := lines[amendment]("amendments.ndjson", amendments)
	if err != nil {
		return err
	}
	for _, a := range all {
		i := slices.IndexFunc(im.models, func(m dataset.Model) bool { return m.Slug == a.Model })
		if i < 0 || im.models[i].EffectiveParamsB != nil {
			continue
		}
		im.models[i].EffectiveParamsB = a.EffectiveParamsB
		im.models[i].Sources = append(im.models[i].Sources, a.Source)
	}
	for i := range im.benchmarks {
		readNotes(&im.benchmarks[i])
	}
	return nil
}

// What notes say of the memory the weights were read from. The last form holds only where the
// weights are larger than the memory of the device.
var (
	withProjector = regexp.MustCompile(`size of the files includes the vision projector`)
	inMainMemory  = regexp.MustCompile(`experts (kept )?(on CPU|in CPU memory)|ot=exps=CPU|weights in CPU memory`)
	overflowing   = regexp.MustCompile(`weights over VRAM go to CPU memory`)
)

func readNotes(b *dataset.Benchmark) {
	if b.Notes == nil {
		return
	}
	yes := true
	if b.SizeIncludesProjector == nil && withProjector.MatchString(*b.Notes) {
		b.SizeIncludesProjector = &yes
	}
	over := b.ModelSizeGiB != nil && b.MemoryGB != nil && *b.ModelSizeGiB > *b.MemoryGB && overflowing.MatchString(*b.Notes)
	if b.PartialOffload == nil && (over || inMainMemory.MatchString(*b.Notes)) {
		b.PartialOffload = &yes
	}
}
