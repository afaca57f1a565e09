package record

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// Invisible returns the first invisible character of a text: control, direction, zero width, filler or end of line.
// Some change what a terminal shows. Variation selectors do not count: emoji have them.
func Invisible(s string) (rune, bool) {
	for _, r := range s {
		if r < ' ' || r == 0x7f || r >= utf8.RuneSelf && (unicode.IsControl(r) || r == emptyBraille ||
			unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point)) {
			return r, true
		}
	}
	return 0, false
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf || s[i] < ' ' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

const emptyBraille = '\u2800'

// lookalikes are the Greek letters that are written as Latin ones; most Cyrillic letters count as such.
const lookalikes = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο"

// Mixed returns the first letter of a text that looks Latin but is not, in a word with Latin letters.
func Mixed(s string) (found rune, mixed bool) {
	latin, other := false, rune(0)
	for _, r := range s + " " {
		switch {
		case unicode.Is(unicode.Latin, r):
			latin = true
		case other == 0 && (unicode.Is(unicode.Cyrillic, r) || strings.ContainsRune(lookalikes, r)):
			other = r
		case !unicode.In(r, unicode.L, unicode.M, unicode.N):
			latin, other = false, 0
		}
		if latin && other != 0 {
			return other, true
		}
	}
	return 0, false
}

// Printable returns a text with its invisible characters as \u202e, so that a terminal does not obey them.
func Printable(s string) string {
	if _, found := Invisible(s); !found {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if _, found := Invisible(string(r)); found {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Counted is a number and its noun, whose plural is made by an s: 1 finding, 2 findings.
func Counted[N int | int64 | uint64](n N, noun string) string {
	return fmt.Sprint(n) + " " + Noun(n, noun, noun+"s")
}

// Noun is one for the number 1, else many.
func Noun[N int | int64 | uint64](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Clip makes a text fit to be shown: valid UTF-8, at most n characters, and an ellipsis where more were cut off.
func Clip(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}

// Slug is a record's stable public key: groups of lower-case letters and digits joined by
// single dots or hyphens, at most MaxSlug bytes.
type Slug string

// MaxSlug is the longest slug, in bytes: it must fit in a file name and an address.
const MaxSlug = 100

// SlugPattern is the form of a slug as a regular expression, for schemas.
const SlugPattern = `^[a-z0-9]+([.-][a-z0-9]+)*$`

var slugForm = regexp.MustCompile(SlugPattern)

// Valid reports whether s has the form of a slug.
func (s Slug) Valid() bool { return len(s) <= MaxSlug && slugForm.MatchString(string(s)) }

func (Slug) valid(s string) bool { return Slug(s).Valid() }

func (Slug) rule() string {
	return "must be lower-case letters and digits in groups joined by single dots or hyphens, at most 100 bytes"
}

// Reserved reports whether a slug is a word of the API's addresses, /api/v1/models/facets for one, so that no record
// can be read under it.
func (s Slug) Reserved() bool { return s == "facets" || s == "stats" }

// URL is the address of a page, http or https.
type URL string

// Valid reports whether u is a usable URL: a scheme, a host (IDN in ASCII form), no user, and no characters that URLs
// do not allow.
func (u URL) Valid() bool {
	scheme, rest, _ := strings.Cut(string(u), "://")
	host := hostForm.FindStringSubmatch(rest)
	never := func(r rune) bool { return r <= ' ' || strings.ContainsRune("\x7f\\\"<>", r) }
	return (scheme == "https" || scheme == "http") && host != nil && (len(host[1]) < 5 || host[1] <= "65535") && !strings.ContainsFunc(rest, never)
}

// hostForm is labels of letters, digits and hyphens, joined by single dots, a port if there is one, and what ends a host.
var hostForm = regexp.MustCompile(`^[A-Za-z0-9]+(?:(?:\.|-+)[A-Za-z0-9]+)*(?::([0-9]{1,5}))?(?:[/?#]|$)`)

func (URL) valid(s string) bool { return URL(s).Valid() }

func (URL) rule() string { return "must be an address that starts with https:// or http:// and a host" }

// OriginKey returns the key of the repository or site of a page: the host without www, and for GitHub owner and name.
func (u URL) OriginKey() string {
	_, rest, _ := strings.Cut(string(u), "://")
	rest, _, _ = strings.Cut(rest, "#")
	rest, _, _ = strings.Cut(rest, "?")
	host, path, _ := strings.Cut(strings.ToLower(rest), "/")
	host = strings.TrimPrefix(host, "www.")
	if host == "raw.githubusercontent.com" { // the files of the same repositories
		host = "github.com"
	}
	if host != "github.com" {
		return host
	}
	owner, path, _ := strings.Cut(path, "/")
	name, _, _ := strings.Cut(path, "/")
	return strings.TrimRight(host+"/"+owner+"/"+name, "/")
}

// Near returns up to n candidates a reader may have meant by word, nearest first: they contain it, have another ending,
// or are within a third of its length in edits. It is for error paths.
func Near(word string, candidates []string, n int) []string {
	type scored struct {
		text     string
		distance int
	}
	word = strings.ToLower(word)
	const stem, ending = 5, 3
	limit := max(2, len(word)/3)
	runes := utf8.RuneCountInString(word)
	var near []scored
	for _, c := range candidates {
		folded := strings.ToLower(c)
		d := limit + 1
		if gap := len(folded) - len(word); gap <= limit && -gap <= limit {
			if d = levenshtein.ComputeDistance(word, folded); d >= runes {
				continue // another word: nothing of it is left
			}
		}
		n := len(folded) - 1
		otherEnding := n >= stem && n < len(word) && len(word)-n <= ending && word[:n] == folded[:n]
		if d > limit && (len(word) >= 3 && strings.Contains(folded, word) || otherEnding) {
			d = limit // as good as the farthest miss
		}
		if d <= limit {
			near = append(near, scored{c, d})
		}
	}
	slices.SortFunc(near, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(len(a.text), len(b.text)), cmp.Compare(a.text, b.text))
	})
	out := make([]string, 0, n)
	for _, s := range near[:min(n, len(near))] {
		out = append(out, s.text)
	}
	return out
}
