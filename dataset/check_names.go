package dataset

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"modeldex/dataset/record"
)

type alias struct{ field, text string }

func aliasesOf(name string, list []string, more ...alias) []alias {
	out := slices.Concat(more, []alias{{"name", name}})
	for i, text := range list {
		out = append(out, alias{"aliases." + strconv.Itoa(i), text})
	}
	return out
}

func modelNames(m *Model) (Slug, []alias) {
	if m.HFRepo == nil {
		return m.Slug, aliasesOf(m.Name, m.Aliases)
	}
	return m.Slug, aliasesOf(m.Name, m.Aliases, alias{"hf_repo", *m.HFRepo})
}

func hardwareNames(h *Hardware) (Slug, []alias) { return h.Slug, aliasesOf(h.Name, h.Aliases) }

func toolNames(t *Tool) (Slug, []alias) { return t.Slug, aliasesOf(t.Name, t.Aliases) }

type registry struct {
	kind   string
	owner  map[Slug]int32 // slug -> record, -1 for one that was lost
	gap    bool           // a record's slug is unreadable, so any name may be its
	sorted func() []string
	byName func() map[string]Slug // the words of each name and alias -> the first record that has them; none for keys
}

func newRegistry(kind string, gap bool) *registry {
	r := &registry{kind: kind, owner: map[Slug]int32{}, gap: gap, byName: func() map[string]Slug { return nil }}
	r.sorted = sync.OnceValue(func() []string { return record.Texts(slices.Sorted(maps.Keys(r.owner))) })
	return r
}

// register gathers the slugs of a kind, each of one record and its file, and checks names and aliases.
func register[T any](c *checker, t *table[T], kind string, of func(*T) (Slug, []alias)) *registry {
	c.rule = "names"
	r := newRegistry(kind, t.gap())
	for _, rec := range t.lost {
		r.owner[rec.slug] = -1
	}
	for i := range t.recs {
		slug, _ := of(t.recs[i])
		if slug.Reserved() {
			c.reserved(t.places[i], "slug", slug)
		}
		first, twice := r.owner[slug]
		if !twice || first < 0 || slug == "" {
			r.owner[slug] = int32(i)
			continue
		}
		copied, of := int32(i), first
		if c.misnamed(t.places[first], slug) && !c.misnamed(t.places[i], slug) { // the copy is that whose file has another name
			r.owner[slug], copied, of = int32(i), first, int32(i)
		}
		c.at(t.places[copied], "slug", fmt.Sprintf("%q is a duplicate of %s", slug, c.placeText(t.places[of])))
	}
	for slug, i := range r.owner {
		if i >= 0 && c.misnamed(t.places[i], slug) {
			c.at(t.places[i], "slug", fmt.Sprintf("must match the name of the file, got %q in %s", slug, path.Base(c.files[t.places[i].file].name)))
		}
	}
	r.byName = sync.OnceValue(func() map[string]Slug {
		names := map[string]Slug{}
		for _, rec := range t.recs {
			slug, aliases := of(rec)
			for _, a := range aliases {
				if words := strings.Join(nameWords(a.text), " "); names[words] == "" {
					names[words] = slug
				}
			}
		}
		return names
	})
	// If the slug of a record differs from its file name, both are known: one of them is wrong, but references to it are
	// not.
	for _, p := range t.places {
		if f := c.files[p.file]; f.single && kindOf(f.name) != benchmarksDir {
			slug := Slug(strings.TrimSuffix(path.Base(f.name), ".json"))
			if _, known := r.owner[slug]; !known {
				r.owner[slug] = -1
			}
		}
	}
	r.checkAliases(c, len(t.recs), func(i int) (place, Slug, []alias) {
		slug, aliases := of(t.recs[i])
		return t.places[i], slug, aliases
	})
	return r
}

// misnamed reports whether the only record of a .json file has a slug that is not the name of the file.
func (c *checker) misnamed(p place, slug Slug) bool {
	f := c.files[p.file]
	return f.single && kindOf(f.name) != benchmarksDir && path.Base(f.name) != string(slug)+".json"
}

// checkAliases compares without letter case, as callers' words are looked up.
func (r *registry) checkAliases(c *checker, n int, rec func(int) (place, Slug, []alias)) {
	byAlias := map[string]Slug{} // folded alias -> the first record that has it
	for i := range n {
		p, slug, aliases := rec(i)
		var own []string // aliases of this record
		for _, a := range aliases {
			if a.text == "" {
				continue // a fault of its own
			}
			plain := strings.Join(strings.Fields(norm.NFKC.String(a.text)), " ") // a no-break space looks like a blank, a wide A like an A
			if strings.HasPrefix(a.field, "aliases.") {
				if slices.Contains(own, plain) {
					c.at(p, a.field, fmt.Sprintf("%q is listed twice", a.text))
				}
				own = append(own, plain)
			}
			folded := strings.ToLower(plain)
			first, taken := byAlias[folded]
			switch _, isSlug := r.owner[Slug(folded)]; {
			case isSlug && Slug(folded) != slug:
				c.at(p, a.field, fmt.Sprintf("%q is the slug of another %s", a.text, r.kind))
			case taken && first != slug:
				c.at(p, a.field, fmt.Sprintf("%q is already a name of the %s %s", a.text, r.kind, first))
			default:
				byAlias[folded] = slug
			}
		}
	}
}

func (r *registry) reference(c *checker, p place, field string, slug Slug) {
	if _, known := r.owner[slug]; !known && !r.gap {
		r.missed(c, p, field, slug, fmt.Sprintf("no %s has slug %q", r.kind, slug))
	}
}

// missed notes a reference to nothing, and what may be meant. What many lines name was renamed or removed.
func (r *registry) missed(c *checker, p place, field string, slug Slug, text string) {
	type missing struct {
		of   *registry
		slug Slug
	}
	c.because(missing{r, slug}, pendingFinding{at: p, field: field, text: text}, func() string {
		if now := r.named(nameWords(string(slug))); now != "" { // a name of the record in place of its slug
			return fmt.Sprintf("; did you mean %q?", now)
		}
		return record.Suggestion(string(slug), r.sorted())
	}, func(found []pendingFinding) (pendingFinding, bool) {
		one, hint, words := found[0], ": restore it, or change the lines", nameWords(string(slug))
		now := r.named(words)
		if now == "" && len(words) > 1 {
			now = r.named(words[1:]) // without its maker
		}
		if now != "" {
			hint = fmt.Sprintf(": if it is now %q, use that slug in these lines and add the old one to its aliases, or restore the old slug", now)
		}
		one.text += " (used in " + record.Counted(len(found)-1, "more line") + ")" + hint
		return one, true
	})
}

func (c *checker) reserved(p place, field string, slug Slug) {
	c.at(p, field, fmt.Sprintf("%q is reserved by the API: choose another", slug))
}

func (r *registry) named(words []string) Slug {
	return r.byName()[strings.Join(words, " ")]
}

func (r *registry) references(c *checker, p place, field string, slugs *[]Slug) {
	for i, slug := range known(slugs) {
		r.reference(c, p, field+"."+strconv.Itoa(i), slug)
	}
}

func nameWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) })
}

func registerOrigins(c *checker) *registry {
	c.rule = "names"
	r := newRegistry("key", len(c.origins.lost) > 0)
	for i, rec := range c.origins.recs {
		p := c.origins.places[i]
		if first, twice := r.owner[Slug(rec.Key)]; twice {
			c.at(p, "key", fmt.Sprintf("%q is a duplicate of %s", rec.Key, c.placeText(c.origins.places[first])))
			continue
		}
		r.owner[Slug(rec.Key)] = int32(i)
		c.date(p, "read", &rec.Read)
		if want := rec.URL.OriginKey(); want != rec.Key {
			c.at(p, "key", fmt.Sprintf("must match url (%q), got %q", want, rec.Key), "url")
		}
	}
	return r
}

func checkSourceKey(c *checker, r *run, p place) {
	b, has := r.Benchmark, func(key string) bool { _, known := c.keys.owner[Slug(key)]; return known }
	switch {
	case b.SourceURL == nil && b.SourceKey != nil:
		c.at(p, "source_key", "must be null if source_url is null", "source_url")
	case b.SourceURL == nil:
	case b.SourceKey == nil:
		if c.warn && c.hasFile(sourcesFile) { // the text costs more than all other checks of a row
			text := fmt.Sprintf("must be %q, the key of source_url", b.SourceURL.OriginKey())
			if !has(b.SourceURL.OriginKey()) {
				text += "; add that key to sources.json"
			}
			c.warning(p, "source_key", text, "source_url")
		}
	case *b.SourceKey != b.SourceURL.OriginKey():
		c.at(p, "source_key", fmt.Sprintf("must match source_url (%q), got %q", b.SourceURL.OriginKey(), *b.SourceKey), "source_url")
	case !has(*b.SourceKey) && !c.keys.gap && c.hasFile(sourcesFile):
		c.keys.missed(c, p, "source_key", Slug(*b.SourceKey), fmt.Sprintf("sources.json has no key %q", *b.SourceKey))
	}
}

func checkCredits(c *checker, _ all, _ place) {
	o := c.keys
	if !c.hasFile(sourcesFile) {
		named := slices.ContainsFunc(c.benchmarks.recs, func(b *Benchmark) bool { return b.SourceKey != nil })
		if named && len(c.origins.lost) == 0 {
			c.findings = append(c.findings, Finding{Path: sourcesFile, Text: "the file is missing, but benchmarks use its keys"})
		}
		return
	}
	if !c.warn {
		return
	}
	used := map[string]bool{}
	for _, b := range c.benchmarks.recs {
		if b.SourceKey != nil {
			used[*b.SourceKey] = true
		}
	}
	warn := func(p place) func(string, URL) {
		return func(field string, page URL) {
			key := page.OriginKey()
			if _, known := o.owner[Slug(key)]; !known && !used[key] && !o.gap {
				c.warning(p, field, fmt.Sprintf("sources.json has no key %q", key)+record.Suggestion(key, o.sorted()))
			}
			used[key] = true // one warning for each key
		}
	}
	for i, m := range c.models.recs {
		modelPages(m, warn(c.models.places[i]))
	}
	for i, h := range c.hardware.recs {
		hardwarePages(h, warn(c.hardware.places[i]))
	}
	for i, t := range c.tools.recs {
		sourcePages(t.Sources, warn(c.tools.places[i]))
	}
	for i, q := range c.quantizations.recs {
		sourcePages(q.Sources, warn(c.quantizations.places[i]))
	}
	c.quality.all(func(q *Quality, p place) { warn(p)("source_url", q.SourceURL) })
	if len(c.models.lost)+len(c.hardware.lost)+len(c.tools.lost)+len(c.quantizations.lost)+len(c.benchmarks.lost)+len(c.quality.lost) > 0 {
		return // what names it may be in what was not read
	}
	for i, rec := range c.origins.recs {
		if !used[rec.Key] {
			c.warning(c.origins.places[i], "key", "no record cites a page of this source")
		}
	}
}
