package dataset

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"modeldex/dataset/ndjson"
	"modeldex/dataset/record"
)

// A file is one file of a dataset, what was read from it and what is wrong with it. One goroutine reads it.
type file struct {
	name   string
	number int32
	size   int64 // in bytes, as listed
	digest Digest
	single bool // one object, no array

	shared   *record.Sharer
	records  *tables // until readSource takes them over
	findings Findings
	faulty   []member // where the decoder found something
}

type member struct {
	at    place
	field string // dotted
}

const maxFindings = 10_000

var errTooMany = errors.New("too many findings")

func readFiles(ctx context.Context, fsys fs.FS, files []*file, opt Options) error {
	shared := record.NewSharer()
	var work errgroup.Group
	work.SetLimit(opt.Workers)
	for _, f := range files {
		work.Go(func() error {
			if ctx.Err() == nil {
				f.shared, f.records = shared, new(tables)
				f.read(ctx, fsys)
				f.shared = nil
			}
			return nil
		})
	}
	_ = work.Wait() // what goes wrong with a file is a finding
	return ctx.Err()
}

func (f *file) read(ctx context.Context, fsys fs.FS) {
	in, err := open(ctx, fsys, f.name)
	if err == nil {
		defer in.Close()
		hash := sha256.New()
		err = f.decode(io.TeeReader(in, hash))
		hash.Sum(f.digest[:0])
	}
	if err != nil && !errors.Is(err, errTooMany) {
		f.readFailed(err)
	}
}

func (f *file) readFailed(err error) {
	var long *ndjson.TooLongError
	finding := unreadable(f.name, err)
	switch {
	case errors.As(err, &long):
		finding = Finding{Path: f.name, Line: long.Line, Text: long.Error()}
	case errors.Is(err, errTooLarge):
		finding = Finding{Path: f.name, Text: tooLarge(f.name)}
	}
	f.findings = append(f.findings, finding)
	f.records.tableOf(kindOf(f.name)).lose(lost{})
}

func (f *file) decode(r io.Reader) error {
	in := bufio.NewReaderSize(r, 64<<10)
	if start, _ := in.Peek(len(ndjson.ByteOrderMark)); bytes.Equal(start, ndjson.ByteOrderMark) {
		// Some editors write it, other tools stumble over it. Columns are counted after it.
		f.findings = append(f.findings, Finding{Path: f.name, Line: 1, Col: 1, Text: "must not begin with a byte order mark"})
	}
	into := f.records.tableOf(kindOf(f.name))
	b, err := f.scan(in, func(at place, text []byte) {
		if f.checkFull() == nil {
			into.decode(f, at, text)
		}
	})
	var broken record.Problem
	if !errors.As(err, &broken) {
		return err
	}
	into.lose(lost{})
	if kind, _ := schemaOfOther(f.name, b); kind != "" {
		f.records.tableOf(kind).lose(lost{})
	}
	f.fault(place{file: f.number, line: 1}, b, []record.Problem{broken})
	return nil
}

// scan gives each record its place and the text from its line on. A problem between records is a record.Problem.
func (f *file) scan(in io.Reader, visit func(at place, text []byte)) (b []byte, err error) {
	if path.Ext(f.name) == ".ndjson" {
		return nil, ndjson.Each(in, func(line int, text []byte) error {
			visit(place{file: f.number, line: int32(line)}, text)
			return f.checkFull()
		})
	}
	if b, err = io.ReadAll(in); err != nil {
		return nil, err
	}
	b = bytes.TrimPrefix(b, ndjson.ByteOrderMark)
	if kind, offset := schemaOfOther(f.name, b); kind != "" {
		text := fmt.Sprintf("is the schema of %s: move the file to that folder, or name the schema of %s", kind, kindOf(f.name))
		return b, record.Problem{Offset: offset, Field: "$schema", Text: text}
	}
	b = withoutSchema(f.name, b)
	spans, array, broken := record.Split(b)
	f.single = !array
	line, start := 1, 0 // of the line the record begins on
	for _, v := range spans {
		line += bytes.Count(b[start:v.From], []byte{'\n'})
		start += bytes.LastIndexByte(b[start:v.From], '\n') + 1
		visit(place{f.number, int32(line), int32(v.From - start)}, b[start:v.To])
	}
	if broken != nil {
		return b, *broken
	}
	return b, nil
}

func (f *file) slugOf(b []byte) Slug {
	switch {
	case kindOf(f.name) == benchmarksDir, kindOf(f.name) == qualityDir:
		return Slug(record.TextAt(b, "id"))
	case f.single:
		return Slug(strings.TrimSuffix(path.Base(f.name), ".json"))
	default:
		return Slug(record.TextAt(b, "slug"))
	}
}

func (f *file) fault(at place, text []byte, problems []record.Problem) {
	for _, p := range problems {
		f.findings = append(f.findings, f.finding(at, text, p))
		for field := p.Field; field != ""; field = field[:max(0, strings.LastIndexByte(field, '.'))] {
			f.faulty = append(f.faulty, member{at, field}) // and everything it is in
		}
		f.faulty = append(f.faulty, member{at: at})
	}
}

func (f *file) checkFull() error {
	if len(f.findings) > maxFindings {
		return errTooMany
	}
	return nil
}

func (f *file) finding(at place, text []byte, p record.Problem) Finding {
	before := text[:min(int(at.col)+p.Offset, len(text))]
	start := bytes.LastIndexByte(before, '\n') + 1
	if p.Text == record.EndsInside && path.Ext(f.name) == ".ndjson" {
		p.Text = record.LineEndsInside
	}
	return Finding{
		Path: f.name, Line: int(at.line) + bytes.Count(before, []byte{'\n'}),
		Col: 1 + utf8.RuneCount(before[start:]), Field: p.Field, Text: p.Text, broken: p.Broken,
	}
}

// open opens a regular file. Reading fails once ctx has ended, and behind the largest size.
func open(ctx context.Context, fsys fs.FS, name string) (*boundedReader, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		f.Close() //nolint:errcheck // nothing was read from it
		return nil, errors.Join(err, errNotRegular)
	}
	return &boundedReader{ctx: ctx, File: f, left: maxSize(name)}, nil
}

var errTooLarge = errors.New("the file is too large")

// A boundedReader fails behind so many bytes: a file may grow, and some system files say that they have none.
type boundedReader struct {
	ctx context.Context
	fs.File
	left int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := b.File.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// Dir returns the files below a directory for Load and Check, safe with files of strangers: it follows no link out of
// the directory, waits for no pipe, and opens regular files and folders only. Safe for concurrent use.
func Dir(name string) fs.FS { return dirFS(name) }

type dirFS string

var (
	errNotRegular = errors.New("not a regular file")
	errOutside    = errors.New("a link must not point outside the dataset directory")
)

// in calls do with the directory, which is opened again: another may have taken its place.
func (d dirFS) in(op, name string, do func(r *os.Root) error) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return err
	}
	defer root.Close()
	err = do(root)
	var at *fs.PathError
	if errors.As(err, &at) && strings.Contains(at.Err.Error(), "path escapes from parent") { // os has no name for it
		return &fs.PathError{Op: op, Path: name, Err: errOutside}
	}
	return err
}

// Open opens a regular file or a folder.
func (d dirFS) Open(name string) (f fs.File, err error) {
	err = d.in("open", name, func(r *os.Root) error {
		// Without O_NONBLOCK, opening a named pipe waits until somebody writes to it.
		opened, err := r.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		st, err := opened.Stat()
		if err == nil && !st.Mode().IsRegular() && !st.IsDir() {
			err = &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
		}
		if err != nil {
			return errors.Join(err, opened.Close())
		}
		f = opened
		return nil
	})
	return f, err
}

// Stat describes what a name leads to.
func (d dirFS) Stat(name string) (st fs.FileInfo, err error) {
	err = d.in("stat", name, func(r *os.Root) (err error) { st, err = r.Stat(name); return err })
	return st, err
}

// Lstat describes a name itself, which may be a link.
func (d dirFS) Lstat(name string) (st fs.FileInfo, err error) {
	err = d.in("lstat", name, func(r *os.Root) (err error) { st, err = r.Lstat(name); return err })
	return st, err
}

// ReadLink returns where a link leads.
func (d dirFS) ReadLink(name string) (to string, err error) {
	err = d.in("readlink", name, func(r *os.Root) (err error) { to, err = r.Readlink(name); return err })
	return to, err
}
