package pages

import (
	"html/template"
	"strings"
)

// Rows of tables are most of what pages have: a page of 200 rows took 9 of its 20 ms in templates. They are
// written here, as html/template would write them.

// Body is the rows of a table.
func (t *Table) Body() template.HTML {
	b := make([]byte, 0, 200*len(t.Rows)*len(t.Columns))
	for _, row := range t.Rows {
		b = append(b, "\n  <tr>"...)
		for i := range row {
			b = t.Columns[i].append(b, &row[i], i == 0)
		}
		b = append(b, "</tr>"...)
	}
	return template.HTML(b) //nolint:gosec // texts and addresses are escaped
}

// append appends a cell of the column; the first of a row is its head.
func (c *Column) append(b []byte, cell *Cell, head bool) []byte {
	if head {
		return append(cell.append(append(b, `<th scope="row">`...)), "</th>"...)
	}
	b = append(appendEscaped(append(b, `<td data-label="`...), c.Text), '"')
	switch {
	case c.Number && cell.Known():
		b = append(b, ` class="n"`...)
	case c.Number:
		b = append(b, ` class="n u"`...)
	case !cell.Known():
		b = append(b, ` class="u"`...)
	case c.Short:
		b = append(b, ` class="d"`...)
	}
	return append(cell.append(append(b, '>')), "</td>"...)
}

// HTML is the cell.
func (c Cell) HTML() template.HTML {
	return template.HTML(c.append(nil)) //nolint:gosec // texts and addresses are escaped
}

func (c *Cell) append(b []byte) []byte {
	switch {
	case c.Href != "":
		b = append(appendAddress(append(b, `<a href="`...), c.Href), '"')
		if c.NoFollow {
			b = append(b, ` rel="nofollow"`...)
		} else if c.Outside() {
			b = append(b, ` rel="noopener external"`...)
		}
		b = appendAttribute(appendAttribute(b, "title", c.Title), "class", c.Class)
		b = append(appendEscaped(append(b, '>'), c.Text), "</a>"...)
	case c.Title != "" || c.Class != "":
		b = appendAttribute(appendAttribute(append(b, "<span"...), "title", c.Title), "class", c.Class)
		b = append(appendEscaped(append(b, '>'), c.Text), "</span>"...)
	default:
		b = appendEscaped(b, c.Text)
	}
	if c.Note != "" {
		b = append(appendEscaped(append(b, " <small>"...), c.Note), "</small>"...)
	}
	return b
}

// appendAttribute appends an attribute, nothing without a value.
func appendAttribute(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return append(appendEscaped(append(append(append(b, ' '), name...), `="`...), value), '"')
}

// escapes are the characters that html/template escapes in texts and in values between quotes.
var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "+", "&#43;", "\x00", "\uFFFD")

func appendEscaped(b []byte, text string) []byte {
	if !strings.ContainsAny(text, "&<>\"'+\x00") {
		return append(b, text...)
	}
	return append(b, escapes.Replace(text)...)
}

// addressTemplate writes an address as html/template does, which leaves out what a browser would execute.
var addressTemplate = template.Must(template.New("address").Parse(`<a href="{{.}}"></a>`))

// appendAddress appends an address of this site or of the web with plain characters only; others are
// written by html/template.
func appendAddress(b []byte, address string) []byte {
	if (strings.HasPrefix(address, "/") || strings.HasPrefix(address, "#") || strings.HasPrefix(address, "https://")) && strings.Trim(address, plainInAddress) == "" {
		return appendEscaped(b, address)
	}
	var out strings.Builder
	must(addressTemplate.Execute(&out, address))
	return append(b, strings.TrimSuffix(strings.TrimPrefix(out.String(), `<a href="`), `"></a>`)...)
}

// plainInAddress are characters that html/template leaves in addresses.
const plainInAddress = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/:?#=&"
