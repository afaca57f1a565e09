package pages

import (
	"time"

	"modeldex/dataset/text"
	"modeldex/index"
)

// An Objective is what a server promises, and what it has done since its start.
type Objective struct {
	Name, Promised, Found string
	Missed                bool
}

// Limited is how many requests of a tier were answered 429 for a reason.
type Limited struct {
	Tier, Reason string
	Requests     uint64
}

// Status is what the page of the state of a server shows.
type Status struct {
	Version         string
	Started, Loaded time.Time
	Objectives      []Objective
	Limited         []Limited
}

// Status is the page of the state of a server since its start.
func (s *Site) Status(gen *index.Generation, is *Status, at Place) []byte {
	v := &Sheet{
		Frame: Frame{
			site: s, Place: at, Title: "Status", Canonical: "/status", Unlisted: true, Dataset: stampOf(gen), Scripts: []string{"app.js"},
			Description: "What this server promises, and what it has done since its start.",
		},
		Heading: "Status",
		Lead:    "What this server promises, and what it has done since its start. Counts begin anew with each start.",
		Figures: []Fact{
			{Label: "Version", Value: Cell{Text: is.Version}},
			{Label: "Started", Value: Cell{Text: is.Started.UTC().Format("2006-01-02 15:04 MST")}},
			{Label: "Dataset", Value: Cell{Text: gen.Info.Version, Href: "/api/v1/dataset"}, Note: "loaded " + is.Loaded.UTC().Format("2006-01-02 15:04 MST")},
		},
	}
	promises := Table{ID: "objectives", Title: "Objectives", Columns: columns("Objective", "Promised", "Since the start", "State")}
	for _, o := range is.Objectives {
		state := Cell{Text: "kept"}
		if o.Missed {
			state = Cell{Text: "missed"}
		}
		promises.Rows = append(promises.Rows, []Cell{{Text: o.Name}, {Text: o.Promised}, {Text: o.Found}, state})
	}
	limits := Table{
		ID: "limited", Title: "Requests over a limit", Intro: "Answered 429, by the tier of the key.",
		Columns: columns("Tier", "Reason", "#Requests"),
	}
	for _, l := range is.Limited {
		limits.Rows = append(limits.Rows, []Cell{{Text: l.Tier}, {Text: l.Reason, Href: "/problems/" + l.Reason}, {Text: text.Whole(l.Requests)}})
	}
	v.Tables = []Table{promises, limits}
	return v.HTML()
}
