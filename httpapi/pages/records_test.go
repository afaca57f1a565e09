package pages

import (
	"testing"

	"modeldex/dataset"
	"modeldex/httpapi/rows"
)

func TestUnbroken(t *testing.T) {
	for text, want := range map[string]string{
		"a · 1,008 GB/s · released 2022-10-12": `a&nbsp;· <span class="d">1,008 GB/s</span>&nbsp;· released <span class="d">2022-10-12</span>`,
		"<b> 2025-08":                          `&lt;b&gt; <span class="d">2025-08</span>`,
		"":                                     "",
	} {
		if got := string(unbroken(text)); got != want {
			t.Errorf("unbroken(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestFamilyName(t *testing.T) {
	for _, tt := range []struct{ family, name, want string }{
		{"gpt-oss", "gpt-oss 20b", "gpt-oss"}, {"deepseek", "DeepSeek R1", "DeepSeek"}, {"llama", "TinyLlama", "Llama"}, {"qwen", "通义", "Qwen"},
	} {
		m := &rows.ModelDetail{}
		m.Family, m.Name = dataset.Slug(tt.family), tt.name
		if got := familyName(m); got != tt.want {
			t.Errorf("the family %s of %s is shown as %s, want %s", tt.family, tt.name, got, tt.want)
		}
	}
}

// TestFigures holds the forms of amounts that pages alone have.
func TestFigures(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ got, want string }{
		{inCurrency(450, "USD"), "$450"},
		{inCurrency(449.5, "EUR"), "450 EUR"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestGive(t *testing.T) {
	for _, tt := range []struct{ repository, page, want string }{
		{"", "/models/phi-2", "/about#mistakes"},
		{"https://github.com/o/n/tree/next/facts", "/hardware/nvidia-rtx-4090", "https://github.com/o/n/edit/next/facts/hardware/nvidia-rtx-4090.json"},
		{"https://github.com/o/n.git", "/benchmarks/bm-000000000000", "https://github.com/o/n/issues/new"},
		{"https://codeberg.org/o/n", "/tools/ollama", "https://codeberg.org/o/n/issues/new"},
	} {
		if got := give(tt.repository, tt.page).Href; got != tt.want {
			t.Errorf("a fact of %s goes from %q to %s, want %s", tt.page, tt.repository, got, tt.want)
		}
	}
}
