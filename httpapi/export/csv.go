package export

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"modeldex/httpapi/rowjson"

	"github.com/goccy/go-json/jsontext"
)

// csv writes rows as RFC 4180 has it. The writer of the standard library cannot: it ends lines
// inside of cells with CR LF as well, and it does not tell an empty text from a null.
type csv struct {
	w     io.Writer
	cells *cells
	line  []byte
	text  []byte
}

func newCSV(w io.Writer, in *cells) (*csv, error) {
	e := &csv{w: w, cells: in}
	for i, c := range in.schema.Columns {
		if i > 0 {
			e.line = append(e.line, ',')
		}
		e.line = appendCell(e.line, []byte(c.Name))
	}
	return e, e.end()
}

func (e *csv) Encode(row Row) error {
	if err := e.cells.split(row); err != nil {
		return err
	}
	return e.divided()
}

// divided writes the row that the cells were divided from last.
func (e *csv) divided() error {
	e.line = e.line[:0]
	for i, v := range e.cells.values {
		if i > 0 {
			e.line = append(e.line, ',')
		}
		if err := e.cell(i, v); err != nil {
			return fmt.Errorf("%s: %w", e.cells.schema.Columns[i].Name, err)
		}
	}
	return e.end()
}

func (e *csv) cell(column int, v []byte) error {
	switch e.cells.schema.Columns[column].Type {
	case Integer, Number, Flag:
		e.line = append(e.line, v...)
	case Text:
		if v == nil {
			return nil
		}
		text, plain := rowjson.Plain(v)
		if !plain {
			var err error
			if text, err = jsontext.AppendUnquote(e.text[:0], v); err != nil {
				return err
			}
			e.text = text
		}
		e.line = appendText(e.line, text)
	default:
		if v != nil {
			e.line = appendCell(e.line, v)
		}
	}
	return nil
}

func (e *csv) end() error {
	e.line = append(e.line, "\r\n"...)
	_, err := e.w.Write(e.line)
	return err
}

func (e *csv) Close() error { return nil }

// appendText appends a cell with a text.
func appendText(dst, text []byte) []byte {
	switch {
	case len(text) == 0:
		return append(dst, `""`...)
	case startsFormula(text):
		return appendCell(dst, slices.Concat([]byte("'"), text))
	default:
		return appendCell(dst, text)
	}
}

// formulaStarts are the characters with which spreadsheets begin a formula, or skip to get to one:
// those of "CSV Injection" of OWASP.
const formulaStarts = "=+-@\t\r\n＝＋－＠"

// startsFormula reports whether a text begins with a character of formulaStarts, or would once
// apostrophes at its start are removed.
func startsFormula(text []byte) bool {
	first := bytes.TrimLeft(text, "'")
	if len(first) == 0 || !mayStartFormula[first[0]] {
		return false
	}
	for _, c := range formulaStarts {
		if bytes.HasPrefix(first, []byte(string(c))) {
			return true
		}
	}
	return false
}

// mayStartFormula are the first bytes of formulaStarts; needQuotes are what a cell in which it occurs is quoted for.
var (
	mayStartFormula = firstBytes(formulaStarts)
	needQuotes      = firstBytes(",\"\r\n")
)

func firstBytes(characters string) (out [256]bool) {
	for i := range characters {
		out[characters[i]] = true
	}
	return out
}

// appendCell appends a cell of one character at least, in quotes where it needs them.
func appendCell(dst, cell []byte) []byte {
	if !quoted(cell) {
		return append(dst, cell...)
	}
	if len(cell) >= cap(dst)-len(dst) { // a list of benchmarks has megabytes, and one in twelve bytes is a quote
		dst = slices.Grow(dst, len(cell)+bytes.Count(cell, []byte(`"`))+len(`"",`))
	}
	dst = append(dst, '"')
	for {
		n := bytes.IndexByte(cell, '"')
		if n < 0 {
			return append(append(dst, cell...), '"')
		}
		dst = append(append(dst, cell[:n+1]...), '"')
		cell = cell[n+1:]
	}
}

func quoted(cell []byte) bool {
	if cell[0] == ' ' || cell[len(cell)-1] == ' ' {
		return true
	}
	for _, c := range cell {
		if needQuotes[c] {
			return true
		}
	}
	return false
}
