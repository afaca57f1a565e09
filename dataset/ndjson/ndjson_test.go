package ndjson

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
)

type numbered struct {
	line int
	text string
}

// plain finds the lines of b in the simplest way.
func plain(b []byte) (out []numbered) {
	for i, text := range bytes.Split(bytes.TrimPrefix(b, ByteOrderMark), []byte{'\n'}) {
		if len(bytes.TrimSpace(text)) > 0 {
			out = append(out, numbered{i + 1, string(bytes.TrimSuffix(text, []byte{'\r'}))})
		}
	}
	return out
}

func read(r io.Reader) (out []numbered, err error) {
	err = Each(r, func(line int, text []byte) error {
		out = append(out, numbered{line, string(text)})
		return nil
	})
	return out, err
}

func checkLines(t *testing.T, b []byte) {
	t.Helper()
	want := plain(b)
	if got, err := read(iotest.OneByteReader(bytes.NewReader(b))); err != nil || !slices.Equal(got, want) {
		t.Fatalf("Each of %q = %+v, %v, want %+v", b, got, err, want)
	}
}

func TestLines(t *testing.T) {
	for _, text := range []string{
		"", "\n", "\n\n\n", "a", "a\n", "a\nb", "a\r\nb\r\n", "\n a \n\n\tb\n \n", "\ufeffa\nb", "a\n\ufeffb", "a\rb\n", strings.Repeat("x", 500) + "\ny",
	} {
		checkLines(t, []byte(text))
	}
}

// FuzzReader cuts any bytes into lines and compares with the simplest way.
func FuzzReader(f *testing.F) {
	f.Add([]byte("{\"a\":1}\n\n{\"b\":2}\r\n"))
	f.Add([]byte("\ufeff\n\r\n\r"))
	f.Fuzz(func(t *testing.T, b []byte) { checkLines(t, b) })
}

// endless is a file without an end of line, such as /dev/zero. It counts what was read.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	e.n += len(p)
	return len(p), nil
}

func TestLineTooLong(t *testing.T) {
	var zeros endless
	var long *TooLongError
	if _, err := read(&zeros); !errors.As(err, &long) || long.Line != 1 {
		t.Fatalf("reading a line without end: %v, want a TooLongError", err)
	}
	if zeros.n > 4*MaxLine {
		t.Errorf("%d bytes were read of a line without end", zeros.n)
	}
	most := strings.Repeat("x", MaxLine)
	if got, err := read(strings.NewReader(most + "\n" + most)); err != nil || len(got) != 2 {
		t.Errorf("two lines of MaxLine bytes: %d lines, %v", len(got), err)
	}
	if _, err := read(strings.NewReader("a\n" + most + "xx\nb")); !errors.As(err, &long) || long.Line != 2 {
		t.Errorf("a line longer than MaxLine: %v", err)
	}
}

func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	got, err := read(io.MultiReader(strings.NewReader("a\nb\nc"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want that of the stream", err)
	}
	if want := []numbered{{1, "a"}, {2, "b"}}; !slices.Equal(got, want) {
		t.Errorf("whole lines before the error: %+v, want %+v", got, want)
	}
	if err := Each(strings.NewReader("a\nb"), func(int, []byte) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("error of visit: %v", err)
	}
}

// TestDecode: bad lines are reported with their numbers, blank ones are passed over.
func TestDecode(t *testing.T) {
	got, err := Decode("f", []byte("1\n\nx\n 2\ny"), func(_ int, text []byte, v *int) (err error) {
		*v, err = strconv.Atoi(strings.TrimSpace(string(text)))
		return err
	})
	if !slices.Equal(got, []int{1, 2}) || err == nil || !strings.HasPrefix(err.Error(), "f:3: ") || !strings.Contains(err.Error(), "\nf:5: ") {
		t.Errorf("Decode = %v, %v; want 1 and 2, and errors of lines 3 and 5", got, err)
	}
}
