package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/goccy/go-json/jsontext"

	"modeldex/dataset/datasettest"
)

func TestMain(m *testing.M) { datasettest.Main(m) }

func ptr[T any](v T) *T { return &v }

var july = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)

// smallInputs is a valid build of five models: one in all sources, one in two, one in an old
// release only, and two that no table knows, one of them with one category.
func smallInputs(changes ...func(*Inputs)) Inputs {
	in := Inputs{
		Config:      smallConfig(),
		Captures:    map[SourceID]Capture{SourceA: arenaCapture(), SourceB: benchCapture(), SourceC: euroCapture()},
		Aliases:     smallAliases(),
		GeneratedAt: july,
		From:        []string{"directory: 1 model"},
	}
	in.Directory = NewDirectory([]Entry{{
		Slug: "alpha-7b-instruct", Name: "Alpha 7B", HFRepo: "org/Alpha-7B-Instruct",
		Facts: Facts{Provider: ptr("Org"), ParameterBillions: ptr(7.2)},
	}})
	for _, change := range changes {
		change(&in)
	}
	return in
}

func smallConfig() Config {
	return Config{
		Format: configFormat, BaseURL: "https://example.org/", License: "CC-BY-4.0", Attribution: "all",
		FrameworkNote: "none here", LocalClaim: "None.",
		Confidence: confidenceRules{High: 9, Moderate: 13}, LeastModels: 1,
		Sources: []SourceConfig{
			{
				SourceID: SourceA, Name: "arena", LicenseNote: "free to use", Label: "Arena (votes)", Dataset: "a/a", Config: "text",
				Splits:     []split{{"2026-01", "2026-01-01", "https://a.example/1"}},
				CapturedAt: "2026-01-02T08:00:00-08:00",
				Metrics: []metric{{
					Metric: "rating", Scale: "rating", Direction: higher, Categories: []string{"full"}, Evidence: "elo",
				}},
				Component: componentConfig{Label: "rating", Metrics: []string{"rating"}, Categories: []string{"full"}},
			},
			{
				SourceID: SourceB, Name: "bench", LicenseNote: "free to use", Label: "Bench", Dataset: "b/b", Config: "board",
				Splits:     []split{{"new", "2026-03-01", "https://b.example/new"}, {"old", "2024-01-01", "https://b.example/old"}},
				CapturedAt: "2026-03-02T00:00:00Z",
				Metrics:    []metric{{Metric: "score", Scale: "percent", Min: ptr(0.0), Max: ptr(100.0), Direction: higher}},
				Component:  componentConfig{Label: "mean", Metrics: []string{"score"}},
			},
			{
				SourceID: SourceC, Name: "euro", LicenseNote: "free to use", Label: "Euro", Dataset: "c/c", Config: "english",
				Splits:     []split{{"2026-04", "2026-04-01", "https://c.example/1"}},
				CapturedAt: "2026-04-02T00:00:00Z",
				Metrics: []metric{
					{Metric: "mcc", Scale: "mcc", Min: ptr(-100.0), Max: ptr(100.0), Direction: higher},
					{Metric: "rank_score", Scale: "lower is better", Min: ptr(1.0), Direction: lower},
					{Metric: "values", Scale: "values", Direction: neither},
				},
				Component: componentConfig{Label: "tasks", Metrics: []string{"mcc"}, Categories: []string{"knowledge", "reading"}},
				Settings:  []setting{{"val", "validation split"}, {"zero-shot", "no examples"}},
			},
		},
	}
}

func smallAliases() []Alias {
	return []Alias{
		{
			ModelKey: "alpha-instruct", DisplayName: "Alpha",
			Names: []aliasName{
				{"arena", "Alpha", judged, "hosted elsewhere"},
				{"bench", "alpha-7b", "normalised", ""},
				{"euro", "org/Alpha-7B-Instruct (val)", "normalised", ""},
				{"euro", "org/Alpha-7B-Instruct", "normalised", ""},
			},
			Facts: Facts{Provider: ptr("Other"), License: ptr("MIT"), Openness: ptr("open")},
		},
		{
			ModelKey: "beta", DisplayName: "Beta",
			Names: []aliasName{{"arena", "beta", "normalised", ""}, {"bench", "beta", "normalised", ""}},
			Facts: Facts{ContextWindow: ptr(8192.0), Modalities: []string{"text"}},
		},
		{ModelKey: "gamma", DisplayName: "Gamma", Names: []aliasName{{"bench", "gamma", "normalised", ""}}},
	}
}

func arenaCapture() Capture {
	row := func(n int64, model, category string, v, half float64) Row {
		return Row{
			Source: "arena", Config: "text", Split: "2026-01", Row: n, ModelRaw: model, Metric: "rating",
			Value: &v, Lower: ptr(v - half), Upper: ptr(v + half), Category: &category, Date: "2026-01-01",
		}
	}
	return Capture{From: "rows of arena", TotalReported: 9, Rows: []Row{
		row(1, "Alpha", "full", 1400, 10), row(2, "beta", "full", 1200, 20), row(3, "nobody knows", "full", 1300, 5),
		row(4, "Alpha", "coding", 1500, 10), row(5, "beta", "coding", 1100, 10),
	}}
}

func benchCapture() Capture {
	row := func(split string, n int64, model, category, task string, v float64) Row {
		return Row{Source: "bench", Config: "board", Split: split, Row: n, ModelRaw: model, Metric: "score", Value: &v, Category: &category, Task: &task}
	}
	return Capture{From: "rows of bench", Rows: []Row{
		row("new", 1, "alpha-7b", "math", "sums", 40), row("new", 1, "alpha-7b", "math", "proofs", 60), row("new", 1, "alpha-7b", "code", "write", 90),
		row("new", 2, "beta", "math", "sums", 10), row("new", 2, "beta", "code", "write", 30),
		row("old", 1, "alpha-7b", "math", "sums", 99), row("old", 2, "gamma", "math", "sums", 55),
	}}
}

func euroCapture() Capture {
	row := func(n int64, model, metric, category string, v float64, bounded bool) Row {
		r := Row{Source: "euro", Config: "english", Split: "2026-04", Row: n, ModelRaw: model, Metric: metric, Value: &v, Category: &category}
		if bounded {
			r.Lower, r.Upper = ptr(v-2), ptr(v+2)
		}
		return r
	}
	return Capture{From: "rows of euro", Rows: []Row{
		row(1, "org/Alpha-7B-Instruct", "mcc", "knowledge", 50, true), row(1, "org/Alpha-7B-Instruct", "mcc", "reading", 70, true),
		row(1, "org/Alpha-7B-Instruct", "rank_score", "all", 2, false), row(1, "org/Alpha-7B-Instruct", "values", "values", 33, false),
		row(2, "org/Alpha-7B-Instruct (val)", "mcc", "knowledge", 51, true),
		row(3, "delta-1b (zero-shot)", "mcc", "knowledge", -4, true),
	}}
}

// mustBuild builds or ends the test.
func mustBuild(t testing.TB, in Inputs) ([]byte, Report) {
	t.Helper()
	b, rep, err := Build(context.Background(), in)
	if err != nil {
		t.Fatalf("Build = %v", err)
	}
	return b, rep
}

// mustRead verifies or ends the test.
func mustRead(t testing.TB, b []byte) *Document {
	t.Helper()
	c := Check(bytes.NewReader(b))
	if len(c.Findings) > 0 {
		t.Fatalf("Check: %d findings, first %s", len(c.Findings), c.Findings[0])
	}
	return c.Document
}

// reseal changes a verified document and fills in a fresh hash, so that the hash is not
// what rejects it.
func reseal(t testing.TB, b []byte, change func(*Document)) []byte {
	t.Helper()
	doc := mustRead(t, b)
	change(doc)
	out, err := seal(doc)
	if err != nil {
		t.Fatalf("seal = %v", err)
	}
	return out
}

// Hash is the hash that belongs into a document in any spelling.
func Hash(doc []byte) (string, error) {
	v := jsontext.Value(bytes.Clone(doc))
	if err := v.Canonicalize(); err != nil {
		return "", fmt.Errorf("canonical form: %w", err)
	}
	hash, _, err := hashCanonical(v)
	return hash, err
}
