package httpapi

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"modeldex/dataset/datasettest"
)

// filesBelow reads a directory: files by name.
func filesBelow(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		out[filepath.ToSlash(rel)], err = os.ReadFile(name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestExport: two exports of a dataset are the same bytes, however many responses are made at a time,
// and a server answers every address with the bytes of its file, in each coding.
func TestExport(t *testing.T) {
	t.Parallel()
	s := newSite(t, mustRead(t, "testdata/tiers.json"))
	base := "--base-url=https://models.example.org"
	export := func(dir string, more ...string) map[string][]byte {
		t.Helper()
		dir = filepath.Join(s.dir, dir)
		ran := s.mustRun(append([]string{"export", dir, base, "--data=" + mustSmallData(t)}, more...)...)
		files := filesBelow(t, dir)
		if slices.Contains(more, "--progress") {
			checkProgress(t, ran.stderr, len(files)-2) // less the list and the summary
		} else if ran.stderr != "" {
			t.Errorf("standard error, which is not a terminal, has %q", ran.stderr)
		}
		return files
	}
	one := export("one", "--concurrency=1", "--pictures=all")
	same := func(what string, again map[string][]byte) {
		t.Helper()
		for _, name := range slices.Sorted(maps.Keys(one)) {
			if !bytes.Equal(one[name], again[name]) {
				t.Errorf("%s differs in %s", name, what)
			}
		}
		if len(one) != len(again) {
			t.Errorf("%d files, and %d in %s", len(one), len(again), what)
		}
	}
	if datasettest.Long() {
		same("an export over an export", export("one", "--concurrency=5", "--pictures=all"))
		same("another directory", export("two", "--pictures=all"))
	}
	// Over the other one, of which nothing may be left.
	checkLess(t, one, export("one", "--concurrency=5", "--pictures=tools", "--compressed=none", "--progress"))
	if left, _ := filepath.Glob(filepath.Join(s.dir, ".*export*")); left != nil {
		t.Errorf("left behind: %q", left)
	}

	var sum struct {
		Files      int `json:"files"`
		Compressed int `json:"compressed_files"`
	}
	if err := json.Unmarshal(one["export.json"], &sum); err != nil || sum.Files+sum.Compressed+2 != len(one) {
		t.Errorf("export.json counts %+v, there are %d files: %v", sum, len(one), err)
	}
	s.flags = []string{base, "--dumps=open"}
	s.start()
	secret, _ := s.issue("export", "bulk")
	s.compareFiles(one, secret)
	s.stop()
}

// checkLess compares a complete export with one that has pictures of tools alone and no compressed forms:
// it has the same bodies otherwise, and no page names a picture that is not there.
func checkLess(t *testing.T, whole, less map[string][]byte) {
	t.Helper()
	compressed, pictures := 0, map[string]int{}
	for name, body := range whole {
		kind, _, _ := strings.Cut(name, "/")
		switch path.Ext(name) {
		case ".gz", ".br":
			compressed++
			continue
		case ".zst":
			if _, plain := whole[strings.TrimSuffix(name, ".zst")]; plain {
				compressed++
				continue
			}
		case ".png":
			if pictures[kind]++; kind != "tools" {
				continue
			}
		}
		got, ok := less[name]
		switch {
		case !ok:
			t.Errorf("%s is not there without pictures and compressed forms", name)
		case name == "export.json" || name == "files.ndjson" || kind == "sitemaps":
		case bytes.Contains(body, []byte("og:image")) && kind != "tools":
			if bytes.Contains(got, []byte("og:image")) {
				t.Errorf("%s names a picture that is not there", name)
			}
		case !bytes.Equal(got, body):
			t.Errorf("%s differs without pictures and compressed forms", name)
		}
	}
	left := len(whole) - compressed
	for kind, n := range pictures {
		if kind != "tools" {
			left -= n
		}
	}
	if len(pictures) != 4 || pictures["benchmarks"] < 10 || len(less) != left {
		t.Errorf("%d files, want %d; pictures of a complete export: %v", len(less), left, pictures)
	}
}

var progressLine = regexp.MustCompile(`^export: (\d+) of (\d+) addresses \((\d+)%\) after \d+s: (\d+) files of \d+\.\d MB$`)

// checkProgress: the lines count up, and the last one has all files.
func checkProgress(t *testing.T, stderr string, files int) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
	if len(lines) < 3 || lines[0] != "export: making the dump" || !strings.HasSuffix(strings.Split(lines[1], " after ")[0], " addresses to write") {
		t.Fatalf("progress:\n%s", stderr)
	}
	last := 0
	for i, line := range lines[2:] {
		m := progressLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("progress %q", line)
		}
		n, _ := strconv.Atoi(m[1])
		if n <= last || i == len(lines)-3 && (m[1] != m[2] || m[3] != "100" || m[4] != strconv.Itoa(files)) {
			t.Errorf("after %d addresses of %d files: %q", last, files, line)
		}
		last = n
	}
}

// TestExportEnds: a signal leaves the export that was there before, and nothing beside it; a kill
// leaves that, too, and the next export removes what it left. A second export to a directory waits for
// no first one. The short form sends one signal to a start and the other to one that makes its dump.
func TestExportEnds(t *testing.T) {
	t.Parallel()
	dir, temporary := t.TempDir(), t.TempDir()
	site := filepath.Join(dir, "site")
	least := filepath.Join(t.TempDir(), "data") // what is exported to its end
	datasettest.WriteBase(t, least)
	args := []string{"export", site, "--data=" + mustSmallData(t)}
	quick := []string{"export", site, "--data=" + least, "--pictures=none", "--compressed=none"}
	env := []string{"TMPDIR=" + temporary}
	whole := func() map[string][]byte {
		t.Helper()
		if _, stderr, code := runProgram(t, dir, env, quick...); code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		return filesBelow(t, site)
	}
	// begun starts an export of something else and returns once it writes. With all pictures and compressed
	// forms it goes on for seconds, so that it has not ended when the signal comes.
	begun := func() *process {
		t.Helper()
		p := launch(t, dir, env, append(slices.Clone(args), "--pictures=all", "--base-url=https://elsewhere.example.org")...)
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
			if at, _ := filepath.Glob(filepath.Join(dir, ".site.export-*", "files", "files.ndjson")); at != nil {
				return p
			}
		}
		t.Fatalf("the export does not begin: %s", p.stderr)
		return nil
	}
	ended := func(p *process, sig os.Signal) int {
		t.Helper()
		if err := p.signal(sig); err != nil {
			t.Fatal(err)
		}
		code, err := p.wait()
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	check := func(what string, want map[string][]byte, left int) {
		t.Helper()
		if got := filesBelow(t, site); !maps.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("%s: the directory is not as it was: %d files, %d before", what, len(got), len(want))
		}
		beside, _ := filepath.Glob(filepath.Join(dir, ".*"))
		if others, _ := filepath.Glob(filepath.Join(temporary, "*")); len(beside) != left || len(others) != 0 {
			t.Errorf("%s: left behind: %q %q", what, beside, others)
		}
	}
	nothingLeft := func(what string) {
		t.Helper()
		here, err := os.ReadDir(dir)
		there, err2 := os.ReadDir(temporary)
		if err != nil || err2 != nil || len(here)+len(there) > 0 {
			t.Errorf("%s before there is an export: left behind: %v %v, %v %v", what, here, there, err, err2)
		}
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		// At any moment of the start, and while the dump is made.
		for _, dumping := range []bool{false, true} {
			if dumping != (sig == syscall.SIGTERM) && !datasettest.Long() {
				continue
			}
			p := launch(t, dir, env, append(slices.Clone(args), "--progress")...)
			if dumping {
				if err := p.stderr.await(p.ended, func(text string) bool { return strings.Contains(text, "making the dump") }); err != nil {
					t.Fatal(err)
				}
			}
			if code := ended(p, sig); code != 128+int(sig) {
				t.Errorf("%s: exit code %d: %s", sig, code, p.stderr)
			}
			nothingLeft(sig.String())
		}
	}
	first := begun()
	if code := ended(first, syscall.SIGINT); code != 130 || !strings.Contains(first.stderr.String(), "ended by a signal") {
		t.Errorf("SIGINT: exit code %d: %s", code, first.stderr)
	}
	nothingLeft("SIGINT")

	before := whole()
	p := begun()
	if code := ended(p, syscall.SIGTERM); code != 143 || !strings.Contains(p.stderr.String(), site+" is as it was before") {
		t.Errorf("SIGTERM: exit code %d: %s", code, p.stderr)
	}
	check("SIGTERM", before, 0)

	p = begun()
	if err := p.signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := runProgram(t, dir, env, quick...); code != 1 || !strings.Contains(stderr, "another export to it is under way") {
		t.Errorf("a second export: exit code %d: %s", code, stderr)
	}
	ended(p, syscall.SIGKILL)
	check("SIGKILL", before, 1)
	check("an export after a kill", whole(), 0)
}

// compareFiles asks the server for the addresses of an export: one of each kind of file, and some more.
func (s *site) compareFiles(files map[string][]byte, secret string) {
	t := s.t
	t.Helper()
	rnd, transport := rand.New(rand.NewPCG(seedOf(t), 0)), newTransport(t)
	kinds, compared, listed := map[string]bool{}, 0, 0
	for line := range bytes.Lines(files["files.ndjson"]) {
		var e struct {
			File, Address string
			MediaType     string `json:"media_type"`
			Compressed    []string
		}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		listed++
		kind := filepath.Dir(e.File) + filepath.Ext(e.File)
		if kinds[kind] && rnd.IntN(datasettest.Rounds(12, 3)) > 0 {
			continue
		}
		kinds[kind] = true
		if strings.HasPrefix(e.Address, "/api/v1/dumps") {
			s.awaitDumps(transport)
		}
		forms := map[string]string{"identity": ""}
		for _, ending := range e.Compressed {
			forms[map[string]string{".gz": "gzip", ".br": "br", ".zst": "zstd"}[ending]] = ending
		}
		for coding, ending := range forms {
			a, err := fetch(transport, s.server.addr, asked{method: "GET", path: e.Address, header: http.Header{
				"Accept-Encoding": {coding}, "Authorization": {"Bearer " + secret},
			}})
			if err != nil {
				t.Fatal(err)
			}
			compared++
			if a.status != 200 || !bytes.Equal(a.raw, files[e.File+ending]) || a.header.Get("Content-Type") != e.MediaType {
				t.Errorf("GET %s (%s): status %d, %s, %d bytes; %s is %s of %d bytes", e.Address, coding, a.status, a.header.Get("Content-Type"), len(a.raw), e.File+ending, e.MediaType, len(files[e.File+ending]))
			}
			if len(forms) == 1 && a.header.Get("Content-Encoding") != "" {
				t.Errorf("GET %s is compressed by the server, its file has no compressed forms", e.Address)
			}
		}
	}
	t.Logf("%d of %d files compared, in %d forms", compared, listed, len(kinds))
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

// TestExportElsewhere: a directory with other files is not touched.
func TestExportElsewhere(t *testing.T) {
	t.Parallel()
	s := newSite(t, mustRead(t, "testdata/tiers.json"))
	dir := filepath.Join(s.dir, "site")
	if err := writeFile(filepath.Join(dir, "mine.txt"), []byte("mine")); err != nil {
		t.Fatal(err)
	}
	r := s.run("export", dir, "--data="+mustSmallData(t))
	if r.code != 1 || !strings.Contains(r.stderr, "has files and is not an export") || len(filesBelow(t, dir)) != 1 {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
}
