package dataset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// origin is one entry of data/sources.json: a repository or site that facts were read from.
type origin struct {
	Key          string  `json:"key"`
	URL          URL     `json:"url"`
	Owner        string  `json:"owner"`
	License      *string `json:"licence"`
	Read         Date    `json:"read"`
	Measurements int     `json:"measurements"`
	Models       int     `json:"models"`
	Hardware     int     `json:"hardware"`
	Tools        int     `json:"tools"`
}

func origins(t *testing.T) []origin {
	t.Helper()
	b, err := os.ReadFile("../data/sources.json")
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	var out []origin
	if err := dec.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSourcesFile holds data/sources.json to the records: every source of a measurement is in it
// once, with the number of measurements it gave.
func TestSourcesFile(t *testing.T) {
	list, counts := origins(t), map[string]int{}
	set := mustShipped(t)
	for _, b := range set.Benchmarks.All() {
		switch {
		case b.SourceKey != nil:
			counts[*b.SourceKey]++
		case b.SourceURL != nil:
			t.Errorf("%s has a source_url and no source_key", b.ID)
		}
	}
	known := map[string]bool{}
	for i, o := range list {
		if known[o.Key] || i > 0 && o.Key <= list[i-1].Key {
			t.Errorf("%s stands twice or out of order", o.Key)
		}
		known[o.Key] = true
		if o.URL == "" || o.Owner == "" || o.Read == "" || o.License != nil && *o.License == "" {
			t.Errorf("%s lacks its address, owner, day or licence", o.Key)
		}
		if o.Measurements != counts[o.Key] {
			t.Errorf("%s: measurements is %d, the records have %d", o.Key, o.Measurements, counts[o.Key])
		}
	}
	for key := range counts {
		if !known[key] {
			t.Errorf("%s is the source of measurements and not in sources.json", key)
		}
	}
}

// TestCredits: data/CREDITS.md is made from data/sources.json.
func TestCredits(t *testing.T) {
	var page strings.Builder
	page.WriteString("# Credits\n\nWho published what this directory holds, most measurements first. Made from `sources.json` by\n" +
		"`go test ./dataset -run TestCredits -update`; do not edit by hand. \"none stated\" means that no licence file was found,\n" +
		"\"not examined\" that nobody looked. Single measured facts were taken, no text.\n\n" +
		"| source | owner | licence | measurements | models | hardware | tools | read |\n|---|---|---|---:|---:|---:|---:|---|\n")
	list := origins(t)
	slices.SortStableFunc(list, func(a, b origin) int { return b.Measurements - a.Measurements })
	for _, o := range list {
		licence := "not examined"
		if o.License != nil {
			licence = *o.License
		}
		fmt.Fprintf(&page, "| [%s](%s) | %s | %s | %d | %d | %d | %d | %s |\n", o.Key, o.URL, o.Owner, licence, o.Measurements, o.Models, o.Hardware, o.Tools, o.Read)
	}
	if *update {
		if err := os.WriteFile("../data/CREDITS.md", []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile("../data/CREDITS.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != page.String() {
		t.Error("data/CREDITS.md is out of date, run go test ./dataset -run TestCredits -update")
	}
}

// TestReadmeCounts: the counts on the page of the data are those of the data.
func TestReadmeCounts(t *testing.T) {
	set := mustShipped(t)
	throughput := 0
	for _, b := range set.Benchmarks.All() {
		if b.IsThroughput() {
			throughput++
		}
	}
	page, err := os.ReadFile("../data/README.md")
	if err != nil {
		t.Fatal(err)
	}
	want := page
	for _, c := range []struct {
		pattern string
		n       int
	}{
		{`\*\*([\d,]+) models\*\*`, len(set.Models)},
		{`\*\*([\d,]+)\*\* pieces of hardware`, len(set.Hardware)},
		{`\*\*([\d,]+)\*\* tools`, len(set.Tools)},
		{`\*\*([\d,]+)\*\* measurements of tokens per second`, set.Benchmarks.Len() - throughput},
		{`\*\*([\d,]+)\*\* throughput results`, throughput},
	} {
		at := regexp.MustCompile(c.pattern).FindSubmatchIndex(want)
		if at == nil {
			t.Errorf("data/README.md does not match %s", c.pattern)
			continue
		}
		want = slices.Concat(want[:at[2]], []byte(grouped(c.n)), want[at[3]:])
	}
	if bytes.Equal(page, want) {
		return
	}
	if *update {
		if err := os.WriteFile("../data/README.md", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("the counts of data/README.md are out of date, run go test ./dataset -run TestReadmeCounts -update")
}

// grouped writes a number with commas between thousands.
func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
