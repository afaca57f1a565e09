// Package changes has the history of the dataset: the changes of records in each release.
//
// A History has the recorded releases (Past) and the newest rejected load (Refused). Only the reloader writes to it. A
// Trail is the releases between the dataset of a caller and the one being served; its Page selects changes, and Rows
// writes them as list entries. The package does not depend on parameters, responses or pages. Everything is safe for
// concurrent use.
package changes
