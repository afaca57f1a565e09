package record

import "testing"

func TestInvisible(t *testing.T) {
	for text, want := range map[string]rune{
		"": 0, "plain": 0, "Ünï 🏃 ×": 0, "a\u00a0b": 0, "llama\u200b": 0x200b, "a\nb": '\n', "a\x00": 0, "\u202eevil": 0x202e, "x\x7f": 0x7f, "a\u2028b": 0x2028, "a\u0085b": 0x85, "\ufeffa": 0xfeff,
	} {
		got, found := Invisible(text)
		if got != want || found != (want != 0 || text == "a\x00") {
			t.Errorf("Invisible(%q) = %U, %t, want %U", text, got, found, want)
		}
	}
}

func TestPrintable(t *testing.T) {
	if got, want := Printable("a\u202eb\n\x1b[31m ünï"), `a\u202eb\u000a\u001b[31m ünï`; got != want {
		t.Errorf("Printable = %q, want %q", got, want)
	}
}

func TestClip(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"aüb", 2, "aü…"}, {"aü", 2, "aü"}, {"", 0, ""}, {"ü", 0, "…"}, {"a\xffb", 3, "a\uFFFDb"}} {
		if got := Clip(tt.text, tt.n); got != tt.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", tt.text, tt.n, got, tt.want)
		}
	}
}
