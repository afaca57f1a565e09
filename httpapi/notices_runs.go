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
	"modeldex/index"
)

// noticeMemory says with which size of memory fits counts, where there are several.
func (p *parser) noticeMemory(hardware dataset.Slug) {
	sizes, counted := p.gen.Fit.MemorySizes(hardware)
	if sizes == nil {
		return
	}
	texts := make([]string, len(sizes))
	for i, gb := range sizes {
		texts[i] = strconv.FormatFloat(gb, 'f', -1, 64)
	}
	p.out.notices = append(p.out.notices, Notice{
		Code: memoryAssumed, Parameter: "fits",
		Detail: fmt.Sprintf("%s is sold with %s GB of memory; the list counts with %v GB; memory_gb chooses another size", hardware, strings.Join(texts, " or "), counted),
	})
}

// noticeMemories is noticeMemory for the rows of runs.
func (p *parser) noticeMemories(found []fit.Best) {
	var several []dataset.Slug
	for i := range found {
		if sizes, _ := p.gen.Fit.MemorySizes(found[i].Hardware); sizes != nil {
			several = append(several, found[i].Hardware)
		}
	}
	p.noticeCount(memoryAssumed, "runs", several, "")
}

// noticeReadByRules says how fits or runs was read where it is not a name of a record.
func (r *fitReader) noticeReadByRules(main, slug string, a *resolve.Answer) {
	if a.Confidence != resolve.Parsed {
		return
	}
	r.noticeResolved(r.r.byName[main], r.value(main), slug, a.Reason)
}

// A leftOut is records that a filter by what runs leaves out because a fact is missing, or of which it counts with a value
// that may be another.
type leftOut struct {
	code, parameter, why string
	slugs                []string
}

func (p *parser) noticeLeftOut(parameter string, slugs []dataset.Slug, why string) {
	p.noticeCount(nullExcluded, parameter, slugs, why)
}

// noticeCount makes a notice of how many of the records match all other filters.
func (p *parser) noticeCount(code, parameter string, slugs []dataset.Slug, why string) {
	if len(slugs) == 0 {
		return
	}
	left := leftOut{code: code, parameter: parameter, why: why, slugs: make([]string, len(slugs))}
	for i, slug := range slugs {
		left.slugs[i] = string(slug)
	}
	p.out.left = append(p.out.left, left)
}

// leftOutNotices says how many records that match all other filters are left out because a fact is missing.
func (q *listQuery) leftOutNotices(t *index.Table) (out []Notice) {
	for _, left := range q.left {
		others := q.Query
		others.Limit, others.Sets = 0, slices.Clone(q.Sets)
		others.Sets[q.runsSet].Values = left.slugs
		switch n := t.Select(others).Total; {
		case n == 0:
		case left.code == memoryAssumed:
			out = append(out, memoriesNotice(left.parameter, n))
		default:
			out = append(out, excludedNotice(left.parameter, n, left.why))
		}
	}
	return out
}

// memoriesNotice says how many of the rows count with one of several sizes of memory.
func memoriesNotice(parameter string, n int) Notice {
	return Notice{
		Code: memoryAssumed, Parameter: parameter, Count: &n,
		Detail: strconv.Itoa(n) + record.Noun(n, " record is", " records are") + " sold with several sizes of memory, in memory_options_gb; vram_gb is the one that counts here, and a price may be that of a smaller one",
	}
}
