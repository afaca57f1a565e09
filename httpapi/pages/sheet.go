package pages

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/text"
	"modeldex/httpapi/charts"
)

// A Sheet is a page of facts and tables, in HTML and in Markdown.
type Sheet struct {
	Frame
	Crumbs  []Link
	Kind    string // of the record, for the line above the name
	Heading string
	Lead    string
	Answer  []Cell // to what people come for, in a sentence or two
	How     string // the lists are made
	Words   bool   // the page has words of the trade
	Figures []Fact // the few that matter most
	Groups  []Group
	// FactsFirst has the groups before the tables.
	FactsFirst bool
	Tables     []Table
	Sources    []Source
	Notes      []string
	Cite       *Citation
	Actions    []Link
	// Invite leads to the form for measurements of readers, with what the page is about filled in.
	Invite *Link
	// Past leads to what happened to the record.
	Past *Link
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

// A Cell is a text, perhaps with a link.
type Cell struct {
	Text  string
	Href  string
	Title string // shown when pointed at
	Class string // of style.css
	// Note is a smaller text after the value.
	Note     string
	NoFollow bool
}

// Known reports whether there is a value.
func (c Cell) Known() bool { return c.Text != "" && c.Text != text.Unknown }

// Outside reports whether the link leaves this site.
func (c Cell) Outside() bool { return strings.HasPrefix(c.Href, "http") }

// A Column is the head of a column.
type Column struct {
	Text   string
	Number bool
	Short  bool // values do not wrap
	Title  string
	Href   string // the page of what the column is about
	Sort   string // address of the table in this order, empty for none
	Order  string // ascending or descending where the table is in this order
}

// A Table is rows of cells, perhaps below a plot.
type Table struct {
	ID      string
	Title   string
	Intro   string
	Columns []Column
	Rows    [][]Cell
	Caption string // of the table itself, where the plot above it shows something else
	Empty   string // what to say without rows, and without a plot
	Offers  []Link // what to choose from without rows
	Plot    *Plot
	Source  string // where the figures come from, in a line
	More    *Link
}

// A Fold is a table of which the first rows are shown until the others are asked for. How many those are is in
// style.css.
type Fold struct {
	Rows int
	Wide bool // also where rows take one line each
}

// The least rows of a table that is folded where rows are cards, and where they take one line each.
const (
	foldedCards = 16
	foldedLines = 31
)

// Folded is nil for tables that are shown whole.
func (t *Table) Folded() *Fold {
	if len(t.Rows) < foldedCards {
		return nil
	}
	return &Fold{len(t.Rows), len(t.Rows) >= foldedLines}
}

// A Plot is a drawing above a table.
type Plot struct {
	Title, Note, Source string
	Said                bool            // the title is the heading above it already
	Drawing             []template.HTML // made by package charts, in parts
	Embed               *charts.Embed   // lines to show it elsewhere
}

// plot is the drawing of a figure, nil where there is nothing to draw.
func plot(f *charts.Figure, id, base string) *Plot {
	if f.Empty() {
		return nil
	}
	return &Plot{Title: f.Title, Note: f.Note, Source: f.Source, Drawing: inParts(f.Inline(id)), Embed: f.Embed(base)}
}

// A Source is a page that facts were read from.
type Source struct {
	Number       int
	Fields       string
	Href, Text   string
	Via, ViaHref string
	Note         string
}

// SheetHTML is the page.
func (s *Site) SheetHTML(v *Sheet) []byte { return s.render("sheet.html", v) }

// Markdown is the page as a Markdown document.
func (v *Sheet) Markdown() []byte {
	b := rendering.Get().(*bytes.Buffer) //nolint:forcetypeassert // the pool holds nothing else
	defer rendering.Put(b)
	b.Reset()
	b.WriteString("# " + mdText(v.Heading) + "\n\n")
	if v.Lead != "" {
		b.WriteString(mdText(v.Lead) + "\n\n")
	}
	for i := range v.Answer {
		v.Answer[i].markdown(b, v.Base)
	}
	if len(v.Answer) > 0 {
		b.WriteString("\n\n")
	}
	if v.How != "" {
		b.WriteString(mdText(v.How) + "\n\n")
	}
	for _, f := range v.Figures {
		b.WriteString("- " + mdText(f.Label) + ": ")
		f.Value.markdown(b, v.Base)
		if f.Note != "" {
			b.WriteString(" (" + mdText(f.Note) + ")")
		}
		b.WriteString("\n")
	}
	for _, g := range v.Groups {
		b.WriteString("\n## " + mdText(g.Title) + "\n\n| | |\n|---|---|\n")
		for _, f := range g.Facts {
			b.WriteString("| " + mdText(f.Label) + " | ")
			f.Value.markdown(b, v.Base)
			if f.Note != "" {
				b.WriteString(" (" + mdText(f.Note) + ")")
			}
			b.WriteString(" |\n")
		}
	}
	for i := range v.Tables {
		v.Tables[i].markdown(b, v.Base)
	}
	if len(v.Sources) > 0 {
		b.WriteString("\n## Sources\n\n")
		for _, s := range v.Sources {
			b.WriteString("- " + mdText(s.Fields) + ": " + mdText(strings.TrimSpace(s.Href+" "+s.Via)) + "\n")
		}
	}
	for _, n := range v.Notes {
		b.WriteString("\n> " + mdText(n) + "\n")
	}
	b.WriteString("\n---\n\n" + mdText(v.Dataset.line()) + "\n")
	if v.Base != "" {
		b.WriteString("\n" + v.Absolute(v.Address()) + "\n")
	}
	return bytes.Clone(b.Bytes())
}

func (d Stamp) line() string {
	return "Dataset " + d.Version + ", released " + d.Released + ", " + d.License + "."
}

func (t *Table) markdown(b *bytes.Buffer, base string) {
	if t.Columns == nil && t.Empty == "" {
		return // a plot alone
	}
	b.WriteString("\n## " + mdText(t.Title) + "\n\n")
	if t.Intro != "" {
		b.WriteString(mdText(t.Intro) + "\n\n")
	}
	if len(t.Rows) == 0 {
		b.WriteString(mdText(t.Empty) + "\n")
		return
	}
	if t.Caption != "" {
		b.WriteString(mdText(t.Caption) + "\n\n")
	}
	for _, c := range t.Columns {
		b.WriteString("| " + mdText(c.Text) + " ")
	}
	b.WriteString("|\n")
	for _, c := range t.Columns {
		if c.Number {
			b.WriteString("|---:")
		} else {
			b.WriteString("|---")
		}
	}
	b.WriteString("|\n")
	for _, row := range t.Rows {
		for i := range row {
			b.WriteString("| ")
			row[i].markdown(b, base)
			b.WriteByte(' ')
		}
		b.WriteString("|\n")
	}
	if t.Source != "" {
		b.WriteString("\n" + mdText(t.Source) + "\n")
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

func (c *Cell) markdown(b *bytes.Buffer, base string) {
	if c.Href == "" {
		b.WriteString(mdText(c.Text))
	} else {
		b.WriteByte('[')
		b.WriteString(mdText(c.Text))
		b.WriteString("](")
		if strings.HasPrefix(c.Href, "/") {
			b.WriteString(mdAddress.Replace(base))
		}
		b.WriteString(mdAddress.Replace(c.Href))
		b.WriteByte(')')
	}
	if c.Note != "" {
		b.WriteByte(' ')
		b.WriteString(mdText(c.Note))
	}
}

// sourcesOf lists the sources of a record and the places of those that back each field.
func sourcesOf(refs []dataset.SourceRef) (list []Source, byField map[string][]int) {
	byField = map[string][]int{}
	for i, r := range refs {
		src := Source{Number: i + 1, Fields: strings.Join(r.Fields, ", "), Note: str(r.Note)}
		if r.URL != nil {
			src.Href = webAddress(string(*r.URL))
			src.Text = string(*r.URL)
		}
		src.Via, src.ViaHref = str(r.Via), webAddress(str(r.Via))
		if src.Text == "" {
			src.Text, src.Via, src.Href, src.ViaHref = src.Via, "", src.ViaHref, ""
		}
		list = append(list, src)
		for _, f := range r.Fields {
			byField[f] = append(byField[f], i+1)
		}
	}
	return list, byField
}

// facts collects the facts of a group; those without a value are left out.
type facts struct {
	list []Fact
	refs map[string][]int
}

func (f *facts) add(label, field string, value Cell, note string) {
	if !value.Known() {
		return
	}
	f.list = append(f.list, Fact{Label: label, Value: value, Note: note, Refs: f.refsOf(field)})
}

// refsOf finds the sources of a field, or of the object it is in.
func (f *facts) refsOf(field string) []int {
	if refs := f.refs[field]; refs != nil {
		return refs
	}
	if object, _, ok := strings.Cut(field, "."); ok {
		return f.refs[object]
	}
	return nil
}

func (f *facts) text(label, field, value string) { f.add(label, field, Cell{Text: value}, "") }

func (f *facts) number(label, field string, v *float64, unit string) {
	if v != nil {
		f.add(label, field, Cell{Text: withUnit(text.Exact(*v), unit)}, "")
	}
}

func (f *facts) count(label, field string, v *int64, unit string) {
	if v != nil {
		f.add(label, field, Cell{Text: withUnit(text.Whole(*v), unit)}, "")
	}
}

func (f *facts) flag(label, field string, v *bool) {
	if v != nil {
		f.add(label, field, Cell{Text: yesNo(*v)}, "")
	}
}

func (f *facts) group(title string) []Group {
	if len(f.list) == 0 {
		return nil
	}
	g := Group{title, f.list}
	f.list = nil
	return []Group{g}
}

func yesNo(v bool) string {
	if v {
		return "yes"
	}
	return "no"
}

func withUnit(v, unit string) string {
	if unit == "" {
		return v
	}
	return v + " " + unit
}

// numberCell is a number as the record has it.
func numberCell(v *float64) Cell {
	if v == nil {
		return Cell{Text: text.Unknown}
	}
	return Cell{Text: text.Exact(*v)}
}

func textCell(v string) Cell {
	if v == "" {
		v = text.Unknown
	}
	return Cell{Text: v}
}

// quantizationCell is a quantization as a source names it: most names are short, and some are
// sentences, which may break anywhere.
func quantizationCell(v string) Cell {
	const short = 14
	c := textCell(v)
	if len(v) > short {
		c.Class = "long"
	}
	return c
}

// Body is the facts of a group.
func (g *Group) Body() template.HTML {
	b := make([]byte, 0, 150*len(g.Facts))
	for i := range g.Facts {
		f := &g.Facts[i]
		b = appendEscaped(append(b, "\n    <div><dt>"...), f.Label)
		b = append(b, "</dt><dd>"...)
		if begin, rest := opening(f.Value.Text); rest != "" && f.Value.Href == "" {
			b = appendEscaped(append(b, "<details><summary>"...), begin)
			b = append(appendEscaped(append(b, "</summary>"...), rest), "</details>"...)
		} else {
			b = f.Value.append(b)
		}
		if f.Note != "" {
			b = append(appendEscaped(append(b, " <small>"...), f.Note), "</small>"...)
		}
		for _, ref := range f.Refs {
			b = fmt.Appendf(b, ` <a class="ref" href="#source-%[1]d" aria-label="Source %[1]d">%[1]d</a>`, ref)
		}
		b = append(b, "</dd></div>"...)
	}
	return template.HTML(b) //nolint:gosec // texts and addresses are escaped
}

// SourceList is the sources, as elements of a list.
func (v *Sheet) SourceList() template.HTML {
	b := make([]byte, 0, 300*len(v.Sources))
	for i := range v.Sources {
		s := &v.Sources[i]
		b = fmt.Appendf(b, "\n    <li id=\"source-%d\">", s.Number)
		b = appendOutside(b, s.Href, s.Text)
		if s.Via != "" {
			b = appendOutside(append(b, ", read at "...), s.ViaHref, s.Via)
		}
		b = appendEscaped(append(b, "\n      <small>"...), s.Fields)
		if s.Note != "" {
			b = appendEscaped(append(b, " · "...), s.Note)
		}
		b = append(b, "</small></li>"...)
	}
	return template.HTML(b) //nolint:gosec // texts and addresses are escaped
}

// mostText is the longest text of a fact that is shown whole.
const mostText = 400

// opening divides a long text after its first sentence; rest is empty for others.
func opening(text string) (begin, rest string) {
	if len(text) <= mostText {
		return text, ""
	}
	for i := 1; i < min(len(text), mostText); i++ {
		if strings.HasPrefix(text[i:], ". ") && (text[i-1] < '0' || text[i-1] > '9') { // "1. " is the number of a rule
			return text[:i+1], text[i+2:]
		}
	}
	return text, ""
}
