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
		Frame: s.frame(gen, at, "/credits", "Credits",
			"Every repository and site that facts and measurements were read from, with its owner, its licence and the day it was read.", "md"),
		Heading: "Credits", Lead: "Nearly every number here was published by somebody else. These are the people and projects behind them.",
		Notes:  []string{"We copied facts, not text. The licence is that of the repository or site: “none stated” means that we found none, “not examined” that we have not looked yet."},
		Invite: &Link{Text: "Contribute it", Href: "/contribute"},
	}
	measured := Table{ID: "measurements", Intro: "Most measurements first.", Columns: columns("Source", "Owner", "Licence", "#Measurements", "Facts", "~Read"), Empty: "No source is listed."}
	facts := Table{ID: "facts", Intro: "Facts about models, hardware, tools and prices; most records first.", Columns: columns("Source", "Owner", "Licence", "Facts", "~Read"), Empty: "No source is listed."}
	for i := range gen.Credits {
		c := &gen.Credits[i]
		licence := known(c.License, func(s string) string { return s })
		if c.License == nil {
			licence = Cell{Text: "not examined", Class: "none"}
		}
		row := []Cell{{Text: c.Key, Href: webAddress(string(c.URL))}, {Text: c.Owner}, licence}
		if c.Measurements > 0 {
			measured.Rows = append(measured.Rows, append(row, Cell{Text: text.Whole(c.Measurements)}, aboutCell(c), Cell{Text: string(c.Read)}))
		} else {
			facts.Rows = append(facts.Rows, append(row, aboutCell(c), Cell{Text: string(c.Read)}))
		}
	}
	measured.Title = text.Count(len(measured.Rows), "source", "sources") + " of measurements"
	facts.Title = text.Count(len(facts.Rows), "source", "sources") + " of facts"
	v.Tables = []Table{measured, facts}
	return v
}

func aboutCell(c *dataset.Credit) Cell {
	var parts []string
	for i, n := range []int{c.Models, c.Hardware, c.Tools} {
		if n > 0 {
			parts = append(parts, text.Whole(n)+" "+nounOf(kinds[i], n))
		}
	}
	return cell(strings.Join(parts, ", "))
}
