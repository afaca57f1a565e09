// Package mirror keeps a dataset directory in step with a service that publishes dumps.
//
// It asks /api/v1/dumps of the origin, loads the archive dataset.tar.zst when it is another than
// before, compares its size and SHA-256 with the list, unpacks it into a directory of its own, loads
// it as a server would, and only then lets the dataset directory, which is a symbolic link, lead to
// it. Whatever fails before that step changes nothing. A server that follows the directory swaps to
// the new records by itself.
//
// A Mirror belongs to one process at a time, by a lock that ends with the process. Its State says
// since when the origin could not be asked, and is kept over restarts by the time of a file.
//
// What comes from the origin is not trusted: sizes are bounded, and package archive unpacks regular files
// of a dataset only.
package mirror
