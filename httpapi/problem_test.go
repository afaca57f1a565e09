package httpapi

import (
	"strings"
	"testing"
)

// TestHideKeys: what has the form of a key is not repeated, whole or clipped; other texts are.
func TestHideKeys(t *testing.T) {
	t.Parallel()
	secret, short := "mdx_09azAZ"+strings.Repeat("x", 30), "mdx_"+strings.Repeat("9", 19)
	for text, want := range map[string]string{
		"":                              "",
		"vendor":                        "vendor",
		"mdx":                           "mdx",
		"mdx_":                          "mdx_",
		"mdx_models":                    "mdx_models",
		"mdx_models, " + secret:         "mdx_models, mdx_[key]",
		secret:                          "mdx_[key]",
		"x" + secret + "&" + secret:     "xmdx_[key]&mdx_[key]",
		secret + "-" + short:            "mdx_[key]-" + short,
		secret[:4+20]:                   "mdx_[key]",
		short:                           short,
		short + "_9":                    short + "_9",
		secret + secret:                 "mdx_[key]mdx_[key]",
		"mdx_" + secret:                 "mdx_mdx_[key]",
		"other_" + secret[len("mdx_"):]: "other_" + secret[len("mdx_"):],
	} {
		if got := hideKeys(text, "mdx"); got != want {
			t.Errorf("hideKeys(%q) = %q, want %q", text, got, want)
		}
	}
}
