package snapshot

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
	wantUnmatched := []Name{{SourceA, "nobody knows"}, {SourceC, "delta-1b (zero-shot)"}}
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

func TestBuildComposite(t *testing.T) {
	b, _ := mustBuild(t, smallInputs())
	doc := mustRead(t, b)
	alpha := model(t, doc, "alpha-7b-instruct")

	// 1400 against the median 1300: 100 / (1 + 10^-0.25); math (40+60)/2, code 90, mean 70; (50+70)/2
	want := []Component{
		{SourceA, "win rate", 64.0065, 1},
		{SourceB, "mean", 70, 2},
		{SourceC, "tasks", 60, 1},
	}
	if diff := cmp.Diff(want, alpha.Composite.Components); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
	if got := *alpha.Composite.Score; got != 66.0016 {
		t.Errorf("score_0_100 = %v, want 66.0016", got)
	}
	if alpha.Composite.Confidence != High {
		t.Errorf("confidence = %v, want high", alpha.Composite.Confidence)
	}
	wantLimits := []string{
		`source_a: the name "Alpha" was joined by judgement`,
		`source_c also lists it as "org/Alpha-7B-Instruct (val)", not used`,
		"source_b gives no interval",
	}
	if diff := cmp.Diff(wantLimits, alpha.Composite.Limitations); diff != "" {
		t.Errorf("limitations (-want +got):\n%s", diff)
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
		Value, Normalized       float64 // -1: null
		Rows                    int64
	}
	var got []line
	for _, s := range model(t, doc, "alpha-7b-instruct").Scores {
		l := line{s.Metric, s.SourceSplit, *s.Category, s.Value, -1, s.SourceRowCount}
		if s.Normalized != nil {
			l.Normalized = *s.Normalized
		}
		got = append(got, l)
	}
	want := []line{
		{"rating", "2026-01", "full", 1400, 64.0065, 5},
		{"score", "new", "code", 90, 90, 2},
		{"score", "new", "math", 60, 60, 2},
		{"score", "new", "math", 40, 40, 2},
		{"rank_score", "2026-04", "all", 2, 75, 3},
		{"mcc", "2026-04", "knowledge", 50, 50, 3},
		{"mcc", "2026-04", "reading", 70, 70, 3},
		{"values", "2026-04", "values", 33, -1, 3},
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
		{"missing task", "beta", "source_b lacks the tasks proofs"},
		{"one source", "gamma", "one source only: not comparable with composites of several sources"},
		{"old release", "gamma", "source_b is from the earlier release old, whose questions differ from new"},
		{"old board", "gamma", "source_b was 912 days old when the document was made"},
		{"missing category", "delta-1b", "source_c gives scores but no component: it lacks the categories reading"},
		{"nothing", "delta-1b", "no source gives a component, so there is no composite"},
		{"setting", "delta-1b", "source_c: no examples"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := model(t, doc, tt.key).Composite.Limitations; !slices.Contains(got, tt.want) {
				t.Errorf("limitations of %s = %q, want %q among them", tt.key, got, tt.want)
			}
		})
	}
	if got := model(t, doc, "delta-1b").Composite; got.Score != nil || got.Confidence != Low {
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

// TestBuildRepeatedRows: a cell said twice counts once, whichever comes first.
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
	if got := rep.Skipped["source_c: said twice; the lower row number was kept"]; got != 1 {
		t.Errorf("rows said twice = %d, want 1", got)
	}
}

func TestBuildRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Inputs)
		want   string
	}{
		{"format", func(in *Inputs) { in.Config.Format = "v0" }, `format: must be "modeldex-snapshot-build-v1", got "v0"`},
		{"base address", func(in *Inputs) { in.Config.BaseURL = "" }, "base_url: must not be empty"},
		{"source order", func(in *Inputs) { in.Config.Sources[1].SourceID = SourceA }, "sources[1]: source_id: must be one of"},
		{"capture", func(in *Inputs) { delete(in.Captures, SourceB) }, "source_b: must have a capture"},
		{"captured_at", func(in *Inputs) { in.Config.Sources[0].CapturedAt = "yesterday" }, "source_a: captured_at: must be RFC 3339"},
		{"split date", func(in *Inputs) { in.Config.Sources[0].Splits[0].Date = "2026" }, "date: must be YYYY-MM-DD"},
		{"no splits", func(in *Inputs) { in.Config.Sources[0].Splits = nil }, "splits: must not be empty"},
		{"turned", func(in *Inputs) { in.Config.Sources[2].Metrics[1].Direction = Higher }, "metric rank_score: normalize: zero 5 and full 1"},
		{"component metric", func(in *Inputs) { in.Config.Sources[2].Component.Metrics = []string{"values"} }, `component: metric "values"`},
		{"weight", func(in *Inputs) { in.Config.Sources[2].Component.Weight = -1 }, "weight: must be at least 0"},
		{"other source", func(in *Inputs) { in.Captures[SourceA] = in.Captures[SourceB] }, `source: must be "arena", got "bench"`},
		{"range", func(in *Inputs) { *in.Captures[SourceB].Rows[0].Value = 101 }, "score: must be 0 to 100, got 101"},
		{"row date", func(in *Inputs) { in.Captures[SourceA].Rows[0].Date = "soon" }, `"Alpha": date: must be YYYY-MM-DD, got "soon"`},
		{"range without end", func(in *Inputs) { *in.Captures[SourceC].Rows[2].Value = 0.5 }, "rank_score: must be 1 to any, got 0.5"},
		{"kind", func(in *Inputs) { in.Config.Sources[2].Metrics[0].Normalize.Kind = "log" }, `kind must be linear, win_rate or none, got "log"`},
		{"no points", func(in *Inputs) { in.Config.Sources[0].Metrics[0].Normalize.Points = nil }, "win_rate needs points greater than 0"},
		{"none with a direction", func(in *Inputs) { in.Config.Sources[2].Metrics[2].Direction = Higher }, "none is for direction none"},
		{"one end", func(in *Inputs) { in.Config.Sources[1].Metrics[0].Normalize.Full = nil }, "linear needs two different ends"},
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

// TestBuildFixedReference: a reference in the configuration goes before the median, and the
// document says so.
func TestBuildFixedReference(t *testing.T) {
	b, _ := mustBuild(t, smallInputs(func(in *Inputs) {
		in.Config.Sources[0].Metrics[0].Normalize.Reference = ptr(1400.0)
		in.Resolve = nil
	}))
	doc := mustRead(t, b)
	alpha := model(t, doc, "alpha-instruct")
	if got := alpha.Composite.Components[0].Normalized; got != 50 {
		t.Errorf("component at the reference = %v, want 50", got)
	}
	if got := alpha.Scores[0].EvidenceNote; !strings.HasSuffix(got, "; reference rating 1400") {
		t.Errorf("evidence_note = %q, want the reference", got)
	}
	if !strings.Contains(doc.Normalization.Composite, "100 / (1 + 10^((1400 - rating) / 400))") {
		t.Errorf("normalization.composite = %q, want the formula with its reference", doc.Normalization.Composite)
	}
}

func TestBuildStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Build(ctx, smallInputs()); !errors.Is(err, context.Canceled) {
		t.Errorf("Build of a cancelled context = %v, want context.Canceled", err)
	}
}

func TestReportWriteTo(t *testing.T) {
	_, rep := mustBuild(t, smallInputs())
	var out bytes.Buffer
	if _, err := rep.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"models: 5, of them with 1, 2, 3 sources: 3, 1, 1\n",
		"confidence: high 1, moderate 1, low 3\n",
		"could not be matched, stand alone: 2\n  source_a nobody knows\n  source_c delta-1b (zero-shot)\n",
		"second name of a model, not used: 1\n  source_c org/Alpha-7B-Instruct (val)\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("report lacks %q:\n%s", want, out.String())
		}
	}
}

func TestConfidence(t *testing.T) {
	rules := smallConfig().Confidence
	p := func(age int, bounded bool, half float64) part {
		return part{ageDays: age, bounded: bounded, halfWidth: half}
	}
	tests := []struct {
		name  string
		parts []part
		want  Confidence
	}{
		{"nothing", nil, Low},
		{"one", []part{p(0, true, 1)}, Low},
		{"three", []part{p(0, true, 1), p(365, false, 0), p(9, true, 5)}, High},
		{"three, one a day too old", []part{p(0, true, 1), p(366, false, 0), p(9, true, 5)}, Moderate},
		{"three, one too wide", []part{p(0, true, 1), p(9, false, 0), p(9, true, 5.1)}, Moderate},
		{"three, one bounded", []part{p(0, true, 1), p(9, false, 0), p(9, false, 0)}, Moderate},
		{"two", []part{p(730, true, 10), p(730, false, 0)}, Moderate},
		{"two, one a day too old", []part{p(731, false, 0), p(0, true, 1)}, Low},
		{"two without interval", []part{p(0, false, 0), p(0, false, 0)}, Low},
		{"two, too wide", []part{p(0, true, 10.1), p(0, true, 1)}, Low},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := rules.judge(tt.parts); got != tt.want {
				t.Errorf("judge(%v) = %v, want %v", tt.parts, got, tt.want)
			}
		})
	}
}
