package dataset

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

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

var gotPattern = regexp.MustCompile(`(?m)^([^:\n]+):(\d+):(\d+): .*, got (.+?)(?:; did you mean ".*")?$`)

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
