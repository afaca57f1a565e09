package export

import (
	"fmt"
	"io"
)

// Encoder writes rows as a file.
type Encoder interface {
	// Encode writes one row. Its bytes are not kept.
	Encode(row Row) error
	// Close writes the end of the file. It does not close the writer.
	Close() error
}

// Row is one row of a file, made by this program.
type Row struct {
	// JSON is the finished row, an object without white space.
	JSON []byte
	// Values are the values of all columns, parts of JSON, nil for null. Without them an encoder looks for them in
	// JSON. Who writes a row knows where they are.
	Values [][]byte
	// Apart are members behind those of JSON. There are none beside Values.
	Apart []Member
}

// Member is a member of a row that is given apart from it, because it has megabytes. Joining them, and looking for
// the end of the value, takes longer than writing it. Its column has the type Any.
type Member struct {
	Name  string
	Value []byte // JSON without white space, of the kind that the column has
}

// NewEncoder begins a file in a format other than JSON: the header of CSV is written at once. The
// result writes in pieces of any size; it should be given a buffer. Equal rows give equal bytes.
func NewEncoder(w io.Writer, f Format, s *Schema, about About) (Encoder, error) {
	switch f {
	case CSV:
		return newCSV(w, newCells(s))
	case NDJSON:
		return &ndjson{w: w}, nil
	case Parquet:
		return newParquet(w, newCells(s), about), nil
	default:
		return nil, fmt.Errorf("rows are not written as %s", f)
	}
}

// ndjson writes rows as they are.
type ndjson struct {
	w    io.Writer
	line []byte
}

func (e *ndjson) Encode(row Row) error {
	e.line = append(e.line[:0], row.JSON...)
	for _, m := range row.Apart {
		e.line = append(append(e.line[:len(e.line)-1], `,"`...), m.Name...) // names need no escapes
		e.line = append(append(append(e.line, `":`...), m.Value...), '}')
	}
	e.line = append(e.line, '\n')
	_, err := e.w.Write(e.line)
	return err
}

func (e *ndjson) Close() error { return nil }
