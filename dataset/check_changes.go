package dataset

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"modeldex/dataset/record"
)

func checkChanges(c *checker, _ all, _ place) {
	check := changesCheck{checker: c, digests: map[string]place{}}
	for i, line := range c.changes.recs {
		switch {
		case line.Release != nil:
			check.release(line.Release, c.changes.places[i])
		case line.Change != nil:
			check.change(line.Change, c.changes.places[i])
		}
	}
}

type changesCheck struct {
	*checker
	last    *record.Release
	digests map[string]place
	seen    map[string]place // by table and slug, of the changes of last
}

func (c *changesCheck) release(r *record.Release, p place) {
	switch first, known := c.digests[r.Digest]; {
	case known:
		c.at(p, "digest", "is a duplicate of "+c.placeText(first))
	default:
		c.digests[r.Digest] = p
	}
	c.date(p, "released", &r.Released)
	if year := strings.TrimSuffix(path.Base(c.files[p.file].name), ".ndjson"); !strings.HasPrefix(string(r.Released), year) {
		c.at(p, "released", fmt.Sprintf("must be in %s, the year of the file, got %q", year, r.Released))
	}
	c.pair(p, "commit", r.Commit != nil, "committed", r.Committed != nil)
	switch {
	case len(c.changes.lost) > 0: // the line before may be one that was not read
	case c.last == nil && r.After != nil:
		c.at(p, "after", "must be null for the first release")
	case c.last != nil && (r.After == nil || *r.After != c.last.Digest):
		c.at(p, "after", fmt.Sprintf("must be the digest of the previous release, %s", c.last.Digest))
	}
	c.last, c.seen = r, map[string]place{}
}

func (c *changesCheck) change(r *record.Change, p place) {
	switch {
	case c.last == nil && len(c.changes.lost) == 0:
		c.at(p, "", "must come after the line of a release")
	case c.last != nil && c.last.After == nil:
		c.at(p, "", "must not come after the first release, which has no changes")
	}
	if valued := r.Act == record.Changed || r.Act == record.Withdrawn; valued != (len(r.Fields) > 0) {
		c.at(p, "fields", "must have entries if change is changed or withdrawn, and none otherwise", "change")
	}
	if kept := len(r.Record) > 0 && r.Record.Kind() != 'n'; kept != (r.Act == record.Removed) || kept && r.Record.Kind() != '{' {
		c.at(p, "record", "must be the record if change is removed, and null otherwise", "change")
	}
	if r.Act == record.Removed && len(r.Slugs) != 1 {
		c.at(p, "slugs", fmt.Sprintf("must have one entry if change is removed, got %d", len(r.Slugs)), "change")
	}
	for i := range r.Fields {
		if f := &r.Fields[i]; f.At != nil && (f.Old.Kind() != '[' || f.New.Kind() != '[') {
			c.at(p, fmt.Sprintf("fields.%d.at", i), "must be null if the values are not lists", fmt.Sprintf("fields.%d.old", i))
		}
	}
	for i, slug := range r.Slugs {
		at, key := fmt.Sprintf("slugs.%d", i), string(r.Table)+"/"+slug
		if i > 0 && r.Slugs[i-1] >= slug {
			c.at(p, at, fmt.Sprintf("must be sorted, got %q after %q", slug, r.Slugs[i-1]))
		}
		if first, known := c.seen[key]; known {
			c.at(p, at, fmt.Sprintf("%q is a duplicate of %s in this release", slug, c.placeText(first)))
		} else if c.seen != nil {
			c.seen[key] = p
		}
	}
}

// checkKept finds records that a release had, as its changes say, and that are gone without a line that says so. A
// file that was cut at the end of a line is valid, so nothing else notices. Benchmarks are withdrawn, never removed.
func checkKept(c *checker, _ all, _ place) {
	faulty := slices.ContainsFunc(c.pending, func(f pendingFinding) bool { return f.severity == Fault })
	if faulty || len(c.findings.Faults()) > 0 { // what is gone may be what is wrong
		return
	}
	last, lines := map[record.ChangeTable]map[string]int{}, c.changes.recs // the last line about a record
	for i, line := range lines {
		if line.Change == nil {
			continue
		}
		for _, slug := range line.Change.Slugs {
			put(last, line.Change.Table, slug, i)
		}
	}
	for table, of := range last {
		if table == "dataset" {
			continue
		}
		kind := string(table)
		if table == "quantizations" {
			kind = quantizationsFile
		}
		for _, slug := range c.tableOf(kind).keys() {
			delete(of, slug)
		}
		var gone []string
		first := len(lines)
		for slug, i := range of {
			if lines[i].Change.Act != record.Removed {
				gone, first = append(gone, slug), min(first, i)
			}
		}
		switch {
		case len(gone) == 0:
		case table == "benchmarks":
			c.at(c.changes.places[first], "slugs", goneText(table, gone)+"; restore what is missing, and mark wrong benchmarks as withdrawn")
		default:
			c.warning(c.changes.places[first], "slugs", goneText(table, gone)+"; restore what is missing, or record the removal with modeldex changes record")
		}
	}
}

func goneText(table record.ChangeTable, slugs []string) string {
	const named = 3
	slices.Sort(slugs)
	text := fmt.Sprintf("%s of %s %s missing, but no release removed %s: %s", record.Counted(len(slugs), "record"), table,
		record.Noun(len(slugs), "is", "are"), record.Noun(len(slugs), "it", "them"), strings.Join(slugs[:min(named, len(slugs))], ", "))
	if len(slugs) > named {
		text += fmt.Sprintf(" and %d more", len(slugs)-named)
	}
	return text
}
