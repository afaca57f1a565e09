package dataset

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"golang.org/x/sync/errgroup"

	"modeldex/dataset/ndjson"
)

// read decodes every file of the dataset, in parallel.
func (l *loader) read() error {
	if err := l.list(); err != nil {
		return err
	}
	l.digests, l.single = make([]Digest, len(l.files)), make([]bool, len(l.files))
	if l.findUnchanged(); l.allUnchanged() {
		return nil
	}
	// One more than there are workers: this goroutine reads lines while they decode, and waits while
	// all of them are busy, so that few chunks are in memory. Workers read the many small files themselves.
	var work errgroup.Group
	work.SetLimit(l.opt.Workers)
	for i, name := range l.files {
		switch {
		case l.ctx.Err() != nil:
		case l.unchanged[i] >= 0:
			l.reuse(i)
		case path.Ext(name) == ".ndjson":
			l.readFile(i, func(r io.Reader) error { return l.readLines(i, r, &work) })
		default:
			work.Go(func() error {
				l.readFile(i, func(r io.Reader) error { return l.readWhole(i, r) })
				return nil
			})
		}
	}
	_ = work.Wait() // decoding reports findings, never an error
	if err := l.ctx.Err(); err != nil {
		return err
	}
	l.closeCollectors()
	return nil
}

func (l *loader) closeCollectors() {
	l.info.close()
	l.quantizations.close()
	l.origins.close()
	l.models.close()
	l.hardware.close()
	l.tools.close()
	l.benchmarks.close()
	l.changes.close()
}

// A lineError is a line that cannot be read, which ends the reading of its file.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }

// readFailed adds the finding of a file that could not be read to its end.
func (l *loader) readFailed(name string, err error) {
	var line *lineError
	switch {
	case errors.As(err, &line):
		l.add(Finding{Path: name, Line: line.line, Text: line.err.Error()})
		l.missed(name)
	case errors.Is(err, errTooLarge):
		l.add(Finding{Path: name, Text: tooLarge(name)})
		l.missed(name)
	default:
		l.unreadable(name, err)
	}
}

// readFile has a file read, and makes its digest. What goes wrong is a finding.
func (l *loader) readFile(i int, read func(r io.Reader) error) {
	name := l.files[i]
	f, err := l.open(name)
	if err == nil {
		defer f.Close()
		hash := sha256.New()
		err = read(io.TeeReader(&boundedReader{l.ctx, f, maxSize(name)}, hash))
		hash.Sum(l.digests[i][:0])
	}
	if err != nil {
		l.readFailed(name, err)
	}
}

// open opens a file that is regular still: it may have been replaced since it was listed.
func (l *loader) open(name string) (fs.File, error) {
	f, err := l.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		f.Close() //nolint:errcheck // nothing was read from it
		return nil, errors.Join(err, errNotRegular)
	}
	return f, nil
}

var errTooLarge = errors.New("the file is too large")

// A boundedReader fails with errTooLarge behind so many bytes: a file may grow while it is read,
// and some files of the system say that they have no bytes. It fails once the context has ended.
type boundedReader struct {
	ctx  context.Context
	r    io.Reader
	left int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// readWhole reads a .json file and decodes it.
func (l *loader) readWhole(i int, r io.Reader) error {
	b := bytes.NewBuffer(make([]byte, 0, l.sizes[i]+bytes.MinRead)) // grows only if the file has grown
	_, err := b.ReadFrom(r)
	l.progress(b.Len())
	if err == nil {
		l.decodeFile(i, l.withoutMark(i, b.Bytes()))
	}
	return err
}

// readLines hands a file to the workers in chunks of about opt.chunk bytes.
func (l *loader) readLines(i int, r io.Reader, work *errgroup.Group) error {
	lines := ndjson.NewReader(r, l.opt.chunk)
	for !l.full.Load() {
		first, b, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, ndjson.ErrLineTooLong):
			return &lineError{lines.Line(), err}
		case err != nil:
			return err
		}
		l.progress(len(b))
		chunk := b
		if first == 1 {
			b = l.withoutMark(i, b)
		}
		work.Go(func() error {
			l.decodeLines(i, first, b)
			ndjson.Reuse(chunk) // records have copies of their texts
			return nil
		})
	}
	return nil
}

// withoutMark removes the byte order mark some editors write at the start of a file. It is a
// finding, for other tools would stumble over it; columns are counted after it.
func (l *loader) withoutMark(i int, b []byte) []byte {
	rest, marked := bytes.CutPrefix(b, ndjson.ByteOrderMark)
	if marked {
		l.add(Finding{Path: l.files[i], Line: 1, Col: 1, Text: "must not begin with a byte order mark"})
	}
	return rest
}
