package pages

import (
	"cmp"
	"strings"

	"modeldex/dataset/text"
	"modeldex/httpapi/rows"
	"modeldex/index"
	"modeldex/snapshot"
)

const shownScores = 100

// Snapshots is the page of the published documents of model intelligence.
func (s *Site) Snapshots(gen *index.Generation, catalog *snapshot.Catalog, at Place) *Sheet {
	v := &Sheet{
		Frame: s.frame(gen, at, "/snapshots", "Model intelligence",
			"Composite scores of open-weight models from published evaluations, with their sources, confidence and limits.", "json", "md"),
		Heading: "Model intelligence",
		Lead:    "Scores from 0 to 100, compiled from published evaluations. We measured none of them, and they apply to the full models, not to quantized files.",
	}
	newest, ok := catalog.Latest()
	if !ok {
		v.Notes = append(v.Notes, "No document is published.")
		return v
	}
	doc := decode[snapshotHead](newest.Body()) // it was verified when it was read
	v.Groups = []Group{{"The latest snapshot", []Fact{
		{Label: "Generated", Value: Cell{Text: newest.GeneratedAt.Format("2006-01-02 15:04 MST")}},
		{Label: "Models", Value: Cell{Text: text.Whole(newest.ModelCount)}},
		{Label: "Licence", Value: Cell{Text: newest.License}},
		{Label: "Attribution", Value: Cell{Text: newest.Attribution}},
		{Label: "Document", Value: Cell{Text: newest.Hash[:12] + "…", Href: "/api/v1/snapshots/" + newest.Hash, Title: newest.Hash}},
	}}, {"How to read it", []Fact{
		{Label: "Score", Value: Cell{Text: "The sources are put on one scale through the models they share; the mean of that scale is 50, its standard deviation 15. " +
			"A score is the weighted mean of the model's results in each source. Noisy or old evaluations have less weight."}},
		{Label: "Interval", Value: Cell{Text: "If the intervals of two models overlap, the scores do not tell which is better. Confidence follows from the width of the interval."}},
		{Label: "Names", Value: Cell{Text: "Variants of a model, such as a reasoning effort, have scores of their own. Nothing is averaged over variants."}},
		{Label: "Rules", Value: Cell{Text: "The snapshot file lists every rule and constant under “normalization”.", Href: "/api/v1/snapshots/" + newest.Hash}},
		{Label: "Limits", Value: Cell{Text: doc.FrameworkNote}},
	}}}
	v.Tables = []Table{scoreTable(gen, doc), sourcesTable(doc)}
	return v
}

type snapshotHead struct {
	FrameworkNote string            `json:"framework_note"`
	Sources       []snapshot.Source `json:"sources"`
}

func scoreTable(gen *index.Generation, doc *snapshotHead) Table {
	labels := map[snapshot.SourceID]string{} // without what is said in brackets
	for _, src := range doc.Sources {
		labels[src.SourceID], _, _ = strings.Cut(src.Label, " (")
	}
	t := Table{
		ID: "scores", Title: "Scores of models in the directory", Empty: "No model of the directory has a score.", Intro: "Each score has a 95 % interval, calculated from how much the evaluations disagree.",
		Columns: columns("Model", "#Score", "#Interval", "Confidence", "Sources", "#Rank|Among all models with open weights and a score, also those that are not in this directory", "#Parameters"),
		More:    &Link{Text: "All models by intelligence", Href: "/explore/models?sort=-intelligence"},
	}
	page := gen.Models.Select(index.Query{Sort: index.Sort{Field: "intelligence", Desc: true}, Limit: shownScores})
	for _, ord := range page.Ords {
		m := decode[rows.ModelDetail](gen.Models.Row(ord))
		in := m.Intelligence
		if in == nil || in.Score == nil {
			break
		}
		sources := make([]string, len(in.Sources))
		for i, id := range in.Sources {
			sources[i] = cmp.Or(labels[id], string(id))
		}
		interval := cell("")
		if in.Lower != nil && in.Upper != nil {
			interval.Text = text.Tenths(*in.Lower) + " to " + text.Tenths(*in.Upper)
		}
		t.Rows = append(t.Rows, []Cell{
			{Text: m.Name, Href: "/models/" + string(m.Slug)},
			{Text: text.Tenths(*in.Score)},
			interval,
			{Text: string(in.Confidence)},
			{Text: strings.Join(sources, ", ")},
			known(in.OpenRank, text.Whole[int]),
			{Text: billions(m.ParamsB).Text},
		})
	}
	return t
}

func sourcesTable(doc *snapshotHead) Table {
	t := Table{ID: "evaluations", Title: "Evaluations", Empty: "The document names no source.", Columns: columns("Source", "Data", "~Captured", "#Rows", "Licence and limits")}
	for _, src := range doc.Sources {
		day, _, _ := strings.Cut(src.CapturedAt, "T")
		t.Rows = append(t.Rows, []Cell{
			{Text: src.Label},
			{Text: src.Dataset, Href: webAddress(src.SourceURL), Note: src.Config},
			{Text: day},
			{Text: text.Whole(src.FetchedRows), Note: "of " + text.Whole(src.TotalRowsReported)},
			{Text: src.LicenseNote, Note: src.SamplingNote, Class: "prose"},
		})
	}
	return t
}
