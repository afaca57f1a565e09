// Package progress reports how far an export is. It is a package of its own so that its test does not link the server.
package progress

import (
	"fmt"
	"io"
	"time"

	"modeldex/dataset/record"
)

// State is how far an export is.
type State struct {
	// Addresses is how many were asked for, of Total; zero of zero while the dump is made.
	Addresses, Total int
	// Files and Bytes are what was written of them, compressed forms included. An address of many pages
	// gives many files.
	Files int
	Bytes int64
}

// every is how long a line is the last one.
const every = 3 * time.Second

// Lines prints the states of an export that begins now, as lines: each step, then one every few seconds, and the end.
// Not safe for concurrent use.
func Lines(w io.Writer, now func() time.Time) func(State) {
	started := now()
	last := started
	return func(s State) {
		at := now()
		took := at.Sub(started).Round(time.Second)
		switch {
		case s.Total == 0:
			fmt.Fprintln(w, "export: making the dump")
		case s.Addresses == 0:
			fmt.Fprintf(w, "export: %d %s to write after %s\n", s.Total, record.Noun(s.Total, "address", "addresses"), took)
		case at.Sub(last) >= every || s.Addresses == s.Total:
			fmt.Fprintf(w, "export: %d of %d %s (%d%%) after %s: %s of %.1f MB\n", s.Addresses, s.Total, record.Noun(s.Total, "address", "addresses"), 100*s.Addresses/s.Total, took, record.Counted(s.Files, "file"), float64(s.Bytes)/1e6)
		default:
			return
		}
		last = at
	}
}
