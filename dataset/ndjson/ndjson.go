// Package ndjson reads newline-delimited JSON with line numbers and bounded memory.
//
// A file is text in UTF-8, one value per line. Lines end with a line feed, before which a
// carriage return is ignored; the last line may lack its end. Empty lines are skipped but
// counted. The package finds lines; decoding them is the work of others.
package ndjson

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// MaxLine is the longest line, in bytes. The longest line of the shipped data has 3 KB.
const MaxLine = 1 << 20

// A TooLongError is returned for a line of more than MaxLine bytes.
type TooLongError struct{ Line int } // from 1

func (*TooLongError) Error() string { return "the line has more than 1 MiB" }

// ByteOrderMark is what some editors write at the start of a file.
var ByteOrderMark = []byte("\xef\xbb\xbf")

// Lines yields the lines of b that are not blank, without their ends, numbered from first.
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

// Each calls visit for every line of a stream that is not blank, until visit returns an error. A line is valid until
// visit returns; one of more than MaxLine bytes is a TooLongError.
func Each(r io.Reader, visit func(line int, text []byte) error) error {
	in := bufio.NewReaderSize(r, MaxLine+len("\r\n"))
	for n := 1; ; n++ {
		text, err := in.ReadSlice('\n')
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte{'\n'}), []byte{'\r'})
		if len(text) > MaxLine {
			return &TooLongError{n}
		}
		if n == 1 {
			text = bytes.TrimPrefix(text, ByteOrderMark)
		}
		if len(bytes.TrimSpace(text)) > 0 {
			if err := visit(n, text); err != nil {
				return err
			}
		}
		if ended {
			return nil
		}
	}
}

const maxErrors = 100

// Decode decodes every line of b that is not blank. Bad lines are reported as name:line, up to the hundredth.
func Decode[T any](name string, b []byte, decode func(line int, text []byte, v *T) error) (out []T, err error) {
	var errs []error
	for line, text := range Lines(1, b) {
		var v T
		if err := decode(line, text, &v); err != nil {
			if errs = append(errs, fmt.Errorf("%s:%d: %w", name, line, err)); len(errs) == maxErrors {
				break
			}
			continue
		}
		out = append(out, v)
	}
	return out, errors.Join(errs...)
}
