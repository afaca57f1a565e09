package export

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Dump is the files of one generation of a dataset, finished. It is immutable and safe for concurrent
// use.
type Dump struct {
	About
	// Edition is a hash of all files, in hex: an address that holds it never changes its content.
	Edition string
	Files   []*File // in order of name
}

// File is one file of a dump. Its bytes are on disk, in an open file that has no name. The system frees them when
// nothing refers to the File any more, or the process ends in whatever way.
type File struct {
	Name      string
	MediaType string
	Size      int64  // in bytes
	SHA256    string // in hex
	Rows      int    // -1 where the file has none

	data *os.File // closed by the runtime when nothing refers to it
}

// Section returns a reader of n bytes from an offset on. Readers are independent of each other.
func (f *File) Section(offset, n int64) io.Reader { return io.NewSectionReader(f.data, offset, n) }

// Find is the file with a name, nil if there is none.
func (d *Dump) Find(name string) *File {
	for _, f := range d.Files {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Table is one table of a dump.
type Table struct {
	Schema *Schema
	Doc    string // a sentence
	Count  int
	Rows   func() Rows // begins again each time
}

// Original is one file of a dataset, as it was loaded.
type Original struct {
	Name   string
	Size   int64
	Digest [sha256.Size]byte
}

// Sources is what a dump is made of.
type Sources struct {
	About
	Released    string // day of the release, as YYYY-MM-DD
	Description string // a sentence
	Tables      []Table
	// Originals are the files of the dataset in FS. Extras are patterns (see path.Match) of files
	// that belong to it and were not loaded with it, such as published documents.
	FS        fs.FS
	Originals []Original
	Extras    []string
}

// Build writes the files of a dump: every table as .ndjson.zst, .csv.zst and .parquet, the dataset itself as
// dataset.tar.zst, Croissant metadata and SHA256SUMS. The same sources give the same bytes. It takes the memory of
// the three encoders of one table and ends with the context. An error leaves nothing behind. ErrChanged means that
// a file of the dataset is gone or not what was loaded.
//
// The files are temporary and have no names.
func Build(ctx context.Context, src *Sources) (_ *Dump, err error) {
	b := &builder{ctx: ctx, src: src, dump: &Dump{About: src.About}}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.dump.close())
		}
	}()
	for i := range src.Tables {
		if err := b.table(&src.Tables[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", src.Tables[i].Schema.Name, err)
		}
	}
	if err := b.originals(); err != nil {
		return nil, err
	}
	if err := b.describe(); err != nil {
		return nil, err
	}
	return b.dump, nil
}

// close closes the files of a dump that was not finished.
func (d *Dump) close() error {
	var errs []error
	for _, f := range d.Files {
		errs = append(errs, f.data.Close())
	}
	return errors.Join(errs...)
}

// ErrChanged is returned by Build where a file of the dataset is gone or not what was loaded.
var ErrChanged = errors.New("was changed since it was loaded")

type builder struct {
	ctx  context.Context
	src  *Sources
	dump *Dump
}

// tableFormats are those of the tables of a dump.
var tableFormats = [...]Format{CSV, NDJSON, Parquet}

// table writes a table in all formats. Its rows are made once.
func (b *builder) table(t *Table) (err error) {
	var outs [len(tableFormats)]*output
	for i, f := range tableFormats {
		name, media, compressed := t.Schema.Name+"."+f.String(), f.MediaType(), f != Parquet
		if compressed {
			name, media = name+".zst", zstdType
		}
		if outs[i], err = b.open(name, media, t.Count, compressed); err != nil {
			return errors.Join(err, abandon(outs[:i]))
		}
	}
	if err := b.rows(t, outs[:]); err != nil {
		return errors.Join(err, abandon(outs[:]))
	}
	for i, out := range outs {
		if err := b.finish(out); err != nil {
			return errors.Join(err, abandon(outs[i:]))
		}
	}
	return nil
}

func (b *builder) rows(t *Table, outs []*output) error {
	var all []Encoder
	for i, f := range tableFormats {
		enc, err := NewEncoder(outs[i], f, t.Schema, b.src.About)
		if err != nil {
			return err
		}
		all = append(all, enc)
	}
	rows := t.Rows()
	for b.ctx.Err() == nil {
		row := rows()
		for _, enc := range all {
			var err error
			if row == nil {
				err = enc.Close()
			} else {
				err = enc.Encode(row)
			}
			if err != nil {
				return err
			}
		}
		if row == nil {
			return nil
		}
	}
	return b.ctx.Err()
}

const zstdType = "application/zstd"

// output is a file of a dump that is being written: what is written to it goes through a buffer, zstd
// where it is compressed, and another buffer.
type output struct {
	file   *File
	sum    *counted
	packed *buffered     // to sum
	z      *zstd.Encoder // to packed; nil for none
	in     *buffered     // to z; packed itself for none
}

// open begins a file. finish ends it, or abandon.
func (b *builder) open(name, media string, rows int, compressed bool) (*output, error) {
	data, err := os.CreateTemp("", "modeldex-dump-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(data.Name()); err != nil {
		return nil, errors.Join(err, data.Close())
	}
	o := &output{file: &File{Name: name, MediaType: media, Rows: rows, data: data}, sum: &counted{hash: sha256.New(), w: data}}
	o.packed = &buffered{w: o.sum}
	o.in = o.packed
	if compressed {
		if o.z, err = zstd.NewWriter(o.packed, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20)); err != nil {
			return nil, errors.Join(err, data.Close())
		}
		o.in = &buffered{w: o.z}
	}
	return o, nil
}

func (o *output) Write(p []byte) (int, error) { return o.in.Write(p) }

// abandon closes files that are not finished.
func abandon(outs []*output) error {
	var errs []error
	for _, o := range outs {
		errs = append(errs, o.file.data.Close())
	}
	return errors.Join(errs...)
}

// finish writes what waits, and adds the file to the dump.
func (b *builder) finish(o *output) error {
	err := o.in.flush()
	if o.z != nil {
		err = errors.Join(err, o.z.Close(), o.packed.flush())
	}
	if err != nil {
		return err
	}
	o.file.Size, o.file.SHA256 = o.sum.n, hex.EncodeToString(o.sum.hash.Sum(nil))
	b.dump.Files = append(b.dump.Files, o.file)
	return nil
}

// write makes a file that is not a table.
func (b *builder) write(name, media string, compressed bool, write func(io.Writer) error) error {
	out, err := b.open(name, media, -1, compressed)
	if err != nil {
		return err
	}
	if err = write(out); err == nil {
		err = b.finish(out)
	}
	if err != nil {
		err = errors.Join(err, abandon([]*output{out}))
	}
	return err
}

// counted counts and hashes what is written.
type counted struct {
	w    io.Writer
	hash hash.Hash
	n    int64
}

func (c *counted) Write(p []byte) (int, error) {
	_, _ = c.hash.Write(p) // never fails
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// buffered collects small writes.
type buffered struct {
	w   io.Writer
	buf []byte
}

func (b *buffered) Write(p []byte) (int, error) {
	b.buf = append(b.buf, p...)
	if len(b.buf) < readAhead {
		return len(p), nil
	}
	return len(p), b.flush()
}

func (b *buffered) flush() error {
	_, err := b.w.Write(b.buf)
	b.buf = b.buf[:0]
	return err
}

// archiveName is the file with the dataset as it was loaded.
const archiveName = "dataset.tar.zst"

// originals writes the dataset as an archive: names in order, no owners, no times.
func (b *builder) originals() error {
	files := slices.Clone(b.src.Originals)
	for _, pattern := range b.src.Extras {
		names, err := fs.Glob(b.src.FS, pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			if !slices.ContainsFunc(files, func(o Original) bool { return o.Name == name }) {
				files = append(files, Original{Name: name, Size: -1})
			}
		}
	}
	slices.SortFunc(files, func(x, y Original) int { return bytes.Compare([]byte(x.Name), []byte(y.Name)) })
	return b.write(archiveName, zstdType, true, func(w io.Writer) error {
		archive := tar.NewWriter(w)
		for _, o := range files {
			if err := b.ctx.Err(); err != nil {
				return err
			}
			if err := b.original(archive, o); err != nil {
				return fmt.Errorf("%s: %w", o.Name, err)
			}
		}
		return archive.Close()
	})
}

func (b *builder) original(archive *tar.Writer, o Original) error {
	f, err := b.src.FS.Open(o.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrChanged
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var in io.Reader = f
	if o.Size < 0 { // an extra, of a few megabytes
		body, err := io.ReadAll(f)
		if err != nil {
			return err
		}
		o.Size, o.Digest, in = int64(len(body)), sha256.Sum256(body), bytes.NewReader(body)
	}
	if err := archive.WriteHeader(&tar.Header{Name: path.Clean(o.Name), Mode: 0o644, Size: o.Size, ModTime: time.Unix(0, 0), Format: tar.FormatPAX}); err != nil {
		return err
	}
	sum := sha256.New()
	n, err := io.Copy(archive, io.TeeReader(io.LimitReader(in, o.Size), sum))
	if err != nil {
		return err
	}
	if more, _ := in.Read(make([]byte, 1)); more > 0 || n != o.Size || [sha256.Size]byte(sum.Sum(nil)) != o.Digest {
		return ErrChanged
	}
	return nil
}

// describe writes what describes the other files.
func (b *builder) describe() error {
	if err := b.whole("croissant.json", "application/ld+json", croissant(b.src, b.dump.Files)); err != nil {
		return err
	}
	b.sort()
	sums := b.dump.sums()
	b.dump.Edition = editionOf(sums)
	if err := b.whole(sumsName, "text/plain; charset=utf-8", sums); err != nil {
		return err
	}
	b.sort()
	return nil
}

// sumsName is the file with the hashes of all others.
const sumsName = "SHA256SUMS"

// sums is the content of that file.
func (d *Dump) sums() []byte {
	var out bytes.Buffer
	for _, f := range d.Files {
		if f.Name != sumsName {
			fmt.Fprintf(&out, "%s  %s\n", f.SHA256, f.Name)
		}
	}
	return out.Bytes()
}

// editionOf is the edition of a dump whose file of sums is given.
func editionOf(sums []byte) string {
	sum := sha256.Sum256(sums)
	return hex.EncodeToString(sum[:16])
}

func (b *builder) whole(name, media string, body []byte) error {
	return b.write(name, media, false, func(w io.Writer) error {
		_, err := w.Write(body)
		return err
	})
}

func (b *builder) sort() {
	slices.SortFunc(b.dump.Files, func(x, y *File) int { return bytes.Compare([]byte(x.Name), []byte(y.Name)) })
}
