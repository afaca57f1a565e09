package export

import (
	"fmt"
	"io"
)

// Encoder writes rows as a file.
type Encoder interface {
	// Encode writes one row: a JSON object without white space, as this program makes them. Its bytes are not kept.
	Encode(row []byte) error
	// Close writes the end of the file. It does not close the writer.
	Close() error
}

// NewEncoder begins a file in a format other than JSON: the header of CSV is written at once. The
// result writes in pieces of any size; it should be given a buffer. Equal rows give equal bytes.
func NewEncoder(w io.Writer, f Format, s *Schema, about About) (Encoder, error) {
	switch f {
	case CSV:
		return newCSV(w, s)
	case NDJSON:
		return ndjson{w}, nil
	case Parquet:
		return newParquet(w, s, about), nil
	default:
		return nil, fmt.Errorf("rows are not available as %s", f)
	}
}

type ndjson struct{ w io.Writer }

func (e ndjson) Encode(row []byte) error {
	if _, err := e.w.Write(row); err != nil {
		return err
	}
	_, err := e.w.Write([]byte{'\n'})
	return err
}

func (ndjson) Close() error { return nil }
