// Package watch loads a dataset again when its files change.
//
// An event or an error of the file system only says that the files should be looked at. A Watcher looks
// once after the files have been quiet for a moment, however many events there were. It also looks every
// few seconds, because events get lost and network mounts send none. A look compares what the file system
// says of each file (its State) before and after the load. A load under which a file changed is not handed
// over. Neither is a load while the lock of git's index exists. A Watcher that is given the State from
// before the first load reads nothing when it starts, unless a file has changed since, or may have.
//
// Reading may never end, as on a network mount that hangs. So each look has a goroutine of its
// own, which Close does not wait for.
package watch
