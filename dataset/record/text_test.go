package record

import "testing"

func TestInvisible(t *testing.T) {
	for text, want := range map[string]rune{
		"": 0, "plain": 0, "Ünï 🏃 ×": 0, "a\u00a0b": 0, "llama\u200b": 0x200b, "a\nb": '\n', "a\x00": 0, "\u202eevil": 0x202e, "x\x7f": 0x7f, "a\u2028b": 0x2028, "a\u0085b": 0x85, "\ufeffa": 0xfeff,
		"cuda\u3164": 0x3164, "a\u115fb": 0x115f, "a\u034fb": 0x34f, "a\uffa0": 0xffa0, "a\u2800": 0x2800, "\u2764\ufe0f": 0, "\ua4f0": 0, "한국": 0,
	} {
		got, found := Invisible(text)
		if got != want || found != (want != 0 || text == "a\x00") {
			t.Errorf("Invisible(%q) = %U, %t, want %U", text, got, found, want)
		}
	}
}

func TestMixed(t *testing.T) {
	for text, want := range map[string]rune{
		"": 0, "plain": 0, "Яндекс GPT": 0, "Яндекс-GPT": 0, "5 μs": 0, "5μs": 0, "Δt": 0, "α-test": 0, "naïve café": 0, "Qwen3-8B模型": 0, "\u0430F16": 0x430, "Nvidi\u0430": 0x430,
		"RT\u03a7 4090": 0x3a7, "a b \u0441uda": 0x441, "8\u0412": 0, "Яндекс3B": 'Я', "c\u0301\u043e": 0x43e,
	} {
		if got, found := Mixed(text); got != want || found != (want != 0) {
			t.Errorf("Mixed(%q) = %U, %t, want %U", text, got, found, want)
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
