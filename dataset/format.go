package dataset

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"modeldex/dataset/history"
	"modeldex/dataset/ndjson"
	"modeldex/dataset/record"
	"modeldex/dataset/wholefile"
)

// Format rewrites the record files below dir in canonical format: every key is present, in the order of the Go
// types, and numbers are in their shortest form. A .json file is as record.Pretty gives it; an .ndjson file has
// one record per line as record.Line gives it. Lists are in order of slug, benchmarks by run date (unknown
// first), then id. It returns the paths below dir of the files it changed, sorted. Each file is replaced whole
// or not at all. A file with faults of its own stays as it is, because a field that is not understood would be
// lost. The other files are written, and then the Findings of such files are the error.
func Format(dir string) (changed []string, err error) {
	return format(Dir(dir), func(name string, b []byte) error {
		return wholefile.WriteBytes(filepath.Join(dir, filepath.FromSlash(name)), b)
	})
}

// FormatCheck returns the paths of the files Format would change, sorted, and as the error the
// Findings of those it could not.
func FormatCheck(fsys fs.FS) (would []string, err error) {
	return format(fsys, func(string, []byte) error { return nil })
}

// format works out the form of every file and hands those that differ to write, from several
// goroutines at once.
func format(fsys fs.FS, write func(name string, b []byte) error) (changed []string, err error) {
	l := newLoader(context.Background(), fsys, Options{})
	if err := l.list(); err != nil {
		return nil, err
	}
	l.findings = slices.DeleteFunc(l.findings, func(f Finding) bool { return !f.unreadable }) // what is missing is for Check to say
	l.single = make([]bool, len(l.files))
	var mu sync.Mutex
	var errs []error
	var work errgroup.Group
	work.SetLimit(l.opt.Workers)
	for i := range l.files {
		work.Go(func() error {
			differs, err := l.formatFile(i, write)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
			if differs {
				changed = append(changed, l.files[i])
			}
			return nil
		})
	}
	_ = work.Wait()
	slices.Sort(changed)
	if err := errors.Join(errs...); err != nil {
		return changed, err
	}
	if len(l.findings) > 0 {
		l.findings.sort()
		return changed, l.findings
	}
	return changed, nil
}

func (l *loader) formatFile(i int, write func(name string, b []byte) error) (differs bool, err error) {
	name := l.files[i]
	f, err := l.open(name)
	if err != nil {
		l.readFailed(name, err)
		return false, nil
	}
	defer f.Close()
	old, err := io.ReadAll(&boundedReader{context.Background(), f, maxSize(name)})
	if err != nil {
		l.readFailed(name, err)
		return false, nil
	}
	formed, ok, err := l.formOf(i, bytes.TrimPrefix(old, ndjson.ByteOrderMark))
	if err != nil || !ok || bytes.Equal(old, formed) {
		return false, err
	}
	if err := write(name, formed); err != nil {
		return false, err
	}
	return true, nil
}

// formOf gives a file in its form, false where it has faults.
func (l *loader) formOf(i int, b []byte) ([]byte, bool, error) {
	switch kindOf(l.files[i]) {
	case infoFile:
		return form[Info](l, i, b, nil)
	case quantizationsFile:
		return form[QuantizationType](l, i, b, nil) // their order is that of the tables
	case sourcesFile:
		return formWith(l, i, b, record.DecodeOrigin, func(a, b *Origin) int { return cmp.Compare(a.Key, b.Key) })
	case modelsDir:
		return form(l, i, b, func(a, b *Model) int { return cmp.Compare(a.Slug, b.Slug) })
	case hardwareDir:
		return form(l, i, b, func(a, b *Hardware) int { return cmp.Compare(a.Slug, b.Slug) })
	case toolsDir:
		return form(l, i, b, func(a, b *Tool) int { return cmp.Compare(a.Slug, b.Slug) })
	case ChangesDir:
		return l.formOfChanges(i, b)
	default:
		return form(l, i, b, olderRun)
	}
}

// olderRun is the order of benchmarks in files: oldest run first, so that new ones are appended.
func olderRun(a, b *Benchmark) int {
	date := func(b *Benchmark) Date {
		if b.RunDate == nil {
			return ""
		}
		return *b.RunDate
	}
	return cmp.Or(cmp.Compare(date(a), date(b)), cmp.Compare(a.ID, b.ID))
}

// form decodes a file, sorts its records where there is an order, and writes them again.
func form[T any](l *loader, i int, b []byte, order func(a, b *T) int) ([]byte, bool, error) {
	return formWith(l, i, b, record.Decode, order)
}

func formWith[T any](l *loader, i int, b []byte, decode decodeFunc[T], order func(a, b *T) int) ([]byte, bool, error) {
	lines := path.Ext(l.files[i]) == ".ndjson"
	var c collector[T]
	if lines {
		decodeLines(l, c.put, decode, i, 1, b)
	} else {
		decodeFile(l, c.put, decode, i, b)
	}
	if l.hasFaults(int32(i)) {
		return nil, false, nil
	}
	c.close()
	if order != nil {
		slices.SortStableFunc(c.recs, order)
	}
	out, err := written(l.files[i], c.recs, lines, l.single[i])
	return out, err == nil, err
}

func written[T any](name string, recs []*T, lines, single bool) ([]byte, error) {
	switch {
	case single:
		return File(name, recs[0])
	case !lines:
		return record.Pretty(recs)
	}
	var out bytes.Buffer
	for i := range recs {
		b, err := record.Line(recs[i])
		if err != nil {
			return nil, err
		}
		out.Write(append(b, '\n'))
	}
	return out.Bytes(), nil
}

// formOfChanges gives a file of ChangesDir in its form, false where it has faults.
func (l *loader) formOfChanges(i int, b []byte) (out []byte, ok bool, err error) {
	var c collector[record.ChangeLine]
	decodeLines(l, c.put, record.DecodeChange, i, 1, b)
	if l.hasFaults(int32(i)) {
		return nil, false, nil
	}
	c.close()
	for _, line := range c.recs {
		text, err := history.Line(line)
		if err != nil {
			return nil, false, err
		}
		out = append(out, text...)
	}
	return out, true, nil
}
