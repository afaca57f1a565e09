package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"modeldex/dataset"
	"modeldex/httpapi/rows"
	"modeldex/index"
)

// smallData writes the small dataset the first time a test asks for it and returns its
// directory, which tests copy before they change it.
var smallData = sync.OnceValues(func() (string, error) {
	list, err := os.ReadFile("testdata/small.txt")
	if err != nil {
		return "", err
	}
	dir, ids := filepath.Join(workDir, "small"), map[string]bool{}
	for line := range strings.Lines(string(list)) {
		switch name := strings.TrimSpace(line); {
		case name == "" || name[0] == '#':
		case strings.HasSuffix(name, ".json"):
			b, err := os.ReadFile(filepath.Join("../data", name))
			if err != nil {
				return "", err
			}
			if err := writeFile(filepath.Join(dir, name), b); err != nil {
				return "", err
			}
		default:
			ids[name] = true
		}
	}
	if err := pickLines(dir, ids); err != nil {
		return "", err
	}
	return dir, pickSources(dir)
})

// recordsOnly is a copy of the shipped dataset without its snapshots, which is not to be changed.
var recordsOnly = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(workDir, "records")
	return dir, fs.WalkDir(shippedFiles(), ".", func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && file == "snapshots":
			return fs.SkipDir
		case e.IsDir():
			return os.MkdirAll(filepath.Join(dir, file), 0o700)
		}
		b, err := fs.ReadFile(shippedFiles(), file)
		return errors.Join(err, os.WriteFile(filepath.Join(dir, file), b, 0o600))
	})
})

func writeFile(path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}

// pickLines copies the benchmarks and measurements of quality of the ids into files of the same names.
func pickLines(dir string, ids map[string]bool) error {
	files, err := filepath.Glob("../data/*/*.ndjson")
	if err != nil {
		return err
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var picked []byte
		for line := range bytes.Lines(b) {
			if id := nameOf(line); ids[id] {
				delete(ids, id)
				picked = append(picked, line...)
			}
		}
		if picked == nil {
			continue
		}
		if err := writeFile(filepath.Join(dir, filepath.Base(filepath.Dir(file)), filepath.Base(file)), picked); err != nil {
			return err
		}
	}
	if len(ids) > 0 {
		return fmt.Errorf("no line has the ids %v", ids)
	}
	return nil
}

// pickSources drops the sources that no record of a dataset names a page of, which Check warns of.
func pickSources(dir string) error {
	path := filepath.Join(dir, "sources.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	found, err := dataset.Check(dataset.Dir(dir), dataset.Options{})
	if err != nil {
		return err
	}
	lines, unused := strings.Split(string(text), "\n"), map[string]bool{}
	for _, f := range found {
		if f.Path == "sources.json" && f.Field == "key" {
			unused[strings.TrimSpace(lines[f.Line-1])] = true // "key": "example.com",
		}
	}
	var all, used []map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	for _, source := range all {
		if !unused[fmt.Sprintf("\"key\": %q,", source["key"])] {
			used = append(used, source)
		}
	}
	b, err := json.Marshal(used)
	if err != nil {
		return err
	}
	return writeFile(path, b)
}

func mustSmallData(tb testing.TB) string {
	tb.Helper()
	dir, err := smallData()
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

// generationOf loads, checks and indexes a dataset.
func generationOf(files fs.FS) (*dataset.Set, *index.Live, error) {
	set, err := dataset.Load(context.Background(), files, dataset.Options{})
	if err != nil {
		return nil, nil, err
	}
	gen, err := index.Build(context.Background(), set, rows.Renderers)
	if err != nil {
		return nil, nil, err
	}
	live := &index.Live{}
	live.Publish(gen)
	return set, live, nil
}
