package httpapi

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"modeldex/dataset/datasettest"
	"modeldex/httpapi/charts"
	"modeldex/httpapi/encoding"
	"modeldex/quota/linktest"

	"modeldex/httpapi/query"
)

// The long form is go test ./httpapi -run TestMirror -mirror.shipped -mirror.requests 5000.
var (
	mirrorFlag        = flag.Int("mirror.requests", datasettest.Rounds(60, 500), "requests TestMirrorEqualsOrigin compares")
	mirrorShippedFlag = flag.Bool("mirror.shipped", false, "let these tests use the dataset of this repository, whose dumps take seconds, not the small one")
)

// twins are the real program as an origin, and a second one that mirrors it over a link.
type twins struct {
	t              *testing.T
	rnd            *rand.Rand
	origin, mirror *site
	link           *linktest.Link
	transport      *http.Transport
	secrets        map[*site]string
	data           string // directory of the origin
	records        *directory
	marks          int
}

func newTwins(t *testing.T) *twins {
	t.Helper()
	tw := &twins{t: t, rnd: rand.New(rand.NewPCG(seedOf(t), 0)), transport: newTransport(t), secrets: map[*site]string{}}
	tiers := mustRead(t, "testdata/tiers.json")
	tw.origin, tw.mirror = newSite(t, tiers), newSite(t, tiers)
	tw.data = filepath.Join(tw.origin.dir, "data")
	from := mustSmallData(t)
	if *mirrorShippedFlag {
		var err error
		if from, err = recordsOnly(); err != nil {
			t.Fatal(err)
		}
	}
	err := os.CopyFS(tw.data, os.DirFS(from))
	if err == nil {
		err = tw.addSnapshots()
	}
	if err == nil {
		tw.records, err = readDirectory(os.DirFS(tw.data))
	}
	if err != nil {
		t.Fatal(err)
	}
	const base = "--base-url=https://models.example.org" // pages have it
	tw.origin.flags = []string{base, "--dumps=open", "--data=" + tw.data, "--log-level=info", "--cache-mb=8"}
	tw.origin.start()
	tw.link = linktest.New(t, "127.0.0.1", tw.origin.server.addr)
	tw.mirror.flags = []string{
		base, "--dumps=open", "--data=" + filepath.Join(tw.mirror.dir, "copy"), "--follow=http://" + tw.link.Addr(), "--follow-every=1s", "--log-level=info", "--cache-mb=8",
	}
	if datasettest.Long() { // of its own, so that it makes them; else it finds those of the origin
		tw.mirror.flags = append(tw.mirror.flags, "--dumps-dir="+filepath.Join(tw.mirror.dir, "dumps"))
	}
	tw.mirror.start()
	return tw
}

// addSnapshots publishes two documents at the origin: those of this repository, or of a small build.
func (tw *twins) addSnapshots() error {
	folder := filepath.Join(tw.data, "snapshots")
	if !*mirrorShippedFlag {
		from, err := filepath.Abs("../snapshot/importer/testdata/small")
		for _, day := range []string{"2026-06-01", "2026-07-01"} {
			tw.origin.mustRun("snapshot", "build", "--from", from, "--generated-at", day+"T00:00:00Z", "-o", folder)
		}
		return err
	}
	published, err := filepath.Glob("../data/snapshots/snapshot-*.json")
	for _, name := range published {
		b, readErr := os.ReadFile(name)
		err = errors.Join(err, readErr, writeFile(filepath.Join(folder, filepath.Base(name)), b))
	}
	return err
}

// freshKeys makes a key of each, so that as much of the month is left of both.
func (tw *twins) freshKeys() {
	tw.t.Helper()
	for _, s := range []*site{tw.origin, tw.mirror} {
		tw.secrets[s], _ = s.issue("twin", "bulk")
	}
}

func (tw *twins) ask(s *site, q asked) *answer {
	tw.t.Helper()
	q.header = q.header.Clone()
	q.header.Set("Authorization", "Bearer "+tw.secrets[s])
	a, err := fetch(tw.transport, s.server.addr, q)
	if err != nil {
		tw.t.Fatal(err)
	}
	return a
}

// compared are the headers that say something of the answer, not of the connection or the moment.
var compared = []string{
	"ETag", "Content-Type", "Content-Encoding", "Cache-Control", "Vary", "Link", "Location", "Dataset-Version", "Dataset-Digest",
	"Content-Disposition", "Content-Security-Policy", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Tier",
	"WWW-Authenticate", "Allow", "Referrer-Policy", "Accept-Ranges", "Access-Control-Allow-Origin",
}

var requestIDs = regexp.MustCompile(`[0-9a-f]{10}-[0-9a-f]{10}`)

// same compares two answers; except names headers that may differ.
func (tw *twins) same(a, b *answer, except ...string) {
	tw.t.Helper()
	for _, name := range compared {
		if !slices.Contains(except, name) && !slices.Equal(a.header.Values(name), b.header.Values(name)) {
			tw.t.Errorf("GET %s: %s is %q, the mirror's %q", a.path, name, a.header.Values(name), b.header.Values(name))
		}
	}
	plain := func(body []byte) string { return requestIDs.ReplaceAllString(string(body), "") }
	if a.status != b.status || plain(a.raw) != plain(b.raw) {
		tw.t.Errorf("GET %s (%v): status %d with %d bytes, the mirror's %d with %d bytes\n%.300s\n%.300s",
			a.path, a.asked.header, a.status, len(a.raw), b.status, len(b.raw), a.body, b.body)
	}
}

// compare asks both the same random questions.
func (tw *twins) compare(n int) {
	tw.t.Helper()
	kinds := map[int]int{}
	tw.freshKeys()
	for i := range n {
		q := tw.random()
		a, b := tw.ask(tw.origin, q), tw.ask(tw.mirror, q)
		tw.same(a, b)
		kinds[a.status]++
		if tag := a.header.Get("ETag"); tag != "" && tw.rnd.IntN(4) == 0 {
			q.header.Set("If-None-Match", tag)
			a, b := tw.ask(tw.origin, q), tw.ask(tw.mirror, q)
			tw.same(a, b)
			if b.status != http.StatusNotModified {
				tw.t.Errorf("GET %s with the ETag of the origin: status %d", q.path, b.status)
			}
		}
		if notice := b.header.Get("Dataset-Notice") + b.header.Get("Age"); notice != "" {
			tw.t.Errorf("GET %s: a mirror in step says %q", q.path, notice)
		}
		if tw.t.Failed() {
			tw.t.Fatalf("after %d requests", i+1)
		}
	}
	tw.t.Logf("%d requests by status: %v", n, kinds)
}

// random is a request for a list, a record, statistics, facets, what fits, a file, a page, or nothing
// that there is.
func (tw *twins) random() asked {
	dir, rnd := tw.records, tw.rnd
	r := pick(rnd, resources)
	some := func(kind string) string { return url.PathEscape(pick(rnd, dir.records[kind]).name()) }
	model, machine := some("models"), some("hardware")
	path := pick(rnd, []func() string{
		func() string { return randomQuestion(rnd, dir, r).address(r) },
		func() string {
			return "/api/v1/" + r.name + "?format=" + pick(rnd, []string{"csv", "ndjson", "parquet"}) + "&limit=" + pick(rnd, []string{"3", "50", "all"})
		},
		func() string { return "/api/v1/" + r.name + "?fields=" + r.key() + "&limit=7" },
		func() string { return "/api/v1/" + r.name + "/" + some(r.name) },
		func() string {
			return "/api/v1/models/" + url.PathEscape(pick(rnd, pick(rnd, dir.records["models"]).names())) + "?benchmarks=false"
		},
		func() string {
			return "/api/v1/benchmarks/stats?group_by=" + pick(rnd, query.Find(statsList.params, "group_by").Enum) + "&metric=" + pick(rnd, query.Find(statsList.params, "metric").Enum)
		},
		func() string {
			return "/api/v1/benchmarks/stats?group_by=vendor,family&shape=pivot&settings=all&value=" + pick(rnd, query.Find(statsList.params, "value").Enum)
		},
		func() string {
			return "/api/v1/" + r.facets.path + "?fields=" + pick(rnd, query.Find(r.facets.params, "fields").Enum)
		},
		func() string { return "/api/v1/fit?model=" + model + "&hardware=" + machine },
		func() string { return "/api/v1/resolve?q=" + model },
		func() string { return "/api/v1/models?fits=" + machine + "&limit=5" },
		func() string { return "/" + r.name + "/" + some(r.name) + pick(rnd, append(endings, "")) },
		func() string {
			return "/explore/" + r.name + pick(rnd, append(endings, "")) + "?limit=" + pick(rnd, []string{"5", "20"})
		},
		func() string { return "/fit" + pick(rnd, []string{"", ".json", ".md"}) + "?hardware=" + machine },
		func() string { return "/compare" + pick(rnd, append(endings, "")) + "?hardware=" + machine },
		func() string { return "/badge/" + model + "/" + machine + ".svg" },
		func() string {
			p := pick(rnd, charts.Presets)
			return "/charts/" + p.Name + ".svg?" + p.Param + "=" + map[bool]string{true: machine, false: model}[p.Param == "hardware"]
		},
		func() string { return "/feeds/models/" + model + "/" + pick(rnd, feedFiles) },
		func() string { return "/api/v1/changes?limit=" + pick(rnd, []string{"1", "20"}) + "&records=true" },
		func() string { return "/api/v1/hardware/" + machine + "/changes" },
		func() string {
			return pick(rnd, []string{"/", "/about", "/snapshots", "/sitemap.xml", "/llms.txt", "/api/v1/snapshots", "/api/v1/snapshots/latest", "/openapi.json", "/docs"})
		},
		func() string { return "/api/v1/" + r.name + "/no-such-" + model },
		func() string { return "/api/v1/" + r.name + "?limit=0&sort=nothing" },
	})()
	h := http.Header{"Accept-Encoding": {pick(rnd, encoding.Names[:])}}
	return asked{method: pick(rnd, []string{"GET", "GET", "GET", "HEAD"}), path: path, header: h}
}

// edit changes a record of the origin and the version, and waits until the origin serves it.
func (tw *twins) edit() (version string) {
	tw.t.Helper()
	tw.marks++
	version = fmt.Sprintf("2099.1.%d", tw.marks)
	for name, field := range map[string]string{"dataset.json": "version", "hardware/nvidia-rtx-4090.json": "name"} {
		file := filepath.Join(tw.data, name)
		b, err := os.ReadFile(file)
		if err != nil {
			tw.t.Fatal(err)
		}
		value := map[string]string{"version": version, "name": "NVIDIA GeForce RTX 4090 " + version}[field]
		edited := regexp.MustCompile(`"`+field+`": "[^"]*"`).ReplaceAllLiteralString(string(b), fmt.Sprintf("%q: %q", field, value))
		if err := os.WriteFile(file+".new", []byte(edited), 0o600); err != nil {
			tw.t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			tw.t.Fatal(err)
		}
	}
	tw.await("the origin serves "+version, func() bool { return tw.version(tw.origin) == version })
	return version
}

func (tw *twins) version(s *site) string {
	tw.t.Helper()
	return tw.ask(s, asked{method: "HEAD", path: "/api/v1/dataset", header: http.Header{}}).header.Get("Dataset-Version")
}

// standing is what /readyz of the mirror says of it. It must be ready.
func (tw *twins) standing() *MirrorView {
	tw.t.Helper()
	var h Health
	a := tw.ask(tw.mirror, asked{method: "GET", path: "/readyz", header: http.Header{}})
	if err := json.Unmarshal(a.body, &h); err != nil || a.status != http.StatusOK || h.Mirror == nil {
		tw.t.Fatalf("/readyz of the mirror: status %d, %v: %s", a.status, err, a.body)
	}
	return h.Mirror
}

func (tw *twins) await(what string, ok func() bool) {
	tw.t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			tw.t.Fatalf("not within %s: %s\n%s", patience, what, tw.mirror.server.stderr)
		}
	}
}

// archive is the size of the origin's archive of a version, once it is made.
func (tw *twins) archive(version string) (size int64) {
	tw.t.Helper()
	tw.await("a dump of "+version, func() bool {
		var list struct{ Data DumpView }
		a := tw.ask(tw.origin, asked{method: "GET", path: "/api/v1/dumps", header: http.Header{}})
		_ = json.Unmarshal(a.body, &list) // a 503 has no files
		for _, f := range list.Data.Files {
			if f.Name == "dataset.tar.zst" {
				size = f.Bytes
			}
		}
		return list.Data.Version == version
	})
	return size
}

// TestMirrorEqualsOrigin: a server that follows another answers with the same bytes, also while and
// after the origin changes; when the connection breaks within the new archive it goes on with what it
// has and says so.
func TestMirrorEqualsOrigin(t *testing.T) {
	t.Parallel()
	tw := newTwins(t)
	n := *mirrorFlag / 5
	tw.compare(2 * n)
	if st := tw.standing(); st.Stale || st.LastSuccess == nil || st.Origin != "http://"+tw.link.Addr() {
		t.Errorf("standing of a mirror in step: %+v", st)
	}

	// While the origin changes, the mirror answers from one of both versions.
	before := tw.version(tw.origin)
	version := tw.edit()
	tw.await("the mirror serves "+version, func() bool {
		q := tw.random()
		q.method = "GET"
		b := tw.ask(tw.mirror, q)
		if v := b.header.Get("Dataset-Version"); b.status >= 500 || v != "" && v != before && v != version {
			t.Errorf("GET %s during the swap: status %d of %q", q.path, b.status, v)
		}
		return tw.version(tw.mirror) == version
	})
	tw.compare(2 * n)

	// The connection breaks within the archive: what was served is served on.
	kept := make([]*answer, n/2)
	for i := range kept {
		q := tw.random()
		kept[i] = tw.ask(tw.origin, q)
	}
	half := tw.archive(version) / 2 // the next archive is about as long, and the mirror may be quick to fetch it
	tw.link.CutAfter(half)
	next := tw.edit()
	tw.await("the mirror is stale", func() bool { return tw.standing().Stale })
	if st := tw.standing(); st.Cause == nil || st.Since == nil || st.LastSuccess == nil || !st.LastSuccess.Before(*st.Since) {
		t.Errorf("standing of a stale mirror: %+v", st)
	}
	for _, a := range kept {
		b := tw.ask(tw.mirror, a.asked)
		tw.same(a, b, "X-RateLimit-Remaining")
		marked := b.header.Get("Age") != "" && strings.HasPrefix(b.header.Get("Dataset-Notice"), `stale; since="20`)
		if marked != (b.header.Get("Dataset-Version") != "") {
			t.Errorf("GET %s of a stale mirror: %v", a.path, b.header)
		}
	}
	tw.link.SetCut(false)
	tw.await("the mirror is in step again", func() bool { return tw.version(tw.mirror) == next && !tw.standing().Stale })
	tw.compare(n - len(kept))
	tw.mirror.stop()
	tw.origin.stop()
}

// TestMirrorEnds: a server that is stopped or killed within a new archive of the one it follows starts again from the copy
// it has, without the origin.
func TestMirrorEnds(t *testing.T) {
	datasettest.NeedLong(t, "a stop and a kill take as long as the rest of mirroring")
	t.Parallel()
	tw := newTwins(t)
	tw.freshKeys()
	first := tw.version(tw.origin)
	half := tw.archive(first) / 2 // the next archive is about as long

	// Told to stop within the archive, which comes no further, it ends at once, and goes on from the
	// complete copy.
	stalled := tw.link.StallAfter(half)
	then := tw.edit()
	select {
	case <-stalled:
	case <-time.After(patience):
		t.Fatalf("the mirror does not fetch %s", then)
	}
	tw.mirror.stop()
	tw.link.SetCut(true)
	tw.mirror.start()
	if v := tw.version(tw.mirror); v != first {
		t.Errorf("stopped within an archive, the mirror serves %s, want %s", v, first)
	}
	tw.link.SetCut(false)
	tw.await("the mirror goes on", func() bool { return tw.version(tw.mirror) == then })

	// Killed within the archive, it starts from the complete copy, while the origin is away.
	tw.link.CutAfter(half)
	tw.edit()
	tw.await("the mirror is stale", func() bool { return tw.standing().Stale })
	if err := tw.mirror.server.signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := tw.mirror.server.wait(); err != nil {
		t.Fatal(err)
	}
	tw.mirror.start()
	if v := tw.version(tw.mirror); v != then {
		t.Errorf("after a kill the mirror serves %s, want %s", v, then)
	}
	tw.await("the mirror is stale", func() bool { return tw.standing().Stale })
	if st := tw.standing(); st.LastSuccess == nil {
		t.Error("the last success is forgotten by a restart")
	}
	tw.mirror.stop()
	tw.origin.stop()
}

// TestFollowNothing: without an origin and without a copy there is nothing to serve.
func TestFollowNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, mustRead(t, "testdata/tiers.json"))
	r := s.run("serve", "--addr=127.0.0.1:0", "--data="+filepath.Join(s.dir, "copy"), "--follow=http://127.0.0.1:1")
	if r.code != 1 || !strings.Contains(r.stderr, "no copy of http://127.0.0.1:1 in ") || !strings.Contains(r.stderr, "none can be made") {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
	if _, err := os.Stat(s.ledger()); err == nil {
		t.Error("a start that failed left a ledger")
	}
	if r := s.run("serve", "--follow=example.org"); r.code != 2 {
		t.Errorf("--follow=example.org: exit code %d: %s", r.code, r.stderr)
	}
}

// TestMirrorSignals: a signal that cuts a mirror's only look short ends the program, and so it does a server that waits for
// its first dataset; a mirror that follows ends with 0. None of them leaves a dataset.
func TestMirrorSignals(t *testing.T) {
	t.Parallel()
	asked, release := make(chan struct{}), make(chan struct{})
	origin := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case asked <- struct{}{}:
		case <-release:
		}
		select {
		case <-r.Context().Done():
		case <-release:
		}
	}))
	t.Cleanup(origin.Close)
	t.Cleanup(func() { close(release) })
	for _, tt := range []struct {
		args []string
		sig  syscall.Signal
		code int
	}{
		{[]string{"mirror", origin.URL, "--once"}, syscall.SIGINT, 130},
		{[]string{"mirror", origin.URL, "--once"}, syscall.SIGTERM, 143},
		{[]string{"serve", "--follow", origin.URL, "--addr=127.0.0.1:0"}, syscall.SIGTERM, 143},
		{[]string{"mirror", origin.URL}, syscall.SIGTERM, 0},
	} {
		dir := t.TempDir()
		p := launch(t, dir, nil, append(slices.Clone(tt.args), "--data=copy")...)
		select {
		case <-asked:
		case <-p.ended:
		}
		if err := p.signal(tt.sig); err != nil {
			t.Fatalf("%v: %v %s", tt.args, err, p.stderr)
		}
		if code, err := p.wait(); err != nil || code != tt.code {
			t.Errorf("%v, %s: exit code %d, %v, want %d: %s", tt.args, tt.sig, code, err, tt.code, p.stderr)
		}
		if _, err := os.Stat(filepath.Join(dir, "copy")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v, %s: left a dataset: %v", tt.args, tt.sig, err)
		}
	}
}
