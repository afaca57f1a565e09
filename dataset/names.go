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

// alias is one more name of a record and the field it is in.
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

// registry knows the slugs of one kind.
type registry struct {
	kind   string
	owner  map[Slug]int32 // slug -> record, -1 for one that was lost
	gap    bool           // a record's slug is unreadable, so any name may be its
	sorted func() []string
	byName func() map[string]Slug // the words of each name and alias -> the first record that has them
	missed misses
}

// register gathers the slugs of a kind. It checks that no slug, name or alias belongs to two records, and that
// a file of one record is named after its slug.
func register[T any](l *loader, s *collector[T], kind string, of func(*T) (Slug, []alias)) *registry {
	r := &registry{kind: kind, owner: make(map[Slug]int32, len(s.recs)), gap: s.gap()}
	r.sorted = sync.OnceValue(func() []string { return record.Texts(slices.Sorted(maps.Keys(r.owner))) })
	for _, rec := range s.undecodable {
		r.owner[rec.slug] = -1
	}
	for i := range s.recs {
		slug, _ := of(s.recs[i])
		if slug.Reserved() {
			l.reserved(s.places[i], "slug", slug)
		}
		first, twice := r.owner[slug]
		if !twice || first < 0 || slug == "" {
			r.owner[slug] = int32(i)
			continue
		}
		copied, of := int32(i), first
		if l.misnamed(s.places[first], slug) && !l.misnamed(s.places[i], slug) { // the copy is that whose file has another name
			r.owner[slug], copied, of = int32(i), first, int32(i)
		}
		l.at(s.places[copied], "slug", fmt.Sprintf("%q is a duplicate of %s", slug, l.placeText(s.places[of])))
	}
	for slug, i := range r.owner {
		if i >= 0 && l.misnamed(s.places[i], slug) {
			l.at(s.places[i], "slug", fmt.Sprintf("must be the name of the file, got %q in %s", slug, path.Base(l.files[s.places[i].file])))
		}
	}
	r.byName = sync.OnceValue(func() map[string]Slug {
		names := map[string]Slug{}
		for _, rec := range s.recs {
			slug, aliases := of(rec)
			for _, a := range aliases {
				if words := strings.Join(nameWords(a.text), " "); names[words] == "" {
					names[words] = slug
				}
			}
		}
		return names
	})
	r.addFileNames(l, s.places)
	r.checkAliases(l, len(s.recs), func(i int) (place, Slug, []alias) {
		slug, aliases := of(s.recs[i])
		return s.places[i], slug, aliases
	})
	return r
}

// addFileNames makes known what files are called whose record says another slug: one of the two
// is wrong, and what refers to it is not to blame.
func (r *registry) addFileNames(l *loader, places []place) {
	for _, p := range places {
		if name := l.files[p.file]; l.single[p.file] && kindOf(name) != benchmarksDir {
			slug := Slug(strings.TrimSuffix(path.Base(name), ".json"))
			if _, known := r.owner[slug]; !known {
				r.owner[slug] = -1
			}
		}
	}
}

// misnamed reports whether a record is the only one of a file that has another name than its slug; arrays and .ndjson
// files are free.
func (l *loader) misnamed(p place, slug Slug) bool {
	name := l.files[p.file]
	return l.single[p.file] && kindOf(name) != benchmarksDir && path.Base(name) != string(slug)+".json"
}

// checkAliases compares without letter case, as callers' words are looked up.
func (r *registry) checkAliases(l *loader, n int, rec func(int) (place, Slug, []alias)) {
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
					l.at(p, a.field, fmt.Sprintf("%q is in the list twice", a.text))
				}
				own = append(own, plain)
			}
			folded := strings.ToLower(plain)
			first, taken := byAlias[folded]
			switch _, isSlug := r.owner[Slug(folded)]; {
			case isSlug && Slug(folded) != slug:
				l.at(p, a.field, fmt.Sprintf("%q is the slug of another %s", a.text, r.kind))
			case taken && first != slug:
				l.at(p, a.field, fmt.Sprintf("%q is a name of the %s %s already", a.text, r.kind, first))
			default:
				byAlias[folded] = slug
			}
		}
	}
}

// reference checks that a field names a record there is; report adds the findings. It returns the number of the
// record, -1 where there is none or it was lost.
func (r *registry) reference(l *loader, p place, field string, slug Slug) int32 {
	i, known := r.owner[slug]
	if known {
		return i
	}
	if !r.gap {
		r.missed.add(l, p, field, string(slug))
	}
	return -1
}

// reserved adds the finding of a name that is a word of the API's addresses.
func (l *loader) reserved(p place, field string, slug Slug) {
	l.at(p, field, fmt.Sprintf("%q is a word of the API's addresses, where the record could not be read: choose another", slug))
}

// named is the record that has words as a name; empty for none.
func (r *registry) named(words []string) Slug { return r.byName()[strings.Join(words, " ")] }

// report adds the findings of references to no record.
func (r *registry) report(l *loader) {
	r.missed.report(l, func(slug string, many bool) (text, hint string) {
		text = fmt.Sprintf("no %s has slug %q", r.kind, slug)
		words := nameWords(slug)
		now := r.named(words)
		if now == "" && many && len(words) > 1 {
			now = r.named(words[1:]) // without its maker
		}
		switch {
		case many && now != "":
			return text, fmt.Sprintf(": if it is %q now, name that in these lines and add the old slug to its aliases, or give it the old slug again", now)
		case many: // many lines have no mistake in spelling
			return text, ""
		case now != "": // a name of the record in place of its slug
			return text, fmt.Sprintf("; did you mean %q", now)
		default:
			return text, record.Suggestion(slug, r.sorted())
		}
	})
}

// nameWords are the words of a slug or name, without letter case and what is between them.
func nameWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) })
}
