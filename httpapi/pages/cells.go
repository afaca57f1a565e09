package pages

import "html/template"

// Body is the rows of a table, in parts.
func (t *Table) Body() []template.HTML {
	b := make([]byte, 0, 200*len(t.Rows)*len(t.Columns))
	for _, row := range t.Rows {
		b = append(b, "\n  <tr>"...)
		for i := range row {
			b = t.Columns[i].append(b, &row[i], i == 0)
		}
		b = append(b, "</tr>"...)
	}
	return inParts(template.HTML(b)) //nolint:gosec // texts and addresses are escaped
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
