package dataset

import (
	"fmt"
	"slices"

	"modeldex/dataset/record"
)

// registerOrigins checks that no key of sources.json is there twice, and that each is that of its address.
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
			c.at(p, "key", fmt.Sprintf("must be that of url, %q, got %q", want, rec.Key), "url")
		}
	}
	return r
}

// checkSourceKey checks the key of a measurement: it is that of the page, and sources.json has it. A
// dataset that names no keys needs no file.
func checkSourceKey(c *checker, r *run, p place) {
	b, has := r.Benchmark, func(key string) bool { _, known := c.keys.owner[Slug(key)]; return known }
	switch {
	case b.SourceURL == nil && b.SourceKey != nil:
		c.at(p, "source_key", "must be null where source_url is null", "source_url")
	case b.SourceURL == nil:
	case b.SourceKey == nil:
		if c.warn && c.hasFile(sourcesFile) { // the text costs more than all other checks of a row
			text := fmt.Sprintf("is unknown, the page is of %q", b.SourceURL.OriginKey())
			if !has(b.SourceURL.OriginKey()) {
				text += ": add it to sources.json"
			}
			c.warning(p, "source_key", text, "source_url")
		}
	case *b.SourceKey != b.SourceURL.OriginKey():
		c.at(p, "source_key", fmt.Sprintf("must be that of source_url, %q, got %q", b.SourceURL.OriginKey(), *b.SourceKey), "source_url")
	case !has(*b.SourceKey) && !c.keys.gap && c.hasFile(sourcesFile):
		c.keys.missed(c, p, "source_key", Slug(*b.SourceKey), fmt.Sprintf("sources.json has no key %q", *b.SourceKey))
	}
}

// checkCredits warns of three faults of sources.json. The file is missing though measurements name keys of it;
// a record names a page whose repository or site is not listed; no record names a page of an entry.
func checkCredits(c *checker, _ all, _ place) {
	o := c.keys
	if !c.hasFile(sourcesFile) {
		named := slices.ContainsFunc(c.benchmarks.recs, func(b *Benchmark) bool { return b.SourceKey != nil })
		if named && len(c.origins.lost) == 0 {
			c.findings = append(c.findings, Finding{Path: sourcesFile, Text: "the file is missing, and measurements name its keys"})
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
			c.warning(c.origins.places[i], "key", "no record names a page of it")
		}
	}
}
