// Package changes knows what happened to the records of the dataset, from release to release.
//
// A History has the releases that the dataset records (Past), and the newest rejected load (Refused). Only the reloader
// writes to it. A Trail is the releases between the dataset that a caller has and the one being served; its Page selects
// some of their changes, and Rows writes them as the list of changes has them. The package knows no parameters, responses
// or pages. Everything in it is safe for concurrent use.
package changes
