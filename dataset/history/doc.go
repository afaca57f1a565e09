// Package history is what happened to the records of a dataset from release to release, as the
// files data/changes/<year>.ndjson have it.
//
//   - A Log is all releases, oldest first. The first has no changes: it is where the history begins.
//   - A Step is one release and what it changed since the one before.
//   - An Entry is what a step did to one record.
//
// The files are compact: records to which the same happened share a line, and an added record is
// named only, because the dataset has it. A removed one is kept whole. So the log and the records of
// today give the records of every release: Undo reverts a change, Apply makes it again.
//
// The package knows neither files nor directories, and everything in it is safe for concurrent
// use.
package history
