package httpapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/record"
	"modeldex/dataset/resolve"
	"modeldex/httpapi/suggest"
	"modeldex/index"
)

// Codes of notices that more than one place makes.
const (
	nameResolved   = "name_resolved"   // a name was read by rules
	readAs         = "read_as"         // a name fits several records: a filter takes all, a question the likeliest
	unknownValue   = "unknown_value"   // nothing has a value; up to mostSuggested others may have been meant
	nullExcluded   = "null_excluded"   // records whose value is unknown are left out
	notRecommended = "not_recommended" // runs, and is left out of the order by what is best
	memoryAssumed  = "memory_assumed"  // hardware that is sold with several sizes of memory counts with one of them
	// throughputExcluded: throughput results, which no speed of a stream compares with, are left out.
	throughputExcluded = "throughput_excluded"
)

const mostSuggested = 3

// Notice is a reason why a response may have fewer records than expected. It changes nothing.
type Notice struct {
	// Kind of notice.
	Code string `json:"code" jsonschema:"enum=unknown_value,enum=name_resolved,enum=read_as,enum=memory_assumed,enum=not_recommended,enum=null_excluded,enum=withdrawn_excluded,enum=supplementary_excluded,enum=throughput_excluded,enum=mixed_settings,enum=no_rows,enum=changes_unrecorded,example=unknown_value"`
	// Parameter it is about.
	Parameter string `json:"parameter" jsonschema:"example=family"`
	// The notice in words.
	Detail string `json:"detail" jsonschema:"example=no record has family \"lama\""`
	// The value that no record has, or the name that was sent; only for unknown_value, name_resolved and read_as.
	Value *string `json:"value,omitempty" jsonschema:"example=lama"`
	// The record the name was read as (the likeliest for read_as); only for name_resolved and read_as.
	Slug *string `json:"slug,omitempty" jsonschema:"example=nvidia-rtx-4090"`
	// Values you may have meant: up to three for unknown_value, all matching records for read_as; only for these two.
	Suggestions []string `json:"suggestions,omitempty" jsonschema:"example=llama"`
	// Number of records the notice is about; only for null_excluded, not_recommended, withdrawn_excluded,
	// supplementary_excluded, throughput_excluded and memory_assumed.
	Count *int `json:"count,omitempty" jsonschema:"minimum=1,example=3"`
	// Settings that differ between the listed speeds, with the number of records for each value; only for mixed_settings.
	Settings []index.SettingCount `json:"settings,omitempty"`
}

func (r *reader) noticeUnknown(param, value string, suggestions []string) {
	shown := clip(value)
	r.notices = append(r.notices, Notice{
		Code: unknownValue, Parameter: param, Value: shown,
		Detail: fmt.Sprintf("no record has %s %q", param, *shown), Suggestions: suggestions,
	})
}

// noticeResolved says how a name was read that is not one of a record, and which other records fit it.
func (r *reader) noticeResolved(param, value, slug string, a *resolve.Answer) {
	if slug == "" || a.Confidence != resolve.Parsed && a.Confidence != resolve.Likely {
		return
	}
	shown := clip(value)
	n := Notice{
		Code: nameResolved, Parameter: param, Value: shown, Slug: known(slug),
		Detail: fmt.Sprintf("%s %q was read as %s: %s", param, *shown, slug, a.Reason),
	}
	if a.Open() {
		n.Code, n.Suggestions = readAs, candidateSlugs(a)
		n.Detail = fmt.Sprintf("%s %q fits %s; most likely %s: %s", param, *shown, record.Counted(len(n.Suggestions), "record"), slug, a.Reason)
	}
	r.notices = append(r.notices, n)
}

func candidateSlugs(a *resolve.Answer) (slugs []string) {
	for i := range a.Candidates {
		slugs = append(slugs, string(a.Candidates[i].Slug))
	}
	return slugs
}

func (r *reader) nearValues(value string, have []string) []string {
	if meant := suggest.Value(*clip(value), have); meant != "" {
		return []string{meant}
	}
	return r.Near(*clip(value), have, mostSuggested)
}

func (r *reader) nearRecords(t *index.Table, name string) (slugs []string) {
	for _, near := range r.Near(*clip(name), t.Names(), 4*mostSuggested) {
		if slug, ok := t.Resolve(near); ok {
			near = slug
		}
		if !slices.Contains(slugs, near) && len(slugs) < mostSuggested {
			slugs = append(slugs, near)
		}
	}
	return slugs
}

func (q *listQuery) unknownWords(t *index.Table, total int) (out []Notice) {
	if total > 0 || len(q.Words) == 0 {
		return nil
	}
	for _, u := range t.UnknownWords(q.Words, mostSuggested) {
		out = append(out, Notice{Code: unknownValue, Parameter: "q", Value: &u.Word, Detail: fmt.Sprintf("no record has the word %q", u.Word), Suggestions: u.Near})
	}
	return out
}

// countNotice is a notice about n records; there is none without records.
func countNotice(code, parameter string, n int, one, several string) []Notice {
	if n == 0 {
		return nil
	}
	return []Notice{{Code: code, Parameter: parameter, Count: &n, Detail: strconv.Itoa(n) + " " + record.Noun(n, one, several)}}
}

// excludedNotices reports the records that each range, and each filter by a setting, excludes
// because their value is unknown.
func (q *listQuery) excludedNotices(byRanges, bySets []int) (out []Notice) {
	add := func(param string, field index.Field, n int) {
		if n == 0 {
			return
		}
		why := string(field) + " is unknown"
		if field == index.Settings {
			why = string(field) + " are unknown: a deciding value is null and the tool has no documented default"
		}
		out = append(out, countNotice(nullExcluded, param, n, countTexts[nullExcluded][0]+" because its "+why, countTexts[nullExcluded][1]+" because their "+why)...)
	}
	for i, n := range byRanges {
		add(q.ranged[i], q.Ranges[i].Field, n)
	}
	for i, n := range bySets {
		add(q.setOf[i], q.Sets[i].Field, n)
	}
	return out
}

var listThroughput = "; scenario=" + strings.Join(record.Scenario("").Values(), ",") + " lists such results"

func throughputNotice(n int) []Notice {
	if n == 0 {
		return nil
	}
	return countNotice(throughputExcluded, string(index.Scenario), n,
		"matching record is excluded because it is a throughput result"+listThroughput,
		"matching records are excluded because they are throughput results"+listThroughput)
}

// mixedNotice says that an order by speed mixes settings, unless all of the records have those of a single stream.
func mixedNotice(mixed []index.SettingCount) []Notice {
	if len(mixed) == 0 {
		return nil
	}
	return []Notice{{
		Code: "mixed_settings", Parameter: "sort", Settings: mixed,
		Detail: "the speeds were measured with different settings and are not comparable; add settings=single_stream for decode speeds of one stream on one device",
	}}
}

// noticeMemory says with which size of memory fits counts, where there are several.
func (q *listQuery) noticeMemory(hardware dataset.Slug) {
	sizes, counted := q.gen.Fit.MemorySizes(hardware)
	if sizes == nil {
		return
	}
	texts := make([]string, len(sizes))
	for i, gb := range sizes {
		texts[i] = strconv.FormatFloat(gb, 'f', -1, 64)
	}
	q.notices = append(q.notices, Notice{
		Code: memoryAssumed, Parameter: "fits",
		Detail: fmt.Sprintf("%s is sold with %s GB of memory, and this list assumes %v GB; set memory_gb for another size", hardware, strings.Join(texts, " or "), counted),
	})
}

// noticeMemories is noticeMemory for the rows of runs.
func (q *listQuery) noticeMemories(found []fit.Best) {
	var several []dataset.Slug
	for i := range found {
		if sizes, _ := q.gen.Fit.MemorySizes(found[i].Hardware); sizes != nil {
			several = append(several, found[i].Hardware)
		}
	}
	q.noticeCount(memoryAssumed, "runs", several, " of memory, see memory_options_gb; this list uses vram_gb, and a price may be for a smaller size")
}

// A leftOut counts records that a filter by what runs leaves out because a fact is missing, or includes with an assumed
// value.
type leftOut struct {
	code, parameter, why string
	slugs                []string
}

func (q *listQuery) noticeLeftOut(parameter string, slugs []dataset.Slug, why string) {
	q.noticeCount(nullExcluded, parameter, slugs, why)
}

// countTexts say about one record, and about several, what notices of a code count.
var countTexts = map[string][2]string{
	nullExcluded:   {"record that otherwise matches is excluded", "records that otherwise match are excluded"},
	notRecommended: {"record that runs is not recommended", "records that run are not recommended"},
	memoryAssumed:  {"record is sold with several sizes", "records are sold with several sizes"},
}

// noticeCount makes a notice of how many of the records match all other filters.
func (q *listQuery) noticeCount(code, parameter string, slugs []dataset.Slug, why string) {
	if len(slugs) > 0 {
		q.left = append(q.left, leftOut{code, parameter, why, record.Texts(slugs)})
	}
}

func (l leftOut) notice(n int) []Notice {
	return countNotice(l.code, l.parameter, n, countTexts[l.code][0]+l.why, countTexts[l.code][1]+l.why)
}

// leftOutNotices says how many records that match all other filters are left out because a fact is missing.
func (q *listQuery) leftOutNotices(t *index.Table) (out []Notice) {
	for _, left := range q.left {
		others := q.Query
		others.Limit, others.Sets = 0, slices.Clone(q.Sets)
		others.Sets[q.runsSet].Values = left.slugs
		if left.code == notRecommended && left.parameter == "fits" {
			left.why += "; sort by another field to list them"
		}
		out = append(out, left.notice(t.Select(others).Total)...)
	}
	return out
}
