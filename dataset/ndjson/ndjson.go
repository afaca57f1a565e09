// Package ndjson reads newline-delimited JSON with line numbers and bounded memory.
//
// A file is text in UTF-8, one value per line. Lines end with a line feed, before which a
// carriage return is ignored; the last line may lack its end. Empty lines are skipped but
// counted. The package finds lines; decoding them is the work of others.
package ndjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
)

// MaxLine is the longest line, in bytes. The longest line of the shipped data has 3 KB.
const MaxLine = 1 << 20

// ErrLineTooLong is returned for a line of more than MaxLine bytes.
var ErrLineTooLong = errors.New("the line has more than 1 MiB")

// ByteOrderMark is what some editors write at the start of a file.
var ByteOrderMark = []byte("\xef\xbb\xbf")

// A Reader cuts a stream at line ends into chunks, so that several workers can decode one file.
// It holds at most one chunk and one line. It is for one goroutine.
type Reader struct {
	r    io.Reader
	size int
	line int    // of the first line that was not returned
	rest []byte // the start of that line
	err  error  // of the stream; returned after the last chunk
}

// NewReader returns a Reader of chunks of about size bytes, at most MaxLine and at least one line.
func NewReader(r io.Reader, size int) *Reader {
	return &Reader{r: r, size: min(size, MaxLine), line: 1}
}

// free is memory of lines to be used again, by any Reader.
var free sync.Pool

// Reuse has the memory of lines that Next returned used for other ones. The caller needs it no longer. Reuse may be
// called from any goroutine.
func Reuse(lines []byte) { free.Put(&lines) }

// buffer returns memory for the rest of the last chunk and what is read next.
func (r *Reader) buffer() []byte {
	n := len(r.rest) + max(r.size, len(r.rest)) // growing by the length of what is there keeps a long line linear
	if b, ok := free.Get().(*[]byte); ok && cap(*b) > len(r.rest)+r.size/2 {
		return (*b)[:min(n, cap(*b))]
	}
	return make([]byte, n)
}

// Next returns whole lines and the number of the first of them, counted from 1. The bytes belong
// to the caller. At the end it returns io.EOF; a line of more than MaxLine bytes ends the reading
// with ErrLineTooLong, and Line is its number.
func (r *Reader) Next() (first int, lines []byte, err error) {
	for r.err == nil {
		buf := r.buffer()
		copy(buf, r.rest)
		var n int
		n, r.err = io.ReadFull(r.r, buf[len(r.rest):])
		if errors.Is(r.err, io.ErrUnexpectedEOF) {
			r.err = io.EOF
		}
		buf = buf[:len(r.rest)+n]
		end := bytes.LastIndexByte(buf, '\n') + 1
		if errors.Is(r.err, io.EOF) {
			end = len(buf)
		}
		lines, r.rest = buf[:end:end], buf[end:]
		// Only the first line began in an earlier piece, so only it can be too long, or the rest.
		if head, _, _ := bytes.Cut(lines, []byte{'\n'}); len(head) > MaxLine {
			r.err = ErrLineTooLong
			break
		}
		if len(r.rest) > MaxLine {
			r.err = ErrLineTooLong
		}
		if end > 0 {
			first = r.line
			r.line += bytes.Count(lines, []byte{'\n'})
			return first, lines, nil
		}
	}
	return r.line, nil, r.err
}

// Line is the number of the line the next chunk begins with.
func (r *Reader) Line() int { return r.line }

// Lines yields the lines of b that are not blank, without their ends, and their numbers, where b
// begins with line first.
func Lines(first int, b []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for line := first; len(b) > 0; line++ {
			var text []byte
			text, b, _ = bytes.Cut(b, []byte{'\n'})
			if len(bytes.TrimSpace(text)) > 0 && !yield(line, text) {
				return
			}
		}
	}
}

// Each calls visit for every line of a stream that is not blank, with its number, until visit
// returns an error, which it returns. A line is valid until visit returns.
func Each(r io.Reader, visit func(line int, text []byte) error) error {
	const size = 64 << 10
	reader := NewReader(r, size)
	for {
		first, lines, err := reader.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if first == 1 {
			lines = bytes.TrimPrefix(lines, ByteOrderMark)
		}
		for line, text := range Lines(first, lines) {
			if err := visit(line, bytes.TrimSuffix(text, []byte{'\r'})); err != nil {
				return err
			}
		}
	}
}

// maxErrors is how many bad lines Decode reports.
const maxErrors = 100

// Decode decodes every line of b that is not blank into a value of its own. Bad lines are all
// reported, up to the hundredth, as name:line; the values are those of the others.
func Decode[T any](name string, b []byte, decode func(text []byte, v *T) error) (out []T, err error) {
	var errs []error
	for line, text := range Lines(1, b) {
		var v T
		if err := decode(text, &v); err != nil {
			if errs = append(errs, fmt.Errorf("%s:%d: %w", name, line, err)); len(errs) == maxErrors {
				break
			}
			continue
		}
		out = append(out, v)
	}
	return out, errors.Join(errs...)
}
