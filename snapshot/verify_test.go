package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"
)

// finds tells whether one of the findings is of the place and has the text.
func finds(fs []Finding, pointer, text string) bool {
	return slices.ContainsFunc(fs, func(f Finding) bool { return f.Pointer == pointer && strings.Contains(f.Rule, text) })
}

func TestVerifySemantics(t *testing.T) {
	good, _ := mustBuild(t, smallInputs())
	tests := []struct {
		name    string
		change  func(*Document)
		pointer string
		text    string
	}{
		{"model count", func(d *Document) { d.Meta.ModelCount++ }, "/meta/model_count", "must be 5 as counted, got 6"},
		{"score count", func(d *Document) { d.Meta.ScoreCount-- }, "/meta/score_count", "as counted"},
		{"source count", func(d *Document) { d.Meta.SourceCount = 0 }, "/meta/source_count", "must be 3"},
		{"high", func(d *Document) { d.Meta.ConfidenceCounts.High = 9 }, "/meta/confidence_counts/high", "must be 1"},
		{"moderate", func(d *Document) { d.Meta.ConfidenceCounts.Moderate = 9 }, "/meta/confidence_counts/moderate", "must be 2"},
		{"low", func(d *Document) { d.Meta.ConfidenceCounts.Low = 9 }, "/meta/confidence_counts/low", "must be 2"},
		{"source of a score", func(d *Document) { d.Sources = d.Sources[:2] }, "/models/0/scores/4/source_id", `must be in sources, got "source_c"`},
		{"source twice", func(d *Document) { d.Sources[1].SourceID = SourceA }, "/sources/1/source_id", "must be unique"},
		{"source_ids", func(d *Document) { d.Models[0].SourceIDs = d.Models[0].SourceIDs[1:] }, "/models/0/source_ids", "must be the sources of the scores"},
		{"component source", func(d *Document) { d.Models[1].Composite.Components[1].SourceID = SourceC }, "/models/1/composite/components/1/source_id", `must be "source_b" by the stated rules`},
		{"component twice", func(d *Document) {
			c := &d.Models[1].Composite
			c.Components[1].SourceID = SourceA
		}, "/models/1/composite/components/1/source_id", `must be "source_b" by the stated rules`},
		{"composite", func(d *Document) { *d.Models[0].Composite.Score = 12 }, "/models/0/composite/score_0_100", "must be 76.5025 by the stated rules"},
		{"composite null", func(d *Document) { d.Models[0].Composite.Score = nil }, "/models/0/composite/score_0_100", "got null"},
		{"composite from nothing", func(d *Document) {
			d.Models[2].Composite = Composite{Score: ptr(1.0), Confidence: Low, Components: []Component{}, DerivedFrom: []string{}, Limitations: []string{baseLimitation}}
		}, "/models/2/composite/score_0_100", "must be null"},
		{"key order", func(d *Document) { d.Models[0], d.Models[1] = d.Models[1], d.Models[0] }, "/models/1/model_key", "must be unique and in order"},
		{"key twice", func(d *Document) { d.Models[1].ModelKey = d.Models[0].ModelKey }, "/models/1/model_key", "must be unique"},
		{"empty key", func(d *Document) { d.Models[0].ModelKey = "" }, "/models/0/model_key", "must not be empty"},
		{"parameters", func(d *Document) { d.Models[0].ParameterBillions = ptr(0.0) }, "/models/0/parameter_billions", "greater than 0"},
		{"context", func(d *Document) { d.Models[0].ContextWindow = ptr(-1.0) }, "/models/0/context_window", "greater than 0"},
		{"fetched", func(d *Document) { d.Sources[0].FetchedRows = 10 }, "/sources/0/fetched_rows", "at most total_rows_reported 9"},
		{"row count", func(d *Document) { d.Models[0].Scores[0].SourceRowCount = 99 }, "/models/0/scores/0/source_row_count", "at most fetched_rows"},
		{"lower", func(d *Document) { d.Models[0].Scores[0].Lower = ptr(1401.0) }, "/models/0/scores/0/lower", "at most value 1400"},
		{"upper", func(d *Document) { d.Models[0].Scores[0].Upper = ptr(1399.0) }, "/models/0/scores/0/upper", "at least value 1400"},
		{"rank", func(d *Document) { d.Models[0].Scores[0].Rank = ptr(0.0) }, "/models/0/scores/0/rank", "at least 1"},
		{"captured later", func(d *Document) { d.Sources[0].CapturedAt = "2027-01-01T00:00:00Z" }, "/sources/0/captured_at", "must not be after generated_at"},
		{"captured apart", func(d *Document) { d.Models[0].Scores[0].CapturedAt = "2025-01-01T00:00:00Z" }, "/models/0/scores/0/captured_at", "must match source_a"},
		{"dataset apart", func(d *Document) { d.Models[0].Scores[0].SourceDataset = "other/board" }, "/models/0/scores/0/source_dataset", "must match source_a"},
		{"config apart", func(d *Document) { d.Models[0].Scores[0].SourceConfig = "other" }, "/models/0/scores/0/source_config", "must match source_a"},
		{"split apart", func(d *Document) { d.Models[0].Scores[0].SourceSplit = "2001-01-01" }, "/models/0/scores/0/source_split", "must be one of those of source_a"},
		{"openness", func(d *Document) { d.Models[0].Openness = ptr("Open") }, "/models/0/openness", `must be open, proprietary or null, got "Open"`},
		{"whom to thank", func(d *Document) { d.Attribution = " " }, "/attribution", "must not be empty"},
		{"empty licence of a model", func(d *Document) { d.Models[0].License = ptr("") }, "/models/0/license", "must not be empty"},
		{"empty limitation", func(d *Document) { d.Models[1].Composite.Limitations = []string{""} }, "/models/1/composite/limitations/0", "must not be empty"},
		{"leap second", func(d *Document) { d.GeneratedAt = "2016-12-31T23:59:60Z" }, "/generated_at", "must be a date-time of RFC 3339"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Verify(bytes.NewReader(reseal(t, good, tt.change)))
			if !finds(got, tt.pointer, tt.text) {
				t.Errorf("findings = %v, want %s: %s", got, tt.pointer, tt.text)
			}
		})
	}
}

// TestVerifyRules: a forger who computes the hash again still has to follow the stated rules.
func TestVerifyRules(t *testing.T) {
	good, _ := mustBuild(t, smallInputs())
	edited := func(change func(*rules)) func(*Document) {
		return func(d *Document) {
			words, _, _ := strings.Cut(d.Normalization.Composite, rulesMark)
			r, err := statedRules(d.Normalization.Composite)
			if err != nil {
				t.Fatal(err)
			}
			change(r)
			b, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			d.Normalization.Composite = words + rulesMark + string(b)
		}
	}
	tests := []struct {
		name    string
		change  func(*Document)
		pointer string
		text    string
	}{
		{"normalized of a score", func(d *Document) { *d.Models[0].Scores[0].Normalized += 0.001 }, "/models/0/scores/0/normalized_0_100", "by the line of its cell"},
		{"normalized without a line", func(d *Document) { d.Models[0].Scores[7].Normalized = ptr(50.0) }, "/models/0/scores/7/normalized_0_100", "must be null"},
		{"normalized taken away", func(d *Document) { d.Models[0].Scores[0].Normalized = nil }, "/models/0/scores/0/normalized_0_100", "got null"},
		{"value", func(d *Document) { d.Models[0].Scores[1].Value = 91 }, "/models/0/composite/components/1/normalized_0_100", "by the stated rules"},
		{"bounds", func(d *Document) { *d.Models[0].Scores[0].Upper += 200 }, "/models/0/composite/components/0/weight", "by the stated rules"},
		{"component and mean together", func(d *Document) {
			c := &d.Models[3].Composite
			c.Components[0].Normalized, *c.Score = 99, 99
		}, "/models/3/composite/components/0/normalized_0_100", "by the stated rules, got 99"},
		{"weight", func(d *Document) { d.Models[3].Composite.Components[0].Weight *= 2 }, "/models/3/composite/components/0/weight", "by the stated rules"},
		{"component left out", func(d *Document) {
			c := &d.Models[1].Composite
			c.Components = c.Components[:1]
			c.Score = ptr(c.Components[0].Normalized)
		}, "/models/1/composite/components", "must be 2 by the stated rules"},
		{"confidence", func(d *Document) {
			d.Models[3].Composite.Confidence = High
			d.Meta.ConfidenceCounts.Low--
			d.Meta.ConfidenceCounts.High++
		}, "/models/3/composite/confidence", `must be "low" by the stated rules`},
		{"thresholds", edited(func(r *rules) { r.Confidence.High = 100; r.Confidence.Moderate = 100 }), "/models/1/composite/confidence", `must be "high"`},
		{"line", edited(func(r *rules) { r.Lines[0].Slope *= 2 }), "/models/0/scores/0/normalized_0_100", "by the line of its cell"},
		{"no noise", edited(func(r *rules) { r.Lines[0].Noise = 0 }), "/normalization/composite", "noise"},
		{"line twice", edited(func(r *rules) { r.Lines[1] = r.Lines[0] }), "/normalization/composite", "must be unique and in order"},
		{"other scale", edited(func(r *rules) { r.Deviation = 20 }), "/normalization/composite", "mean, deviation and z must be"},
		{"no rules", func(d *Document) { d.Normalization.Composite = "trust us" }, "/normalization/composite", "must state the rules"},
		{"first rules", func(d *Document) { d.GeneratedBy = firstRules }, "/generated_by", "only the documents already published use the first rules"},
		{"other rules", func(d *Document) { d.GeneratedBy = "me" }, "/generated_by", "documents made by other rules cannot be recomputed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Verify(bytes.NewReader(reseal(t, good, tt.change)))
			if !finds(got, tt.pointer, tt.text) {
				t.Errorf("findings = %v, want %s: %s", got, tt.pointer, tt.text)
			}
		})
	}
}

// TestCheckForm: another spelling of a right document is right, is told, and is not published.
func TestCheckForm(t *testing.T) {
	good, _ := mustBuild(t, smallInputs())
	var wide bytes.Buffer
	if err := json.Indent(&wide, good, "", "  "); err != nil {
		t.Fatal(err)
	}
	got := Check(bytes.NewReader(wide.Bytes()))
	if len(got.Findings) > 0 || got.Document == nil || got.Form == nil {
		t.Errorf("Check of an indented document = %v, form %v, want no findings and its form", got.Findings, got.Form)
	}
	if fs := Verify(bytes.NewReader(wide.Bytes())); len(fs) != 1 || !finds(fs, got.Form.Pointer, "canonical form") {
		t.Errorf("Verify = %v, want the form only", fs)
	}
	if got := Check(bytes.NewReader(good)); got.Form != nil || got.Document == nil {
		t.Errorf("Check of a canonical document = %v, form %v", got.Findings, got.Form)
	}
	bad := bytes.Replace(wide.Bytes(), []byte("CC-BY-4.0"), []byte("CC-BY-5.0"), 1)
	if got := Check(bytes.NewReader(bad)); got.Document != nil || !finds(got.Findings, "/"+hashField, "must be the hash") {
		t.Errorf("Check of a changed indented document = %v, want the hash", got.Findings)
	}
}

func TestVerifyText(t *testing.T) {
	good, _ := mustBuild(t, smallInputs())
	replace := func(old, with string) []byte {
		if !bytes.Contains(good, []byte(old)) {
			t.Fatalf("the document lacks %q", old)
		}
		return bytes.Replace(good, []byte(old), []byte(with), 1)
	}
	tests := []struct {
		name, pointer, text string
		doc                 []byte
	}{
		{"empty", "", "the file is empty", nil},
		{"not json", "", "not JSON: invalid character '<' at start of value, at byte 0", []byte("<html>")},
		{"byte order mark", "", "must not begin with a byte order mark", append([]byte("\xef\xbb\xbf"), good...)},
		{"merge conflict", "", "unresolved merge conflict: <<<<<<< HEAD", append([]byte("<<<<<<< HEAD\n"), good...)},
		{"a model", "", "is not a snapshot document: it has no schema_version", []byte(`{"slug":"a","name":"A"}`)},
		{"text for a number", "/meta/model_count", `must be a whole number, got "5"`, replace(`"model_count":5`, `"model_count":"5"`)},
		{"cut", "/attribution", "the file ends inside the document", good[:len(`{"attribution":"a`)]},
		{"array", "", "is not a snapshot document: it has no schema_version", []byte("[]")},
		{"more after it", "", "unexpected data after the document", append(bytes.Clone(good), "{}"...)},
		{"newline after it", "", "canonical form", append(bytes.Clone(good), '\n')},
		{"space inside", "/attribution", "canonical form, differs at byte 15", replace(`"attribution":`, `"attribution": `)},
		{"number spelled otherwise", "/meta/model_count", "canonical form", replace(`"model_count":5`, `"model_count":5.0`)},
		{"letter spelled otherwise", "/license", "canonical form", replace(`"license":"CC-BY-4.0"`, `"license":"\u0043C-BY-4.0"`)},
		{"member twice", "/meta/model_count", "duplicate", replace(`"model_count":5`, `"model_count":5,"model_count":5`)},
		{"unknown member", "/meta/note", "is not a known field", replace(`"model_count":5`, `"model_count":5,"note":1`)},
		{"endless number", "/meta/model_count", "must fit a double, got 1e999999999", replace(`"model_count":5`, `"model_count":1e999999999`)},
		{"endlessly small number", "/meta/model_count", "must fit a double", replace(`"model_count":5`, `"model_count":1e-999999999`)},
		{"long number", "/meta/model_count", "must fit a double", replace(`"model_count":5`, `"model_count":5.`+strings.Repeat("0", 500))},
		{"invalid utf-8", "/license", "the file must be in UTF-8", replace(`"license":"CC`, "\"license\":\"\xff")},
		{"hash", "/output_hash_sha256", "must be the hash of the document", replace(`"license":"CC-BY-4.0"`, `"license":"CC-BY-5.0"`)},
		{"no such day", "/generated_at", "schema: ", replace(`"generated_at":"2026-07-01`, `"generated_at":"2026-02-31`)},
		{"upper case hash", "/output_hash_sha256", "schema: ", bytes.Replace(good, []byte(mustHash(t, good)), []byte(strings.Repeat("A", 64)), 1)},
		{"version", "/schema_version", "schema: value must be", replace(SchemaVersion+`"`, `v2"`)},
		{"measured here", "/not_local_measurement", "schema: value must be true", replace(`"not_local_measurement":true`, `"not_local_measurement":false`)},
		{"source", "/sources/0/source_id", "schema: value must be one of", replace(`"source_id":"source_a","source_url":"https://a.example/1","split"`, `"source_id":"source_d","source_url":"https://a.example/1","split"`)},
		{"huge whole number", "/meta/model_count", "must be a whole number, got 1e+21", replace(`"model_count":5`, `"model_count":1e+21`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Verify(bytes.NewReader(tt.doc))
			if !finds(got, tt.pointer, tt.text) {
				t.Errorf("findings = %v, want %q: %s", got, tt.pointer, tt.text)
			}
		})
	}
}

func mustHash(t testing.TB, b []byte) string {
	t.Helper()
	h, err := Hash(b)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestVerifyAtOnce: three faults in one document are three findings of one run.
func TestVerifyAtOnce(t *testing.T) {
	good, _ := mustBuild(t, smallInputs())
	bad := reseal(t, good, func(d *Document) {
		d.Meta.ModelCount, d.Models[0].Scores[0].Confidence, d.Scope = 7, "guessed", "x"
	})
	got := Verify(bytes.NewReader(bad))
	for _, at := range []string{"/meta/model_count", "/models/0/scores/0/confidence", "/scope"} {
		if !finds(got, at, "") {
			t.Errorf("findings = %v, want one at %s", got, at)
		}
	}
	for _, f := range got {
		if f.Pointer == "/models/0/composite/score_0_100" {
			t.Errorf("finding of a sound place: %v", f)
		}
	}
}

func TestVerifyTooLarge(t *testing.T) {
	got := Verify(&spaces{left: maxDocumentBytes + 10})
	if !finds(got, "", "must be at most") {
		t.Errorf("findings = %v, want the size", got)
	}
}

// TestVerifyBounded: a document of nothing but faults gives a bounded report.
func TestVerifyBounded(t *testing.T) {
	tests := []struct{ name, doc string }{
		{"numbers", "[" + strings.Repeat("1e999,", 3*maxFindings) + "1]"},
		{"models", `{"models":[` + strings.Repeat("1,", 3*maxFindings) + "1]}"},
		{"one long fault", `{"` + strings.Repeat("x", 1e6) + `":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Verify(strings.NewReader(tt.doc))
			if len(got) == 0 || len(got) > 2*maxFindings {
				t.Errorf("findings = %d, want 1 to %d", len(got), 2*maxFindings)
			}
			for _, f := range got {
				if len(f.Rule) > 400 {
					t.Errorf("rule of %d bytes", len(f.Rule))
				}
			}
		})
	}
}

type spaces struct{ left int }

func (s *spaces) Read(p []byte) (int, error) {
	n := min(len(p), s.left)
	for i := range p[:n] {
		p[i] = ' '
	}
	s.left -= n
	return n, nil
}

// place is one member of one object of the tree.
type place struct {
	pointer string
	in      map[string]any
	name    string
}

// places lists every member of every object, in a fixed order.
func places(v any, at string) []place {
	var out []place
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = append(out, place{at + "/" + name, v, name})
			out = append(out, places(v[name], at+"/"+name)...)
		}
	case []any:
		for i, e := range v {
			out = append(out, places(e, at+"/"+strconv.Itoa(i))...)
		}
	}
	return out
}

var optional = map[string]bool{"rank": true, "lower": true, "upper": true, "category": true, "task": true, "sampling_note": true}

// ranges are the members with a range, as the specification gives them.
var ranges = map[string][2]float64{
	"score_0_100": {0, 100}, "normalized_0_100": {0, 100}, "weight": {0, math.Inf(1)},
	"fetched_rows": {0, math.Inf(1)}, "total_rows_reported": {0, math.Inf(1)}, "source_row_count": {0, math.Inf(1)},
	"model_count": {0, math.Inf(1)}, "score_count": {0, math.Inf(1)}, "source_count": {0, math.Inf(1)},
	"high": {0, math.Inf(1)}, "moderate": {0, math.Inf(1)}, "low": {0, math.Inf(1)},
}

// TestVerifyAnyByte: no byte of a document can be changed, removed or added.
func TestVerifyAnyByte(t *testing.T) {
	good, _ := mustBuild(t, smallInputs())
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(0, len(good)-1).Draw(t, "at")
		with := rapid.Byte().Draw(t, "with")
		bad := bytes.Clone(good)
		switch rapid.SampledFrom([]string{"flip", "bit", "cut", "add"}).Draw(t, "how") {
		case "flip":
			bad[at] = with
		case "bit":
			bad[at] ^= 1 << (with % 8)
		case "cut":
			bad = slices.Delete(bad, at, at+1)
		case "add":
			bad = slices.Insert(bad, at, with)
		}
		if bytes.Equal(bad, good) {
			return
		}
		refusedWithPlace(t, bad)
	})
}

// refusedWithPlace: every finding of a document that is an object names a pointer or a byte.
func refusedWithPlace(t *rapid.T, bad []byte) {
	got := Verify(bytes.NewReader(bad))
	if len(got) == 0 {
		t.Fatal("accepted")
	}
	for _, f := range got {
		if f.Pointer == "" && !strings.Contains(f.Rule, "byte") {
			t.Fatalf("finding without a place: %v", f)
		}
	}
}

// TestVerifyAnyField: no required field can be dropped, hash renewed or not.
func TestVerifyAnyField(t *testing.T) {
	good, _ := mustBuild(t, smallInputs())
	rapid.Check(t, func(t *rapid.T) {
		root := treeOf(good)
		p := rapid.SampledFrom(places(root, "")).Draw(t, "place")
		if optional[p.name] {
			return
		}
		delete(p.in, p.name)
		bad := resealRapid(t, root)
		if got := Verify(bytes.NewReader(bad)); !finds(got, p.pointer, "schema: missing property") {
			t.Fatalf("dropped %s: findings = %v", p.pointer, got)
		}
	})
}

// TestVerifyAnyRange: no number can leave its range, hash renewed.
func TestVerifyAnyRange(t *testing.T) {
	good, _ := mustBuild(t, smallInputs())
	rapid.Check(t, func(t *rapid.T) {
		root := treeOf(good)
		var with []place
		for _, p := range places(root, "") {
			if _, ok := ranges[p.name]; ok {
				with = append(with, p)
			}
		}
		p := rapid.SampledFrom(with).Draw(t, "place")
		below := rapid.Float64Range(1e-9, 1e12).Draw(t, "beyond")
		if r := ranges[p.name]; !math.IsInf(r[1], 1) && rapid.Bool().Draw(t, "above") {
			p.in[p.name] = r[1] + below
		} else {
			p.in[p.name] = r[0] - math.Ceil(below)
		}
		if got := Verify(bytes.NewReader(resealRapid(t, root))); !finds(got, p.pointer, "schema: ") {
			t.Fatalf("%s = %v: findings = %v", p.pointer, p.in[p.name], got)
		}
	})
}

// TestVerifyAnyType: no member can take a value of another kind.
func TestVerifyAnyType(t *testing.T) {
	good, _ := mustBuild(t, smallInputs())
	rapid.Check(t, func(t *rapid.T) {
		root := treeOf(good)
		p := rapid.SampledFrom(places(root, "")).Draw(t, "place")
		p.in[p.name] = map[string]any{"x": 1}
		if got := Verify(bytes.NewReader(resealRapid(t, root))); len(got) == 0 || !slices.ContainsFunc(got, func(f Finding) bool {
			return strings.HasPrefix(f.Pointer, p.pointer)
		}) {
			t.Fatalf("%s made an object: findings = %v", p.pointer, got)
		}
	})
}

// treeOf decodes for mutation; numbers keep their spelling.
func treeOf(b []byte) any {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(err) // a verified document
	}
	return v
}

// resealRapid spells a tree canonically, with a fresh hash where the field is there.
func resealRapid(t *rapid.T, v any) []byte {
	b, err := canonical(v)
	if err != nil {
		t.Fatal(err)
	}
	root := v.(map[string]any)
	if _, ok := root[hashField].(string); !ok {
		return b
	}
	h, err := Hash(b)
	if err != nil {
		t.Fatal(err)
	}
	root[hashField] = h
	if b, err = canonical(v); err != nil {
		t.Fatal(err)
	}
	return b
}

// FuzzRead: a document is either rejected or is exactly what seal writes of it.
func FuzzRead(f *testing.F) {
	good, _ := mustBuild(f, smallInputs())
	for _, seed := range [][]byte{
		good, nil, []byte("{}"), []byte("[]"), good[:200], []byte(`{"meta":{"model_count":1e999999999}}`),
		bytes.Replace(good, []byte(`"rank"`), []byte(`"rang"`), 1), []byte("{\"a\":\"\xff\"}"),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c := Check(bytes.NewReader(b))
		doc, findings := c.Document, c.Findings
		if (doc == nil) != (len(findings) > 0) {
			t.Fatalf("document %v and findings %v", doc != nil, findings)
		}
		if doc == nil {
			return
		}
		again, err := seal(doc)
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("accepted bytes are not the sealed document, %v", err)
		}
	})
}

// TestHashOracle compares with an independent RFC 8785 implementation.
func TestHashOracle(t *testing.T) {
	good, _ := mustBuild(t, smallInputs())
	var root map[string]any
	if err := json.Unmarshal(good, &root); err != nil {
		t.Fatal(err)
	}
	root[hashField] = ""
	plain, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	oracle, err := jcs.Transform(plain)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(oracle)
	if got, want := mustHash(t, good), hex.EncodeToString(sum[:]); got != want {
		t.Errorf("Hash = %s, the oracle says %s", got, want)
	}
	if got := mustRead(t, good).OutputHash; got != mustHash(t, good) {
		t.Errorf("output_hash_sha256 = %s, want %s", got, mustHash(t, good))
	}
}

// TestCanonicalNumbers: doubles of every size are spelled as the oracle spells them.
func TestCanonicalNumbers(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 3))
	for range 20000 {
		f := math.Float64frombits(rnd.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		got, err := canonical([]float64{f})
		if err != nil {
			t.Fatal(err)
		}
		want, err := jcs.Transform(got)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("canonical(%v) = %s, the oracle says %s, %v", f, got, want, err)
		}
	}
}

func TestDigest(t *testing.T) {
	a, errA := Digest([]Row{{Row: 1}, {Row: 2}})
	b, errB := Digest([]Row{{Row: 2}, {Row: 1}})
	c, errC := Digest([]Row{{Row: 2}, {Row: 3}})
	if errA != nil || errB != nil || errC != nil {
		t.Fatal(errA, errB, errC)
	}
	if a != b || a == c {
		t.Errorf("Digest = %s, %s, %s, want the first two equal and the third another", a, b, c)
	}
	if _, err := Digest([]float64{math.NaN()}); err == nil {
		t.Error("Digest(NaN) = nil, want an error")
	}
}
