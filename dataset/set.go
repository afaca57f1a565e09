package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"modeldex/dataset/history"
)

// Digest is the SHA-256 of everything a load read but the folder changes: equal digests mean equal records.
type Digest [32]byte

// String gives the digest in lower-case hex.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Set is all records of one load, checked, each table in default order: by slug, benchmarks
// by run date, newest first and unknown last, then by id. It is not changed after Load.
type Set struct {
	Info       Info
	Digest     Digest
	Models     []Model
	Hardware   []Hardware
	Tools      []Tool
	Benchmarks Pack
	// Quantizations are the known ways of storing weights, by place in their file.
	Quantizations []QuantizationType
	// Quality is what is published of the quality of quantizations, by id.
	Quality []Quality
	// Origins are the repositories and sites that facts were read from, by key: sources.json.
	Origins []Origin

	// Releases is what past releases changed. It is not part of the digest.
	Releases *history.Log

	source *source // nil in a set no load made
}

// digestOf sums up files, by name.
func digestOf(files []LoadedFile) (d Digest) {
	hash := sha256.New()
	for _, f := range files {
		fmt.Fprintf(hash, "%s %s\n", f.Digest, f.Name)
	}
	hash.Sum(d[:0])
	return d
}

// LoadedFile is one file that a load read.
type LoadedFile struct {
	Name   string // in the dataset, with slashes
	Size   int64  // in bytes
	Digest Digest // SHA-256 of its bytes
}

// Files lists the files that the records of the set were read from, by name; nil for a set no load made. The digest of
// the set is made of their digests and names; the folder of recorded changes is in neither.
func (s *Set) Files() []LoadedFile {
	if s.source == nil {
		return nil
	}
	out := make([]LoadedFile, 0, len(s.source.files))
	for _, f := range s.source.files {
		if kindOf(f.name) != ChangesDir { // it may change while the records stay
			out = append(out, LoadedFile{f.name, f.size, f.digest})
		}
	}
	return out
}

// Written returns the models as their files have them, without what is computed. The caller must not change them.
func (s *Set) Written() []Model {
	if s.source == nil {
		return s.Models
	}
	return values(s.source.models.recs)
}

func values[T any](recs []*T) []T {
	out := make([]T, len(recs))
	for i, r := range recs {
		out[i] = *r
	}
	return out
}
