// Package importer reads captured evaluation tables and runs a build over a folder.
//
// # Nouns
//
//   - Folder: build.json, aliases.ndjson, directory.ndjson and the captured files, as in
//     data/snapshots. All that a build depends on is in it, so that a fresh clone gives
//     the bytes of the published document.
//   - Captured file: NDJSON, one snapshot.Row per line. A line may have further members, which
//     are ignored; a duplicate member is an error. A file whose name ends in .gz is unpacked.
//
// # What it does not do
//
// It fetches nothing. A build knows no source by name: what is special to a source is in
// build.json. The readers of boards.go, which turn a downloaded table into rows, know
// the tables of three publishers. The server does not import it.
//
// # Concurrency and cost
//
// Functions share nothing. All captured rows are in memory, about 100 bytes each.
package importer
