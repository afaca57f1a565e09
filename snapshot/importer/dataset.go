package importer

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/wholefile"
	"modeldex/snapshot"
)

// DirectoryOf gives the models of a dataset as a snapshot needs them: their names and what is known
// of them. It is here because package snapshot does not import records. The dataset lists
// models with published weights only, so each is open.
func DirectoryOf(models []dataset.Model) []snapshot.Entry {
	open := snapshot.OpenWeights
	entries := make([]snapshot.Entry, len(models))
	for i := range models {
		m := &models[i]
		e := snapshot.Entry{Slug: string(m.Slug), Name: m.Name, Aliases: m.Aliases}
		if m.HFRepo != nil {
			e.HFRepo = *m.HFRepo
		}
		e.Provider, e.Openness, e.License, e.ParameterBillions = &m.Organization, &open, m.License, m.ParamsB
		if n := m.Architecture.ContextLength; n != nil {
			window := float64(*n)
			e.ContextWindow = &window
		}
		for _, modality := range m.Modalities {
			e.Modalities = append(e.Modalities, string(modality))
		}
		entries[i] = e
	}
	return entries
}

// FreezeDirectory writes directory.ndjson into a folder, sorted by slug: the directory that a build used, so that
// it can be repeated.
func FreezeDirectory(folder string, entries []snapshot.Entry) error {
	sorted := slices.SortedFunc(slices.Values(entries), func(a, b snapshot.Entry) int { return strings.Compare(a.Slug, b.Slug) })
	return wholefile.Write(filepath.Join(folder, directoryFile), func(w io.Writer) error { return WriteLines(w, sorted) })
}
