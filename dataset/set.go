package dataset

import (
	"encoding/hex"
	"strings"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// Digest is the SHA-256 of everything a load read: equal digests mean equal content.
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

	kept *kept // nil in a set no load made
}

// NewerRun orders benchmarks by run date, newest first and unknown last, then by id.
func NewerRun(a, b *Benchmark) int {
	switch {
	case a.RunDate == nil && b.RunDate == nil:
	case a.RunDate == nil:
		return 1
	case b.RunDate == nil:
		return -1
	case *a.RunDate > *b.RunDate:
		return -1
	case *a.RunDate < *b.RunDate:
		return 1
	}
	return strings.Compare(string(a.ID), string(b.ID))
}

// Line gives a record in its one-line form, the form of .ndjson files and of API rows: every
// key present, in the order of the Go type, unknown as null.
func Line(rec any) ([]byte, error) { return jsonv2.Marshal(rec) }

// Pretty gives a record in the form of .json files: as Line, one member a line, indented by
// two blanks, with a line end.
func Pretty(rec any) ([]byte, error) {
	b, err := jsonv2.Marshal(rec, jsontext.WithIndent("  "))
	return append(b, '\n'), err
}
