package importer

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"modeldex/dataset"
	"modeldex/dataset/record"
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

// FreezeDirectory writes directory.ndjson into a folder: the directory that a build used, so that
// it can be repeated.
func FreezeDirectory(folder string, entries []snapshot.Entry) error {
	return wholefile.Write(filepath.Join(folder, DirectoryFile), func(w io.Writer) error { return WriteDirectory(w, entries) })
}

// PlotFile draws a document and writes the SVG file. A document with a finding is an error and
// writes nothing.
func PlotFile(document, svg string, opt snapshot.PlotOptions) error {
	f, err := os.Open(document)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	doc, findings := snapshot.Read(f)
	if len(findings) > 0 {
		return fmt.Errorf("%s: %s, the first: %s", document, record.Counted(len(findings), "finding"), findings[0])
	}
	if !slices.ContainsFunc(doc.Models, func(m snapshot.Model) bool { return len(m.Composite.Components) >= opt.MinSources }) {
		return fmt.Errorf("%s: no model has scores of %d sources", document, opt.MinSources)
	}
	return wholefile.Write(svg, func(w io.Writer) error { return snapshot.Plot(w, doc, opt) })
}
