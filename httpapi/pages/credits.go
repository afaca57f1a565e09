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
			"Every site and repository that our facts and benchmarks come from, with its owner and licence.", "md"),
		Heading: "Credits", Lead: "Nearly every number on this site was published by others. These are the people and projects behind them.",
		Notes: []string{"We copied facts, not text. Licences are those of the site or repository: “none stated” means we found none, “not checked” means we have not looked yet."},
	}
	measured := Table{ID: "measurements", Intro: "Most benchmarks first.", Columns: columns("Source", "Owner", "Licence", "#Benchmarks", "Facts", "~Seen|The day we last read it"), Empty: "No sources."}
	facts := Table{ID: "facts", Intro: "Facts and prices of models, hardware and tools. Most records first.", Columns: columns("Source", "Owner", "Licence", "Facts", "~Seen|The day we last read it"), Empty: "No sources."}
	for i := range gen.Credits {
		c := &gen.Credits[i]
		licence := known(c.License, func(s string) string { return s })
		if c.License == nil {
			licence = Cell{Text: "not checked", Class: "none"}
		}
		row := []Cell{{Text: c.Key, Href: webAddress(string(c.URL))}, {Text: c.Owner}, licence}
		if c.Measurements > 0 {
			measured.Rows = append(measured.Rows, append(row, Cell{Text: text.Whole(c.Measurements)}, aboutCell(c), Cell{Text: string(c.Read)}))
		} else {
			facts.Rows = append(facts.Rows, append(row, aboutCell(c), Cell{Text: string(c.Read)}))
		}
	}
	measured.Title = text.Count(len(measured.Rows), "benchmark source", "benchmark sources")
	facts.Title = text.Count(len(facts.Rows), "source", "sources") + " for facts"
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
