package pages

import (
	"time"

	"modeldex/index"
)

// Status is the page of the state of a server since its start. Rows of objectives have their name, what is promised, what
// was found and the state; rows of limited a tier, the code of an error and the number of requests.
func (s *Site) Status(gen *index.Generation, version string, started time.Time, objectives, limited [][]Cell, at Place) []byte {
	const lead, minute = "What this server promises, and how it has performed since it started.", "2006-01-02 15:04 MST"
	v := &Sheet{
		Frame:   s.frame(gen, at, "/status", "Status", lead),
		Heading: "Status",
		Lead:    lead + " Counts restart from zero when the server restarts.",
		Figures: []Fact{
			{Label: "Version", Value: Cell{Text: version}},
			{Label: "Started", Value: Cell{Text: started.UTC().Format(minute)}},
			{Label: "Dataset", Value: Cell{Text: gen.Info.Version, Href: "/api/v1/dataset"}, Note: "loaded " + gen.Loaded.UTC().Format(minute)},
		},
		Tables: []Table{
			{ID: "objectives", Title: "Objectives", Columns: columns("Objective", "Promised", "Since startup", "State"), Rows: objectives},
			{ID: "limited", Title: "Requests over a limit", Intro: "Requests refused because a limit was reached (HTTP 429), by tier of the key.", Columns: columns("Tier", "Reason", "#Requests"), Rows: limited},
		},
	}
	v.Unlisted = true
	return v.HTML()
}
