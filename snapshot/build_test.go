package snapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"modeldex/dataset"
	"modeldex/dataset/best"
	"modeldex/dataset/datasettest"
)

func model(t testing.TB, doc *Document, key string) Model {
	t.Helper()
	i := slices.IndexFunc(doc.Models, func(m Model) bool { return m.ModelKey == key })
	if i < 0 {
		t.Fatalf("no model %q in the document", key)
	}
	return doc.Models[i]
}

func TestBuildModels(t *testing.T) {
	b, rep := mustBuild(t, smallInputs())
	doc := mustRead(t, b)

	var keys []string
	for _, m := range doc.Models {
		keys = append(keys, m.ModelKey)
	}
	want := []string{"alpha-7b-instruct", "beta", "delta-1b", "gamma", "nobody-knows"}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Errorf("model keys (-want +got):\n%s", diff)
	}
	wantUnmatched := []name{{SourceA, "nobody knows"}, {SourceC, "delta-1b (zero-shot)"}}
	if diff := cmp.Diff(wantUnmatched, rep.Unmatched); diff != "" {
		t.Errorf("unmatched (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"alpha-7b-instruct"}, rep.InDirectory); diff != "" {
		t.Errorf("in the directory (-want +got):\n%s", diff)
	}
	if doc.SchemaURL != "https://example.org"+SchemaPath {
		t.Errorf("schema_url = %q", doc.SchemaURL)
	}
}

// TestBuildComposite computes a composite again from the document alone, as a reader would: from
// the scores and the numbers that normalization.composite states.
func TestBuildComposite(t *testing.T) {
	b, _ := mustBuild(t, smallInputs())
	doc := mustRead(t, b)
	alpha := model(t, doc, "alpha-7b-instruct")
	_, stated, _ := strings.Cut(doc.Normalization.Composite, rulesMark)
	var rules struct {
		Mean, Deviation, Z float64
		Specific           map[string]float64
		Confidence         struct{ High, Moderate float64 }
		Lines              []struct {
			Source                  string `json:"source_id"`
			Split, Metric, Category string
			Level, Slope, Noise     float64
		}
	}
	if err := json.Unmarshal([]byte(stated), &rules); err != nil {
		t.Fatal(err)
	}
	var weights, sum, known float64
	xs := map[string]float64{}
	ws := map[string]float64{}
	for _, source := range []string{"source_a", "source_b", "source_c"} {
		var w, wx float64
		for _, l := range rules.Lines {
			var values, half float64
			n := 0.0
			for _, s := range alpha.Scores {
				if string(s.SourceID) != source || l.Source != source || s.SourceSplit != l.Split || s.Metric != l.Metric || *s.Category != l.Category {
					continue
				}
				values, n = values+s.Value, n+1
				if s.Lower != nil {
					e := (*s.Upper - *s.Lower) / 2 / rules.Z
					half += e * e
				}
			}
			if n > 0 {
				p := 1 / (l.Noise*l.Noise + math.Pow(l.Slope*math.Sqrt(half)/n, 2))
				w, wx = w+p, wx+p*(l.Level+l.Slope*values/n)
			}
		}
		xs[source] = wx / w
		ws[source] = 1 / (1/w + rules.Specific[source]*rules.Specific[source])
		known += ws[source]
	}
	share := known / (known + 1/(rules.Deviation*rules.Deviation))
	for i, c := range alpha.Composite.Components {
		x := rules.Mean + share*(xs[string(c.SourceID)]-rules.Mean)
		if math.Abs(c.Normalized-x) > 2e-3 || math.Abs(c.Weight-ws[string(c.SourceID)]) > 1e-5 {
			t.Errorf("components[%d] = %+v, want %v with weight %v", i, c, x, ws[string(c.SourceID)])
		}
		weights, sum = weights+c.Weight, sum+c.Weight*c.Normalized
	}
	if got := *alpha.Composite.Score; math.Abs(got-sum/weights) > 1e-4 || len(alpha.Composite.Components) != 3 {
		t.Errorf("score_0_100 = %v of %d components, want the weighted mean %v of 3", got, len(alpha.Composite.Components), sum/weights)
	}
	half := rules.Z / math.Sqrt(known+1/(rules.Deviation*rules.Deviation))
	if half > rules.Confidence.High || alpha.Composite.Confidence != High {
		t.Errorf("confidence = %v at %v points to a side, want high", alpha.Composite.Confidence, half)
	}
	wantLimits := []string{
		`source_a: the name "Alpha" was joined by judgement`,
		"source_a: hosted elsewhere",
		`source_c also lists it as "org/Alpha-7B-Instruct (val)", not used`,
	}
	if diff := cmp.Diff(wantLimits, alpha.Composite.Limitations[:3]); diff != "" {
		t.Errorf("limitations (-want +got):\n%s", diff)
	}
	if got := alpha.Composite.Limitations[3]; !strings.HasPrefix(got, "the 95 percent interval of score_0_100 is ") {
		t.Errorf("last limitation = %q, want the interval", got)
	}
}

// TestBuildBase: a base model has scores and no composite, and enters no fit.
func TestBuildBase(t *testing.T) {
	base := func(in *Inputs) { in.Aliases[1].Form = baseForm }
	b, _ := mustBuild(t, smallInputs(base))
	doc := mustRead(t, b)
	beta := model(t, doc, "beta")
	if c := beta.Composite; c.Score != nil || len(c.Components) != 0 || c.Confidence != Low || !slices.Contains(c.Limitations, baseLimitation) {
		t.Errorf("composite of a base model = %+v, want none, low, and the reason", c)
	}
	if len(beta.Scores) == 0 {
		t.Error("a base model lost its scores")
	}
	without, _ := mustBuild(t, smallInputs(base, func(in *Inputs) {
		c := in.Captures[SourceB]
		c.Rows = slices.DeleteFunc(slices.Clone(c.Rows), func(r Row) bool { return r.ModelRaw == "beta" })
		in.Captures[SourceB] = c
	}))
	if diff := cmp.Diff(doc.Normalization.Composite, mustRead(t, without).Normalization.Composite); diff != "" {
		t.Errorf("a base model changed the common scale:\n%s", diff)
	}
}

func TestBuildFacts(t *testing.T) {
	b, _ := mustBuild(t, smallInputs())
	doc := mustRead(t, b)
	alpha := model(t, doc, "alpha-7b-instruct")
	if got := []string{*alpha.Provider, *alpha.License, *alpha.Openness}; !slices.Equal(got, []string{"Org", "MIT", "open"}) {
		t.Errorf("provider, license, openness = %v, want the directory before the alias table", got)
	}
	if *alpha.ParameterBillions != 7.2 || alpha.ContextWindow != nil {
		t.Errorf("parameter_billions, context_window = %v, %v, want 7.2 and null", *alpha.ParameterBillions, alpha.ContextWindow)
	}
	if got := model(t, doc, "delta-1b"); got.Provider != nil || got.DisplayName != "delta-1b" {
		t.Errorf("a model nobody knows: provider %v, display_name %q, want null and its bare name", got.Provider, got.DisplayName)
	}
}

func TestBuildScores(t *testing.T) {
	b, _ := mustBuild(t, smallInputs())
	doc := mustRead(t, b)
	type line struct {
		Metric, Split, Category string
		Value                   float64
		Normalized              bool // it enters the common scale
		Rows                    int64
	}
	var got []line
	for _, s := range model(t, doc, "alpha-7b-instruct").Scores {
		got = append(got, line{s.Metric, s.SourceSplit, *s.Category, s.Value, s.Normalized != nil, s.SourceRowCount})
	}
	want := []line{
		{"rating", "2026-01", "full", 1400, true, 5},
		{"score", "new", "code", 90, true, 2},
		{"score", "new", "math", 60, true, 2},
		{"score", "new", "math", 40, true, 2},
		{"rank_score", "2026-04", "all", 2, false, 3},
		{"mcc", "2026-04", "knowledge", 50, true, 3},
		{"mcc", "2026-04", "reading", 70, true, 3},
		{"values", "2026-04", "values", 33, false, 3},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("scores (-want +got):\n%s", diff)
	}
}

func TestBuildLimitations(t *testing.T) {
	b, _ := mustBuild(t, smallInputs())
	doc := mustRead(t, b)
	tests := []struct {
		name, key, want string
	}{
		{"missing source", "beta", "no result in Euro (source_c)"},
		{"missing task", "beta", "source_b lacks proofs"},
		{"one source", "gamma", "one source only"},
		{"old release", "gamma", "source_b is from the earlier release old, whose questions differ from new"},
		{"missing category", "delta-1b", "source_c lacks reading"},
		{"setting", "delta-1b", "source_c: no examples"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := model(t, doc, tt.key).Composite.Limitations; !slices.Contains(got, tt.want) {
				t.Errorf("limitations of %s = %q, want %q among them", tt.key, got, tt.want)
			}
		})
	}
	late, _ := mustBuild(t, smallInputs(func(in *Inputs) { in.GeneratedAt = july.AddDate(1, 0, 0) }))
	want := "source_a was 546 days old when the document was made"
	if got := model(t, mustRead(t, late), "beta").Composite.Limitations; !slices.Contains(got, want) {
		t.Errorf("limitations a year later = %q, want %q among them", got, want)
	}
	alone, _ := mustBuild(t, smallInputs(func(in *Inputs) { in.Config.Sources[2].Component.Categories = []string{"reading"} }))
	if got := model(t, mustRead(t, alone), "delta-1b").Composite; got.Score != nil || got.Confidence != Low {
		t.Errorf("composite without components = %v %v, want null and low", got.Score, got.Confidence)
	}
}

func TestBuildSameBytes(t *testing.T) {
	first, _ := mustBuild(t, smallInputs())
	again, _ := mustBuild(t, smallInputs(func(in *Inputs) {
		in.GeneratedAt = in.GeneratedAt.In(time.FixedZone("east", 5*3600)).Add(300 * time.Millisecond)
	}))
	if !bytes.Equal(first, again) {
		t.Error("a build in another time zone gives other bytes")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	for range 50 {
		got, _ := mustBuild(t, smallInputs(func(in *Inputs) { shuffle(rnd, in) }))
		if !bytes.Equal(first, got) {
			t.Fatal("shuffled inputs give other bytes")
		}
	}
}

func shuffle(rnd *rand.Rand, in *Inputs) {
	for id, c := range in.Captures {
		rnd.Shuffle(len(c.Rows), func(i, j int) { c.Rows[i], c.Rows[j] = c.Rows[j], c.Rows[i] })
		in.Captures[id] = c
	}
	rnd.Shuffle(len(in.Aliases), func(i, j int) { in.Aliases[i], in.Aliases[j] = in.Aliases[j], in.Aliases[i] })
}

// TestBuildRepeatedRows: a duplicate cell counts once, whichever comes first.
func TestBuildRepeatedRows(t *testing.T) {
	double := func(v float64, row int64) func(*Inputs) {
		return func(in *Inputs) {
			c := in.Captures[SourceC]
			r := c.Rows[0]
			r.Value, r.Row = &v, row
			c.Rows = append([]Row{r}, c.Rows...)
			in.Captures[SourceC] = c
		}
	}
	b, rep := mustBuild(t, smallInputs(double(12, 9)))
	s := model(t, mustRead(t, b), "alpha-7b-instruct").Scores
	if got := s[5].Value; got != 50 {
		t.Errorf("value = %v, want 50 of the lower row number", got)
	}
	if got := rep.Skipped["source_c: duplicates; the row with the lowest number was kept"]; got != 1 {
		t.Errorf("duplicate rows = %d, want 1", got)
	}
}

func TestBuildRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Inputs)
		want   string
	}{
		{"format", func(in *Inputs) { in.Config.Format = "v0" }, `format: must be "modeldex-snapshot-build-v2", got "v0"`},
		{"base address", func(in *Inputs) { in.Config.BaseURL = "example.org/x" }, "base_url: must be an http or https address without a path"},
		{"confidence", func(in *Inputs) { in.Config.Confidence.High = 14 }, "confidence: must be 0 < high <= moderate, got 14 and 13"},
		{"least models", func(in *Inputs) { in.Config.LeastModels = 0 }, "least_models: must be at least 1"},
		{"form", func(in *Inputs) { in.Aliases[0].Form = "chat" }, `form: must be "base" or absent, got "chat"`},
		{"source order", func(in *Inputs) { in.Config.Sources[1].SourceID = SourceA }, "sources[1]: source_id: must be one of"},
		{"capture", func(in *Inputs) { delete(in.Captures, SourceB) }, "source_b: must have a capture"},
		{"captured_at", func(in *Inputs) { in.Config.Sources[0].CapturedAt = "yesterday" }, "source_a: captured_at: must be RFC 3339"},
		{"split date", func(in *Inputs) { in.Config.Sources[0].Splits[0].Date = "2026" }, "date: must be YYYY-MM-DD"},
		{"no splits", func(in *Inputs) { in.Config.Sources[0].Splits = nil }, "splits: must not be empty"},
		{"component metric", func(in *Inputs) { in.Config.Sources[2].Component.Metrics = []string{"values"} }, `component: metric "values"`},
		{"other source", func(in *Inputs) { in.Captures[SourceA] = in.Captures[SourceB] }, `source: must be "arena", got "bench"`},
		{"range", func(in *Inputs) { *in.Captures[SourceB].Rows[0].Value = 101 }, "score: must be 0 to 100, got 101"},
		{"row date", func(in *Inputs) { in.Captures[SourceA].Rows[0].Date = "soon" }, `"Alpha": date: must be YYYY-MM-DD, got "soon"`},
		{"range without end", func(in *Inputs) { *in.Captures[SourceC].Rows[2].Value = 0.5 }, "rank_score: must be 1 to any, got 0.5"},
		{"direction", func(in *Inputs) { in.Config.Sources[2].Metrics[0].Direction = "up" }, `direction: must be higher, lower or none, got "up"`},
		{"no component metric", func(in *Inputs) { in.Config.Sources[1].Component.Metrics = nil }, "component: metrics: must not be empty"},
		{"no sources", func(in *Inputs) { in.Config.Sources = nil }, "sources: must not be empty"},
		{"empty capture", func(in *Inputs) { in.Captures[SourceB] = Capture{} }, "source_b: no row of config"},
		{"alias key twice", func(in *Inputs) { in.Aliases = append(in.Aliases, in.Aliases[0]) }, `alias "alpha-instruct": model_key: must be unique`},
		{"name of two", func(in *Inputs) { in.Aliases[1].Names[0].ModelRaw = "Alpha" }, "must mean one model"},
		{"before its captures", func(in *Inputs) { in.GeneratedAt = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }, "must not be after generated_at"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, _, err := Build(context.Background(), smallInputs(tt.change))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Build = %v, want %q in it", err, tt.want)
			}
			if b != nil {
				t.Error("Build gave bytes beside its error")
			}
		})
	}
}

// TestBuildEmptyCells: a cell without a number is passed over and counted.
func TestBuildEmptyCells(t *testing.T) {
	b, rep := mustBuild(t, smallInputs(func(in *Inputs) { in.Captures[SourceC].Rows[3].Value = nil }))
	if got := len(model(t, mustRead(t, b), "alpha-7b-instruct").Scores); got != 7 {
		t.Errorf("scores = %d, want 7 of 8", got)
	}
	if got := rep.Skipped["source_c: with an empty cell"]; got != 1 {
		t.Errorf("empty cells = %d, want 1", got)
	}
}

func TestBuildStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Build(ctx, smallInputs()); !errors.Is(err, context.Canceled) {
		t.Errorf("Build of a cancelled context = %v, want context.Canceled", err)
	}
}

func TestReport(t *testing.T) {
	_, rep := mustBuild(t, smallInputs())
	out := rep.String()
	for _, want := range []string{
		"models: 5, of them with 1, 2, 3 sources: 3, 1, 1\n",
		"confidence: high 1, moderate 2, low 2\n",
		"unmatched (kept as models of their own): 2\n  source_a nobody knows\n  source_c delta-1b (zero-shot)\n",
		"second name of a model, not used: 1\n  source_c org/Alpha-7B-Instruct (val)\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("report lacks %q:\n%s", want, out)
		}
	}
}

func TestNormalName(t *testing.T) {
	tests := []struct{ name, want, slug string }{
		{"Llama 3.1  8B_Instruct", "llama-3.1-8b-instruct", "llama-3.1-8b-instruct"},
		{"org/Alpha-7B", "org/alpha-7b", "org-alpha-7b"},
		{"llama3.1:8b", "llama3.1:8b", "llama3.1-8b"},
		{"c++ model", "c++-model", "c-plus-plus-model"},
		{" (x) ", "x", "x"},
		{"---", "", ""},
		{"GLM‑4.6 [beta]", "glm-4.6-beta", "glm-4.6-beta"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := normalName(tt.name); got != tt.want {
				t.Errorf("NormalName(%q) = %q, want %q", tt.name, got, tt.want)
			}
			if got := slugForm(tt.name); got != tt.slug {
				t.Errorf("slugForm(%q) = %q, want %q", tt.name, got, tt.slug)
			}
		})
	}
}

func TestBare(t *testing.T) {
	m := &matcher{settings: map[string]bool{"val": true, "zero-shot": true}}
	tests := []struct{ raw, want string }{
		{"model (val)", "model"},
		{"model (zero-shot, val)", "model"},
		{"Claude 3.5 Haiku (20241022)", "Claude 3.5 Haiku (20241022)"},
		{"model (val, preview)", "model (val, preview)"},
		{"(val)", "(val)"},
		{"model", "model"},
	}
	for _, tt := range tests {
		if got := m.bare(tt.raw); got != tt.want {
			t.Errorf("bare(%q) = %q, want %q", tt.raw, got, tt.want)
		}
	}
}

func TestDirectoryResolve(t *testing.T) {
	d := NewDirectory([]Entry{
		{Slug: "alpha-7b", Name: "Alpha 7B", HFRepo: "org/Alpha-7B", Aliases: []string{"alpha:7b", "shared", "beta"}},
		{Slug: "beta", Name: "Beta", Aliases: []string{"shared"}},
	})
	tests := []struct{ name, query, want string }{
		{"slug", "alpha-7b", "alpha-7b"},
		{"name", "ALPHA 7b", "alpha-7b"},
		{"hugging face id", "ORG/alpha-7b", "alpha-7b"},
		{"alias", "alpha:7b", "alpha-7b"},
		{"other organisation", "someone/Alpha-7B", ""},
		{"alias of two", "shared", ""},
		{"a slug goes before an alias", "beta", "beta"},
		{"unknown", "gamma", ""},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := d.resolve(tt.query); got != tt.want || ok != (tt.want != "") {
				t.Errorf("Resolve(%q) = %q, %v, want %q", tt.query, got, ok, tt.want)
			}
		})
	}
}

// TestMatchRules walks the rules of normalization.model_matching one by one.
func TestMatchRules(t *testing.T) {
	rename := func(raw string) func(*Inputs) {
		return func(in *Inputs) { in.Captures[SourceA].Rows[2].ModelRaw = raw }
	}
	tests := []struct {
		name   string
		change func(*Inputs)
		key    string
		byRule []name
	}{
		{"table", func(*Inputs) {}, "beta", nil},
		{"key in normal form", rename("Gamma"), "gamma", []name{{SourceA, "Gamma"}}},
		{"settings cut", rename("gamma (val)"), "gamma", []name{{SourceA, "gamma (val)"}}},
		{"alone", rename("Gamma (2024)"), "gamma-2024", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, rep := mustBuild(t, smallInputs(tt.change))
			got := model(t, mustRead(t, b), tt.key)
			if !slices.Contains(got.SourceIDs, SourceA) {
				t.Errorf("sources of %s = %v, want source_a among them", tt.key, got.SourceIDs)
			}
			if diff := cmp.Diff(tt.byRule, rep.ByRule); diff != "" {
				t.Errorf("matched by rule (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMatchDirectoryName joins a name no table knows by the directory alone.
func TestMatchDirectoryName(t *testing.T) {
	b, rep := mustBuild(t, smallInputs(func(in *Inputs) {
		in.Directory = NewDirectory([]Entry{{Slug: "nk-1", Name: "Nobody Knows"}})
	}))
	if got := model(t, mustRead(t, b), "nk-1").Aliases; !slices.Equal(got, []string{"nobody knows"}) {
		t.Errorf("aliases of nk-1 = %v, want the raw name", got)
	}
	if diff := cmp.Diff([]name{{SourceA, "nobody knows"}}, rep.ByRule); diff != "" {
		t.Errorf("matched by rule (-want +got):\n%s", diff)
	}
}

// TestClaimContested: one slug, two models that want it.
func TestClaimContested(t *testing.T) {
	b, rep := mustBuild(t, smallInputs(func(in *Inputs) {
		in.Directory = NewDirectory([]Entry{{Slug: "beta", Name: "Gamma"}})
	}))
	doc := mustRead(t, b)
	model(t, doc, "gamma")
	if got := model(t, doc, "beta").DisplayName; got != "Beta" {
		t.Errorf("slug beta went to %q, want Beta, whose key it is", got)
	}
	if want := []string{"beta: wanted by beta and gamma, given to the first"}; !slices.Equal(rep.Contested, want) {
		t.Errorf("contested = %q, want %q", rep.Contested, want)
	}
}

// TestClaimSetting: a reasoning effort of a model does not take its slug by a shared name.
func TestClaimSetting(t *testing.T) {
	b, _ := mustBuild(t, smallInputs(func(in *Inputs) {
		in.Aliases[2].BaseModelKey = "gamma-base"
		in.Directory = NewDirectory([]Entry{{Slug: "gamma-base", Name: "x", Aliases: []string{"other", "gamma-high"}}})
		in.Aliases[2].Names = append(in.Aliases[2].Names, aliasName{"listed", "other", "judged", ""})
	}))
	model(t, mustRead(t, b), "gamma")
}

func TestPreferred(t *testing.T) {
	from := &table{cfg: &SourceConfig{Settings: []setting{{Word: "val"}, {Word: "zero-shot"}}}}
	r := func(raw string, split, rows int) named {
		return named{reading{raw: raw, split: split, rows: make([]Row, rows)}, from}
	}
	tests := []struct {
		name string
		rs   []named
		want string
	}{
		{"newest split", []named{r("a", 1, 9), r("b (val)", 0, 1)}, "b (val)"},
		{"no settings", []named{r("a (zero-shot)", 0, 9), r("b", 0, 1)}, "b"},
		{"milder setting", []named{r("a (val)", 0, 9), r("b (zero-shot)", 0, 1)}, "b (zero-shot)"},
		{"more rows", []named{r("a", 0, 1), r("b", 0, 2)}, "b"},
		{"name", []named{r("b", 0, 1), r("a", 0, 1)}, "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, others := preferred(tt.rs)
			if got.raw != tt.want || len(others) != 1 {
				t.Errorf("best = %q and %d others, want %q and 1", got.raw, len(others), tt.want)
			}
		})
	}
}

func TestDiff(t *testing.T) {
	before, _ := mustBuild(t, smallInputs())
	after, _ := mustBuild(t, smallInputs(func(in *Inputs) {
		in.Aliases[1].Form = baseForm                            // beta
		in.Captures[SourceA].Rows[2].ModelRaw = "somebody"       // nobody-knows
		*in.Captures[SourceC].Rows[0].Value = 51                 // alpha
		in.Aliases[2].Names[0] = aliasName{"bench", "x", "", ""} // gamma
		in.Aliases[2].ModelKey, in.Aliases[2].DisplayName = "x", "x"
	}))
	d := Diff(mustRead(t, before), mustRead(t, after))
	find := func(key string) change {
		i := slices.IndexFunc(d.Changes, func(c change) bool { return c.ModelKey == key })
		if i < 0 {
			t.Fatalf("no change of %s in %+v", key, d.Changes)
		}
		return d.Changes[i]
	}
	for key, kind := range map[string]string{"alpha-7b-instruct": "moved", "beta": "unscored", "nobody-knows": "removed", "somebody": "new"} {
		if c := find(key); c.Kind != kind {
			t.Errorf("change of %s = %+v, want %s", key, c, kind)
		}
	}
	if c := find("alpha-7b-instruct"); c.By == nil || *c.By != round4(*c.After-*c.Before) {
		t.Errorf("alpha moved by %v from %v to %v", c.By, *c.Before, *c.After)
	}
	if out := d.String(); !strings.Contains(out, "new somebody: none to ") {
		t.Errorf("the difference in words:\n%s", out)
	}
	if same := Diff(mustRead(t, before), mustRead(t, before)); len(same.Changes) != 0 || same.Rules {
		t.Errorf("Diff of one document = %+v, want nothing", same)
	}
}

func TestSpearman(t *testing.T) {
	tests := []struct {
		name string
		a, b []float64
		want float64
	}{
		{"same order", []float64{1, 2, 3, 4}, []float64{10, 20, 30, 400}, 1},
		{"turned", []float64{1, 2, 3, 4}, []float64{4, 3, 2, 1}, -1},
		{"ties share a rank", []float64{1, 2, 2, 3}, []float64{1, 3, 2, 4}, 0.9486832980505138},
	}
	for _, tt := range tests {
		if got := spearman(tt.a, tt.b); got < tt.want-1e-12 || got > tt.want+1e-12 {
			t.Errorf("%s: spearman = %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestCapabilityPredicts holds out each source for a tenth of its models at a time. Capability must predict what the source
// says of the models that others have evaluated, too, better than the goals and inside the intervals that it claims.
func TestCapabilityPredicts(t *testing.T) {
	catalog, findings, err := Open(os.DirFS("../data/snapshots"))
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	files, err := filepath.Glob("../data/models/*.json")
	datasettest.Must(t, err)
	models := make([]dataset.Model, len(files))
	for i, name := range files {
		b, err := os.ReadFile(name)
		datasettest.Must(t, err)
		datasettest.Must(t, json.Unmarshal(b, &models[i]))
	}
	goals := map[SourceID]float64{SourceA: 0.95, SourceB: 0.93, SourceC: 0.76}
	for _, id := range sourceIDs {
		var predicted, said []float64
		inside := 0
		for f := range folds {
			held := func(model dataset.Slug) []best.Evidence {
				return slices.DeleteFunc(slices.Clone(catalog.Evidence(model)), func(e best.Evidence) bool {
					return e.Source == string(id) && fold(string(model)) == f
				})
			}
			can := best.Capabilities(models, held)
			for i := range models {
				slug := models[i].Slug
				c, known := can[slug]
				at := slices.IndexFunc(catalog.Evidence(slug), func(e best.Evidence) bool { return e.Source == string(id) })
				if !known || at < 0 || fold(string(slug)) != f || len(held(slug)) == 0 {
					continue
				}
				e := catalog.Evidence(slug)[at]
				predicted, said = append(predicted, c.Score), append(said, e.Score)
				half := (c.Interval[1] - c.Interval[0]) / 2
				if d := e.Score - c.Score; d*d <= half*half+intervalZ*intervalZ*e.Variance {
					inside++
				}
			}
		}
		got, share := spearman(predicted, said), float64(inside)/float64(len(said))
		t.Logf("%s: %d models, rank correlation %.3f, %.1f %% inside the interval", id, len(said), got, 100*share)
		if got < goals[id] || share < 0.9 {
			t.Errorf("%s: rank correlation %.3f, inside the interval %.3f; want %.2f and 0.9", id, got, share, goals[id])
		}
	}
}
