package httpapi

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/record"
	"modeldex/dataset/resolve"
	"modeldex/httpapi/export"
	"modeldex/index"

	"github.com/valyala/fasthttp"
)

// listQuery is a list's parsed parameters.
type listQuery struct {
	index.Query
	limited     bool          // Limit was given
	all         bool          // limit=all was given
	format      export.Format // given, or what the caller accepts
	formatGiven bool
	asOf        bool                // as_of was given
	meta        []byte              // members of meta beside those of lists, each with a comma after it
	fields      []string            // of the rows; nil: all
	selected    map[string][]string // values of oneWord and wordList parameters
	// canonical is the one address of every spelling of this query; filters is the
	// part a cursor is bound to.
	canonical, filters string
	notices            []Notice
	runs               map[string]*fit.Best // by slug, of the rows; nil: not asked for
	runsSet            int                  // with runs: the number of the set of those slugs
	left               []leftOut            // with runs
	ranged, setOf      []*param             // the parameters that Query.Ranges and Query.Sets came from
}

// parser reads one query string against one resource and gathers every fault.
type parser struct {
	r      *resource
	gen    *index.Generation
	faults faultList
	values map[string][]string
	out    listQuery
	// in and prefix are where the values come from, where not from the query.
	in, prefix string
	accepts    export.Format // the form of rows without the parameter format
	searches   int           // calls of the burst that what was worked out costs, see costs.go
}

// parse reads the parameters of a list. All faults are returned together.
func (r *resource) parse(args *fasthttp.Args, gen *index.Generation) (*listQuery, *failure) {
	return (&parser{r: r, gen: gen, values: map[string][]string{}}).parse(args)
}

// parseFor is parse for a request, whose Accept header may ask for a file.
func (r *resource) parseFor(req *request) (*listQuery, *failure) {
	p := &parser{r: r, gen: req.gen, values: map[string][]string{}, accepts: req.accepts.Best}
	q, f := p.parse(req.ctx.QueryArgs())
	req.call.SpendBurst(p.searches)
	return q, f
}

func (p *parser) parse(args *fasthttp.Args) (*listQuery, *failure) {
	r := p.r
	p.collect(args)
	p.joinOwnerOnly()
	p.out.Limit = defaultLimit
	if p.r.filed() {
		p.out.format = p.accepts
	}
	var canonical []string
	given := p.inOrder()
	for i := range r.params {
		pm := &r.params[i]
		if pm.kind >= oneName {
			continue // read together, see readRuns
		}
		if values := given[i]; values != nil && pm.kind != cursorToken {
			if text := p.read(pm, values); text != "" {
				canonical = append(canonical, pm.name+"="+text)
			}
		} else if pm.kind == oneWord && pm.field.Name == index.Settings {
			p.readSettings(pm)
		}
	}
	p.checkRequired()
	p.checkRanges()
	canonical = append(canonical, p.readRuns()...)
	p.finish(canonical)
	if f := p.faults.failure(); f != nil {
		return nil, f
	}
	return &p.out, nil
}

// checkRequired rejects a query without the parameters it must have. One that was sent empty has a fault already.
func (p *parser) checkRequired() {
	for i := range p.r.params {
		pm := &p.r.params[i]
		if pm.required == "" || pm.kind >= oneName || p.values[pm.name] != nil || p.faults.of(pm.name) {
			continue
		}
		if f := p.fault(&invalidParameter, pm.name, "", pm.required); f != nil {
			f.Allowed, f.Value = pm.values, nil
		}
	}
}

// inOrder is the values by the place of their parameter: most parameters of a list are not given, and looking each up by its
// name would cost more than reading those that are.
func (p *parser) inOrder() [][]string {
	out := make([][]string, len(p.r.params))
	for name, values := range p.values {
		if pm := p.r.byName[name]; pm != nil {
			out[pm.at] = values
		}
	}
	return out
}

// collect gathers values by name and rejects unknown names, repeated single values and empty
// or blank ones. Values are cloned: the request's bytes do not outlive it.
func (p *parser) collect(args *fasthttp.Args) {
	for key, value := range args.All() {
		name, v := string(key), string(value)
		known, ok := p.r.byName[name]
		switch {
		case !ok:
			p.unknown(name)
		case strings.TrimSpace(v) == "":
			p.fault(&invalidParameter, name, v, "must not be empty")
		case !known.multiple() && len(p.values[name]) > 0:
			p.fault(&invalidParameter, name, v, "must be given once")
		default:
			p.values[name] = append(p.values[name], v)
		}
	}
}

// fault notes a fault of a parameter; nil where it is counted only.
func (p *parser) fault(c *code, name, value, detail string) *Fault {
	if p.in != "" {
		return p.faults.add(&invalidField, Fault{In: p.in, Name: p.prefix + name, Value: clip(value), Detail: detail})
	}
	return p.faults.add(c, Fault{In: "query", Name: name, Value: clip(value), Detail: detail})
}

// notOneOf notes a value outside a fixed list.
func (p *parser) notOneOf(name, value string, allowed []string) {
	if f := p.fault(&invalidParameter, name, value, "must be one of "+strings.Join(allowed, ", ")); f != nil {
		f.Allowed, f.Suggestion = allowed, p.faults.field(value, allowed)
	}
}

func (p *parser) unknown(name string) {
	fault := unknownName("query", name, noParameter, p.r.paramNames)
	if p.in != "" {
		fault = unknownName(p.in, name, noField, p.r.paramNames)
		fault.Name = p.prefix + fault.Name
	}
	if f := p.faults.add(&unknownParameter, fault); f != nil {
		f.Suggestion = p.faults.parameter(*clip(name), p.r.paramNames)
	}
}

// read adds the values of one parameter to the query and returns their canonical spelling, empty if
// the parameter changes nothing or has a fault.
func (p *parser) read(pm *param, values []string) string {
	switch v := values[0]; pm.kind {
	case closedSet:
		return p.readSet(pm, values, p.closedValue)
	case openSet:
		return p.readSet(pm, values, p.openValue)
	case slugSet, keySet:
		return p.readSet(pm, values, p.slugValue)
	case wholeNumbers:
		return p.readSet(pm, values, p.wholeNumber)
	case atLeast, atMost:
		return p.readNumber(pm, v)
	case since, until:
		return p.readDate(pm, v)
	case ownerOnly, includeVariants:
		return p.readFlag(pm, v)
	case searchText:
		return p.readWords(pm, v)
	case sortKey:
		return p.readSort(pm, v)
	case versionRef:
		return p.readVersionRef(pm, v)
	case keptRef:
		return p.readKeptRef(pm, v)
	case fileFormat:
		return p.readFormat(pm, v)
	case fieldNames:
		return p.readFields(pm, values)
	case oneWord, wordList:
		return p.readSelected(pm, values)
	case textList:
		return p.readTexts(pm, values)
	default:
		return p.readLimit(pm, v)
	}
}

// maxValues is how many values one filter takes: more than any page shows, few enough to
// answer fast.
const maxValues = 50

// readSet reads a set filter: repeated, or separated by commas. The values are counted before
// any of them is looked up.
func (p *parser) readSet(pm *param, values []string, resolve func(*param, string) []string) string {
	given, whole := p.distinct(pm, values)
	most := cmp.Or(pm.maxCount, maxValues)
	if n := len(given) + len(whole); n > most {
		p.fault(&invalidParameter, pm.name, values[0], fmt.Sprintf("must have at most %s, got %d", record.Counted(most, "value"), n))
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

// distinct splits the values of a set filter at their commas and drops repeated ones. A name
// that itself has a comma is found as a whole first, among the first maxValues with a comma:
// whole holds what those are found as.
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
		p.fault(&invalidParameter, pm.name, values[0], "must not have an empty value between commas")
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
		p.fault(&invalidParameter, pm.name, v, "must be a whole number such as 1")
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
	case a.Ambiguous:
		p.noticeAmbiguous(pm, v, a)
	default:
		p.noticeUnknown(pm, v, p.target(pm).Names())
	}
	return []string{*clip(v)}
}

// readNumber takes plain decimals only: no sign, no exponent, no NaN.
func (p *parser) readNumber(pm *param, v string) string {
	n, ok := plainDecimal(v)
	switch {
	case !ok && len(v) > maxDigits:
		p.fault(&invalidParameter, pm.name, v, fmt.Sprintf("must have at most %d characters", maxDigits))
		return ""
	case !ok:
		p.fault(&invalidParameter, pm.name, v, "must be a plain decimal number such as 7 or 13.5")
		return ""
	}
	if pm.kind == atLeast {
		p.bound(pm, n, math.Inf(1))
	} else {
		p.bound(pm, math.Inf(-1), n)
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// maxDigits is the length of the longest number: no value of the dataset has half as many digits.
const maxDigits = 24

func plainDecimal(v string) (float64, bool) {
	whole, fraction, dot := strings.Cut(v, ".")
	if len(v) > maxDigits || !digits(whole) || dot && !digits(fraction) {
		return 0, false
	}
	n, err := strconv.ParseFloat(v, 64)
	return n, err == nil && n < 1e21 // so that its canonical spelling is none longer
}

func digits(v string) bool {
	return v != "" && strings.Trim(v, "0123456789") == ""
}

func (p *parser) readDate(pm *param, v string) string {
	if _, err := time.Parse(time.DateOnly, v); err != nil {
		p.fault(&invalidParameter, pm.name, v, "must be a date as YYYY-MM-DD")
		return ""
	}
	d := dataset.Date(v)
	n := index.DateNumber(&d)
	if pm.kind == since {
		p.bound(pm, firstOf(n), math.Inf(1))
	} else {
		p.bound(pm, math.Inf(-1), n)
	}
	return v
}

// firstOf is where a range of dates begins that has the day n. The first day of a month has the dates that are only this
// month, and the first day of a year those that are only this year: see index.DateNumber, which has zeros for the rest.
func firstOf(n float64) float64 {
	switch day := int(n); {
	case day%10000 == 101:
		return n - 101
	case day%100 == 1:
		return n - 1
	}
	return n
}

// bound narrows the range of a field; both ends of one field make one range.
func (p *parser) bound(pm *param, low, high float64) {
	for i := range p.out.Ranges {
		if r := &p.out.Ranges[i]; r.Field == pm.field.Name {
			r.Min, r.Max = max(r.Min, low), min(r.Max, high)
			return
		}
	}
	p.out.Ranges = append(p.out.Ranges, index.Range{Field: pm.field.Name, Min: low, Max: high})
	p.out.ranged = append(p.out.ranged, pm)
}

// checkRanges rejects ranges that end before they begin.
func (p *parser) checkRanges() {
	for i, r := range p.out.Ranges {
		if r.Min <= r.Max {
			continue
		}
		f := p.out.ranged[i].field
		p.fault(&invalidParameter, f.Min, p.values[f.Min][0], "must not be above "+f.Max+", which is "+*clip(p.values[f.Max][0]))
	}
}

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
		p.fault(&invalidParameter, pm.name, v, "must be 1 to 8 words, at most 100 characters")
		return ""
	}
	slices.Sort(words)
	p.out.Words = slices.Compact(words)
	return url.QueryEscape(strings.Join(p.out.Words, " "))
}

func (p *parser) readSort(pm *param, v string) string {
	name, desc := strings.CutPrefix(v, "-")
	switch {
	case !slices.Contains(p.r.sorts, name):
		p.notOneOf(pm.name, v, p.r.sortNames())
		return ""
	case v == p.r.normal:
		return ""
	}
	p.out.Sort = index.Sort{Field: index.Field(name), Desc: desc}
	return v
}

// readFields reads the names of fields of the rows.
func (p *parser) readFields(pm *param, values []string) string {
	given := p.listed(pm, values)
	for _, name := range given {
		if !p.r.row.Has(name) {
			if f := p.fault(&invalidParameter, pm.name, name, strconv.Quote(name)+" is not a field of "+p.r.name); f != nil {
				f.Suggestion = p.faults.field(name, p.r.row.Names())
			}
		}
	}
	p.out.fields = given
	return strings.Join(given, ",")
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
		p.fault(&invalidParameter, pm.name, values[0], fmt.Sprintf("must have at most %s, got %d", record.Counted(most, "value"), len(given)))
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

// listed splits values at commas, drops repeated ones and keeps their order.
func (p *parser) listed(pm *param, values []string) (out []string) {
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part == "" {
				p.fault(&invalidParameter, pm.name, v, "must not have an empty value between commas")
			} else if part = *clip(part); !slices.Contains(out, part) && len(out) <= 2*maxValues {
				out = append(out, part)
			}
		}
	}
	if len(out) == 0 {
		out = []string{""}
	}
	return out
}

// limitOr is the limit that was given, or another.
func (q *listQuery) limitOr(other int) int {
	if q.limited {
		return q.Limit
	}
	return other
}

// word is the value of a oneWord parameter.
func (q *listQuery) word(pm *param) string {
	if given := q.selected[pm.name]; len(given) > 0 {
		return given[0]
	}
	return pm.values[0]
}

func (p *parser) readLimit(pm *param, v string) string {
	n, err := strconv.Atoi(v)
	bulk := pm.name == "limit" && p.r.filed()
	switch {
	case bulk && v == allRows:
		p.out.all = true
		return "" // written by finish, as every limit
	case (err != nil || !digits(v) || n < 1 || n > p.r.maxLimit) && bulk:
		p.fault(&invalidParameter, pm.name, v, fmt.Sprintf("must be a whole number from 1 to %d, or %s with a file format", p.r.maxLimit, allRows))
		return ""
	case err != nil || !digits(v) || n < 1 || n > p.r.maxLimit:
		p.fault(&invalidParameter, pm.name, v, fmt.Sprintf("must be a whole number from 1 to %d", p.r.maxLimit))
		return ""
	}
	p.out.Limit, p.out.limited = n, true
	if pm.name != "limit" {
		return v
	}
	return "" // written by finish, after what a cursor is bound to
}

// finish puts the canonical address together and reads the cursor, which is bound to it.
func (p *parser) finish(canonical []string) {
	p.out.filters = "/api/v1/" + p.r.path + "?" + strings.Join(canonical, "&")
	p.checkAll()
	canonical = append(canonical, p.out.pageParams(p.r.byName["limit"] != nil)...)
	if tokens := p.values["cursor"]; tokens != nil {
		after, bad := decodeCursor(tokens[0], p.out.filters)
		if bad != nil {
			p.cursorFault(tokens[0], bad)
		}
		p.out.After = after
		canonical = append(canonical, "cursor="+tokens[0])
	}
	p.out.canonical = address(p.r, canonical)
}

// pageParams are the parameters that a cursor is not bound to: the form of a page and its size.
func (q *listQuery) pageParams(limited bool) (out []string) {
	if q.format != export.JSON {
		out = append(out, "format="+q.format.String())
	}
	if q.all {
		out = append(out, "limit="+allRows)
	} else if limited && q.Limit != defaultLimit {
		out = append(out, "limit="+strconv.Itoa(q.Limit))
	}
	return out
}

// cursorFault reports a cursor at fault. Where other parameters are at fault too, the
// filters the cursor is bound to are not known, and a mismatch says nothing.
func (p *parser) cursorFault(token string, bad *code) {
	switch {
	case bad == &invalidCursor:
		p.fault(bad, "cursor", token, "is damaged or was not made by this service; start again without it")
	case p.faults.code == nil:
		p.fault(bad, "cursor", token, "belongs to other filters or another sort; keep both as they were, or start again without it")
	}
}

func address(r *resource, params []string) string {
	if len(params) == 0 {
		return "/api/v1/" + r.path
	}
	return "/api/v1/" + r.path + "?" + strings.Join(params, "&")
}

// next is the address of the page behind a position.
func (q *listQuery) next(p *index.Position) string {
	params := append(q.pageParams(true), "cursor="+encodeCursor(p, q.filters))
	if !strings.HasSuffix(q.filters, "?") {
		return q.filters + "&" + strings.Join(params, "&")
	}
	return q.filters + strings.Join(params, "&")
}

// readFormat reads the form of rows. It is written by finish: a cursor goes on in any form.
func (p *parser) readFormat(pm *param, v string) string {
	f, ok := export.FormatOf(v)
	if !ok || !slices.Contains(pm.values, f.String()) {
		p.notOneOf(pm.name, v, pm.values)
		return ""
	}
	p.out.format, p.out.formatGiven = f, true
	return ""
}

// checkAll rejects what does not go together with limit=all.
func (p *parser) checkAll() {
	switch {
	case !p.out.all:
	case p.values["cursor"] != nil:
		p.fault(&invalidParameter, "cursor", p.values["cursor"][0], "must not be given with limit="+allRows+", which has no pages")
	case p.out.format == export.JSON:
		p.fault(&invalidParameter, "limit", allRows, "needs format=csv, ndjson or parquet; JSON comes in pages")
	}
}

const maxVersionRef = 100

// readVersionRef checks the form of a version, digest, commit or day.
func (p *parser) readVersionRef(pm *param, v string) string {
	if !isVersionRef(v) {
		p.fault(&invalidParameter, pm.name, v, "must be a dataset version, a day as YYYY-MM-DD, at least 12 digits of a digest or 7 of a commit in lower-case hex")
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
		p.fault(&invalidParameter, pm.name, v, fmt.Sprintf("must be a dataset version, or at least %d digits of a digest in lower-case hex", shortDigest))
		return ""
	}
	p.out.asOf = true
	return p.gen.Digest.String()[:shortDigest]
}

// readTexts reads one or more texts.
func (p *parser) readTexts(pm *param, values []string) string {
	given := p.listed(pm, values)
	if len(given) > maxValues {
		p.fault(&invalidParameter, pm.name, values[0], fmt.Sprintf("must have at most %d values, got %d", maxValues, len(given)))
		return ""
	}
	slices.Sort(given)
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
