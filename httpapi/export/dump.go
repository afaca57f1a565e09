package export

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
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

// Dump is the files of one edition of the dataset. It is complete, and safe for concurrent use.
type Dump struct {
	// SHA-256 of the files of the dataset, in hex.
	Digest string `json:"digest" jsonschema:"pattern=^[0-9a-f]{64}$"`
	// Version of the dataset.
	Version string `json:"version" jsonschema:"example=2026.11.22"`
	// Hash of the dump files, in hex; it is part of their URLs. Dumps of the same dataset have different hashes if a
	// snapshot was published in between, or if different program versions made them.
	Edition string `json:"edition" jsonschema:"pattern=^[0-9a-f]{32}$"`
	// Licence of the dataset.
	License string `json:"licence" jsonschema:"example=CC-BY-SA-4.0"`
	// The files, by name.
	Files []*File `json:"files"`
}

// File is one file of a dump. Its bytes are on disk, in an open file that has no name. The system frees them when
// nothing refers to the File any more, or the process ends in whatever way.
type File struct {
	// Name of the file.
	Name string `json:"name" jsonschema:"example=benchmarks.parquet"`
	// URL of the file; its content never changes.
	URL string `json:"url" jsonschema:"format=uri-reference,example=/api/v1/dumps/0123456789abcdef0123456789abcdef/benchmarks.parquet"`
	// Size in bytes.
	Size int64 `json:"bytes" jsonschema:"minimum=0,example=423112"`
	// SHA-256 of the file, in hex.
	SHA256 string `json:"sha256" jsonschema:"pattern=^[0-9a-f]{64}$"`
	// Media type.
	MediaType string `json:"media_type" jsonschema:"example=application/vnd.apache.parquet"`
	// Number of rows; null if the file is not a table.
	Rows *int `json:"rows" jsonschema:"nullable,minimum=0,example=5496"`

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
	Count  int
	Rows   func() Rows // begins again each time
}

// Original is one file of a dataset, as it was loaded.
type Original struct {
	Name   string
	Digest [sha256.Size]byte // zero of a file that was not loaded
}

// Sources is what a dump is made of.
type Sources struct {
	About
	Addresses string // an address followed by the edition and the name of a file leads to it
	Tables    []Table
	// Originals are the files of the dataset in FS. Extras are patterns (see path.Match) of files
	// that belong to it and were not loaded with it, such as published documents.
	FS        fs.FS
	Originals []Original
	Extras    []string
}

// Build writes the files of a dump: every table as .ndjson.zst, .csv.zst and .parquet, the dataset itself as
// dataset.tar.zst, and SHA256SUMS. The same sources give the same bytes. It takes the memory of the three encoders of
// one table and ends with the context. An error leaves nothing behind. ErrChanged means that a file of the dataset is
// gone or not what was loaded.
//
// The files are temporary and have no names.
func Build(ctx context.Context, src *Sources) (_ *Dump, err error) {
	b := &builder{ctx: ctx, src: src, dump: &Dump{Digest: src.Digest, Version: src.Version, License: src.Licence}}
	defer func() {
		for _, f := range b.dump.Files {
			if err != nil {
				err = errors.Join(err, f.data.Close())
			}
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
	return b.dump, b.sums()
}

// ErrChanged is returned by Build where a file of the dataset is gone or not what was loaded.
var ErrChanged = errors.New("was changed since it was loaded")

type builder struct {
	ctx  context.Context
	src  *Sources
	dump *Dump
}

var tableFormats = [...]Format{CSV, NDJSON, Parquet}

func (b *builder) table(t *Table) error {
	var outs []*output
	var encoders []Encoder
	for _, f := range tableFormats {
		name, media, compressed := t.Schema.Name+"."+f.String(), f.MediaType(), f != Parquet
		if compressed {
			name, media = name+".zst", zstdType
		}
		out, err := b.create(name, media, &t.Count, compressed)
		if err != nil {
			return err
		}
		enc, err := NewEncoder(out, f, t.Schema, b.src.About)
		if err != nil {
			return err
		}
		outs, encoders = append(outs, out), append(encoders, enc)
	}
	rows := t.Rows()
	for row := rows(); row != nil; row = rows() {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		for _, enc := range encoders {
			if err := enc.Encode(row); err != nil {
				return err
			}
		}
	}
	for i, out := range outs {
		if err := errors.Join(encoders[i].Close(), out.finish()); err != nil {
			return err
		}
	}
	return nil
}

const zstdType = "application/zstd"

// output is a file of a dump that is being written: through a buffer, zstd where it is compressed, and another buffer.
type output struct {
	*bufio.Writer
	file *File
	z    *zstd.Encoder // nil for none
	out  *bufio.Writer // to the file and its hash
	hash hash.Hash
}

// create begins a file of the dump, without a name on disk. finish ends it.
func (b *builder) create(name, media string, rows *int, compressed bool) (*output, error) {
	data, err := os.CreateTemp("", "modeldex-dump-*")
	if err != nil {
		return nil, err
	}
	o := &output{file: &File{Name: name, MediaType: media, Rows: rows, data: data}, hash: sha256.New()}
	b.dump.Files = append(b.dump.Files, o.file)
	if err := os.Remove(data.Name()); err != nil {
		return nil, err
	}
	o.out = bufio.NewWriterSize(io.MultiWriter(data, o.hash), readAhead)
	o.Writer = o.out
	if compressed {
		if o.z, err = zstd.NewWriter(o.out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20)); err != nil {
			return nil, err
		}
		o.Writer = bufio.NewWriterSize(o.z, readAhead)
	}
	return o, nil
}

func (o *output) finish() error {
	err := o.Flush()
	if o.z != nil {
		err = errors.Join(err, o.z.Close(), o.out.Flush())
	}
	if err != nil {
		return err
	}
	o.file.SHA256 = hex.EncodeToString(o.hash.Sum(nil))
	o.file.Size, err = o.file.data.Seek(0, io.SeekCurrent)
	return err
}

func (b *builder) originals() error {
	files := slices.Clone(b.src.Originals)
	for _, pattern := range b.src.Extras {
		names, err := fs.Glob(b.src.FS, pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			if !slices.ContainsFunc(files, func(o Original) bool { return o.Name == name }) {
				files = append(files, Original{Name: name})
			}
		}
	}
	slices.SortFunc(files, func(x, y Original) int { return cmp.Compare(x.Name, y.Name) })
	out, err := b.create("dataset.tar.zst", zstdType, nil, true)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(out)
	for _, o := range files {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		if err := b.original(archive, o); err != nil {
			return fmt.Errorf("%s: %w", o.Name, err)
		}
	}
	return errors.Join(archive.Close(), out.finish())
}

func (b *builder) original(archive *tar.Writer, o Original) error {
	body, err := fs.ReadFile(b.src.FS, o.Name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && o.Digest != [sha256.Size]byte{} && sha256.Sum256(body) != o.Digest {
		return ErrChanged
	}
	if err != nil {
		return err
	}
	head := &tar.Header{Name: path.Clean(o.Name), Mode: 0o644, Size: int64(len(body)), ModTime: time.Unix(0, 0), Format: tar.FormatPAX}
	if err := archive.WriteHeader(head); err != nil {
		return err
	}
	_, err = archive.Write(body)
	return err
}

// sums adds the file with the hashes of all others.
func (b *builder) sums() error {
	byName := func(x, y *File) int { return cmp.Compare(x.Name, y.Name) }
	slices.SortFunc(b.dump.Files, byName)
	var text bytes.Buffer
	for _, f := range b.dump.Files {
		fmt.Fprintf(&text, "%s  %s\n", f.SHA256, f.Name)
	}
	sum := sha256.Sum256(text.Bytes())
	b.dump.Edition = hex.EncodeToString(sum[:16])
	out, err := b.create("SHA256SUMS", "text/plain; charset=utf-8", nil, false)
	if err != nil {
		return err
	}
	slices.SortFunc(b.dump.Files, byName)
	for _, f := range b.dump.Files {
		f.URL = b.src.Addresses + b.dump.Edition + "/" + f.Name
	}
	_, err = text.WriteTo(out)
	return errors.Join(err, out.finish())
}
