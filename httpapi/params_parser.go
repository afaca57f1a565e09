package httpapi

import (
	"slices"
	"strings"

	"modeldex/dataset/fit"
	"modeldex/httpapi/changes"
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
	past       *changes.Past // of a list of changes: slugs of records that are gone
	searches   int           // calls of the burst that what was worked out costs, see costs.go
	view       bool          // the query is that of a page, see useViewDefaults
}

// inOrder is the values by the place of their parameter. Most parameters of a list are not given, and looking up
// each by name would cost more than reading those that are.
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
			p.fault(invalidParameter, name, v, "must not be empty")
		case !known.multiple() && len(p.values[name]) > 0:
			p.fault(invalidParameter, name, v, "must be given once")
		default:
			p.values[name] = append(p.values[name], v)
		}
	}
}

// fault notes a fault of a parameter; nil where it is counted only.
func (p *parser) fault(c *code, name, value, detail string) *Fault {
	if p.in != "" {
		return p.faults.add(invalidField, Fault{In: p.in, Name: p.prefix + name, Value: clip(value), Detail: detail})
	}
	return p.faults.add(c, Fault{In: "query", Name: name, Value: clip(value), Detail: detail})
}

// notOneOf notes a value outside a fixed list.
func (p *parser) notOneOf(name, value string, allowed []string) {
	if f := p.fault(invalidParameter, name, value, "must be one of "+strings.Join(allowed, ", ")); f != nil {
		f.Allowed, f.Suggestion = allowed, p.faults.Field(value, allowed)
	}
}

func (p *parser) unknown(name string) {
	fault := unknownName("query", name, noParameter, p.r.paramNames)
	if p.in != "" {
		fault = unknownName(p.in, name, noField, p.r.paramNames)
		fault.Name = p.prefix + fault.Name
	}
	if f := p.faults.add(unknownParameter, fault); f != nil {
		f.Suggestion = p.faults.Parameter(*clip(name), p.r.paramNames)
	}
}

// listed splits values at commas, drops repeated ones and keeps their order.
func (p *parser) listed(pm *param, values []string) (out []string) {
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part == "" {
				p.fault(invalidParameter, pm.name, v, "must not have an empty value between commas")
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

// maxValues is how many values one filter takes: more than any page shows, few enough to
// answer fast.
const maxValues = 50

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
