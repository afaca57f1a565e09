package httpapi

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"modeldex/dataset/datasettest"
)

// TestDumpsAfterRestart: a server that starts on the same dataset has the dump of the one before, which
// it does not make again; its addresses lead to the same bytes, also when the dataset was changed.
func TestDumpsAfterRestart(t *testing.T) {
	datasettest.NeedLong(t, "it starts four servers; TestAsOfAfterRestart has dumps after a restart too")
	t.Parallel()
	s := newSite(t, mustRead(t, "testdata/tiers.json"))
	data := filepath.Join(s.dir, "data")
	datasettest.Must(t, os.CopyFS(data, os.DirFS(mustSmallData(t))))
	s.flags = []string{"--data=" + data, "--dumps=open", "--dumps-dir=" + filepath.Join(s.dir, "dumps"), "--log-level=info"}
	transport := newTransport(t)
	get := func(path string) *answer {
		t.Helper()
		a, err := fetch(transport, s.server.addr, asked{method: "GET", path: path, header: http.Header{}})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	var first DumpView
	for run, want := range []string{"dump made", "dump found", "dump made", "dump found"} {
		if run == 2 {
			file := filepath.Join(data, "dataset.json")
			text := regexp.MustCompile(`"version": "[^"]*"`).ReplaceAllString(mustRead(t, file), `"version": "2026.12.1"`)
			datasettest.Must(t, os.WriteFile(file, []byte(text), 0o600))
		}
		s.start()
		var list struct{ Data DumpView }
		for end := time.Now().Add(patience); list.Data.Edition == ""; time.Sleep(20 * time.Millisecond) {
			a := get("/api/v1/dumps")
			if a.status == http.StatusOK {
				if err := json.Unmarshal(a.body, &list); err != nil {
					t.Fatal(err)
				}
			} else if a.status != http.StatusServiceUnavailable || time.Now().After(end) {
				t.Fatalf("status %d: %s\n%s", a.status, a.body, s.server.stderr)
			}
		}
		if run == 0 {
			first = list.Data
		}
		if now := list.Data; (now.Edition == first.Edition) != (run < 2) || slices.Contains(now.Others, first.Edition) != (run >= 2) {
			t.Errorf("run %d has edition %s and %s, the first one was %s", run, now.Edition, now.Others, first.Edition)
		}
		for _, f := range first.Files {
			a := get(f.URL)
			if a.status != http.StatusOK || a.header.Get("ETag") != `"`+f.SHA256+`"` || int64(len(a.raw)) != f.Bytes || a.header.Get("Dataset-Digest") != first.Digest {
				t.Errorf("run %d, %s: status %d, %d bytes, %v; listed as %+v", run, f.URL, a.status, len(a.raw), a.header, f)
			}
		}
		s.stop()
		if log := s.server.stderr.String(); !strings.Contains(log, want) {
			t.Errorf("run %d did not log %q:\n%s", run, want, log)
		}
	}
}
