package snapshot

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
			if got, ok := d.Resolve(tt.query); got != tt.want || ok != (tt.want != "") {
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
		d := NewDirectory([]Entry{{Slug: "nk-1", Name: "Nobody Knows"}})
		in.Resolve, in.Facts = d.Resolve, d.Facts
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
		d := NewDirectory([]Entry{{Slug: "beta", Name: "Gamma"}})
		in.Resolve = d.Resolve
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
		d := NewDirectory([]Entry{{Slug: "gamma-base", Name: "x", Aliases: []string{"other", "gamma-high"}}})
		in.Aliases[2].Names = append(in.Aliases[2].Names, aliasName{"listed", "other", "judged", ""})
		in.Resolve = d.Resolve
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
