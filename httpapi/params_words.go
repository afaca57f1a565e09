package httpapi

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"modeldex/dataset/record"
	"modeldex/httpapi/changes"
	"modeldex/index"
)

// readFlag reads a parameter that changes the query if it is true (verified) or false
// (include_variants).
func (p *parser) readFlag(pm *param, v string) string {
	switch {
	case v != "true" && v != "false":
		p.notOneOf(pm.name, v, []string{"true", "false"})
	case pm.kind == ownerOnly && v == "true":
		p.out.Sets, p.out.setOf = append(p.out.Sets, owner), append(p.out.setOf, pm)
		return v
	case pm.kind == includeVariants && v == "false":
		for i := range p.out.Sets {
			p.out.Sets[i].OnlySelf = true
		}
		return v
	}
	return ""
}

func (p *parser) readWords(pm *param, v string) string {
	words := strings.Fields(strings.ToLower(strings.ToValidUTF8(v, "\uFFFD")))
	if len(words) == 0 || len(words) > 8 || len([]rune(v)) > 100 {
		p.fault(invalidParameter, pm.name, v, "must be 1 to 8 words, at most 100 characters")
		return ""
	}
	slices.Sort(words)
	p.out.Words = slices.Compact(words)
	return url.QueryEscape(strings.Join(p.out.Words, " "))
}

// readSelected reads one or more of a fixed list of words, in the order given.
func (p *parser) readSelected(pm *param, values []string) string {
	given := p.listed(pm, values)
	for _, v := range given {
		if !slices.Contains(pm.values, v) {
			p.notOneOf(pm.name, v, pm.values)
		}
	}
	if most := cmp.Or(pm.maxCount, maxValues); len(given) > most {
		p.fault(invalidParameter, pm.name, values[0], fmt.Sprintf("must have at most %s, got %d", record.Counted(most, "value"), len(given)))
	}
	if p.out.selected == nil {
		p.out.selected = map[string][]string{}
	}
	p.out.selected[pm.name] = given
	if pm.field.Name == index.Settings {
		return p.readSettings(pm)
	}
	if pm.kind == oneWord && given[0] == pm.values[0] {
		return "" // the default
	}
	return strings.Join(given, ",")
}

// readSettings reads the settings of statistics, which are those of a single stream unless the
// caller asks for all.
func (p *parser) readSettings(pm *param) string {
	if word := p.out.word(pm); word != pm.values[0] {
		return word
	}
	p.out.Sets, p.out.setOf = append(p.out.Sets, index.Set{Field: index.Settings, Values: []string{index.SingleStream}}), append(p.out.setOf, pm)
	return ""
}

// readTexts reads one or more texts.
func (p *parser) readTexts(pm *param, values []string) string {
	given := p.listed(pm, values)
	if len(given) > maxValues {
		p.fault(invalidParameter, pm.name, values[0], fmt.Sprintf("must have at most %d values, got %d", maxValues, len(given)))
		return ""
	}
	if pm.meant != nil && p.past != nil {
		given = pm.meant(p, pm, given)
	}
	slices.Sort(given)
	given = slices.Compact(given)
	if p.out.selected == nil {
		p.out.selected = map[string][]string{}
	}
	p.out.selected[pm.name] = given
	escaped := make([]string, len(given))
	for i, v := range given {
		escaped[i] = url.QueryEscape(v)
	}
	return strings.Join(escaped, ",")
}

const maxVersionRef = 100

const noVersion = "must be a dataset version, a day as YYYY-MM-DD, at least 12 digits of a digest or 7 of a commit in lower-case hex"

// isHex reports whether a text can be the beginning of a digest or a commit.
func isHex(v string) bool {
	const fewest = 7 // as for a commit
	return len(v) >= fewest && strings.Trim(v, "0123456789abcdef") == ""
}

// readVersionRef checks the form of a version, digest, commit or day.
func (p *parser) readVersionRef(pm *param, v string) string {
	if !isVersionRef(v) {
		p.fault(invalidParameter, pm.name, v, noVersion)
		return ""
	}
	return url.QueryEscape(v)
}

// isVersionRef reports whether a text can name a version, digest, commit or day.
func isVersionRef(v string) bool {
	const extra = "._+-"
	odd := func(r rune) bool {
		return r > 'z' || !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || strings.ContainsRune(extra, r))
	}
	return len(v) <= maxVersionRef && !strings.ContainsFunc(v, odd)
}

// readKeptRef reads as_of. The generation was found before, see pin; its digest stands for every
// spelling, because a version may have another edition a moment later.
func (p *parser) readKeptRef(pm *param, v string) string {
	if !isVersionRef(v) {
		p.fault(invalidParameter, pm.name, v, fmt.Sprintf("must be a dataset version, or at least %d digits of a digest in lower-case hex", changes.ShortDigest))
		return ""
	}
	p.out.asOf = true
	return p.gen.Digest.String()[:changes.ShortDigest]
}
