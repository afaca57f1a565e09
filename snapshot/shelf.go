package snapshot

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// Pattern is the name a published document has; every other file of the folder, such as the
// inputs of the build, is passed over.
const Pattern = "snapshot-*.json"

// Shelf holds every published document of a folder, verified, newest first. It never changes
// and may be read from many goroutines; to follow the folder, Reload makes a new one.
type Shelf struct {
	books  []*Book                 // newest first by generated_at, then by hash
	byHash map[string]*Book        // output_hash_sha256 -> book
	newest map[string]Intelligence // model_key -> what the newest document says
}

// Book is one published document with its finished bytes.
type Book struct {
	Info
	body         []byte
	sum          [sha256.Size]byte // of body, to know an unchanged file again
	intelligence map[string]Intelligence
}

// Info describes a published document without its models.
type Info struct {
	Path             string // file in the folder
	Hash             string // output_hash_sha256, its immutable address
	SchemaVersion    string
	SchemaURL        string
	GeneratedAt      time.Time
	License          string
	Attribution      string
	ModelCount       int64
	ScoreCount       int64
	SourceCount      int64
	ConfidenceCounts ConfidenceCounts
	Bytes            int // size of the document
}

// Intelligence is what the record of one model carries of the newest document.
type Intelligence struct {
	Score      *float64 // 0..100, nil where the document gives none
	Confidence Confidence
	Hash       string // of the document
}

// Open reads and verifies every document of the folder, such as os.DirFS("data/snapshots").
// A file that cannot be read or does not pass is left out and told in findings, with its
// path; the others go on. The error is of the folder itself. An empty folder is an empty shelf.
func Open(folder fs.FS) (*Shelf, []Finding, error) {
	return (*Shelf)(nil).Reload(folder)
}

// Reload is Open for a folder that was opened before as s. A file that is refused now and was
// good in s stays on as it was, so that a half-written file takes nothing away; a file that
// is gone, goes. Files with unchanged bytes are not verified again. s is not changed and may be nil.
func (s *Shelf) Reload(folder fs.FS) (*Shelf, []Finding, error) {
	names, err := fs.Glob(folder, Pattern)
	if err != nil {
		return nil, nil, fmt.Errorf("snapshots: %w", err)
	}
	if _, err := fs.Stat(folder, "."); err != nil { // Glob passes over a folder it cannot read
		return nil, nil, fmt.Errorf("snapshots: %w", err)
	}
	var books []*Book
	var findings []Finding
	for _, name := range names {
		book, fs := s.readBook(folder, name)
		findings = append(findings, fs...)
		if book != nil {
			books = append(books, book)
		}
	}
	return newShelf(books), findings, nil
}

// readBook reads one file; what s held under its name stands in for a refused one.
func (s *Shelf) readBook(folder fs.FS, name string) (*Book, []Finding) {
	was := s.byPath(name)
	body, err := fs.ReadFile(folder, name)
	if err != nil {
		return was, []Finding{{Path: name, Rule: "reading: " + err.Error()}}
	}
	sum := sha256.Sum256(body)
	if was != nil && was.sum == sum {
		return was, nil
	}
	doc, findings := decode(body)
	if len(findings) > 0 {
		for i := range findings {
			findings[i].Path = name
		}
		return was, findings
	}
	return newBook(name, doc, body, sum), nil
}

func newBook(name string, doc *Document, body []byte, sum [sha256.Size]byte) *Book {
	at, _ := time.Parse(time.RFC3339Nano, doc.GeneratedAt) // verified
	b := &Book{body: body, sum: sum, intelligence: map[string]Intelligence{}}
	b.Info = Info{
		Path: name, Hash: doc.OutputHash, SchemaVersion: doc.SchemaVersion, SchemaURL: doc.SchemaURL,
		GeneratedAt: at.UTC(), License: doc.License, Attribution: doc.Attribution,
		ModelCount: doc.Meta.ModelCount, ScoreCount: doc.Meta.ScoreCount, SourceCount: doc.Meta.SourceCount,
		ConfidenceCounts: doc.Meta.ConfidenceCounts, Bytes: len(body),
	}
	for _, m := range doc.Models {
		b.intelligence[m.ModelKey] = Intelligence{m.Composite.Score, m.Composite.Confidence, doc.OutputHash}
	}
	return b
}

// newShelf orders books; the same document in two files stands once, under the first name.
func newShelf(books []*Book) *Shelf {
	s := &Shelf{byHash: map[string]*Book{}}
	for _, b := range books {
		if s.byHash[b.Hash] == nil {
			s.byHash[b.Hash] = b
			s.books = append(s.books, b)
		}
	}
	slices.SortFunc(s.books, func(a, b *Book) int {
		return cmp.Or(b.GeneratedAt.Compare(a.GeneratedAt), strings.Compare(a.Hash, b.Hash))
	})
	if len(s.books) > 0 {
		s.newest = s.books[0].intelligence
	}
	return s
}

// byPath finds the book read from a file, nil for none.
func (s *Shelf) byPath(name string) *Book {
	if s == nil {
		return nil
	}
	for _, b := range s.books {
		if b.Path == name {
			return b
		}
	}
	return nil
}

// Len is the number of documents.
func (s *Shelf) Len() int { return len(s.books) }

// List describes every document, newest first. The caller owns the slice.
func (s *Shelf) List() []Info {
	out := make([]Info, len(s.books))
	for i, b := range s.books {
		out[i] = b.Info
	}
	return out
}

// Latest returns the newest document, and false when the shelf is empty.
func (s *Shelf) Latest() (*Book, bool) {
	if len(s.books) == 0 {
		return nil, false
	}
	return s.books[0], true
}

// Lookup returns the document with the given output_hash_sha256, 64 lowercase hex digits.
func (s *Shelf) Lookup(hash string) (*Book, bool) {
	b, ok := s.byHash[hash]
	return b, ok
}

// Intelligence returns what the newest document says of a model key, and false where it has
// not the model. The score is shared and must not be written to.
func (s *Shelf) Intelligence(modelKey string) (Intelligence, bool) {
	i, ok := s.newest[modelKey]
	return i, ok
}

// Body returns the finished bytes, canonical JSON. They are shared by all callers, live as
// long as the book and must not be written to.
func (b *Book) Body() []byte { return b.body }
