package pages

import (
	"fmt"
	"html/template"
	"strings"

	"modeldex/dataset"
	"modeldex/httpapi/charts"
)

// A Sheet is a page of facts and tables, in HTML and in Markdown. Its parts are shown in the order of the fields.
type Sheet struct {
	Frame
	Crumbs   []Link
	Heading  string
	Lead     string
	Picks    []Pick
	Switches []Switch
	Figures  []Fact // the few that matter most
	Actions  []Link
	Notes    []string
	Chart    *Plot
	Tables   []Table
	// Tabs are tables of which one is shown at a time; the facts are then a tab as well.
	Tabs       []Table
	FactsFirst bool // the facts are the first tab
	Groups     []Group
	Sources    []Source
	// Invite leads to the form for measurements of readers, with what the page is about filled in.
	Invite *Link
	// Lacks names the facts of the record that are not known, and Give leads to where to give them.
	Lacks []string
	Give  Link
	// Past leads to what happened to the record.
	Past *Link
	Cite string
}

// A Pick is one of the few choices that a page recommends.
type Pick struct {
	Label string // such as Best
	Name  Cell
	Facts []Fact
}

// A Switch is a condition of a page, with its values as links.
type Switch struct {
	Label  string
	Values []Link
}

// A Fact is one value with its name.
type Fact struct {
	Label string
	Value Cell
	Note  string // what to know about the value
	// Refs are the places in Sheet.Sources of the pages that back the value, from 1.
	Refs []int
}

// A Group is facts about one thing.
type Group struct {
	Title string
	Facts []Fact
}

// A Table is rows of cells, perhaps below a plot.
type Table struct {
	ID      string
	Title   string
	Intro   string
	Columns []Column
	Rows    [][]Cell
	Empty   string // what to say without rows, and without a plot
	Plot    *Plot
	Source  string // where the figures come from, in a line
	More    *Link
}

// foldedFrom is the least number of rows of a table that is folded: ten are shown until the others are asked for, see
// style.css.
const foldedFrom = 14

// Folded is the number of rows of a table that is folded, 0 for one that is shown whole.
func (t *Table) Folded() int {
	if len(t.Rows) < foldedFrom {
		return 0
	}
	return len(t.Rows)
}

// A Plot is a drawing above a table.
type Plot struct {
	Title, Note, Source string
	Drawing             template.HTML // made by package charts
	Embed               *charts.Embed // lines to show it elsewhere
}

func plot(f *charts.Figure, id, base string) *Plot {
	if f.Empty() {
		return nil
	}
	return &Plot{Title: f.Title, Note: f.Note, Source: f.Source, Drawing: f.Inline(id), Embed: f.Embed(base)}
}

// A Source is a page that facts were read from.
type Source struct {
	Number     int
	Fields     string
	Page, Read Cell // Read is where it was read, if not there
	Note       string
}

// sourcesOf lists the sources of a record and the places of those that back each field.
func sourcesOf(refs []dataset.SourceRef) (list []Source, byField map[string][]int) {
	byField = map[string][]int{}
	for i, r := range refs {
		src := Source{Number: i + 1, Fields: fieldNamesOf(r.Fields), Note: str(r.Note)}
		src.Page, src.Read = webCell(str(r.URL)), webCell(str(r.Via))
		if src.Page.Text == "" {
			src.Page, src.Read = src.Read, Cell{}
		}
		list = append(list, src)
		for _, f := range r.Fields {
			byField[f] = append(byField[f], i+1)
		}
	}
	return list, byField
}

// webCell is an address, or another text in its place.
func webCell(s string) Cell { return Cell{Text: s, Href: webAddress(s)} }

// HTML is the page.
func (v *Sheet) HTML() []byte { return v.site.render("sheet.html", v) }

// Markdown is the page as a Markdown document.
func (v *Sheet) Markdown() []byte {
	b := &markdown{base: v.Base}
	b.print("# %s\n\n", v.Heading)
	if v.Lead != "" {
		b.print("%s\n\n", v.Lead)
	}
	for _, p := range v.Picks {
		b.print("- %s: ", p.Label)
		b.cell(p.Name)
		for _, f := range p.Facts {
			b.fact("; ", " ", f)
		}
		b.WriteString("\n")
	}
	for _, f := range v.Figures {
		b.fact("- ", ": ", f)
		b.WriteString("\n")
	}
	for _, g := range v.Groups {
		b.print("\n## %s\n\n| | |\n|---|---|\n", g.Title)
		for _, f := range g.Facts {
			b.fact("| ", " | ", f)
			b.WriteString(" |\n")
		}
	}
	for _, tables := range [][]Table{v.Tables, v.Tabs} {
		for i := range tables {
			b.table(&tables[i])
		}
	}
	if len(v.Sources) > 0 {
		b.WriteString("\n## Sources\n\n")
		for _, s := range v.Sources {
			b.print("- %s: %s\n", s.Fields, strings.TrimSpace(s.Page.Text+" "+s.Read.Text))
		}
	}
	if len(v.Lacks) > 0 {
		b.print("\nUnknown: %s.\n", strings.Join(v.Lacks, ", "))
	}
	for _, n := range v.Notes {
		b.print("\n> %s\n", n)
	}
	b.print("\n---\n\n%s\n", "Dataset "+v.Dataset.Version+", released "+v.Dataset.Released+", "+v.Dataset.License+".")
	if v.Base != "" {
		b.WriteString("\n" + v.Absolute(v.Address()) + "\n")
	}
	return []byte(b.String())
}

type markdown struct {
	strings.Builder
	base string // before addresses of this site
}

func (b *markdown) print(form string, texts ...string) {
	args := make([]any, len(texts))
	for i, s := range texts {
		args[i] = mdText(s)
	}
	fmt.Fprintf(b, form, args...)
}

func (b *markdown) fact(before, between string, f Fact) {
	b.print(before+"%s"+between, f.Label)
	b.cell(f.Value)
	if f.Note != "" {
		b.print(" (%s)", f.Note)
	}
}

func (b *markdown) table(t *Table) {
	b.print("\n## %s\n\n", t.Title)
	if t.Intro != "" {
		b.print("%s\n\n", t.Intro)
	}
	if len(t.Rows) == 0 {
		b.print("%s\n", t.Empty)
		return
	}
	rule := ""
	for _, c := range t.Columns {
		b.print("| %s ", c.Text)
		rule += "|---"
		if c.Number {
			rule += ":"
		}
	}
	b.WriteString("|\n" + rule + "|\n")
	for _, row := range t.Rows {
		for _, c := range row {
			b.WriteString("| ")
			b.cell(c)
			b.WriteByte(' ')
		}
		b.WriteString("|\n")
	}
	if t.Source != "" {
		b.print("\n%s\n", t.Source)
	}
}

func (b *markdown) cell(c Cell) {
	href := c.Href
	if strings.HasPrefix(href, "/") {
		href = b.base + href
	}
	if href == "" {
		b.print("%s", c.Text)
	} else {
		b.print("[%s]", c.Text)
		b.WriteString("(" + mdAddress.Replace(href) + ")")
	}
	if c.Note != "" {
		b.print(" %s", c.Note)
	}
}

// mdEscaper keeps text from being read as Markdown or HTML.
var mdEscaper = strings.NewReplacer(
	"\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "<", "&lt;", ">", "&gt;", "|", "\\|", "#", "\\#",
	"\n", " ", "\r", " ", "&", "&amp;", "!", "\\!",
)

func mdText(s string) string { return mdEscaper.Replace(s) }

// mdAddress keeps an address from ending its link.
var mdAddress = strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "|", "%7C", "\n", "")
