package verbs

import (
	"errors"
	"io/fs"
	"path"

	"modeldex/dataset"
	"modeldex/dataset/best"
	"modeldex/snapshot"
)

// Check verifies the published documents of a dataset, those in its folder snapshots, and
// returns what is wrong with them. A dataset need not have any.
func Check(files fs.FS) dataset.Findings {
	const folder = "snapshots"
	documents, err := fs.Sub(files, folder)
	var findings []snapshot.Finding
	var out dataset.Findings
	if err == nil {
		var catalog *snapshot.Catalog
		if catalog, findings, err = snapshot.Open(documents); err == nil {
			for _, info := range catalog.List() {
				if text := dateProblem(info.GeneratedAt); text != "" {
					out = append(out, dataset.Finding{Path: path.Join(folder, info.Path), Field: "/generated_at", Text: text})
				}
			}
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		out = append(out, dataset.Finding{Path: folder, Text: err.Error()})
	}
	for _, f := range findings {
		out = append(out, dataset.Finding{Path: path.Join(folder, f.Path), Field: f.Pointer, Text: f.Rule})
	}
	return out
}

// Evidence is what the newest document of the folder snapshots of a dataset says of models; nothing where there is none.
func Evidence(files fs.FS) func(model dataset.Slug) []best.Evidence {
	if folder, err := fs.Sub(files, "snapshots"); err == nil {
		if catalog, _, err := snapshot.Open(folder); err == nil {
			return catalog.Evidence
		}
	}
	return (&snapshot.Catalog{}).Evidence
}
