package importer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gowebpki/jcs"

	"modeldex/dataset/datasettest"
	"modeldex/snapshot"
)

func TestMain(m *testing.M) { datasettest.Main(m) }

// shipped is the folder of published documents and their inputs.
const shipped = "../../data/snapshots"

// published is the newest document, read once for all tests: they only look at it.
type published struct {
	catalog *snapshot.Catalog
	path    string
	body    []byte
	doc     *snapshot.Document
	at      time.Time // generated_at
}

var readNewest = sync.OnceValues(func() (published, error) {
	catalog, findings, err := snapshot.Open(os.DirFS(shipped))
	if err != nil || len(findings) > 0 {
		return published{}, fmt.Errorf("Open(%s) = %w, findings %v", shipped, err, findings)
	}
	latest, ok := catalog.Latest()
	if !ok {
		return published{}, errors.New(shipped + ": no published document")
	}
	body := latest.Body() // Open has checked it
	doc := &snapshot.Document{}
	if err := json.Unmarshal(body, doc); err != nil {
		return published{}, fmt.Errorf("%s: %w", latest.Path, err)
	}
	return published{catalog, filepath.Join(shipped, latest.Path), body, doc, latest.GeneratedAt}, nil
})

func newest(t testing.TB) published {
	t.Helper()
	p, err := readNewest()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestShippedCovers: the document holds what was promised.
func TestShippedCovers(t *testing.T) {
	doc := newest(t).doc
	scored, composed := 0, 0
	for _, m := range doc.Models {
		if len(m.SourceIDs) >= 2 {
			scored++
		}
		if len(m.Composite.Components) >= 2 {
			composed++
		}
	}
	if scored < 150 || composed < 150 {
		t.Errorf("models with two or more sources: %d by scores, %d by components, want 150", scored, composed)
	}
	if len(doc.Sources) != 3 {
		t.Errorf("sources = %d, want 3", len(doc.Sources))
	}
}

// TestShippedReproduces: the folder gives the newest document, byte for byte, whatever the
// order of its rows and aliases, and the alias table knows every name.
func TestShippedReproduces(t *testing.T) {
	p := newest(t)
	in, err := Load(os.DirFS(shipped), Options{GeneratedAt: p.at})
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 4))
	for _, c := range in.Captures {
		rnd.Shuffle(len(c.Rows), func(i, j int) { c.Rows[i], c.Rows[j] = c.Rows[j], c.Rows[i] })
	}
	rnd.Shuffle(len(in.Aliases), func(i, j int) { in.Aliases[i], in.Aliases[j] = in.Aliases[j], in.Aliases[i] })
	got, rep, err := snapshot.Build(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, p.body) {
		t.Errorf("%s is %s, its folder builds %s: inputs of a published document were changed", p.path, p.doc.OutputHash, rep.Hash)
	}
	if len(rep.Unmatched)+len(rep.ByRule)+len(rep.Dropped) > 0 {
		t.Errorf("names the alias table lacks: %v %v %v", rep.Unmatched, rep.ByRule, rep.Dropped)
	}
	if len(rep.InDirectory) < 100 {
		t.Errorf("slugs of the directory = %d, want 100 and more", len(rep.InDirectory))
	}
}

// TestShippedValuesAreTheSources: every published number stands in the captured rows as it is.
func TestShippedValuesAreTheSources(t *testing.T) {
	doc := newest(t).doc
	in, err := Load(os.DirFS(shipped), Options{})
	if err != nil {
		t.Fatal(err)
	}
	type cell struct {
		source                        snapshot.SourceID
		split, metric, category, task string
		value                         float64
	}
	captured := map[cell]bool{}
	for id, c := range in.Captures {
		for _, r := range c.Rows {
			if r.Value != nil {
				captured[cell{id, r.Split, r.Metric, orEmpty(r.Category), orEmpty(r.Task), *r.Value}] = true
			}
		}
	}
	for _, m := range doc.Models {
		for _, s := range m.Scores {
			if !captured[cell{s.SourceID, s.SourceSplit, s.Metric, orEmpty(s.Category), orEmpty(s.Task), s.Value}] {
				t.Fatalf("%s: %s %s %v stands in no captured row", m.ModelKey, s.SourceID, s.Metric, s.Value)
			}
		}
	}
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// TestShippedIsSensible holds the document to what readers found absurd in the first one, which
// averaged whatever there was on three scales.
func TestShippedIsSensible(t *testing.T) {
	catalog := newest(t).catalog
	get := func(key string) snapshot.Intelligence {
		t.Helper()
		in, ok := catalog.Intelligence(key)
		if !ok {
			t.Fatalf("no model %q", key)
		}
		return in
	}
	for _, pair := range [][2]string{ // the first must be above the second
		{"gpt-5-2025-08-07-high", "tower-plus-72b"},
		{"glm-5.2", "ministral-3-14b-reasoning-2512"},
		{"deepseek-v4-pro", "ministral-3-14b-reasoning-2512"},
		{"kimi-k2.6-thinking", "tower-plus-72b"},
		{"gpt-oss-120b", "gpt-oss-20b"},
		{"deepseek-v3.2", "deepseek-v3"},
		{"gpt-5.5-xhigh", "o3-2025-04-16-high"},
	} {
		above, below := get(pair[0]), get(pair[1])
		if !(*above.Score > *below.Score) {
			t.Errorf("%s has %v, %s has %v, want it above", pair[0], *above.Score, pair[1], *below.Score)
		}
	}
	for _, pair := range [][2]string{ // or the second must say how little is known of it
		{"gpt-oss-120b", "qwen3-4b-thinking-2507"},
		{"gpt-oss-120b", "aya-23-35b"},
		{"llama-3.3-70b-instruct", "aya-23-35b"},
	} {
		above, below := get(pair[0]), get(pair[1])
		if *above.Score < *below.Score && (*below.Lower >= *above.Lower || below.Confidence != snapshot.Low) {
			t.Errorf("%s has %v, %s has %v from %v with %s confidence, want it above or in a wide interval",
				pair[0], *above.Score, pair[1], *below.Score, *below.Lower, below.Confidence)
		}
	}
	// a base model never beats its own instruct form by more than the interval
	doc := newest(t).doc
	pairs := 0
	for _, m := range doc.Models {
		for _, instruct := range instructForms(m.ModelKey) {
			in, ok := catalog.Intelligence(instruct)
			if !ok {
				continue
			}
			pairs++
			if base := get(m.ModelKey); base.Score != nil && in.Score != nil && *base.Score > *in.Upper {
				t.Errorf("%s has %v, above %s with %v to %v", m.ModelKey, *base.Score, instruct, *in.Lower, *in.Upper)
			}
		}
	}
	if pairs < 30 {
		t.Errorf("pairs of base and instruct forms = %d, want 30 and more", pairs)
	}
	checkSingleSources(t, catalog, doc)
}

// instructForms are the names that makers give the instruction-tuned form of a model.
func instructForms(key string) []string {
	bare := strings.TrimSuffix(strings.TrimSuffix(strings.Replace(key, "-base", "", 1), "-pt"), "-hf")
	return []string{bare + "-instruct", bare + "-it", bare + "-chat", bare + "-instruct-fp8"}
}

// checkSingleSources: a score of one source is above every score of three sources only where its
// interval is the wider one, and never in the source that measures language understanding alone.
func checkSingleSources(t *testing.T, catalog *snapshot.Catalog, doc *snapshot.Document) {
	t.Helper()
	var best snapshot.Intelligence
	for _, m := range doc.Models {
		if in, _ := catalog.Intelligence(m.ModelKey); len(in.Sources) == 3 && (best.Score == nil || *in.Score > *best.Score) {
			best = in
		}
	}
	for _, m := range doc.Models {
		in, _ := catalog.Intelligence(m.ModelKey)
		if len(in.Sources) != 1 || *in.Score <= *best.Score {
			continue
		}
		if in.Sources[0] == snapshot.SourceC || *in.Upper-*in.Lower <= *best.Upper-*best.Lower || in.Confidence == snapshot.High {
			t.Errorf("%s has %v [%v, %v] from %v alone with %s confidence; the best of three sources is %v [%v, %v]",
				m.ModelKey, *in.Score, *in.Lower, *in.Upper, in.Sources[0], in.Confidence, *best.Score, *best.Lower, *best.Upper)
		}
	}
}

// TestShippedFirstStays: the document of the first rules is still published at its hash, without
// intervals.
func TestShippedFirstStays(t *testing.T) {
	first, ok := newest(t).catalog.Lookup("e554ef47a88489cb45247f1b84ec7a2a6e5c7c68165ecbc4e0336677e43ba33d")
	if !ok || first.Path != "snapshot-2026-07-01.json" {
		t.Errorf("Lookup of the first document = %v, %v", first, ok)
	}
}

// TestShippedPredicts: held-out sources are predicted better than the goals of the common scale,
// the intervals cover what they claim, and the limitations state what was found.
func TestShippedPredicts(t *testing.T) {
	if !datasettest.Long() {
		t.Skip("it builds the document once without each source; MODELDEX_LONG_TESTS=1 runs it")
	}
	in, err := Load(os.DirFS(shipped), Options{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := snapshot.Evaluate(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	goals := map[snapshot.SourceID]float64{snapshot.SourceA: 0.88, snapshot.SourceB: 0.87, snapshot.SourceC: 0.74}
	for i, h := range e {
		if h.Common < goals[h.Source] || h.Coverage < 0.93 {
			t.Errorf("%s: rank correlation %.3f, coverage %.3f; want %.2f and 0.93", h.Source, h.Common, h.Coverage, goals[h.Source])
		}
		want := fmt.Sprintf("held out, it was predicted from the other sources with a rank correlation of %.2f, and %.0f percent of %d models were inside the 95 percent interval",
			h.Common, 100*h.Coverage, h.Models)
		if got := in.Config.Sources[i].Component.Validation; got != want {
			t.Errorf("%s: validation in build.json = %q, want %q", h.Source, got, want)
		}
	}
}

// TestShippedCanonical compares with an independent RFC 8785 implementation.
func TestShippedCanonical(t *testing.T) {
	p := newest(t)
	oracle, err := jcs.Transform(p.body)
	if err != nil || !bytes.Equal(oracle, p.body) {
		t.Errorf("%s is not what the oracle makes of it, %v", p.path, err)
	}
}

// TestPythonCheck holds data/snapshots/verify.py to the same verdicts as Verify.
func TestPythonCheck(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	path := newest(t).path
	small, _ := mustBuild(t, smallFolder(t), Options{})
	var wide bytes.Buffer
	if err := json.Indent(&wide, small, "", " "); err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Replace(small, []byte("CC0-1.0"), []byte("CC0-2.0"), 1)
	tests := []struct {
		name, file string
		doc        []byte
		want       string
	}{
		{"shipped", path, nil, "ok "},
		{"small", "", small, "ok "},
		{"one letter", "", flipped, "output_hash_sha256: must be "},
		{"indented", "", wide.Bytes(), "ok "},
		{"newline", "", append(bytes.Clone(small), '\n'), "ok "},
		{"confidence forged", "", forge(t, small, func(m *snapshot.Model) { m.Composite.Confidence = snapshot.Low }), "alpha-1: confidence must be "},
		{"component forged", "", forge(t, small, func(m *snapshot.Model) { m.Composite.Components[0].Normalized++ }), "alpha-1: components must be "},
		{"score forged", "", forge(t, small, func(m *snapshot.Model) { *m.Composite.Score++ }), "alpha-1: score_0_100 must be "},
		{"normalized forged", "", forge(t, small, func(m *snapshot.Model) { *m.Scores[0].Normalized++ }), "alpha-1: normalized_0_100 of a score must be "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "shipped" {
				datasettest.NeedLong(t, "the shipped document takes Python seconds")
			}
			file := tt.file
			if tt.doc != nil {
				file = filepath.Join(t.TempDir(), "snapshot.json")
				if err := os.WriteFile(file, tt.doc, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			out, err := exec.Command(python, filepath.Join(shipped, "verify.py"), file).CombinedOutput()
			if !strings.HasPrefix(string(out), tt.want) {
				t.Errorf("verify.py = %s, %v, want %q", out, err, tt.want)
			}
			var exit *exec.ExitError
			if accepted := tt.want == "ok "; accepted != !errors.As(err, &exit) || accepted != (len(verify(t, file)) == 0) {
				t.Errorf("verify.py and Verify disagree: %v against %v", err, verify(t, file))
			}
		})
	}
}

func verify(t *testing.T, file string) []snapshot.Finding {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() // only read
	return snapshot.Check(f).Findings
}

// forge changes the first model of a document and fills in the hash that belongs to it.
func forge(t *testing.T, b []byte, change func(*snapshot.Model)) []byte {
	t.Helper()
	checked := snapshot.Check(bytes.NewReader(b))
	doc, findings := checked.Document, checked.Findings
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	change(&doc.Models[0])
	forged, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range snapshot.Verify(bytes.NewReader(forged)) { // which tells the right hash
		if _, hash, ok := strings.Cut(f.Rule, "must be the hash of the document, "); ok {
			return bytes.Replace(forged, []byte(doc.OutputHash), []byte(hash[:64]), 1)
		}
	}
	t.Fatal("the changed document has the same hash")
	return nil
}

// TestShippedFlips flips bytes all over the real document.
func TestShippedFlips(t *testing.T) {
	b := newest(t).body
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 5))
	bad := bytes.Clone(b)
	for range datasettest.Rounds(1, 3) { // some megabytes are read each time
		at := rnd.IntN(len(b))
		bad[at] ^= 1 << rnd.IntN(8)
		if got := snapshot.Verify(bytes.NewReader(bad)); len(got) == 0 {
			t.Errorf("byte %d flipped: accepted", at)
		}
		bad[at] = b[at]
	}
}

// BenchmarkVerify and BenchmarkBuild take the real document and its inputs:
//
//	go test -run ^$ -bench . -benchmem ./snapshot/importer
func BenchmarkVerify(b *testing.B) {
	body := newest(b).body
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if got := snapshot.Verify(bytes.NewReader(body)); len(got) > 0 {
			b.Fatal(got[0])
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	in, err := Load(os.DirFS(shipped), Options{GeneratedAt: newest(b).at})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := snapshot.Build(context.Background(), in); err != nil {
			b.Fatal(err)
		}
	}
}
