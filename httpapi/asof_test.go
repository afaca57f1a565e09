package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"modeldex/dataset"
	"modeldex/httpapi/changes"
	"modeldex/httpapi/rows"
	"modeldex/index"
)

// pastAddresses are asked of every generation.
var pastAddresses = []string{
	"/api/v1/models?limit=3", "/api/v1/hardware?sort=-vram_gb&fields=name,vram_gb", "/api/v1/tools", "/api/v1/benchmarks?limit=5&sort=-generation_tps",
	"/api/v1/models?fits=nvidia-rtx-4090", "/api/v1/hardware?q=4090&format=csv", "/api/v1/benchmarks?format=parquet&limit=4", "/api/v1/benchmarks?limit=all&format=ndjson",
	"/api/v1/models/llama-3.1-8b-instruct", "/api/v1/hardware/nvidia-rtx-4090", "/api/v1/hardware/nvidia-rtx-4090?format=csv",
	"/api/v1/benchmarks/stats?group_by=hardware&settings=all", "/api/v1/hardware/facets?fields=vendor,vram_gb",
}

// TestNearestKept: a version beyond the newest is led to the newest that is kept, and every other to the oldest.
func TestNearestKept(t *testing.T) {
	newest := &index.Generation{Info: dataset.Info{Version: "2026.11.22"}, Digest: dataset.Digest{2}}
	oldest := &index.Generation{Info: dataset.Info{Version: "2026.9.30"}, Digest: dataset.Digest{1}}
	for ref, want := range map[string]string{"2026.11.23": "020000000000", "2027.1": "020000000000", "2026.10.1": "010000000000", "2026.9.2": "010000000000", "abcdefabcdef": "010000000000"} {
		f := keptFailure([]*index.Generation{newest, oldest}, ref)
		if got := f.faults[0]; got.Suggestion != want || len(got.Allowed) != 2 || !strings.Contains(f.detail, want) {
			t.Errorf("as_of=%s: %+v, %s; want %s", ref, got, f.detail, want)
		}
	}
}

// state is what a server answered while it served one generation.
type state struct {
	version, digest string
	answers         map[string]*answer
}

// pasts is a server whose dataset is edited, and what it answered at each state.
type pasts struct {
	t      *testing.T
	s      *service
	live   *index.Live
	rnd    *rand.Rand
	dir    string
	last   *dataset.Set
	states []*state
	keep   int
}

func newPasts(t *testing.T, keep int) *pasts {
	t.Helper()
	p := &pasts{t: t, live: &index.Live{}, rnd: rand.New(rand.NewPCG(seedOf(t), 0)), dir: filepath.Join(t.TempDir(), "data"), keep: keep}
	if err := os.CopyFS(p.dir, os.DirFS(mustSmallData(t))); err != nil {
		t.Fatal(err)
	}
	p.live.Keep(keep)
	p.load()
	p.s = newService(t, p.live)
	p.s.pay(t)
	p.note()
	return p
}

// load makes a generation of the files and serves it.
func (p *pasts) load() {
	p.t.Helper()
	set, err := dataset.Load(context.Background(), dataset.Dir(p.dir), dataset.Options{Last: p.last})
	if err != nil {
		p.t.Fatal(err)
	}
	gen, err := index.Build(context.Background(), set, rows.Renderers)
	if err != nil {
		p.t.Fatal(err)
	}
	p.live.Publish(gen)
	p.last = set
}

// note keeps what is answered now.
func (p *pasts) note() {
	p.t.Helper()
	gen := p.live.Current()
	st := &state{version: gen.Info.Version, digest: gen.Digest.String(), answers: map[string]*answer{}}
	for _, address := range pastAddresses {
		st.answers[address] = p.s.ask(p.t, "GET", address)
	}
	p.states = append(p.states, st)
}

// edit changes a record, now and then back to a state of before, and often leaves the version as it is.
func (p *pasts) edit() {
	p.t.Helper()
	replace := func(name, field, value string) {
		file := filepath.Join(p.dir, name)
		b, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, regexp.MustCompile(`"`+field+`": [^,\n]*`).ReplaceAll(b, fmt.Appendf(nil, "%q: %s", field, value)), 0o600)
		}
		if err != nil {
			p.t.Fatal(err)
		}
	}
	replace("hardware/nvidia-rtx-4090.json", "tdp_watts", fmt.Sprint(400+p.rnd.IntN(6)))
	replace("models/llama-3.1-8b-instruct.json", "name", fmt.Sprintf(`"Llama %d"`, p.rnd.IntN(4)))
	if p.rnd.IntN(2) == 0 {
		replace("dataset.json", "version", fmt.Sprintf(`"2026.6.%d"`, 1+p.rnd.IntN(12)))
	}
}

// kept is the newest state of those that are kept under a name; nil for none. Of the same content only
// the newest load counts.
func (p *pasts) kept(named func(*state) bool) *state {
	seen := map[string]bool{}
	for i := len(p.states) - 1; i >= 0 && len(seen) <= p.keep; i-- {
		st := p.states[i]
		if !seen[st.digest] && named(st) {
			return st
		}
		seen[st.digest] = true
	}
	return nil
}

func asOf(address, ref string) string {
	if strings.Contains(address, "?") {
		return address + "&as_of=" + ref
	}
	return address + "?as_of=" + ref
}

// withoutLinks is a body without its addresses, which name the dataset.
func withoutLinks(body []byte) string {
	var list struct{ Data, Meta json.RawMessage }
	if json.Unmarshal(body, &list) != nil {
		return string(body) // a file
	}
	return string(list.Data) + string(list.Meta)
}

// compare asks for a state by one of its names, and says how the answer differs.
func (p *pasts) compare(want *state, address, ref string) error {
	got := p.s.ask(p.t, "GET", asOf(address, ref))
	was := want.answers[address]
	switch {
	case got.status != http.StatusOK:
		return fmt.Errorf("GET %s: status %d: %s", got.path, got.status, got.body)
	case withoutLinks(got.body) != withoutLinks(was.body):
		return fmt.Errorf("GET %s:\n%s\nwas\n%s", got.path, got.body, was.body)
	case got.header.Get("Dataset-Digest") != want.digest || got.header.Get("Dataset-Version") != want.version:
		return fmt.Errorf("GET %s: dataset %s, want %s", got.path, got.header.Get("Dataset-Digest"), want.digest)
	}
	tag := got.header.Get("ETag")
	if again := p.s.ask(p.t, "GET", got.path, "If-None-Match", tag); again.status != http.StatusNotModified {
		return fmt.Errorf("GET %s with its ETag: status %d", got.path, again.status)
	}
	if link := got.header.Get("Link"); link != "" && !strings.Contains(link, "as_of="+want.digest[:changes.ShortDigest]) {
		return fmt.Errorf("GET %s: Link %s", got.path, link)
	}
	return nil
}

// TestAsOf: after any number of swaps, what is kept is answered as it was served then, by version and
// digest, and what is not kept is 410 with the nearest that is.
func TestAsOf(t *testing.T) {
	t.Parallel()
	p := newPasts(t, 3)
	answered, gone := 0, 0
	for range 12 {
		p.edit()
		p.load()
		p.note()
		for range 12 {
			st, address := pick(p.rnd, p.states), pick(p.rnd, pastAddresses)
			ref := pick(p.rnd, []string{st.version, st.digest, st.digest[:changes.ShortDigest]})
			want := p.kept(func(s *state) bool { return s.version == ref || strings.HasPrefix(s.digest, ref) })
			if want != nil {
				if err := p.compare(want, address, ref); err != nil {
					t.Fatal(err)
				}
				answered++
				continue
			}
			gone++
			got := p.s.ask(t, "GET", asOf(address, ref))
			reportComplaints(t, got)
			var problem Problem
			if err := json.Unmarshal(got.body, &problem); err != nil || got.status != http.StatusGone || problem.Code != "version_gone" || len(problem.Errors) != 1 {
				t.Fatalf("GET %s: status %d: %s", got.path, got.status, got.body)
			}
			if near := problem.Errors[0].Suggestion; p.kept(func(s *state) bool { return strings.HasPrefix(s.digest, near) }) == nil || len(near) != changes.ShortDigest {
				t.Fatalf("GET %s: the nearest is %q, which is not kept", got.path, near)
			}
		}
	}
	if answered == 0 || gone == 0 {
		t.Errorf("%d answers of kept datasets, %d of others: the test shows nothing", answered, gone)
	}
	// A walk that began before a swap stays in its generation.
	st := p.states[len(p.states)-1]
	want := p.s.walk(t, "/api/v1/benchmarks?limit=2").names
	path := asOf("/api/v1/benchmarks?limit=2", st.version)
	first := p.s.list(t, path)
	p.edit()
	p.load()
	p.note()
	rest := p.s.walk2(t, *first.Links.Next)
	if got := len(first.Data) + len(rest); got != len(want) {
		t.Errorf("a walk across a swap has %d records, want %d", got, len(want))
	}
	if a := p.s.ask(t, "GET", strings.Replace(*first.Links.Next, "as_of=", "q=a&as_of=", 1)); a.code() != "cursor_mismatch" {
		t.Errorf("the cursor with another query: %d %s", a.status, a.code())
	}
	if a := p.s.ask(t, "GET", regexp.MustCompile(`as_of=[0-9a-f]+&`).ReplaceAllString(*first.Links.Next, "")); a.code() != "cursor_mismatch" {
		t.Errorf("the cursor without as_of: %d %s", a.status, a.code())
	}
	for _, bad := range []string{"as_of=", "as_of=a%20b", "as_of=" + st.digest + "&as_of=" + st.digest} {
		if a := p.s.ask(t, "GET", "/api/v1/tools?"+bad); a.status != http.StatusBadRequest {
			t.Errorf("?%s: status %d", bad, a.status)
		}
	}
	for _, address := range []string{"/api/v1/changes", "/explore/models", "/api/v1/fit?model=a&hardware=b"} {
		if a := p.s.ask(t, "GET", asOf(address, st.digest)); a.code() != "unknown_parameter" && a.status != http.StatusBadRequest {
			t.Errorf("GET %s: status %d", a.path, a.status)
		}
	}
	if a := p.s.ask(t, "GET", asOf("/api/v1/hardware/RTX%204090", st.digest)); a.header.Get("Location") != "/api/v1/hardware/nvidia-rtx-4090?as_of="+st.digest {
		t.Errorf("an alias with as_of: %d %q", a.status, a.header.Get("Location"))
	}
}

// walk2 follows links.next from a page to the end.
func (s *service) walk2(t *testing.T, path string) (records []json.RawMessage) {
	t.Helper()
	for {
		l := s.list(t, path)
		records = append(records, l.Data...)
		if l.Links.Next == nil {
			return records
		}
		path = *l.Links.Next
	}
}

// TestAsOfWhileSwapping reads the past while generations are published, each from one generation.
func TestAsOfWhileSwapping(t *testing.T) {
	t.Parallel()
	p := newPasts(t, 2)
	for range 4 {
		p.edit()
		p.load()
		p.note()
	}
	known := map[string]*state{} // by digest
	for _, st := range p.states {
		known[st.digest] = st
	}
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for i := range 3 {
		readers.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(i), 1))
			for {
				select {
				case <-stop:
					return
				default:
				}
				st, address := pick(rnd, p.states[:5]), pick(rnd, pastAddresses)
				a := p.s.ask(t, "GET", asOf(address, st.digest))
				was := known[st.digest].answers[address]
				if a.status != http.StatusGone && (a.status != http.StatusOK || !bytes.Equal([]byte(withoutLinks(a.body)), []byte(withoutLinks(was.body)))) {
					t.Errorf("GET %s: status %d\n%.300s\nwas\n%.300s", a.path, a.status, a.body, was.body)
					return
				}
			}
		})
	}
	for range 25 {
		p.edit()
		p.load()
	}
	close(stop)
	readers.Wait()
}

func TestLaterVersion(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"2026.11.22", "2026.9.30", true},
		{"2026.9.30", "2026.11.22", false},
		{"2026.11.22", "2026.11.22", false},
		{"2026.11.22.4", "2026.11.22", true},
		{"2026.11.22", "2026.11.22.4", false},
		{"2026.011.22", "2026.11.21", true},
		{"2026.11.b", "2026.11.a", false},
		{"2027-beta", "2026.11", false},
	} {
		if got := laterVersion(tt.a, tt.b); got != tt.want {
			t.Errorf("laterVersion(%s, %s) = %t, want %t", tt.a, tt.b, got, tt.want)
		}
	}
}
