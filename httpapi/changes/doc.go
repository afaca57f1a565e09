// Package changes knows what happened to the records of the dataset, from edition to edition.
//
// A History is written by the reloader alone: it records each load, keeps the releases that the dataset itself
// records, and the newest rejected load (Refused). Past is its state at one moment. A Trail is the way from the edition
// that a caller has to the one being served: Steps, of which each is a release or a load of this process. Trail.Page
// selects some of its changes, in the order of the steps, and Trail.Rows writes them as the list of changes has them.
//
// What is kept of loads is bounded (see history.go): the changes of old loads are dropped, and a Trail never leads over
// them. The package knows no parameters, responses or pages. Everything in it is safe for concurrent use.
package changes
