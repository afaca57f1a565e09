package dataset

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"modeldex/dataset/record"
)

// checkChanges checks what no single line of ChangesDir shows. The releases follow each other.
// Each line of changes belongs to one of them, says something new and has the values its act has.
func (l *loader) checkChanges() {
	c := changesCheck{l: l, digests: map[string]place{}}
	defer l.checkKept()
	for i, line := range l.changes.recs {
		switch {
		case line.Release != nil:
			c.release(line.Release, l.changes.places[i])
		case line.Change != nil:
			c.change(line.Change, l.changes.places[i])
		}
	}
}

type changesCheck struct {
	l       *loader
	last    *record.Release
	digests map[string]place
	seen    map[string]place // by table and slug, of the changes of last
}

func (c *changesCheck) release(r *record.Release, p place) {
	l := c.l
	switch first, known := c.digests[r.Digest]; {
	case known:
		l.at(p, "digest", "is a duplicate of "+l.placeText(first))
	default:
		c.digests[r.Digest] = p
	}
	l.date(p, "released", &r.Released)
	if year := strings.TrimSuffix(path.Base(l.files[p.file]), ".ndjson"); !strings.HasPrefix(string(r.Released), year) {
		l.at(p, "released", fmt.Sprintf("must be in the year of the file, %s, got %q", year, r.Released))
	}
	l.pair(p, "commit", r.Commit != nil, "committed", r.Committed != nil)
	switch {
	case len(l.changes.undecodable) > 0: // the line before may be one that was not read
	case c.last == nil && r.After != nil:
		l.at(p, "after", "must be null for the first release")
	case c.last != nil && (r.After == nil || *r.After != c.last.Digest):
		l.at(p, "after", fmt.Sprintf("must be the digest of the release before, %s", c.last.Digest))
	}
	c.last, c.seen = r, map[string]place{}
}

func (c *changesCheck) change(r *record.Change, p place) {
	l := c.l
	switch {
	case c.last == nil && len(l.changes.undecodable) == 0:
		l.at(p, "", "must follow the line of a release")
	case c.last != nil && c.last.After == nil:
		l.at(p, "", "must not follow the first release, where the history begins")
	}
	if valued := r.Act == record.Changed || r.Act == record.Withdrawn; valued != (len(r.Fields) > 0) {
		l.at(p, "fields", "must have entries where change is changed or withdrawn, and none otherwise", "change")
	}
	if kept := len(r.Record) > 0 && r.Record.Kind() != 'n'; kept != (r.Act == record.Removed) || kept && r.Record.Kind() != '{' {
		l.at(p, "record", "must be the record where change is removed, and null otherwise", "change")
	}
	if r.Act == record.Removed && len(r.Slugs) != 1 {
		l.at(p, "slugs", fmt.Sprintf("must have one entry where change is removed, got %d", len(r.Slugs)), "change")
	}
	for i := range r.Fields {
		if f := &r.Fields[i]; f.At != nil && (f.Old.Kind() != '[' || f.New.Kind() != '[') {
			l.at(p, fmt.Sprintf("fields.%d.at", i), "must be null where the values are not lists", fmt.Sprintf("fields.%d.old", i))
		}
	}
	for i, slug := range r.Slugs {
		at, key := fmt.Sprintf("slugs.%d", i), string(r.Table)+"/"+slug
		if i > 0 && r.Slugs[i-1] >= slug {
			l.at(p, at, fmt.Sprintf("must be in order, got %q after %q", slug, r.Slugs[i-1]))
		}
		if first, known := c.seen[key]; known {
			l.at(p, at, fmt.Sprintf("%q is a duplicate of %s in this release", slug, l.placeText(first)))
		} else if c.seen != nil {
			c.seen[key] = p
		}
	}
}

// checkKept warns of records that a release had, as its changes say, and that are gone without a line that says so. A
// file that was cut at the end of a line is valid, so nothing else notices.
func (l *loader) checkKept() {
	faulty := slices.ContainsFunc(l.pending, func(f pendingFinding) bool { return f.severity == Fault })
	if !l.warn || faulty || len(l.findings) > 0 { // what is gone may be what is wrong
		return
	}
	last, lines := map[record.ChangeTable]map[string]int{}, l.changes.recs // the last line about a record
	for i, line := range lines {
		if line.Change == nil {
			continue
		}
		of := last[line.Change.Table]
		if of == nil {
			of = map[string]int{}
			last[line.Change.Table] = of
		}
		for _, slug := range line.Change.Slugs {
			of[slug] = i
		}
	}
	for table, of := range last {
		for _, slug := range l.slugsOf(table) {
			delete(of, slug)
		}
		var gone []string
		first := len(lines)
		for slug, i := range of {
			if lines[i].Change.Act != record.Removed && table != "dataset" {
				gone, first = append(gone, slug), min(first, i)
			}
		}
		if len(gone) > 0 {
			l.warning(l.changes.places[first], "slugs", goneText(table, gone))
		}
	}
}

// goneText says that records are gone, and names some.
func goneText(table record.ChangeTable, slugs []string) string {
	const named = 3
	slices.Sort(slugs)
	text := fmt.Sprintf("%s of %s %s gone, and no change says so: %s", record.Counted(len(slugs), "record"), table,
		record.Noun(len(slugs), "is", "are"), strings.Join(slugs[:min(named, len(slugs))], ", "))
	if len(slugs) > named {
		text += fmt.Sprintf(" and %d more", len(slugs)-named)
	}
	return text + "; restore what was lost, or record the release that removes it with modeldex changes record"
}

// slugsOf are the records of a table that changes are recorded of.
func (l *loader) slugsOf(table record.ChangeTable) []string {
	switch table {
	case "quantizations":
		return slugsIn(&l.quantizations, func(q *QuantizationType) string { return q.Name })
	case "models":
		return slugsIn(&l.models, func(m *Model) string { return string(m.Slug) })
	case "hardware":
		return slugsIn(&l.hardware, func(h *Hardware) string { return string(h.Slug) })
	case "tools":
		return slugsIn(&l.tools, func(t *Tool) string { return string(t.Slug) })
	case "benchmarks":
		return slugsIn(&l.benchmarks, func(b *Benchmark) string { return string(b.ID) })
	}
	return nil
}

func slugsIn[T any](c *collector[T], slug func(*T) string) []string {
	out := make([]string, len(c.recs))
	for i, r := range c.recs {
		out[i] = slug(r)
	}
	return out
}
