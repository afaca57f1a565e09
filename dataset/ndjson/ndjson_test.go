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

// inChunks reads b as several workers would, which give each chunk back when they have read it.
func inChunks(b []byte, size int) (out []numbered, err error) {
	r := NewReader(bytes.NewReader(b), size)
	for {
		first, lines, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		whole := lines
		if first == 1 {
			lines = bytes.TrimPrefix(lines, ByteOrderMark)
		}
		for line, text := range Lines(first, lines) {
			out = append(out, numbered{line, string(bytes.TrimSuffix(text, []byte{'\r'}))})
		}
		for i := range whole {
			whole[i] = '#' // as the next chunk overwrites it
		}
		Reuse(whole)
	}
}

func checkLines(t *testing.T, b []byte) {
	t.Helper()
	want := plain(b)
	if got, err := read(iotest.OneByteReader(bytes.NewReader(b))); err != nil || !slices.Equal(got, want) {
		t.Fatalf("Each of %q = %+v, %v, want %+v", b, got, err, want)
	}
	for _, size := range []int{1, 2, 3, 7, 100} {
		if got, err := inChunks(b, size); err != nil || !slices.Equal(got, want) {
			t.Fatalf("chunks of %d of %q = %+v, %v, want %+v", size, b, got, err, want)
		}
	}
}

func TestLines(t *testing.T) {
	for _, text := range []string{
		"", "\n", "\n\n\n", "a", "a\n", "a\nb", "a\r\nb\r\n", "\n a \n\n\tb\n \n", "\ufeffa\nb", "a\n\ufeffb", "a\rb\n", strings.Repeat("x", 500) + "\ny",
	} {
		checkLines(t, []byte(text))
	}
}

// FuzzReader cuts any bytes into lines in several ways and compares with the simplest.
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
	if _, err := read(&zeros); !errors.Is(err, ErrLineTooLong) {
		t.Fatalf("reading a line without end: %v, want ErrLineTooLong", err)
	}
	if zeros.n > 4*MaxLine {
		t.Errorf("%d bytes were read of a line without end", zeros.n)
	}
	long := strings.Repeat("x", MaxLine)
	if got, err := read(strings.NewReader(long + "\n" + long)); err != nil || len(got) != 2 {
		t.Errorf("two lines of MaxLine bytes: %d lines, %v", len(got), err)
	}
	if _, err := read(strings.NewReader("a\n" + long + "xx\nb")); !errors.Is(err, ErrLineTooLong) {
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
	got, err := Decode("f", []byte("1\n\nx\n 2\ny"), func(text []byte, v *int) (err error) {
		*v, err = strconv.Atoi(strings.TrimSpace(string(text)))
		return err
	})
	if !slices.Equal(got, []int{1, 2}) || err == nil || !strings.HasPrefix(err.Error(), "f:3: ") || !strings.Contains(err.Error(), "\nf:5: ") {
		t.Errorf("Decode = %v, %v; want 1 and 2, and errors of lines 3 and 5", got, err)
	}
}
