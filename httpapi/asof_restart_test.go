package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"modeldex/dataset/datasettest"
	"modeldex/httpapi/changes"
	"modeldex/httpapi/export"
)

// releases is the real program on a dataset that is released again and again, and restarted in between.
type releases struct {
	*site
	transport *http.Transport
	data      string
	secret    string
	released  []*release
}

// release is one of them: what the server answered of it by as_of before it was restarted.
type release struct {
	version, digest, loaded string
	answers                 map[string]*answer
	next                    string // links.next of a list of it
}

func newReleases(t *testing.T) *releases {
	t.Helper()
	r := &releases{site: newSite(t, mustRead(t, "testdata/tiers.json")), transport: newTransport(t)}
	r.data = filepath.Join(r.dir, "data")
	if err := os.CopyFS(r.data, os.DirFS(mustSmallData(t))); err != nil {
		t.Fatal(err)
	}
	r.flags = []string{"--data=" + r.data, "--dumps=open", "--dumps-dir=" + filepath.Join(r.dir, "dumps"), "--log-level=info", "--cache-mb=8"}
	r.publish("2026-06-01")
	r.start()
	r.secret, _ = r.issue("dashboard", "bulk")
	r.note()
	return r
}

// publish adds a snapshot document, of which rows of models have scores.
func (r *releases) publish(day string) {
	r.t.Helper()
	from, err := filepath.Abs("../snapshot/importer/testdata/small")
	if err != nil {
		r.t.Fatal(err)
	}
	r.mustRun("snapshot", "build", "--from", from, "--generated-at", day+"T00:00:00Z", "-o", filepath.Join(r.data, "snapshots"))
}

func (r *releases) get(path string) *answer {
	r.t.Helper()
	a, err := fetch(r.transport, r.server.addr, asked{method: "GET", path: path, header: http.Header{"Authorization": {"Bearer " + r.secret}}})
	if err != nil {
		r.t.Fatal(err)
	}
	return a
}

func (r *releases) dataset() (view DatasetView) {
	r.t.Helper()
	var body struct{ Data *DatasetView }
	body.Data = &view
	if a := r.get("/api/v1/dataset"); a.status != http.StatusOK || json.Unmarshal(a.body, &body) != nil {
		r.t.Fatalf("%s: status %d: %s", a.path, a.status, a.body)
	}
	return view
}

// note waits for the dump of what is served and keeps what is answered of it.
func (r *releases) note() {
	r.t.Helper()
	view := r.dataset()
	rel := &release{version: view.Version, digest: view.Digest, loaded: view.Loaded.String(), answers: map[string]*answer{}}
	for end := time.Now().Add(patience); !strings.Contains(string(r.get("/api/v1/dumps").body), `"digest":"`+view.Digest); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("no dump of %s\n%s", view.Version, r.server.stderr)
		}
	}
	for _, address := range pastAddresses {
		rel.answers[address] = r.get(asOf(address, view.Digest))
		if a := rel.answers[address]; a.status != http.StatusOK {
			r.t.Fatalf("GET %s: status %d: %s", a.path, a.status, a.body)
		}
	}
	var list struct{ Links struct{ Next string } }
	if err := json.Unmarshal(r.get(asOf("/api/v1/benchmarks?limit=2", view.Version)).body, &list); err != nil || list.Links.Next == "" {
		r.t.Fatalf("no next page: %v", err)
	}
	rel.next = list.Links.Next
	rel.answers[rel.next] = r.get(rel.next)
	r.released = append(r.released, rel)
}

// edit writes the next version; a running server takes it.
func (r *releases) edit() string {
	r.t.Helper()
	n := len(r.released) + 1
	version := fmt.Sprintf("2026.12.%d", n)
	for name, with := range map[string][2]string{
		"hardware/nvidia-rtx-4090.json": {`"tdp_watts": [^,\n]*`, fmt.Sprintf(`"tdp_watts": %d`, 400+n)},
		"dataset.json":                  {`"version": [^,\n]*`, fmt.Sprintf(`"version": %q`, version)},
	} {
		file := filepath.Join(r.data, name)
		b, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, regexp.MustCompile(with[0]).ReplaceAll(b, []byte(with[1])), 0o600)
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
	return version
}

// release serves the next version.
func (r *releases) release() {
	r.t.Helper()
	version := r.edit()
	for end := time.Now().Add(patience); r.dataset().Version != version; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("version %s is not served\n%s", version, r.server.stderr)
		}
	}
	r.note()
}

// restart kills the server and starts it again; it is ready at once.
func (r *releases) restart() {
	r.t.Helper()
	r.server.kill()
	r.start()
	if a := r.get("/readyz"); a.status != http.StatusOK {
		r.t.Errorf("/readyz after the start: %d %s", a.status, a.body)
	}
}

// settled asks for a release until it is no longer being loaded.
func (r *releases) settled(path string) *answer {
	r.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		a := r.get(path)
		if a.status != http.StatusServiceUnavailable || time.Now().After(end) {
			return a
		}
		reportComplaints(r.t, a)
		if a.code() != "not_ready" || a.header.Get("Retry-After") == "" || !strings.Contains(string(a.body), "being loaded again") {
			r.t.Fatalf("GET %s: %d %s, Retry-After %q", path, a.status, a.body, a.header.Get("Retry-After"))
		}
	}
}

// same compares all answers of a release with those before.
func (r *releases) same(rel *release) {
	r.t.Helper()
	for address, was := range rel.answers {
		a := r.settled(was.path)
		if a.status != was.status || string(a.body) != string(was.body) || a.header.Get("ETag") != was.header.Get("ETag") || a.header.Get("Link") != was.header.Get("Link") {
			r.t.Errorf("%s as of %s: status %d, ETag %s, before the restart %d, %s\n%.300s\nwas\n%.300s",
				address, rel.version, a.status, a.header.Get("ETag"), was.status, was.header.Get("ETag"), a.body, was.body)
		}
	}
	if a := r.get(asOf("/api/v1/tools", rel.version)); a.status != http.StatusOK || a.header.Get("Dataset-Digest") != rel.digest {
		r.t.Errorf("GET %s: status %d of %s", a.path, a.status, a.header.Get("Dataset-Digest"))
	}
}

// gone checks that a release is not kept, and which one is nearest.
func (r *releases) gone(rel, nearest *release) {
	r.t.Helper()
	a := r.settled(asOf("/api/v1/tools", rel.version))
	reportComplaints(r.t, a)
	var problem Problem
	if err := json.Unmarshal(a.body, &problem); err != nil || a.status != http.StatusGone || len(problem.Errors) != 1 || problem.Errors[0].Suggestion != nearest.digest[:changes.ShortDigest] {
		r.t.Errorf("GET %s: status %d: %s; want 410 and %s as the nearest", a.path, a.status, a.body, nearest.digest[:changes.ShortDigest])
	}
}

// kept checks what the server lists, with the times of before.
func (r *releases) kept(rels ...*release) {
	r.t.Helper()
	var got, want []string
	for _, k := range r.dataset().Kept[1:] {
		got = append(got, k.Version+" "+k.Digest+" "+k.Loaded.String())
	}
	for _, rel := range rels {
		want = append(want, rel.version+" "+rel.digest+" "+rel.loaded)
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("kept beside the one being served: %v, want %v", got, want)
	}
}

// TestAsOfAfterRestart: what as_of could name before a kill it names after the start, with the same bytes,
// entity tags and cursors; as many as --keep says, and none that is damaged.
func TestAsOfAfterRestart(t *testing.T) {
	t.Parallel()
	r := newReleases(t)
	first := r.released[0]
	r.publish("2026-07-01") // the first keeps the scores it had
	r.release()
	second := r.released[1]
	if datasettest.Long() { // the next restart shows it, too
		r.restart()
		r.same(first)
		r.kept(first)
	}

	// A version that comes while the server is away has those before it beside it.
	version := r.edit()
	r.restart()
	if got := r.dataset().Version; got != version {
		t.Fatalf("version %s is served, want %s", got, version)
	}
	r.same(second)
	r.same(first)
	r.kept(second, first)
	r.note()
	third := r.released[2]

	// One more than are kept.
	r.release()
	r.restart()
	r.same(third)
	r.same(second)
	r.gone(first, second)
	r.kept(third, second)

	// Another dataset in the same directory of dumps is none of them, and its dumps remove none.
	other := newSite(t, mustRead(t, "testdata/tiers.json"))
	other.flags = append([]string{"--keep=5"}, r.flags[1:]...)
	other.start()
	other.awaitDumps(r.transport)
	if datasettest.Long() { // the first start shows it, too
		other.server.kill()
		other.start()
	}
	if a, err := fetch(r.transport, other.server.addr, asked{method: "GET", path: "/api/v1/dataset"}); err != nil || strings.Count(string(a.body), `"loaded"`) != 2 {
		t.Errorf("a server of another dataset: %v %s", err, a.body)
	}

	// A damaged archive is skipped.
	dumps := filepath.Join(r.dir, "dumps")
	noted, err := export.Earlier(dumps, r.data, "", 9)
	if err != nil || len(noted) != 4 || noted[1].Digest != third.digest {
		t.Fatalf("noted: %v %+v", err, noted)
	}
	datasettest.Damage(t, filepath.Join(dumps, noted[1].Dump, "dataset.tar.zst"))
	r.restart()
	r.same(second)
	r.gone(third, second)
	r.awaitLog("dataset.tar.zst of a dump is damaged")
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) { // the next one may be unpacked just now
		left, err := filepath.Glob(filepath.Join(dumps, ".making-*"))
		if err != nil || len(left) > 0 && time.Now().After(end) {
			t.Fatalf("left behind: %v %v", left, err)
		}
		if len(left) == 0 {
			break
		}
	}

	// So is what was noted, where that cannot be read, and the next dump notes again.
	notes, err := filepath.Glob(filepath.Join(dumps, "served-*.json"))
	if err != nil || len(notes) != 2 {
		t.Fatalf("notes: %v %v", notes, err)
	}
	for _, name := range notes {
		if err := os.WriteFile(name, []byte(`{"served":[{"dump":"../../data"}]}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.restart()
	r.awaitLog("is damaged")
	r.gone(second, r.released[3])
	if !datasettest.Long() {
		return
	}
	r.flags = append(r.flags, "--dumps=off")
	r.note()
	r.restart()
	r.gone(second, r.released[3])
}

// awaitDumps waits until the server has made its dump.
func (s *site) awaitDumps(transport *http.Transport) {
	s.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		a, err := fetch(transport, s.server.addr, asked{method: "GET", path: "/api/v1/dumps"})
		if err != nil {
			s.t.Fatal(err)
		}
		if a.status == http.StatusOK {
			return
		}
	}
	s.t.Fatal("no dump is made")
}
