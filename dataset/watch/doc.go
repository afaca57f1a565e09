// Package watch loads a dataset again when its files change.
//
// Every event and every error of the file system means no more than "look again": a Watcher
// folds them into one look once the files have been quiet for a moment, and looks on its own every
// few seconds, for events get lost and network mounts send none. A look compares what the file
// system says of each file (its State) before and after the load: a load under which a file
// changed is not handed over, nor is one while git holds the lock of its index.
// A watcher that is given the State from before the first load reads nothing at its beginning, unless something
// changed meanwhile or may have.
//
// Reading may take for ever, as on a network mount that hangs. So each look has a goroutine of its
// own, which Close does not wait for.
package watch
