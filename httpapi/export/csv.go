package export

import (
	"bytes"
	"io"
	"strings"

	"modeldex/httpapi/rowjson"
)

// csv writes rows as RFC 4180 has it. The writer of the standard library does not fit: it ends lines
// inside of cells with CR LF as well, and it does not tell an empty text from a null.
type csv struct {
	w      io.Writer
	schema *Schema
	line   bytes.Buffer
}

func newCSV(w io.Writer, s *Schema) (*csv, error) {
	e := &csv{w: w, schema: s}
	for i, c := range s.Columns {
		e.cell(i, c.Name)
	}
	return e, e.end()
}

func (e *csv) Encode(row []byte) error {
	for i, v := range e.schema.split(row) {
		switch {
		case v == nil:
			e.cell(i, "")
		case e.schema.Columns[i].Type != Text:
			e.cell(i, string(v))
		case string(v) == `""`:
			e.cell(i, "")
			e.line.WriteString(`""`)
		default:
			text := rowjson.Unquote(v)
			if startsFormula(text) {
				text = "'" + text
			}
			e.cell(i, text)
		}
	}
	return e.end()
}

func (e *csv) cell(column int, text string) {
	if column > 0 {
		e.line.WriteByte(',')
	}
	if strings.ContainsAny(text, ",\"\r\n") || strings.HasPrefix(text, " ") || strings.HasSuffix(text, " ") {
		text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	e.line.WriteString(text)
}

func (e *csv) end() error {
	e.line.WriteString("\r\n")
	_, err := e.line.WriteTo(e.w)
	return err
}

func (e *csv) Close() error { return nil }

// formulaStarts are the characters with which spreadsheets begin a formula, or skip to get to one:
// those of "CSV Injection" of OWASP.
const formulaStarts = "=+-@\t\r\n＝＋－＠"

// startsFormula reports whether a text begins with a character of formulaStarts, or would once
// apostrophes at its start are removed.
func startsFormula(text string) bool {
	return strings.IndexAny(strings.TrimLeft(text, "'"), formulaStarts) == 0
}
