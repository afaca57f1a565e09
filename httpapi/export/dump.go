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

// File is one file of a dump. Its bytes are on disk in a file without a name: the system frees them
// when nothing refers to the File any more, or the process ends in whatever way.
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

// Find is the file with a name, nil where there is none.
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
	Rows   func() Rows // begins anew each time
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
	// Dir is where the files are written; empty means the directory of temporary files.
	Dir string
}

// Build writes the files of a dump: every table as .ndjson.zst, .csv.zst and .parquet, the dataset
// itself as dataset.tar.zst, Croissant metadata and SHA256SUMS. The same sources give the same
// bytes. It takes the memory of one encoder and ends with the context. An error leaves nothing
// behind; ErrChanged means that a file of the dataset is not what was loaded.
func Build(ctx context.Context, src *Sources) (*Dump, error) {
	b := &builder{ctx: ctx, src: src, dump: &Dump{About: src.About}}
	for i := range src.Tables {
		for _, f := range []Format{CSV, NDJSON, Parquet} {
			if err := b.table(&src.Tables[i], f); err != nil {
				return nil, fmt.Errorf("%s as %s: %w", src.Tables[i].Schema.Name, f, err)
			}
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

// ErrChanged is returned by Build where a file of the dataset is not what was loaded.
var ErrChanged = errors.New("is not what was loaded")

type builder struct {
	ctx  context.Context
	src  *Sources
	dump *Dump
}

// checkEvery is how many rows are written between two looks at the context.
const checkEvery = 1000

func (b *builder) table(t *Table, f Format) error {
	name, media := t.Schema.Name+"."+f.String(), f.MediaType()
	compressed := f != Parquet
	if compressed {
		name, media = name+".zst", zstdType
	}
	return b.write(name, media, t.Count, compressed, func(w io.Writer) error {
		enc, err := NewEncoder(w, f, t.Schema, b.src.About)
		if err != nil {
			return err
		}
		rows := t.Rows()
		for n := 0; ; n++ {
			if n%checkEvery == 0 && b.ctx.Err() != nil {
				return b.ctx.Err()
			}
			row := rows()
			if row == nil {
				return enc.Close()
			}
			if err := enc.Encode(row); err != nil {
				return err
			}
		}
	})
}

const zstdType = "application/zstd"

// write makes one file.
func (b *builder) write(name, media string, rows int, compressed bool, write func(io.Writer) error) error {
	data, err := os.CreateTemp(b.src.Dir, "modeldex-dump-*")
	if err != nil {
		return err
	}
	if err := os.Remove(data.Name()); err != nil {
		return errors.Join(err, data.Close())
	}
	out := &counted{hash: sha256.New(), w: data}
	if err := pipeline(out, compressed, write); err != nil {
		return errors.Join(err, data.Close())
	}
	b.dump.Files = append(b.dump.Files, &File{
		Name: name, MediaType: media, Size: out.n, SHA256: hex.EncodeToString(out.hash.Sum(nil)), Rows: rows, data: data,
	})
	return nil
}

// pipeline has a file written through a buffer, and through zstd where it is compressed.
func pipeline(out io.Writer, compressed bool, write func(io.Writer) error) error {
	buffer := &buffered{w: out}
	if !compressed {
		return errors.Join(write(buffer), buffer.flush())
	}
	z, err := zstd.NewWriter(buffer, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		return err
	}
	in := &buffered{w: z}
	return errors.Join(write(in), in.flush(), z.Close(), buffer.flush())
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
	return b.write("dataset.tar.zst", zstdType, -1, true, func(w io.Writer) error {
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
	var sums bytes.Buffer
	for _, f := range b.dump.Files {
		fmt.Fprintf(&sums, "%s  %s\n", f.SHA256, f.Name)
	}
	edition := sha256.Sum256(sums.Bytes())
	b.dump.Edition = hex.EncodeToString(edition[:16])
	if err := b.whole("SHA256SUMS", "text/plain; charset=utf-8", sums.Bytes()); err != nil {
		return err
	}
	b.sort()
	return nil
}

func (b *builder) whole(name, media string, body []byte) error {
	return b.write(name, media, -1, false, func(w io.Writer) error {
		_, err := w.Write(body)
		return err
	})
}

func (b *builder) sort() {
	slices.SortFunc(b.dump.Files, func(x, y *File) int { return bytes.Compare([]byte(x.Name), []byte(y.Name)) })
}
