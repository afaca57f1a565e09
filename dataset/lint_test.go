package dataset

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"modeldex/dataset/datasettest"
	"modeldex/dataset/record"
)

// findingsOf checks and returns the findings, one per line, empty where there are none. A load
// must reject for the faults among them, and for nothing else.
func findingsOf(t testing.TB, fsys fstest.MapFS, opt Options) string {
	t.Helper()
	opt.Now = fixtureDay
	found, err := Check(fsys, opt)
	if err != nil {
		t.Fatal(err)
	}
	set, err := Load(context.Background(), fsys, opt)
	var refused Findings
	if faults := found.Faults(); (err != nil) != (len(faults) > 0) || (set == nil) != (err != nil) || err != nil && (!errors.As(err, &refused) || refused.Error() != faults.Error()) {
		t.Errorf("Check found\n%s\nLoad = %v, %v", found.Error(), set, err)
	}
	if len(found) == 0 {
		return ""
	}
	return found.Error() + "\n"
}

// TestLint runs every fixture: the findings must be those the fixture lists, no more and no
// fewer. -update rewrites the list, for review.
func TestLint(t *testing.T) {
	files, err := filepath.Glob("testdata/lint/busted_*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			fsys, rest := fixtureFS(a)
			got := findingsOf(t, fsys, Options{})
			if *update {
				last := &a.Files[len(a.Files)-1]
				last.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got == "" {
				t.Error("the fixture loads clean")
			}
			if diff := cmp.Diff(rest["findings"], got); diff != "" {
				t.Errorf("findings of %s (-want +got):\n%s", file, diff)
			}
			pointTrue(t, fsys, got)
		})
	}
}

var gotPattern = regexp.MustCompile(`(?m)^([^:\n]+):(\d+):(\d+): .*, got (.+?)(?:; did you mean ".*"\?)?$`)

// pointTrue checks that a finding that quotes a value points at it: the golden lists are
// written by the code they judge.
func pointTrue(t *testing.T, fsys fstest.MapFS, findings string) {
	t.Helper()
	for _, m := range gotPattern.FindAllStringSubmatch(findings, -1) {
		if !json.Valid([]byte(m[4])) || strings.Contains(m[0], "entr") {
			continue // a sentence or a count, not a value
		}
		line, _ := strconv.Atoi(m[2])
		col, _ := strconv.Atoi(m[3])
		text := []rune(strings.Split(string(fsys[m[1]].Data), "\n")[line-1])
		shown := strings.ReplaceAll(record.Printable(string(text[col-1:])), "\u00a0", `\u00a0`) // as findings quote it
		if !strings.HasPrefix(shown, m[4]) {
			t.Errorf("%s\npoints at %q", m[0], string(text[col-1:]))
		}
	}
}

func TestBaseIsClean(t *testing.T) {
	fsys, _ := fixtureFS(&txtar.Archive{})
	if got := findingsOf(t, fsys, Options{}); got != "" {
		t.Errorf("the base of the fixtures has findings:\n%s", got)
	}
}

func TestMain(m *testing.M) { datasettest.Main(m) }

var update = flag.Bool("update", false, "rewrite the golden parts of fixtures and pages")

// plainSet is all there is to a set, its benchmarks as values.
type plainSet struct {
	*Set
	Benchmarks []Benchmark
}

func unpacked(s *Set) plainSet {
	out, rest := plainSet{Benchmarks: values(s.Benchmarks)}, *s
	rest.Benchmarks = nil
	out.Set = &rest
	return out
}

// shippedSet is the shipped data, loaded once for all tests that only read it.
var shippedSet = sync.OnceValues(func() (*Set, error) { return Load(context.Background(), os.DirFS("../data"), Options{}) })

func mustShipped(tb testing.TB) *Set {
	tb.Helper()
	set, err := shippedSet()
	must(tb, err)
	return set
}

// What the tests take from the kit.
var (
	must       = datasettest.Must
	putFile    = datasettest.PutFile
	writeBase  = datasettest.WriteBase
	shipped    = datasettest.Shipped
	sample     = datasettest.Sample
	fixtureFS  = datasettest.Fixture
	fixtureDay = datasettest.Day
	info       = datasettest.Info
)

var reported = Findings{
	{Path: "hardware/a,b.json", Line: 4, Col: 13, Field: "vendor", Text: "must be one of nvidia, amd, got \"100%\"\nx"},
	{Path: "benchmarks/2026.ndjson", Line: 7, Text: "not JSON"},
	{Path: "tools", Text: "the folder is missing"},
	{Path: "benchmarks/2026.ndjson", Line: 9, Col: 1, Field: "generation_tps", Text: "is near", Severity: Warning},
}

func TestReport(t *testing.T) {
	for form, want := range map[string]string{
		"text": "hardware/a,b.json:4:13: vendor: must be one of nvidia, amd, got \"100%\"\\u000ax\n" +
			"benchmarks/2026.ndjson:7: not JSON\n" +
			"tools: the folder is missing\n" +
			"benchmarks/2026.ndjson:9:1: warning: generation_tps: is near\n",
		"github": "::error file=hardware/a%2Cb.json,line=4,col=13::vendor: must be one of nvidia, amd, got \"100%25\"\\u000ax\n" +
			"::error file=benchmarks/2026.ndjson,line=7::not JSON\n" +
			"::error file=tools::the folder is missing\n" +
			"::warning file=benchmarks/2026.ndjson,line=9,col=1::generation_tps: is near\n",
	} {
		var out bytes.Buffer
		if err := reported.Report(&out, form); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("Report(%s) (-want +got):\n%s", form, diff)
		}
	}
}

func TestReportJSON(t *testing.T) {
	var out bytes.Buffer
	if err := reported.Report(&out, "json"); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Findings         []map[string]any
		Errors, Warnings int
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"path": "benchmarks/2026.ndjson", "line": 9.0, "col": 1.0, "field": "generation_tps", "text": "is near", "severity": "warning", "rule": "", "record": ""}
	if diff := cmp.Diff(want, got.Findings[3]); diff != "" || got.Errors != 3 || got.Warnings != 1 {
		t.Errorf("%d errors, %d warnings, last finding (-want +got):\n%s", got.Errors, got.Warnings, diff)
	}
	out.Reset()
	if err := (Findings{}).Report(&out, "json"); err != nil || out.String() != `{"findings":[],"errors":0,"warnings":0}`+"\n" {
		t.Errorf("Report of nothing = %s, %v", out.String(), err)
	}
}

func TestReportRefused(t *testing.T) {
	if err := reported.Report(&bytes.Buffer{}, "xml"); err == nil || !strings.Contains(err.Error(), `must be one of text, json, github, got "xml"`) {
		t.Errorf("Report(xml) = %v", err)
	}
	for _, form := range []string{"text", "json", "github"} {
		if err := reported.Report(fullDisk{}, form); !errors.Is(err, errFull) {
			t.Errorf("Report(%s) to a full disk = %v", form, err)
		}
	}
}

type fullDisk struct{}

var errFull = errors.New("no space left on device")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestUnder(t *testing.T) {
	got := reported.Under("data")
	if got[2].Path != "data/tools" || reported[2].Path != "tools" {
		t.Errorf("Under gave %q and left %q", got[2].Path, reported[2].Path)
	}
}
