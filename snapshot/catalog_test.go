package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"modeldex/dataset/datasettest"
)

// catalogFolder holds two good documents, inputs of a build, and whatever is added.
func catalogFolder(t testing.TB, add map[string][]byte) (folder fstest.MapFS, older, newer []byte) {
	t.Helper()
	older, _ = mustBuild(t, smallInputs())
	newer, _ = mustBuild(t, smallInputs(func(in *Inputs) { in.GeneratedAt = july.Add(24 * time.Hour) }))
	folder = fstest.MapFS{
		"snapshot-2026-07-01.json": {Data: older},
		"snapshot-2026-07-02.json": {Data: newer},
		"build.json":               {Data: []byte("{}")},
		"README.md":                {Data: []byte("text")},
		"sources/snapshot-x.json":  {Data: []byte("{}")},
	}
	for name, b := range add {
		folder[name] = &fstest.MapFile{Data: b}
	}
	return folder, older, newer
}

func mustOpen(t testing.TB, folder fs.FS) (*Catalog, []Finding) {
	t.Helper()
	s, findings, err := Open(folder)
	if err != nil {
		t.Fatalf("Open = %v", err)
	}
	return s, findings
}

func TestCatalog(t *testing.T) {
	folder, older, newer := catalogFolder(t, nil)
	s, findings := mustOpen(t, folder)
	if len(findings) > 0 || s.Len() != 2 {
		t.Fatalf("Open: %d documents, findings %v, want 2 and none", s.Len(), findings)
	}
	latest, ok := s.Latest()
	if !ok || !bytes.Equal(latest.Body(), newer) {
		t.Error("Latest is not the newer document")
	}
	published, ok := s.Lookup(mustHash(t, older))
	if !ok || !bytes.Equal(published.Body(), older) {
		t.Error("Lookup of the older hash is not the older document")
	}
	if _, ok := s.Lookup(strings.Repeat("0", 64)); ok {
		t.Error("Lookup of an unknown hash = true")
	}
	list := s.List()
	if list[0].Path != "snapshot-2026-07-02.json" || list[1].Bytes != len(older) || list[0].ModelCount != 5 {
		t.Errorf("List = %+v, want the newer first", list)
	}
}

func TestCatalogIntelligence(t *testing.T) {
	folder, _, newer := catalogFolder(t, nil)
	s, _ := mustOpen(t, folder)
	got, ok := s.Intelligence("alpha-7b-instruct")
	if !ok || *got.Score != 76.5025 || got.Confidence != High || got.Hash != mustHash(t, newer) || len(got.Sources) != 3 {
		t.Errorf("Intelligence = %+v, %v, want 76.5025, high, three sources and the newer hash", got, ok)
	}
	if !(*got.Lower < *got.Score && *got.Score < *got.Upper) || *got.OpenRank != 1 || got.OpenCount != 1 {
		t.Errorf("Intelligence = %+v, want an interval around the score and place 1 of 1", got)
	}
	if got, ok := s.Intelligence("beta"); !ok || got.OpenRank != nil || got.OpenCount != 1 {
		t.Errorf("Intelligence of a model of unknown openness = %+v, %v, want no place", got, ok)
	}
	if _, ok := s.Intelligence("unknown"); ok {
		t.Error("Intelligence of an unknown model = true")
	}
}

// TestCatalogBase: a base model is known and has no score.
func TestCatalogBase(t *testing.T) {
	b, _ := mustBuild(t, smallInputs(func(in *Inputs) { in.Aliases[1].Form = baseForm }))
	s, _ := mustOpen(t, fstest.MapFS{"snapshot-1.json": {Data: b}})
	if got, ok := s.Intelligence("beta"); !ok || got.Score != nil || got.Lower != nil || got.Upper != nil || got.Confidence != Low {
		t.Errorf("Intelligence of a base model = %+v, %v, want null score and interval", got, ok)
	}
}

// TestOpenRanks: equal scores share a place, and what is not open takes none.
func TestOpenRanks(t *testing.T) {
	m := func(key, openness string, score float64) Model {
		return Model{ModelKey: key, Openness: &openness, Composite: Composite{Score: &score}}
	}
	doc := &Document{Models: []Model{m("a", "open", 50), m("b", "open", 70), m("c", "proprietary", 90), m("d", "open", 50), m("e", "open", 10), {ModelKey: "f"}}}
	ranks, count := openRanks(doc)
	want := map[string]int{"a": 2, "b": 1, "d": 2, "e": 4}
	if diff := cmp.Diff(want, ranks); diff != "" || count != 4 {
		t.Errorf("openRanks (-want +got), count %d, want 4:\n%s", count, diff)
	}
}

func TestCatalogRefuses(t *testing.T) {
	good, _ := mustBuild(t, smallInputs())
	folder, _, _ := catalogFolder(t, map[string][]byte{
		"snapshot-cut.json":  good[:100],
		"snapshot-hash.json": bytes.Replace(good, []byte("CC-BY-4.0"), []byte("CC-BY-5.0"), 1),
	})
	s, findings := mustOpen(t, folder)
	if s.Len() != 2 {
		t.Errorf("documents = %d, want the 2 good ones", s.Len())
	}
	refused := map[string]bool{}
	for _, f := range findings {
		refused[f.Path] = true
	}
	if len(refused) != 2 || !refused["snapshot-cut.json"] || !refused["snapshot-hash.json"] {
		t.Errorf("findings = %v, want both bad files by path", findings)
	}
	if !finds(findings, "/"+hashField, "must be the hash") {
		t.Errorf("findings = %v, want the hash", findings)
	}
}

func TestCatalogReload(t *testing.T) {
	folder, older, newer := catalogFolder(t, nil)
	s, _ := mustOpen(t, folder)
	folder["snapshot-2026-07-02.json"] = &fstest.MapFile{Data: newer[:len(newer)/2]}
	half, findings, err := s.Reload(t.Context(), folder)
	if err != nil || len(findings) == 0 {
		t.Fatalf("Reload of a half-written file: findings %v, error %v, want a finding", findings, err)
	}
	if latest, _ := half.Latest(); !bytes.Equal(latest.Body(), newer) {
		t.Error("a half-written file took the last good document away")
	}
	delete(folder, "snapshot-2026-07-02.json")
	gone, findings, err := half.Reload(t.Context(), folder)
	if err != nil || len(findings) > 0 {
		t.Fatalf("Reload = %v, %v", findings, err)
	}
	if latest, _ := gone.Latest(); gone.Len() != 1 || !bytes.Equal(latest.Body(), older) {
		t.Error("a deleted document stayed")
	}
}

// TestCatalogReloadKeeps: unchanged files are the same documents, not verified again.
func TestCatalogReloadKeeps(t *testing.T) {
	folder, _, _ := catalogFolder(t, nil)
	s, _ := mustOpen(t, folder)
	again, _, err := s.Reload(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.documents {
		if s.documents[i] != again.documents[i] {
			t.Errorf("published %d was read anew", i)
		}
	}
}

// TestCatalogReloadEnds: a folder whose context ends after its first document is read no further.
func TestCatalogReloadEnds(t *testing.T) {
	folder, _, _ := catalogFolder(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	opened := map[string]bool{}
	ending := openFunc(func(name string) (fs.File, error) {
		if strings.HasSuffix(name, ".json") {
			opened[name] = true
			cancel()
		}
		return folder.Open(name)
	})
	if c, _, err := (*Catalog)(nil).Reload(ctx, ending); c != nil || !errors.Is(err, context.Canceled) || len(opened) != 1 {
		t.Errorf("Reload = %v, %v after %d documents, want no catalog and the error of the context after 1", c, err, len(opened))
	}
}

// openFunc is a folder as its method Open.
type openFunc func(name string) (fs.File, error)

func (f openFunc) Open(name string) (fs.File, error) { return f(name) }

func TestCatalogSameDocumentTwice(t *testing.T) {
	good, _ := mustBuild(t, smallInputs())
	folder, _, _ := catalogFolder(t, map[string][]byte{"snapshot-copy.json": good})
	s, findings := mustOpen(t, folder)
	if s.Len() != 2 || len(findings) > 0 {
		t.Errorf("documents %d, findings %v, want 2 and none", s.Len(), findings)
	}
}

func TestCatalogEmpty(t *testing.T) {
	s, findings := mustOpen(t, fstest.MapFS{"build.json": {Data: []byte("{}")}})
	if _, ok := s.Latest(); ok || s.Len() != 0 || len(findings) > 0 || len(s.List()) != 0 {
		t.Error("an empty folder is not an empty catalog")
	}
	if _, ok := s.Intelligence("x"); ok {
		t.Error("an empty catalog knows a model")
	}
}

func TestCatalogNoFolder(t *testing.T) {
	if _, _, err := Open(os.DirFS(t.TempDir() + "/none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open = %v, want fs.ErrNotExist", err)
	}
}

// TestCatalogReaders runs readers while catalogs are made, for the race detector.
func TestCatalogReaders(t *testing.T) {
	folder, _, _ := catalogFolder(t, nil)
	s, _ := mustOpen(t, folder)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				published, _ := s.Latest()
				if len(published.Body()) != s.List()[0].Bytes {
					t.Error("List and Body disagree")
				}
			}
		})
	}
	for range 5 {
		if _, _, err := s.Reload(t.Context(), folder); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
}

// TestCatalogBounds: a file is read up to a bound, and only if it is a regular file.
func TestCatalogBounds(t *testing.T) {
	folder, _, _ := catalogFolder(t, nil)
	folder["snapshot-long.json"] = &fstest.MapFile{Data: make([]byte, maxDocumentBytes+1)}
	folder["snapshot-pipe.json"] = &fstest.MapFile{Mode: fs.ModeNamedPipe}
	s, findings := mustOpen(t, folder)
	if s.Len() != 2 || len(findings) != 2 || !strings.Contains(findings[0].String(), "at most") || !strings.Contains(findings[1].String(), "regular file") {
		t.Errorf("%d documents, findings %v; want the 2 good ones, and a finding for each other file", s.Len(), findings)
	}
	if diff := cmp.Diff(findings, s.Rejected()); diff != "" {
		t.Errorf("Rejected (-findings +rejected):\n%s", diff)
	}
}

// TestPassed checks in full every document that is not checked again when it is loaded. A shipped one need not be
// listed. With -update it lists all that pass. The short form checks the newest.
func TestPassed(t *testing.T) {
	names, err := filepath.Glob("../data/snapshots/" + Pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("no shipped documents: %v", err)
	}
	var shipped, passing strings.Builder
	for i, name := range names {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("%x  %s\n", sha256.Sum256(body), filepath.Base(name))
		if i < len(names)-1 && !datasettest.Long() && !*update {
			if strings.Contains(passed, line) {
				shipped.WriteString(line)
			}
			continue
		}
		checked := check(body)
		if len(checked.all()) == 0 {
			passing.WriteString(line)
		}
		if !strings.Contains(passed, line) {
			t.Logf("%s is checked at each start: run this test with -update to spare that", name)
			continue
		}
		shipped.WriteString(line)
		if found := checked.all(); len(found) > 0 {
			t.Errorf("%s is in passed.txt and does not pass: %v", name, found)
		}
		if got := checkPublished(body, sha256.Sum256(body)); !reflect.DeepEqual(got, checked) {
			t.Errorf("%s differs where it is not checked again", name)
		}
		body[len(body)/2] ^= 1
		if got, want := checkPublished(body, sha256.Sum256(body)), check(body); len(want.all()) == 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s with one other bit: findings %v, want %v and at least one", name, got.all(), want.all())
		}
	}
	if *update {
		if err := os.WriteFile("passed.txt", []byte(passing.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(shipped.String(), passed); diff != "" {
		t.Errorf("passed.txt lists other documents than shipped ones (-shipped +listed):\n%s", diff)
	}
}
