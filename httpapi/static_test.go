package httpapi

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
		s.mustRun(append([]string{"export", dir, base, "--data=" + mustSmallData(t)}, more...)...)
		return filesBelow(t, dir)
	}
	one := export("one", "--concurrency=1")
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
	same("an export over an export", export("one", "--concurrency=5"))
	if datasettest.Long() {
		same("another directory", export("two"))
	}
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
		if kinds[kind] && rnd.IntN(3) > 0 {
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
	for range 200 {
		a, err := fetch(transport, s.server.addr, asked{method: "GET", path: "/api/v1/dumps"})
		if err != nil {
			s.t.Fatal(err)
		}
		if a.status == http.StatusOK {
			return
		}
		time.Sleep(50 * time.Millisecond)
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
