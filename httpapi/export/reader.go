package export

import (
	"bytes"
	"errors"
	"io"
)

// Rows gives rows one after the other, nil after the last one. A row is valid until the next call.
type Rows func() []byte

// Reader is a file that is made while it is read: a file of any number of rows takes the memory of
// what its encoder keeps and of one read. It belongs to one goroutine.
type Reader struct {
	rows Rows
	enc  Encoder
	pack io.WriteCloser // between enc and buf; nil for none
	buf  bytes.Buffer   // made and not yet read
	err  error          // after what is in buf
}

// readAhead is how many bytes are made at least before a read returns, so that they leave in pieces
// that are worth a system call.
const readAhead = 32 << 10

// NewReader begins a file. compress puts a content coding around it, and is nil for none.
func NewReader(f Format, s *Schema, about About, rows Rows, compress func(io.Writer) io.WriteCloser) (*Reader, error) {
	r := &Reader{rows: rows}
	var w io.Writer = &r.buf
	if compress != nil {
		r.pack = compress(w)
		w = r.pack
	}
	var err error
	r.enc, err = NewEncoder(w, f, s, about)
	return r, err
}

// Read makes as many rows as it takes to return something. An error other than io.EOF means that the
// file cannot be completed.
func (r *Reader) Read(p []byte) (int, error) {
	for r.buf.Len() < min(len(p), readAhead) && r.err == nil {
		r.err = r.step()
	}
	if r.buf.Len() == 0 && r.err != nil {
		return 0, r.err
	}
	return r.buf.Read(p)
}

func (r *Reader) step() error {
	if row := r.rows(); row != nil {
		return r.enc.Encode(row)
	}
	err := r.enc.Close()
	if r.pack != nil {
		err = errors.Join(err, r.pack.Close())
	}
	if err == nil {
		err = io.EOF
	}
	return err
}
