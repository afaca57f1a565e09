package dataset

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"modeldex/dataset/record"
)

// TestSourcesFile: every page that a shipped record names is of an origin that data/sources.json
// lists, every measurement of others has its key, and nothing is listed that no record names.
func TestSourcesFile(t *testing.T) {
	found, err := Check(os.DirFS("../data"), Options{})
	must(t, err)
	for _, f := range found {
		if strings.Contains(f.Text, "sources.json") || f.Path == sourcesFile || f.Field == "source_key" {
			t.Error(f)
		}
	}
}

// TestCredits: data/CREDITS.md is made from data/sources.json and the records.
func TestCredits(t *testing.T) {
	var page strings.Builder
	page.WriteString("# Credits\n\nWho published what this directory holds, most measurements first. Made from `sources.json` and the records by\n" +
		"`go test ./dataset -run TestCredits -update`; do not edit by hand. \"none stated\" means that the pages and files that\n" +
		"were examined state none, \"not read\" that none could be examined; `licence_note` in `sources.json` says what was looked at. Single facts\n" +
		"were taken, no text.\n\n" +
		"| source | owner | licence | measurements | models | hardware | tools | read |\n|---|---|---|---:|---:|---:|---:|---|\n")
	for _, c := range Credits(mustShipped(t)) {
		licence := "not read"
		if c.License != nil {
			licence = *c.License
		}
		fmt.Fprintf(&page, "| [%s](%s) | %s | %s | %d | %d | %d | %d | %s |\n", c.Key, c.URL, c.Owner, licence, c.Measurements, c.Models, c.Hardware, c.Tools, c.Read)
	}
	goldenFile(t, "../data/CREDITS.md", page.String())
}

// goldenFile holds a file to what it is made from.
func goldenFile(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		must(t, os.WriteFile(path, []byte(want), 0o644))
		return
	}
	got, err := os.ReadFile(path)
	must(t, err)
	if string(got) != want {
		t.Errorf("%s is out of date, run go test ./dataset -run %s -update", path, t.Name())
	}
}

// TestCreditsCount counts by a plain loop over what the files of the shipped data say.
func TestCreditsCount(t *testing.T) {
	set := mustShipped(t)
	measurements, hardware := map[string]int{}, map[string]int{}
	for _, b := range set.Benchmarks.All() {
		if b.SourceURL != nil {
			measurements[b.SourceURL.OriginKey()]++
		}
	}
	for i := range set.Quality {
		measurements[set.Quality[i].SourceURL.OriginKey()]++
	}
	for i := range set.Hardware {
		text, err := record.Line(&set.Hardware[i])
		must(t, err)
		keys := map[string]bool{}
		for _, page := range regexp.MustCompile(`"(?:url|via|source)":"(https?://[^" ]+)`).FindAllSubmatch(text, -1) {
			keys[URL(page[1]).OriginKey()] = true
		}
		for key := range keys {
			hardware[key]++
		}
	}
	list := Credits(set)
	for i, c := range list {
		if c.Measurements != measurements[c.Key] || c.Hardware != hardware[c.Key] {
			t.Errorf("%s: %d measurements and %d hardware, want %d and %d", c.Key, c.Measurements, c.Hardware, measurements[c.Key], hardware[c.Key])
		}
		if i > 0 && c.Measurements > list[i-1].Measurements {
			t.Errorf("%s has more measurements than %s before it", c.Key, list[i-1].Key)
		}
	}
	if len(list) != len(set.Origins) || len(list) == 0 {
		t.Errorf("%d credits of %d origins", len(list), len(set.Origins))
	}
}
