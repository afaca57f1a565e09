package pages

import (
	"html/template"
	"net/url"
	"regexp"
	"strings"

	"modeldex/dataset/text"
)

// A Link leads somewhere.
type Link struct {
	Text, Href string
	Current    bool
}

// NoFollow reports whether crawlers are asked not to follow the link: lists under filters are endless.
func (l Link) NoFollow() bool { return noFollow(l.Href) }

func noFollow(href string) bool {
	return strings.HasPrefix(href, "/") && strings.Contains(href, "?") || strings.HasPrefix(href, "/api/")
}

func address(path string, params ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(params); i += 2 {
		q.Set(params[i], params[i+1])
	}
	return path + "?" + q.Encode()
}

// A Cell is a text, perhaps with a link.
type Cell struct {
	Text  string
	Href  string // of this site, or of the web; others are not written
	Title string // shown when pointed at
	Class string // of style.css
	Note  string // a smaller text after the value
}

func cell(s string) Cell {
	if s == "" {
		s = text.Unknown
	}
	return Cell{Text: s}
}

func known[T any](v *T, print func(T) string) Cell {
	if v == nil {
		return cell("")
	}
	return cell(print(*v))
}

// Known reports whether there is a value.
func (c Cell) Known() bool { return c.Text != "" && c.Text != text.Unknown }

// HTML is the cell.
func (c Cell) HTML() template.HTML { return template.HTML(c.append(nil)) } //nolint:gosec // texts and addresses are escaped

// Cells are written here and not by templates: rows of tables are most of a page, and most of the time it takes.
func (c *Cell) append(b []byte) []byte {
	outside := webAddress(c.Href) != ""
	tag := "span"
	switch {
	case outside || strings.HasPrefix(c.Href, "/") || strings.HasPrefix(c.Href, "#"):
		tag = "a"
		b = appendAttribute(append(b, "<a"...), "href", c.Href)
		if outside {
			b = append(b, ` rel="external"`...)
		} else if noFollow(c.Href) {
			b = append(b, ` rel="nofollow"`...)
		}
	case c.Title != "" || c.Class != "":
		b = append(b, "<span"...)
	default:
		return c.appendNote(appendEscaped(b, c.Text))
	}
	b = append(appendAttribute(appendAttribute(b, "title", c.Title), "class", c.Class), '>')
	return c.appendNote(append(append(append(appendEscaped(b, c.Text), "</"...), tag...), '>'))
}

func (c *Cell) appendNote(b []byte) []byte {
	if c.Note == "" {
		return b
	}
	return append(appendEscaped(append(b, " <small>"...), c.Note), "</small>"...)
}

func appendEscaped(b []byte, s string) []byte { return append(b, template.HTMLEscapeString(s)...) }

func appendAttribute(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return append(appendEscaped(append(append(append(b, ' '), name...), `="`...), value), '"')
}

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

// columns are heads of columns. A name that begins with # is of numbers, one with ~ of short values; what is behind a
// bar is shown when pointed at.
func columns(heads ...string) []Column {
	out := make([]Column, len(heads))
	for i, head := range heads {
		out[i].Number, out[i].Short = head[0] == '#', head[0] == '~'
		out[i].Text, out[i].Title, _ = strings.Cut(strings.TrimLeft(head, "#~"), "|")
	}
	return out
}

// Body is the rows of a table. The first cell of a row is its head.
func (t *Table) Body() template.HTML {
	b := make([]byte, 0, 200*len(t.Rows)*len(t.Columns))
	for _, row := range t.Rows {
		b = append(b, "\n  <tr>"...)
		for i := range row {
			if i == 0 {
				b = append(row[0].append(append(b, `<th scope="row">`...)), "</th>"...)
				continue
			}
			class := ""
			if t.Columns[i].Number {
				class = "n"
			}
			if !row[i].Known() {
				class = strings.TrimSpace(class + " u")
			} else if class == "" && t.Columns[i].Short {
				class = "d"
			}
			b = appendAttribute(append(b, "<td"...), "data-label", t.Columns[i].Text)
			b = append(row[i].append(append(appendAttribute(b, "class", class), '>')), "</td>"...)
		}
		b = append(b, "</tr>"...)
	}
	return template.HTML(b) //nolint:gosec // texts and addresses are escaped
}

// A Choice is one of the values that a list offers.
type Choice struct {
	Value, Label string
	Selected     bool
}

// Choices are a list to choose from.
type Choices []Choice

// Options are the elements of the list.
func (list Choices) Options() template.HTML {
	var b []byte
	for _, c := range list {
		b = append(appendEscaped(append(b, `<option value="`...), c.Value), '"')
		if c.Selected {
			b = append(b, " selected"...)
		}
		b = append(appendEscaped(append(b, '>'), c.Label), "</option>"...)
	}
	return template.HTML(b) //nolint:gosec // texts are escaped
}

// together are dates and figures with their unit, of which no part begins a line.
var together = regexp.MustCompile(`\b\d{4}-\d\d(-\d\d)?\b|\b\d[\d.,]* (GB/s|GB|GiB|W|tok/s)\b`)

// unbroken is a text whose dates and figures are not broken at the end of a line, and in which no line begins with a dot.
func unbroken(s string) template.HTML {
	s = together.ReplaceAllString(template.HTMLEscapeString(s), `<span class="d">$0</span>`)
	return template.HTML(strings.ReplaceAll(s, " · ", "&nbsp;· ")) //nolint:gosec // texts are escaped
}
