package httpapi

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestDumpsAfterRestart: a server that starts on the same dataset has the dump of the one before, which
// it does not make again; its addresses lead to the same bytes.
func TestDumpsAfterRestart(t *testing.T) {
	t.Parallel()
	s := newSite(t, mustRead(t, "testdata/tiers.json"))
	s.flags = []string{"--dumps=open", "--dumps-dir=" + filepath.Join(s.dir, "dumps"), "--log-level=info"}
	transport := newTransport(t)
	get := func(path string) *answer {
		t.Helper()
		a, err := fetch(transport, s.server.addr, asked{method: "GET", path: path, header: http.Header{}})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	var before DumpView
	for run, want := range []string{"dump made", "dump found"} {
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
			before = list.Data
		} else if list.Data.Edition != before.Edition {
			t.Errorf("edition %s after the restart, %s before", list.Data.Edition, before.Edition)
		}
		for _, f := range before.Files {
			if a := get(f.URL); a.status != http.StatusOK || a.header.Get("ETag") != `"`+f.SHA256+`"` || int64(len(a.raw)) != f.Bytes {
				t.Errorf("%s: status %d, %d bytes, ETag %s; listed as %+v", f.URL, a.status, len(a.raw), a.header.Get("ETag"), f)
			}
		}
		s.stop()
		if log := s.server.stderr.String(); !strings.Contains(log, want) {
			t.Errorf("run %d did not log %q:\n%s", run, want, log)
		}
	}
}
