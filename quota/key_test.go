package quota

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestNewSecret(t *testing.T) {
	seen := map[Secret]bool{}
	for range 1000 {
		s := NewSecret("mdx")
		if seen[s] {
			t.Fatalf("NewSecret() returned one secret twice")
		}
		seen[s] = true
		if len(s) != 40 || !strings.HasPrefix(s.Reveal(), "mdx_") {
			t.Fatalf("NewSecret() has %d characters, want mdx_ and 36 more", len(s))
		}
		d, ok := ParseKey(s.Reveal(), "mdx")
		if !ok || d != sha256.Sum256([]byte(s)) {
			t.Fatalf("ParseKey(NewSecret()) = %v, %v, want its SHA-256", d, ok)
		}
	}
}

func TestParseKeyRefuses(t *testing.T) {
	good := NewSecret("mdx").Reveal()
	flip := func(i int) string {
		b := []byte(good)
		if b[i]++; !strings.Contains(base62, string(b[i])) {
			b[i] = 'A'
		}
		return string(b)
	}
	tests := []struct{ name, key, prefix string }{
		{"empty", "", "mdx"},
		{"prefix only", "mdx_", "mdx"},
		{"too short", good[:39], "mdx"},
		{"too long", good + "0", "mdx"},
		{"space in front", " " + good[:39], "mdx"},
		{"other prefix", good, "abc"},
		{"shorter prefix", good, "md"},
		{"no underscore", "mdx-" + good[4:], "mdx"},
		{"random character changed", flip(10), "mdx"},
		{"check character changed", flip(39), "mdx"},
		{"character outside base62", good[:20] + "-" + good[21:], "mdx"},
		{"byte above ASCII", good[:20] + "\xff" + good[21:], "mdx"},
		{"prefix in capitals", "MDX_" + good[4:], "mdx"},
		{"longer than any", strings.Repeat("a", 500), strings.Repeat("a", 463)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d, ok := ParseKey(tt.key, tt.prefix); ok || d != (Digest{}) {
				t.Errorf("ParseKey() = %v, %v, want no digest", d, ok)
			}
			if _, ok := ParseKey([]byte(tt.key), tt.prefix); ok {
				t.Error("ParseKey([]byte) = true, want false")
			}
		})
	}
}

// However a secret is printed or logged, it shows its hint only.
func TestSecretStaysSecret(t *testing.T) {
	s := NewSecret("mdx")
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("issued", "key", s)
	for _, out := range []string{fmt.Sprint(s), fmt.Sprintf("%s %q %+v %#v", s, s, s, s), log.String(), fmt.Sprintf("%+v", IssuedKey{Secret: s})} {
		if strings.Contains(out, s.Reveal()[4:36]) {
			t.Errorf("secret is printed in %q", out)
		}
		if !strings.Contains(out, s.Hint()) {
			t.Errorf("%q has no hint, want %q", out, s.Hint())
		}
	}
	if want := "mdx_..." + s.Reveal()[36:]; s.Hint() != want {
		t.Errorf("Hint() = %q, want %q", s.Hint(), want)
	}
	if got := Secret("abc").Hint(); got != "..." {
		t.Errorf("Hint of a text that is not a secret = %q, want ...", got)
	}
}

func TestCheckPrefix(t *testing.T) {
	for prefix, want := range map[string]bool{
		"mdx": true, "mdx_test": true, "A1": true, "": false, "md-x": false, "mdx ": false, "é": false,
		strings.Repeat("a", 16): true, strings.Repeat("a", 17): false,
	} {
		if err := CheckPrefix(prefix); (err == nil) != want {
			t.Errorf("CheckPrefix(%q) = %v, want valid %v", prefix, err, want)
		}
	}
}

func TestID(t *testing.T) {
	for _, id := range []ID{1, 61, 62, 1 << 32, 1<<64 - 1} {
		got, ok := ParseID(id.String())
		if !ok || got != id || len(id.String()) != 15 {
			t.Errorf("ParseID(%q) = %d, %v, want %d", id, got, ok, id)
		}
		if idFromKey(id.key()) != id {
			t.Errorf("idFromKey(%d.key()) = %d", id, idFromKey(id.key()))
		}
	}
	for _, s := range []string{"", "key_", "key_00000000000", "key_zzzzzzzzzzz", "key_0000000000-", "abc_00000000001", "key_000000000001"} {
		if id, ok := ParseID(s); ok {
			t.Errorf("ParseID(%q) = %d, want refused", s, id)
		}
	}
}

// TestIDOrder makes ids microseconds apart, over the end of a second and before 1970: lists are in their order.
func TestIDOrder(t *testing.T) {
	at, last := time.Unix(1_795_996_799, 999_900_000), NewID(time.Unix(-1, 0))
	for range 200 {
		id := NewID(at)
		if id <= last {
			t.Fatalf("%s of %s comes after %s, which is older", id, at, last)
		}
		at, last = at.Add(time.Microsecond), id
	}
}

func FuzzParseKey(f *testing.F) {
	good := NewSecret("mdx").Reveal()
	f.Add(good, "mdx")
	f.Add(good[:39], "mdx")
	f.Add("mdx_", "mdx")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, key, prefix string) {
		d, ok := ParseKey(key, prefix)
		if b, okb := ParseKey([]byte(key), prefix); b != d || okb != ok {
			t.Fatalf("ParseKey differs between string and bytes: %v, %v", ok, okb)
		}
		if !ok {
			return
		}
		body := len(key) - checkChars
		if d != sha256.Sum256([]byte(key)) || key[body:] != checksum(key[:body]) || !strings.HasPrefix(key, prefix+"_") {
			t.Fatalf("ParseKey(%q, %q) accepts what NewSecret cannot make", key, prefix)
		}
	})
}

// DigestOf knows every key, and of what is none it looks at the prefix and the length.
func TestDigestOf(t *testing.T) {
	s := NewSecret("mdx").Reveal()
	want, _ := ParseKey(s, "mdx")
	if d, ok := DigestOf([]byte(s), "mdx"); !ok || d != want {
		t.Errorf("DigestOf() = %v, %v, want that of ParseKey, %v", d, ok, want)
	}
	damaged := s[:39] + string(s[39]^1)
	if d, ok := DigestOf(damaged, "mdx"); !ok || d == want {
		t.Errorf("DigestOf() of a damaged key = %v, %v, want another digest", d, ok)
	}
	for _, text := range []string{"", s[:39], s + "0", "abc" + s[3:], "mdx-" + s[4:], strings.Repeat("a", 500)} {
		if d, ok := DigestOf(text, "mdx"); ok || d != (Digest{}) {
			t.Errorf("DigestOf(%q) = %v, %v, want none", text, d, ok)
		}
	}
	b := []byte(s)
	if got := testing.AllocsPerRun(100, func() { DigestOf(b, "mdx") }); got != 0 {
		t.Errorf("DigestOf allocates %v times, want 0", got)
	}
}
