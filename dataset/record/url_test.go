package record

import (
	"testing"
)

func TestURL(t *testing.T) {
	for _, tt := range []struct {
		url  URL
		want bool
	}{
		{"https://example.com", true},
		{"http://example.com/a?b=c#d", true},
		{"https://example.com/ü", true},
		{"https://example.com:8080/a", true},
		{"https://a-b.example.com?q", true},
		{"https://xn--e1afmkfd.example/", true},
		{"https://localhost/x", true},
		{"https://192.0.2.1/x", true},
		{"", false},
		{"https://-", false},
		{"https://..", false},
		{"https://a..b/", false},
		{"https://-a.b/", false},
		{"https://a-.b/", false},
		{"https://a.-b/", false},
		{"https://example.com./", false},
		{"https://?", false},
		{"https://#", false},
		{"https://[::1", false},
		{`https://\evil`, false},
		{`https://example.com/\evil`, false},
		{"https://user:pw@example.com/", false},
		{"https://example.com:99999/", false},
		{"https://example.com:/", false},
		{"https://example.com:8x/", false},
		{"https://exam\u0440le.com/", false},
		{`https://example.com/"><script>`, false},
		{"example.com", false},
		{"ftp://example.com", false},
		{"https://", false},
		{"https:///path", false},
		{"https://exa mple.com", false},
		{"https://example.com\n", false},
		{"HTTPS://example.com", false},
		{" https://example.com", false},
	} {
		if got := tt.url.Valid(); got != tt.want {
			t.Errorf("URL(%q).Valid() = %t, want %t", tt.url, got, tt.want)
		}
	}
}
