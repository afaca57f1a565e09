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
		Frame: s.frame(gen, at, "/snapshots", "Evaluation scores",
			"Scores of open-weight models from published evaluations, with their sources, confidence and limits.", "json", "md"),
		Heading: "Evaluation scores",
		Lead:    "Scores from 0 to 100, combined from evaluations that others published. They are for unquantized models.",
	}
	newest, ok := catalog.Latest()
	if !ok {
		v.Notes = append(v.Notes, "No snapshot has been published yet.")
		return v
	}
	doc := decode[snapshotHead](newest.Body()) // it was verified when it was read
	v.Groups = []Group{{"Latest snapshot", []Fact{
		{Label: "Generated", Value: Cell{Text: newest.GeneratedAt.Format("2006-01-02 15:04 MST")}},
		{Label: "Models", Value: Cell{Text: text.Whole(newest.ModelCount)}},
		{Label: "Licence", Value: Cell{Text: newest.License}},
		{Label: "Attribution", Value: Cell{Text: newest.Attribution}},
		{Label: "Document", Value: Cell{Text: newest.Hash[:12] + "…", Href: "/api/v1/snapshots/" + newest.Hash, Title: newest.Hash}},
	}}, {"About the scores", []Fact{
		{Label: "Score", Value: Cell{Text: "A weighted mean of the model's results in each source. Sources are put on one scale, with a mean of 50 and a standard deviation of 15, through the models they share. Noisy or old evaluations count less."}},
		{Label: "Interval", Value: Cell{Text: "If the intervals of two models overlap, their scores do not show which is better. The wider the interval, the lower the confidence."}},
		{Label: "Variants", Value: Cell{Text: "Variants of a model, such as different reasoning efforts, are scored separately."}},
		{Label: "Rules", Value: Cell{Text: "The snapshot file lists all rules and constants under “normalization”.", Href: "/api/v1/snapshots/" + newest.Hash}},
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
		ID: "scores", Title: "Scores", Empty: "No model has a score.", Intro: "Each score has a 95% interval, which shows how much the evaluations disagree.",
		Columns: columns("Model", "#Score", "#Interval", "Confidence", "Sources", "#Rank|Among all open-weight models with a score, including those not listed here", "#Parameters"),
		More:    &Link{Text: "All models by evaluation score", Href: "/explore/models?sort=-intelligence"},
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
	t := Table{ID: "evaluations", Title: "Evaluations", Empty: "No sources.", Columns: columns("Source", "Data", "~Accessed", "#Rows", "Licence and limits")}
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
