package dataset

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"modeldex/dataset/record"
)

// origins knows the keys of sources.json.
type origins struct {
	byKey   map[string]int32
	missing bool // there is no file
	gap     bool // a key is unreadable, so any may be there
	sorted  func() []string
	missed  misses
}

// checkOrigins checks that no key of sources.json is there twice, and that each is that of its address.
func (l *loader) checkOrigins() *origins {
	o := &origins{byKey: map[string]int32{}, missing: !slices.Contains(l.files, sourcesFile), gap: len(l.origins.undecodable) > 0}
	o.sorted = sync.OnceValue(func() []string { return slices.Sorted(maps.Keys(o.byKey)) })
	for i, rec := range l.origins.recs {
		p := l.origins.places[i]
		if first, twice := o.byKey[rec.Key]; twice {
			l.at(p, "key", fmt.Sprintf("%q is a duplicate of %s", rec.Key, l.placeText(l.origins.places[first])))
			continue
		}
		o.byKey[rec.Key] = int32(i)
		l.date(p, "read", &rec.Read)
		if want := rec.URL.OriginKey(); want != rec.Key {
			l.at(p, "key", fmt.Sprintf("must be that of url, %q, got %q", want, rec.Key), "url")
		}
	}
	return o
}

// report adds the findings of keys that there are not.
func (o *origins) report(l *loader) {
	o.missed.report(l, func(key string, many bool) (text, hint string) {
		if text = fmt.Sprintf("sources.json has no key %q", key); !many { // many lines have no mistake in spelling
			hint = record.Suggestion(key, o.sorted())
		}
		return text, hint
	})
}

// reference checks the key of a measurement: it is that of the page, and sources.json has it. A
// dataset that names no keys needs no file.
func (o *origins) reference(l *loader, p place, b *Benchmark) {
	switch {
	case b.SourceURL == nil && b.SourceKey != nil:
		l.at(p, "source_key", "must be null where source_url is null", "source_url")
	case b.SourceURL == nil:
	case b.SourceKey == nil:
		if l.warn && !o.missing { // the text costs more than all other checks of a row
			text := fmt.Sprintf("is unknown, the page is of %q", b.SourceURL.OriginKey())
			if _, known := o.byKey[b.SourceURL.OriginKey()]; !known {
				text += ": add it to sources.json"
			}
			l.warning(p, "source_key", text, "source_url")
		}
	case *b.SourceKey != b.SourceURL.OriginKey():
		l.at(p, "source_key", fmt.Sprintf("must be that of source_url, %q, got %q", b.SourceURL.OriginKey(), *b.SourceKey), "source_url")
	default:
		if _, known := o.byKey[*b.SourceKey]; !known && !o.gap && !o.missing {
			o.missed.add(l, p, "source_key", *b.SourceKey)
		}
	}
}

// checkCredits warns of three faults of sources.json. The file is missing though measurements name keys of it;
// a record names a page whose repository or site is not listed; no record names a page of an entry.
func (l *loader) checkCredits(o *origins) {
	if o.missing {
		named := slices.ContainsFunc(l.benchmarks.recs, func(b *Benchmark) bool { return b.SourceKey != nil })
		if named && len(l.origins.undecodable) == 0 {
			l.add(Finding{Path: sourcesFile, Text: "the file is missing, and measurements name its keys"})
		}
		return
	}
	if !l.warn {
		return
	}
	used := map[string]bool{}
	for _, b := range l.benchmarks.recs {
		if b.SourceKey != nil {
			used[*b.SourceKey] = true
		}
	}
	warn := func(p place) func(string, URL) {
		return func(field string, page URL) {
			key := page.OriginKey()
			if _, known := o.byKey[key]; !known && !used[key] && !o.gap {
				l.warning(p, field, fmt.Sprintf("sources.json has no key %q", key)+record.Suggestion(key, o.sorted()))
			}
			used[key] = true // one warning for each key
		}
	}
	for i, m := range l.models.recs {
		modelPages(m, warn(l.models.places[i]))
	}
	for i, h := range l.hardware.recs {
		hardwarePages(h, warn(l.hardware.places[i]))
	}
	for i, t := range l.tools.recs {
		sourcePages(t.Sources, warn(l.tools.places[i]))
	}
	for i, q := range l.quantizations.recs {
		sourcePages(q.Sources, warn(l.quantizations.places[i]))
	}
	if len(l.models.undecodable)+len(l.hardware.undecodable)+len(l.tools.undecodable)+len(l.quantizations.undecodable)+len(l.benchmarks.undecodable) > 0 {
		return // what names it may be in what was not read
	}
	for i, rec := range l.origins.recs {
		if !used[rec.Key] {
			l.warning(l.origins.places[i], "key", "no record names a page of it")
		}
	}
}
