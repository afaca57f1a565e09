// Package mirror keeps a dataset directory in step with a service that publishes dumps.
//
// It asks /api/v1/dumps of the origin. When the archive dataset.tar.zst has changed, it downloads it,
// compares size and SHA-256 with the list, unpacks it into a new directory, and loads that as a server would.
// The dataset directory is a symbolic link; it is turned to the new directory last. A failure before that
// step changes nothing. A server that watches the directory loads the new
// records by itself.
//
// A lock lets one process at a time use a Mirror; it ends with the process. Its State says since when
// the origin has not responded; a restart reads that from the modification time of a file.
//
// What comes from the origin is not trusted: sizes and times are bounded, and package archive unpacks regular files
// of a dataset only.
package mirror
