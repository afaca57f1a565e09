package pages

import (
	"cmp"
	"strings"

	"modeldex/dataset/text"
	"modeldex/index"
	"modeldex/snapshot"
)

// shownScores is how many models the page of scores lists.
const shownScores = 100

// Snapshots is the page of the published documents of model intelligence.
func (s *Site) Snapshots(gen *index.Generation, catalog *snapshot.Catalog, at Place) *Sheet {
	v := &Sheet{
		Frame: Frame{
			site: s, Place: at, Title: "Model intelligence", Section: "/snapshots", Canonical: "/snapshots", Dataset: stampOf(gen), Scripts: []string{"app.js"},
			Description: "Composite scores of open-weight models from published evaluations, with their sources, confidence and limits.", Forms: forms(at, "json", "csv", "md"),
		},
		Heading: "Model intelligence",
		Lead:    "A prior from published evaluations, on a scale from 0 to 100. No number here was measured by this directory, and none says anything about a quantized model on your machine.",
	}
	newest, ok := catalog.Latest()
	if !ok {
		v.Notes = append(v.Notes, "No document is published.")
		return v
	}
	doc := decode[snapshotHead](newest.Body()) // it was verified when it was read
	v.Groups = []Group{{"The newest document", []Fact{
		{Label: "Made", Value: Cell{Text: newest.GeneratedAt.Format("2006-01-02 15:04 MST")}},
		{Label: "Models", Value: Cell{Text: text.Whole(newest.ModelCount)}, Note: text.Whole(newest.ConfidenceCounts.High) + " with high confidence, " + text.Whole(newest.ConfidenceCounts.Moderate) + " moderate, " + text.Whole(newest.ConfidenceCounts.Low) + " low"},
		{Label: "Scores", Value: Cell{Text: text.Whole(newest.ScoreCount)}},
		{Label: "Licence", Value: Cell{Text: licenseText(newest.License)}},
		{Label: "Attribution", Value: Cell{Text: newest.Attribution}},
		{Label: "Document", Value: Cell{Text: newest.Hash[:12] + "…", Href: "/api/v1/snapshots/" + newest.Hash, Title: newest.Hash}, Note: "JSON, " + text.Rounded(float64(newest.Bytes)/1e6) + " MB, immutable"},
	}}, {"How to read it", []Fact{
		{Label: "Composite", Value: Cell{Text: doc.Normalization.Composite}},
		{Label: "Names", Value: Cell{Text: doc.Normalization.ModelMatching}},
		{Label: "Limits", Value: Cell{Text: doc.FrameworkNote}},
	}}}
	v.Tables = append(v.Tables, scoreTable(gen, doc), sourcesTable(doc), documentsTable(catalog))
	return v
}

// licenseText is the licence of a document in the words of the page, which has the notes of the sources in a column.
func licenseText(license string) string {
	return strings.ReplaceAll(license, "see license_note", "see “Licence and limits” of each")
}

// snapshotHead is a document without its models.
type snapshotHead struct {
	FrameworkNote string                 `json:"framework_note"`
	Sources       []snapshot.Source      `json:"sources"`
	Normalization snapshot.Normalization `json:"normalization"`
}

// scoreTable is the models of the directory by score.
func scoreTable(gen *index.Generation, doc *snapshotHead) Table {
	labels := map[snapshot.SourceID]string{} // without what is said in brackets
	for _, src := range doc.Sources {
		labels[src.SourceID], _, _ = strings.Cut(src.Label, " (")
	}
	t := Table{
		ID: "scores", Title: "Scores of models in the directory", Empty: "No model of the directory has a score.",
		Intro:   "The interval is where the score would be found in 95 of 100 cases, from the spread of the evaluations.",
		Columns: columns("Model", "#Score", "#Interval", "Confidence", "Sources", "#Place|Among models with open weights and a score", "#Parameters"),
		More:    &Link{Text: "All models by intelligence", Href: "/explore/models?sort=-intelligence"},
	}
	page := gen.Models.Select(index.Query{Sort: index.Sort{Field: "intelligence", Desc: true}, Limit: shownScores})
	for _, ord := range page.Ords {
		m := decode[modelRecord](gen.Models.Row(ord))
		in := m.Intelligence
		if in == nil || in.Score == nil {
			break
		}
		sources := make([]string, len(in.Sources))
		for i, id := range in.Sources {
			sources[i] = cmp.Or(labels[id], string(id))
		}
		interval, place := cell(""), cell("")
		if in.Lower != nil && in.Upper != nil {
			interval.Text = text.Tenths(*in.Lower) + " to " + text.Tenths(*in.Upper)
		}
		if in.OpenRank != nil {
			place.Text = text.Whole(*in.OpenRank)
			place.Title = "of " + text.Whole(in.OpenCount)
		}
		t.Rows = append(t.Rows, []Cell{{Text: m.Name, Href: "/models/" + string(m.Slug)}, {Text: text.Tenths(*in.Score)}, interval, {Text: string(in.Confidence)}, {Text: strings.Join(sources, ", ")}, place, {Text: billions(m.ParamsB).Text}})
	}
	return t
}

func sourcesTable(doc *snapshotHead) Table {
	t := Table{
		ID: "evaluations", Title: "Evaluations it draws on", Empty: "The document names no source.",
		Columns: columns("Source", "Data", "~Captured", "#Rows", "Licence and limits"),
	}
	for _, src := range doc.Sources {
		day, _, _ := strings.Cut(src.CapturedAt, "T")
		t.Rows = append(t.Rows, []Cell{
			{Text: src.Label, Note: strings.TrimPrefix(string(src.SourceID), "source_")},
			{Text: src.Dataset, Href: webAddress(src.SourceURL), Note: src.Config},
			{Text: day},
			{Text: text.Whole(src.FetchedRows), Note: "of " + text.Whole(src.TotalRowsReported)},
			{Text: src.LicenseNote, Note: src.SamplingNote, Class: "prose"},
		})
	}
	return t
}

func documentsTable(catalog *snapshot.Catalog) Table {
	t := Table{
		ID: "documents", Title: "Published documents", Intro: "Each has an address that never changes its answer.",
		Columns: columns("Document", "~Made", "#Models", "#Scores", "Licence"),
	}
	for _, d := range catalog.List() {
		t.Rows = append(t.Rows, []Cell{{Text: d.Hash[:12] + "…", Href: "/api/v1/snapshots/" + d.Hash, Title: d.Hash}, {Text: d.GeneratedAt.Format("2006-01-02")}, {Text: text.Whole(d.ModelCount)}, {Text: text.Whole(d.ScoreCount)}, {Text: licenseText(d.License)}})
	}
	return t
}
