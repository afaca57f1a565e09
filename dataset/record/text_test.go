package record

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

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

func TestCounted(t *testing.T) {
	for n, want := range map[int]string{0: "0 findings", 1: "1 finding", 2: "2 findings", 1000: "1000 findings"} {
		if got := Counted(n, "finding"); got != want {
			t.Errorf("Counted(%d) = %q, want %q", n, got, want)
		}
	}
	if got := Noun(uint64(1), "entry", "entries") + " " + Noun(int64(2), "entry", "entries"); got != "entry entries" {
		t.Errorf("Noun = %q, want entry entries", got)
	}
}

// fixedCounts are texts whose noun may be plural: the number is above one wherever they are written, or the text is part of
// snapshot documents, whose bytes anyone must be able to make again.
var fixedCounts = []string{
	"%d devices that share each layer", "ollama has %d models", "%d devices were read from the name of the hardware", "%d keys have hint or e-mail address", "%d models of the directory, given none",
	"aliases: %d lines, sha256", "mean of %d categories over %d values", "%d days old when the document was made", "%d rows, sha256", "directory: %d models, sha256",
}

// TestCountsHaveTheirNoun looks through the texts of the program for numbers whose noun is plural even if the number is 1.
func TestCountsHaveTheirNoun(t *testing.T) {
	many := regexp.MustCompile(`(.{8}|^)%d (?:more |other )?(findings|rows|records|models|scores|accounts|months|calls|files|forms|addresses|benchmarks|measurements|lines|releases|warnings|changes|pages|runs|sizes|keys|days|tools|entries|devices|documents|values|fields|names|groups|hits|errors)\b`)
	// "2 of 3 rows" and "1 to 50 rows" have no singular, and the bounds of the program are above one.
	bound := regexp.MustCompile(`(of|to|than|at most|started) $`)
	eachLine(t, func(where, line string) {
		for _, m := range many.FindAllStringSubmatch(line, -1) {
			if !bound.MatchString(m[1]) && !slices.ContainsFunc(fixedCounts, func(text string) bool { return strings.Contains(line, text) }) {
				t.Errorf("%s: a number has a plural noun; use Counted or Noun: %s", where, strings.TrimSpace(line))
			}
		}
	}, ".go")
}

// TestPlainEnglish looks through help texts, rules, errors, pages and the OpenAPI document for stiff forms that users met before.
func TestPlainEnglish(t *testing.T) {
	stiff := regexp.MustCompile(`(?i)cannot be asked|\bsaid so\b|\basks? for a look|not known of|it cannot be said|such as can be|value it cannot have|` +
		`can all be true together|records that are there|people's words|key takes one call|as many [a-z ]+ as it may\b|served at this address`)
	for text, want := range map[string]bool{"This cannot be asked so": true, "a time that is none is said so": true, "The key is unknown.": false} {
		if stiff.MatchString(text) != want {
			t.Errorf("%q: stiff is not %t", text, want)
		}
	}
	eachLine(t, func(where, line string) {
		comment := strings.HasPrefix(strings.TrimSpace(line), "//")
		if found := stiff.FindString(line); found != "" && !comment {
			t.Errorf("%s: say %q in plain English", where, found)
		}
	}, ".go", ".html", "/openapi.json")
}

// eachLine gives each line of the program's files whose names have one of the endings, with its place.
func eachLine(t *testing.T, do func(where, line string), endings ...string) {
	t.Helper()
	root, read := os.DirFS("../.."), 0
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "bench" || name == "data" || path.Base(name) == "testdata" || strings.HasSuffix(name, "test") || len(name) > 1 && name[0] == '.'):
			return fs.SkipDir
		case d.IsDir() || strings.HasSuffix(name, "_test.go") || !slices.ContainsFunc(endings, func(end string) bool { return strings.HasSuffix(name, end) }):
			return nil
		}
		b, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		read++
		for i, line := range strings.Split(string(b), "\n") {
			do(name+":"+strconv.Itoa(i+1), line)
		}
		return nil
	})
	if err != nil || read < 100 {
		t.Fatalf("%d files read, %v", read, err)
	}
}
