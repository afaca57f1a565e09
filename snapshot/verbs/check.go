package verbs

import (
	"errors"
	"io/fs"
	"path"

	"modeldex/dataset"
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
