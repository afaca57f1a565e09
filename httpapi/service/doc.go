// Package service runs the server: it loads the dataset, watches its files, opens the ledger, listens, and stops
// gracefully.
//
// A change of the files takes one path, all of it in reload.go:
//
//	watch -> load -> rebuild the index -> history -> publish
//
// The watcher hands over a loaded set; index.Build makes the next generation of it; the history
// learns what changed; index.Live numbers the generation and serves it. A load with findings stops
// before the second step: the history notes the rejection and the last good generation stays.
package service
