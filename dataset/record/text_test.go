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
	"time"

	"github.com/google/go-cmp/cmp"
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

// fixedCounts are texts whose noun may be plural: the number is above one wherever they are written, or the text is part of
// snapshot documents, whose bytes anyone must be able to make again.
var fixedCounts = []string{
	"%d devices that share each layer", "ollama has %d models", "%d keys have the hint or e-mail address", "%d models of the directory, given none",
	"aliases: %d lines, sha256", "mean of %d categories over %d values", "%d days old when the document was made", "%d rows, sha256", "directory: %d models, sha256",
	"an index key of %d values in 16 bits", "%d or %d entries of keys and scores",
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
		`can all be true together|records that are there|people's words|key takes one call|as many [a-z ]+ as it may\b|served at this address|` +
		`must be that of|asked for here|look around byte|must hold (a|only|letters)|where half of|key of the tier|accounted for|known by this name`)
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

func TestOriginKey(t *testing.T) {
	for url, want := range map[URL]string{
		"https://github.com/ggml-org/llama.cpp/discussions/4167#c1":     "github.com/ggml-org/llama.cpp",
		"https://github.com/QwenLM/Qwen3":                               "github.com/qwenlm/qwen3",
		"https://github.com/QwenLM/Qwen3?tab=readme":                    "github.com/qwenlm/qwen3",
		"https://raw.githubusercontent.com/QwenLM/Qwen3/main/README.md": "github.com/qwenlm/qwen3",
		"https://github.com/orgs":                                       "github.com/orgs",
		"https://github.com":                                            "github.com",
		"https://github.com/":                                           "github.com",
		"https://www.amd.com/en/products/graphics.html":                 "amd.com",
		"http://Example.COM?q=https://github.com/a/b":                   "example.com",
		"https://gist.github.com/someone/0123":                          "gist.github.com",
		"https://huggingface.co/Qwen/Qwen3-8B/blob/main/config.json#L1": "huggingface.co",
	} {
		if got := url.OriginKey(); got != want {
			t.Errorf("%s: got %q, want %q", url, got, want)
		}
	}
}

func TestConditionOf(t *testing.T) {
	for _, tt := range []struct {
		text string
		want PriceCondition
		ok   bool
	}{
		{"new", "new", true},
		{"used, asked on eBay", "used", true},
		{"not stated, one shop's listing", "not stated", true},
		{"mixed", "mixed", true},
		{"", "", false},
		{"New", "New", false},
		{"newest", "newest", false},
		{"mean of 5 used", "mean of 5 used", false},
	} {
		if got, ok := ConditionOf(tt.text); got != tt.want || ok != tt.ok {
			t.Errorf("ConditionOf(%q) = %q, %v, want %q, %v", tt.text, got, ok, tt.want, tt.ok)
		}
	}
}

func TestNear(t *testing.T) {
	models := []string{"llama-3-8b", "llama-3.1-8b", "llama-3.1-8b-instruct", "llama-3.1-70b", "qwen3-8b", "phi-4"}
	for _, tt := range []struct {
		name, word string
		candidates []string
		n          int
		want       []string
	}{
		{"one letter off", "nvida", []string{"amd", "nvidia", "intel"}, 1, []string{"nvidia"}},
		{"letter case does not count", "NVIDIA", []string{"amd", "nvidia"}, 1, []string{"nvidia"}},
		{"nearest first", "llama-3.1-8", models, 3, []string{"llama-3.1-8b", "llama-3-8b", "llama-3.1-70b"}},
		{"part of a name", "instruct", models, 3, []string{"llama-3.1-8b-instruct"}},
		{"no more than asked", "llama-3.1-8b", models, 1, []string{"llama-3.1-8b"}},
		{"nothing near", "gpt-oss-120b", []string{"phi-4", "qwen3-8b"}, 3, []string{}},
		{"two letters say too little to search for", "ph", []string{"some-phi-model"}, 1, []string{}},
		{"nothing to choose from", "x", nil, 3, []string{}},
		{"none wanted", "phi-4", models, 0, []string{}},
		{"no word", "", []string{"ab", "abcdef"}, 2, []string{}},
		{"another word as short", "f0", []string{"yi", "phi"}, 1, []string{}},
		{"one sign", "_", []string{"q"}, 1, []string{}},
		{"a sign of several bytes", "\u2603", []string{"yi"}, 1, []string{}},
		{"a plural", "families", []string{"family", "license"}, 1, []string{"family"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Near(tt.word, tt.candidates, tt.n)); diff != "" {
				t.Errorf("Near(%q) (-want +got):\n%s", tt.word, diff)
			}
		})
	}
}

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

func TestDate(t *testing.T) {
	pattern := regexp.MustCompile(DatePattern)
	for _, tt := range []struct {
		date Date
		want string // the first instant, empty if it is not a date
	}{
		{"2024-07-23", "2024-07-23"},
		{"2024-07", "2024-07-01"},
		{"2024", "2024-01-01"},
		{"2024-02-29", "2024-02-29"},
		{"0001-01-01", "0001-01-01"},
		{"2023-02-29", ""},
		{"2024-00-01", ""},
		{"2024-13", ""},
		{"2024-04-31", ""},
		{"2024-1-1", ""},
		{"24", ""},
		{"", ""},
		{"2024-07-23T00:00:00Z", ""},
		{"2024/07/23", ""},
		{"2024-07-2x", ""},
		{"-024-01-01", ""},
		{"２０２４", ""},
	} {
		got, ok := tt.date.Time()
		if ok != (tt.want != "") || ok && got.Format(time.DateOnly) != tt.want {
			t.Errorf("Date(%q).Time() = %v, %t, want %q", tt.date, got, ok, tt.want)
		}
		if ok && !pattern.MatchString(string(tt.date)) {
			t.Errorf("Date(%q) is valid, the pattern of schemas refuses it", tt.date)
		}
	}
}

// DateOf undoes Number.
func TestDateOf(t *testing.T) {
	for _, d := range []Date{"2024", "2024-05", "2024-05-09", "0987-12-31"} {
		if got := DateOf(d.Number()); got != d {
			t.Errorf("DateOf(%d) = %q, want %q", d.Number(), got, d)
		}
	}
}

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
