package httpapi

import (
	"cmp"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestUnknownParameterEverywhere: no endpoint takes a parameter it does not know, and the document of each says so.
func TestUnknownParameterEverywhere(t *testing.T) {
	s := smallService(t)
	place := regexp.MustCompile(`\{\w+\}`)
	for i := range routes {
		rt := &routes[i]
		address := cmp.Or(rt.doc, rt.path)
		if !strings.HasPrefix(address, apiPath) {
			continue
		}
		if _, ok := responses(rt).get("400"); !ok {
			t.Errorf("%s %s: 400 is not documented", rt.method, address)
		}
		if rt.method != http.MethodGet || rt.tag == "webhooks" {
			continue
		}
		if a := s.ask(t, rt.method, place.ReplaceAllString(address, "x")+"?zzz=1"); a.status != http.StatusBadRequest && (a.status != http.StatusNotFound || rt.list != recordChanges) {
			t.Errorf("%s %s?zzz=1: %d %s, want 400", rt.method, address, a.status, a.code())
		}
	}
}

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
