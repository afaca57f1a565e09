package dataset

import (
	"fmt"
	"path"
	"regexp"
)

// The folders of a dataset and the files at its root.
const (
	infoFile          = "dataset.json"
	quantizationsFile = "quantizations.json"
	sourcesFile       = "sources.json" // a dataset whose measurements name no source_key need not have it
	modelsDir         = "models"
	hardwareDir       = "hardware"
	toolsDir          = "tools"
	benchmarksDir     = "benchmarks"
	qualityDir        = "quality" // a dataset need not have it
	// ChangesDir is the folder of what past releases changed. A dataset need not have it, and it is
	// not part of the digest, because it has digests.
	ChangesDir = "changes"
)

// The largest files that are read. A larger one is a finding: the largest .json of the shipped
// data has 0.2 MB, and a million benchmarks in one .ndjson file have 0.9 GB.
const (
	maxJSON   = 32 << 20
	maxNDJSON = 2 << 30
)

func maxSize(name string) int64 {
	if path.Ext(name) == ".ndjson" {
		return maxNDJSON
	}
	return maxJSON
}

func tooLarge(name string) string {
	return fmt.Sprintf("the file must have at most %d MiB", maxSize(name)>>20)
}

// Layout returns the names of the files at the root of a dataset and of its record folders.
func Layout() (files, folders []string) {
	return []string{infoFile, quantizationsFile, sourcesFile}, []string{modelsDir, hardwareDir, toolsDir, benchmarksDir, qualityDir}
}

// changesFile is the form of the names in ChangesDir: the year of the releases in it.
var changesFile = regexp.MustCompile(`^[0-9]{4}\.ndjson$`)

// benchmarksFile is the form of the names in the folder of benchmarks: the year of the runs, another number for a part of
// a dataset that was generated, or that there are no dates. In a file of another name the dates would be held to no year.
var benchmarksFile = regexp.MustCompile(`^([0-9]{4}|undated)\.ndjson$`)

// kindOf says which kind of records a file has, by its folder or, at the root, its name.
func kindOf(name string) string {
	if dir := path.Dir(name); dir != "." {
		return dir
	}
	return name
}
