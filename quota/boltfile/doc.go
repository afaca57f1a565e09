// Package boltfile reads the page format of a bbolt file as plain bytes, so that a damaged file
// is reported instead of ending the process.
//
// bbolt maps its file into memory and trusts it. A missing page is a memory fault. One flipped bit in a page
// number makes bbolt recurse without end or read outside the file. This package checks a file before bbolt
// opens it:
//
//   - Inspect rejects a file that is not a bbolt file, or whose end is missing.
//   - Walk visits every page that a Meta reaches and reports the first one that is damaged.
//   - Guard turns what bbolt still panics about into ErrCorrupt.
//
// The layouts are those of bbolt's internal/common (format version 2), in the byte order of the
// machine. A bbolt with another format needs another version of this package; the tests of
// package quota damage real files and would show it.
//
// Everything is safe for concurrent use; nothing writes.
package boltfile
