package record

import (
	"strings"
	"testing"
)

func TestSlug(t *testing.T) {
	for _, tt := range []struct {
		slug Slug
		want bool
	}{
		{"llama-3.1-8b-instruct", true},
		{"a", true},
		{"0", true},
		{"a.b-c.d", true},
		{Slug(strings.Repeat("a", MaxSlug)), true},
		{"", false},
		{"-a", false},
		{"a-", false},
		{".a", false},
		{"a.", false},
		{"a--b", false},
		{"a.-b", false},
		{"A", false},
		{"a_b", false},
		{"a b", false},
		{"a/b", false},
		{"ä", false},
		{"a\n", false},
		{Slug(strings.Repeat("a", MaxSlug+1)), false},
	} {
		if got := tt.slug.Valid(); got != tt.want {
			t.Errorf("Slug(%q).Valid() = %t, want %t", tt.slug, got, tt.want)
		}
	}
}

// TestDate compares with the standard library over every text of digits and hyphens near a date.
