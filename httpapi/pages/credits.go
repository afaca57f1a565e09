package pages

import (
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/text"
	"modeldex/index"
)

// Credits is the page of who published what the directory holds.
func (s *Site) Credits(gen *index.Generation, at Place) *Sheet {
	v := &Sheet{
		Frame: Frame{
			site: s, Place: at, Title: "Credits", Section: "/credits", Canonical: "/credits", Dataset: stampOf(gen), Scripts: []string{"app.js"},
			Description: "Every repository and site that facts and measurements were read from, with its owner, its licence and the day it was read.", Forms: forms(at, "json", "csv", "md"),
		},
		Heading: "Credits",
		Lead:    "Nearly every figure here was published by somebody else. These are the people and projects who did, each once.",
		Notes:   []string{"Single measured facts were taken, no text. The licence is that of the repository or site: “none stated” means that no licence was found, “not examined” that it was not looked for."},
	}
	measured := Table{
		ID: "measurements", Empty: "No source of measurements is listed.", Intro: "Most measurements first.",
		Columns: columns("Source", "Owner", "Licence", "#Measurements", "#Records|Models, hardware and tools that name a page of it", "~Read"),
	}
	facts := Table{
		ID: "facts", Empty: "No source of facts alone is listed.", Intro: "Facts about models, hardware, tools and prices; most records first.",
		Columns: columns("Source", "Owner", "Licence", "Facts about", "~Read"),
	}
	total := 0
	for i := range gen.Credits {
		c := &gen.Credits[i]
		total += c.Measurements
		licence := Cell{Text: "not examined", Class: "none"}
		if c.License != nil {
			licence = Cell{Text: *c.License}
		}
		head := []Cell{{Text: c.Key, Href: webAddress(string(c.URL))}, {Text: c.Owner}, licence}
		read := Cell{Text: string(c.Read)}
		if c.Measurements > 0 {
			recordsCell := cell("")
			if n := c.Models + c.Hardware + c.Tools; n > 0 {
				recordsCell.Text = text.Whole(n)
			}
			measured.Rows = append(measured.Rows, append(head, Cell{Text: text.Whole(c.Measurements)}, recordsCell, read))
		} else {
			facts.Rows = append(facts.Rows, append(head, aboutCell(c), read))
		}
	}
	measured.Title = text.Count(len(measured.Rows), "source", "sources") + " of measurements"
	facts.Title = text.Count(len(facts.Rows), "source", "sources") + " of facts"
	v.Figures = []Fact{
		{Label: "Sources", Value: Cell{Text: text.Whole(len(gen.Credits))}},
		{Label: "Measurements they gave", Value: Cell{Text: text.Whole(total)}},
	}
	v.Tables = []Table{measured, facts}
	v.Invite = &Link{Text: "Contribute it", Href: "/contribute"}
	return v
}

// aboutCell says how many records of each kind have facts from a source. One column for the three kinds keeps
// the page of several hundred sources small; most sources are about one kind.
func aboutCell(c *dataset.Credit) Cell {
	var parts []string
	for i, n := range []int{c.Models, c.Hardware, c.Tools} {
		if n > 0 {
			parts = append(parts, text.Whole(n)+" "+nounOf(kinds[i], n))
		}
	}
	return cell(strings.Join(parts, ", "))
}
