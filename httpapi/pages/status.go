package pages

import (
	"time"

	"modeldex/index"
)

// Status is the page of the state of a server since its start. Rows of objectives have their name, what is promised, what
// was found and the state; rows of limited a tier, the code of an error and the number of requests.
func (s *Site) Status(gen *index.Generation, version string, started time.Time, objectives, limited [][]Cell, at Place) []byte {
	const lead, minute = "Service targets, and how this server has performed since it started.", "2006-01-02 15:04 MST"
	v := &Sheet{
		Frame:   s.frame(gen, at, "/status", "Status", lead),
		Heading: "Status",
		Lead:    lead,
		Figures: []Fact{
			{Label: "Version", Value: Cell{Text: version}},
			{Label: "Started", Value: Cell{Text: started.UTC().Format(minute)}},
			{Label: "Dataset", Value: Cell{Text: gen.Info.Version, Href: "/api/v1/dataset"}, Note: "loaded " + gen.Loaded.UTC().Format(minute)},
		},
		Tables: []Table{
			{ID: "objectives", Title: "Targets", Columns: columns("Measure", "Target", "Since startup", "Status"), Rows: objectives},
			{ID: "limited", Title: "Rate-limited requests", Intro: "Requests since startup that were refused with HTTP 429.", Columns: columns("Tier", "Reason", "#Requests"), Rows: limited},
		},
	}
	v.Unlisted = true
	return v.HTML()
}
