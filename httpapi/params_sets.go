package httpapi

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/record"
	"modeldex/dataset/resolve"
	"modeldex/index"
)

// readSet reads a set filter: repeated, or separated by commas. The values are counted before
// any of them is looked up.
func (p *parser) readSet(pm *param, values []string, resolve func(*param, string) []string) string {
	given, whole := p.distinct(pm, values)
	most := cmp.Or(pm.maxCount, maxValues)
	if n := len(given) + len(whole); n > most {
		p.fault(invalidParameter, pm.name, values[0], fmt.Sprintf("must have at most %s, got %d", record.Counted(most, "value"), n))
		return ""
	}
	found := whole
	for _, v := range given {
		found = append(found, resolve(pm, v)...)
	}
	slices.Sort(found)
	found = slices.Compact(found)
	p.out.Sets, p.out.setOf = append(p.out.Sets, index.Set{Field: pm.field.Name, Values: found}), append(p.out.setOf, pm)
	escaped := make([]string, len(found))
	for i, v := range found {
		escaped[i] = url.QueryEscape(v)
	}
	between := ","
	if slices.ContainsFunc(found, func(v string) bool { return strings.Contains(v, ",") }) {
		between = "&" + pm.name + "=" // a value with a comma is found as a whole only
	}
	return strings.Join(escaped, between)
}

// distinct splits the values of a set filter at their commas and drops repeated ones. A value with a comma may be
// one name: the first maxValues of them are looked up whole first, and whole holds what was found.
func (p *parser) distinct(pm *param, values []string) (given, whole []string) {
	seen, commas, empty := map[string]bool{}, 0, false
	for _, v := range values {
		if strings.Contains(v, ",") && commas < maxValues {
			commas++
			if known := p.exact(pm, v); known != nil { // not read by rules: those leave words out
				whole = append(whole, known...)
				continue
			}
		}
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part == "" {
				empty = true
			} else if !seen[part] {
				seen[part], given = true, append(given, part)
			}
		}
	}
	if empty {
		p.fault(invalidParameter, pm.name, values[0], "must not have an empty value between commas")
	}
	return given, whole
}

func (p *parser) closedValue(pm *param, v string) []string {
	if slices.Contains(pm.values, v) {
		return []string{v}
	}
	p.notOneOf(pm.name, v, pm.values)
	return nil
}

// wholeNumber reads a whole number and spells it as records do.
func (p *parser) wholeNumber(pm *param, v string) []string {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || !digits(v) {
		p.fault(invalidParameter, pm.name, v, "must be a whole number such as 1")
		return nil
	}
	return []string{strconv.FormatInt(n, 10)}
}

// target is the table whose slugs are the values of a parameter.
func (p *parser) target(pm *param) *index.Table {
	if pm.kind == keySet {
		return p.r.table(p.gen)
	}
	return tableOf(pm.field.Refers, p.gen)
}

// named is the slug that a name of a record means, empty for none. What was read by rules is reported
// to the caller.
func (p *parser) named(pm *param, v string) (slug string, a resolve.Answer) {
	slug, a = named(p.gen, p.target(pm), v)
	if a.Confidence == resolve.Parsed {
		p.noticeResolved(pm, v, slug, a.Reason)
	}
	return slug, a
}

func (p *parser) noticeResolved(pm *param, v, slug, reason string) {
	shown := clip(v)
	p.out.notices = append(p.out.notices, Notice{
		Code: "name_resolved", Parameter: pm.name, Value: shown, Slug: known(slug),
		Detail: fmt.Sprintf("%s %q was taken for %s: %s", pm.name, *shown, slug, reason),
	})
}

// exact finds a value without reading it by rules.
func (p *parser) exact(pm *param, v string) []string {
	switch pm.kind {
	case slugSet, keySet:
		if slug := exactly(p.gen, p.target(pm), v); slug != "" {
			return []string{slug}
		}
	case openSet:
		return p.have(pm, v)
	}
	return nil
}

// have finds an open value in every spelling records have, because sources write Int4, INT4 and
// int4; or all values with a prefix.
func (p *parser) have(pm *param, v string) (found []string) {
	prefix, isPrefix := strings.CutSuffix(v, "*")
	isPrefix = isPrefix && pm.field.Is(index.Prefix)
	for _, have := range p.r.table(p.gen).Values(pm.field.Name) {
		if isPrefix && strings.HasPrefix(have, prefix) {
			return []string{v}
		}
		if strings.EqualFold(have, v) {
			found = append(found, have)
		}
	}
	return found
}

func (p *parser) openValue(pm *param, v string) []string {
	if have := p.have(pm, v); have != nil {
		return have
	}
	p.noticeUnknown(pm, v, p.r.table(p.gen).Values(pm.field.Name))
	return []string{*clip(v)}
}

func (p *parser) slugValue(pm *param, v string) []string {
	slug, a := p.named(pm, v)
	switch {
	case slug != "":
		return []string{slug}
	case a.Explained() && len(a.Candidates) > 0:
		p.noticeExplained(pm, v, &a)
	default:
		p.noticeUnknown(pm, v, p.target(pm).Names())
	}
	return []string{*clip(v)}
}

// joinOwnerOnly rewrites verified=true and owner_only=true to source=owner, which they mean, so
// that all three spellings have one canonical address, one ETag and one cached response. Beside
// a source filter without owner they match nothing, and stay as they are.
func (p *parser) joinOwnerOnly() {
	for i := range p.r.params {
		pm := &p.r.params[i]
		if pm.kind != ownerOnly {
			continue
		}
		if values := p.values[pm.name]; len(values) != 1 || values[0] != "true" {
			continue
		}
		owner := string(dataset.Owner)
		sources := strings.Split(strings.Join(p.values["source"], ","), ",")
		if p.values["source"] == nil || slices.Contains(sources, owner) && p.sourcesKnown(sources) {
			p.values["source"] = []string{owner}
			delete(p.values, pm.name)
		}
	}
}

// sourcesKnown says whether all sources are ones there are: others must be reported.
func (p *parser) sourcesKnown(sources []string) bool {
	for _, s := range sources {
		if !slices.Contains(p.r.byName["source"].values, s) {
			return false
		}
	}
	return true
}
