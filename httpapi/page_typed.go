package httpapi

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"modeldex/dataset/record"
	"modeldex/httpapi/pages"
	"modeldex/index"
)

// What people type into the forms of pages: figures with units, an amount of memory for a card, the name of a model where a card is
// asked for, a whole question.

// typedNumber is a figure as people write it: 32k, 32,768 or 24 GB.
var typedNumber = regexp.MustCompile(`(?i)^\s*(\d+|\d{1,3}(?:,\d{3})+)(\.\d+)?\s*(k?)\s*(?:gb|gib|gb/s|tokens?|tok/s|t/s|x)?\s*$`)

// typedNumbers are the parameters of forms that are numbers.
var typedNumbers = []string{"memory_gb", "bandwidth_gbps", "context", "min_tps", "count"}

// tidied are the parameters of a form as the pages take them: numbers are without units, and in the form of a machine an amount of
// memory is no longer the name of hardware. It reports whether one was changed.
func tidied(args *fasthttp.Args, machine bool) (out *fasthttp.Args, changed bool) {
	out = &fasthttp.Args{}
	for key, value := range args.All() {
		name, v := string(key), string(value)
		if gb := amountOfMemory(v); machine && name == "hardware" && gb != "" && !args.Has("memory_gb") {
			name, v = "memory_gb", gb
		}
		if slices.Contains(typedNumbers, name) {
			v = unitless(v)
		}
		if name == "unified_share" {
			v = partOfOne(v)
		}
		changed = changed || v != string(value)
		out.Add(name, v)
	}
	return out, changed
}

// unitless is a typed figure as parameters take it; what is no figure stays.
func unitless(typed string) string {
	m := typedNumber.FindStringSubmatch(typed)
	if m == nil {
		return typed
	}
	number := strings.ReplaceAll(m[1], ",", "") + m[2]
	if v, err := strconv.ParseFloat(number, 64); err == nil && m[3] != "" { // 32k of context is 32,768 tokens, as on the pages
		return strconv.FormatFloat(v*1024, 'f', -1, 64)
	}
	return number
}

// partOfOne is a typed share as parameters take it: 75%, or 75 alone, is 0.75. What is no share stays.
func partOfOne(typed string) string {
	number, percent := strings.CutSuffix(strings.TrimSpace(typed), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(v > 0 && v <= 100) || !percent && v <= 1 {
		return typed
	}
	return strconv.FormatFloat(v/100, 'f', -1, 64)
}

// meantElsewhere are the pages that a text may mean which is no name of the records of a table: of an amount of memory, of a record of
// another kind, or of hardware that is named in a question.
func meantElsewhere(gen *index.Generation, not *index.Table, typed string) (links []pages.Link) {
	if gb := amountOfMemory(typed); gb != "" {
		return []pages.Link{{Text: "what runs in " + gb + " GB", Href: "/fit?memory_gb=" + gb}}
	}
	for _, r := range []*resource{models, hardware, tools} {
		if t := r.table(gen); t != not {
			if slug, _ := named(gen, t, typed); slug != "" {
				links = append(links, pages.Link{Text: "the " + nounOf(r) + " " + pages.NameOf(gen, slug), Href: "/" + r.name + "/" + slug})
			}
		}
	}
	return links
}

// nounOf is what pages call one record.
func nounOf(r *resource) string {
	if r == hardware {
		return "hardware"
	}
	return r.singular
}

// mostWords bounds the work for a long question.
const mostWords = 16

// namedIn are the records of a table that words of a text name, the longest name first found.
func namedIn(gen *index.Generation, t *index.Table, typed string) []string {
	words := strings.Fields(strings.Trim(typed, " ?!."))
	if len(words) < 2 || len(words) > mostWords {
		return nil
	}
	const longest = 5
	for n := min(longest, len(words)-1); n > 0; n-- {
		for i := 0; i+n <= len(words); i++ {
			part := strings.Join(words[i:i+n], " ")
			if !strings.ContainsAny(part, "0123456789") {
				continue // "my" and "runs" are no names
			}
			slug, a := named(gen, t, part)
			if slug != "" {
				return []string{slug}
			}
			if a.Ambiguous {
				return candidateSlugs(&a)
			}
		}
	}
	return nil
}

// nearWords are the pages that words may mean which no record of a list has.
func nearWords(gen *index.Generation, r *resource, typed string) []pages.Link {
	t := r.table(gen)
	if links := meantElsewhere(gen, t, typed); links != nil {
		return links
	}
	if r == benchmarks {
		return respelled(r, t, typed)
	}
	records := func(slugs ...string) (links []pages.Link) {
		for _, slug := range slugs {
			links = append(links, pages.Link{Text: pages.NameOf(gen, slug), Href: "/" + r.name + "/" + slug})
		}
		return links
	}
	slug, a := named(gen, t, typed)
	if slug != "" {
		return records(slug)
	}
	if slugs := namedIn(gen, t, typed); slugs != nil {
		return records(slugs...)
	}
	candidates := candidateSlugs(&a)
	if several := strings.Contains(typed, " "); several || candidates == nil { // a slug near several words rarely has all of them
		if links := respelled(r, t, typed); links != nil {
			return links
		}
	}
	if candidates == nil {
		candidates = nearSlugs(t, typed)
	}
	return records(candidates...)
}

// respelled is the search for words of which those that no record has are replaced by the nearest that one has; nil where that finds
// nothing either.
func respelled(r *resource, t *index.Table, typed string) []pages.Link {
	words := strings.Fields(typed)
	for _, u := range t.UnknownWords(words, 1) {
		if len(u.Near) == 0 {
			return nil
		}
		for i, w := range words {
			if w == u.Word {
				words[i] = u.Near[0]
			}
		}
	}
	text := strings.Join(words, " ")
	if text == typed || t.Select(index.Query{Words: words, Limit: 1}).Total == 0 {
		return nil
	}
	return []pages.Link{{Text: "“" + record.Printable(text) + "”", Href: "/explore/" + r.name + "?q=" + url.QueryEscape(text)}}
}
