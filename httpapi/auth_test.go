package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"modeldex/index"
	"modeldex/quota"
)

// TestUnknownKeys asks with keys that no account has: the response says whether the key was damaged.
func TestUnknownKeys(t *testing.T) {
	t.Parallel()
	s := newService(t, &index.Live{})
	damaged := []byte(s.secret)
	damaged[20] ^= 1
	for name, tt := range map[string]struct{ key, detail string }{
		"not issued here":    {quota.NewSecret("mdx").Reveal(), "This key was never issued."},
		"a character wrong":  {string(damaged), "The key is malformed"},
		"not a character":    {strings.Replace(s.secret, s.secret[9:10], "-", 1), "The key is malformed"},
		"shorter":            {s.secret[:39], "The key is malformed"},
		"longer":             {s.secret + "a", "The key is malformed"},
		"of another service": {"sk-" + s.secret, "The key is malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{"/api/v1/benchmarks", "/api/v1/keys/self"} {
				a := s.ask(t, http.MethodGet, path, "Authorization", "Bearer "+tt.key)
				if a.status != http.StatusUnauthorized || !strings.Contains(string(a.body), `"invalid_key"`) || !strings.Contains(string(a.body), tt.detail) {
					t.Errorf("GET %s = %d %s, want 401 invalid_key: %s", path, a.status, a.body, tt.detail)
				}
				if tier := a.header.Get("X-RateLimit-Tier"); tier != quota.NoTier && tier != "" {
					t.Errorf("GET %s shows tier %q of a key that no account has", path, tier)
				}
			}
		})
	}
}
