//go:build !packed

package main

import (
	"embed"
	"io/fs"
)

//go:embed data/dataset.json data/quantizations.json data/sources.json data/models data/hardware data/tools data/benchmarks data/changes data/snapshots/snapshot-*.json data/schemas
var files embed.FS

// shipped is the dataset of this build, so that the binary alone serves.
func shipped() fs.FS { return files }
