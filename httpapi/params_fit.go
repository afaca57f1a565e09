package httpapi

import (
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/resolve"
	"modeldex/index"
)

// collectMembers is collect for the members of a JSON object, whose texts, numbers and flags are
// read like parameters.
func (p *parser) collectMembers(members map[string]jsontext.Value) {
	for name, raw := range members {
		v := string(raw)
		if raw.Kind() == '"' {
			if err := jsonv2.Unmarshal(raw, &v); err != nil {
				v = ""
			}
		}
		switch _, known := p.r.byName[name]; {
		case !known:
			p.unknown(name)
		case raw.Kind() == 'n': // null is as good as left out
		case v == "":
			p.fault(invalidField, name, v, "must not be empty")
		case raw.Kind() == '{' || raw.Kind() == '[':
			p.fault(invalidField, name, v, "must be a text, a number, true or false")
		default:
			p.values[name] = []string{v}
		}
	}
}

// pair reads what is asked of a model and a piece of hardware; everything may be left out.
func (r *fitReader) pair() fit.Query {
	return fit.Query{
		Model:          dataset.Slug(r.name("model")),
		Hardware:       dataset.Slug(r.name("hardware")),
		Quantization:   r.quantization(),
		Count:          int(r.number("count")),
		Context:        int64(r.number("context")),
		KV:             fit.KVType(r.choice("kv")),
		Rules:          fit.Rules(r.choice("engine")),
		MemoryGB:       r.number("memory_gb"),
		BandwidthGBps:  r.number("bandwidth_gbps"),
		UnifiedShare:   r.number("unified_share"),
		SystemMemoryGB: r.number("system_memory_gb"),
		AllowExtended:  r.flag("allow_extended"),
	}
}

// fitQuery reads the parameters into a query and their canonical spelling.
func (p *parser) fitQuery() (q fit.Query, canonical []string) {
	r := fitReader{parser: p}
	q = r.pair()
	costs := fit.Costs{
		USDPerKWh: r.optional("usd_per_kwh"), HoursPerDay: r.optional("hours_per_day"),
		Years: r.optional("years"), USDPerHour: r.optional("usd_per_hour"),
	}
	if costs != (fit.Costs{}) {
		costs.Today = released(p.gen)
		q.Costs = &costs
	}
	if !p.sent("model") {
		p.fault(invalidParameter, "model", "", p.r.byName["model"].required)
	}
	if !p.sent("hardware") && !p.sent("memory_gb") {
		p.fault(invalidParameter, "hardware", "", "is required, unless memory_gb describes the machine")
	}
	return q, r.canonical
}

// sent reports whether a parameter was sent, with a value or empty: an empty one has a fault already.
func (p *parser) sent(name string) bool { return p.values[name] != nil || p.faults.of(p.prefix+name) }

// released is the day of the dataset: prices are old or not by it, so that an answer depends on
// nothing but dataset and query.
func released(gen *index.Generation) time.Time {
	n := int(index.DateNumber(&gen.Info.Released))
	return time.Date(n/10000, time.Month(max(n/100%100, 1)), max(n%100, 1), 0, 0, 0, 0, time.UTC)
}

// maxFitQueries is how many queries one POST takes. Each costs under a millisecond.
const maxFitQueries = 100

// fitReader reads parameters by name and gathers their canonical spelling.
type fitReader struct {
	*parser
	canonical []string
}

func (r *fitReader) value(name string) string {
	if v := r.values[name]; v != nil {
		return v[0]
	}
	return ""
}

func (r *fitReader) keep(name, v string) {
	r.canonical = append(r.canonical, name+"="+url.QueryEscape(v))
}

// name finds a record by slug, alias or a name that can be read by rules; an unknown name is a fault
// with a near slug.
func (r *fitReader) name(name string) string {
	slug, a := r.lookUp(name)
	return r.nameFound(name, slug, &a)
}

// lookUp finds the record that a parameter names, empty for none.
func (r *fitReader) lookUp(name string) (slug string, a resolve.Answer) {
	if v := r.value(name); v != "" {
		slug, a = named(r.gen, r.r.byName[name].table(r.gen), v)
	}
	return slug, a
}

// nameFound is name for a record that was looked up.
func (r *fitReader) nameFound(name, slug string, a *resolve.Answer) string {
	v := r.value(name)
	if v == "" {
		return ""
	}
	if slug == "" {
		if f := r.fault(invalidParameter, name, v, r.whyNot(name, v, a)); f != nil && len(a.Candidates) > 0 {
			f.candidates, f.several = a.Candidates, a.Several()
			if f.several {
				f.Allowed = candidateSlugs(a) // none of them is likelier than another
			} else {
				f.Suggestion = string(a.Candidates[0].Slug)
			}
		}
		return ""
	}
	if name == "hardware" {
		r.useStated(a)
	}
	r.keep(name, slug)
	return slug
}

// whyNot says why a name is not that of one record.
func (r *fitReader) whyNot(name, v string, a *resolve.Answer) string {
	table := r.r.byName[name].table(r.gen)
	if a.Ambiguous {
		return a.WhyNot()
	}
	if gb := amountOfMemory(v); gb != "" && table == r.gen.Hardware {
		return "is an amount of memory, not the name of hardware: /fit.json?memory_gb=" + gb + " shows what runs in it, /api/v1/fit?memory_gb=" + gb +
			" whether one model does, and /api/v1/hardware?min_vram_gb=" + gb + "&max_vram_gb=" + gb + " what hardware has it"
	}
	if parts := strings.SplitN(v, ",", 3); len(parts) > 1 {
		first, _ := named(r.gen, table, parts[0])
		second, _ := named(r.gen, table, parts[1])
		if first != "" && second != "" {
			return fmt.Sprintf("is more than one name, and one is asked for here; POST /api/v1/fit takes up to %d pairs", maxFitQueries)
		}
	}
	return a.WhyNot()
}

// amountOfMemory is the gigabytes in what somebody who knows nothing else of a card gives as its name, empty for other texts. A
// number without a unit is one up to mostBareGB: larger ones are numbers of cards.
func amountOfMemory(text string) string {
	m := typedMemory.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	if gb, err := strconv.ParseFloat(m[1], 64); err != nil || gb == 0 || m[2] == "" && gb > mostBareGB {
		return ""
	}
	return m[1]
}

const mostBareGB = 256

var typedMemory = regexp.MustCompile(`(?i)^\s*(\d+(?:\.\d+)?)( ?(?:gb|gib)(?: (?:of )?(?:vram|ram|memory|gpu|card))?)?\s*$`)

// useStated uses what the name of a machine says beside its record, where no parameter says it: "Raspberry Pi 5
// 8GB" is not the one with 16 GB, and "2x RTX 3090" is not one card.
func (r *fitReader) useStated(a *resolve.Answer) {
	own := math.NaN()
	if ord, ok := r.gen.Hardware.Find(string(a.Slug)); ok {
		own = r.gen.Hardware.Number("vram_gb", ord)
	}
	memoryGB, count := a.Machine(own)
	if memoryGB > 0 && r.values["memory_gb"] == nil {
		r.values["memory_gb"] = []string{strconv.FormatFloat(memoryGB, 'f', -1, 64)}
	}
	if count > 0 && r.values["count"] == nil {
		r.values["count"] = []string{strconv.Itoa(count)}
	}
}

const maxFitText = 100

func (r *fitReader) quantization() string {
	const name = "quantization"
	v := r.value(name)
	if len(v) > maxFitText {
		r.fault(invalidParameter, name, v, fmt.Sprintf("must be at most %d bytes", maxFitText))
		return ""
	}
	if v != "" {
		r.keep(name, v)
	}
	return v
}

func (r *fitReader) choice(name string) string {
	v := r.value(name)
	if v == "" {
		return ""
	}
	if allowed := r.r.byName[name].values; !slices.Contains(allowed, v) {
		r.notOneOf(name, v, allowed)
		return ""
	}
	r.keep(name, v)
	return v
}

func (r *fitReader) flag(name string) bool {
	v := r.value(name)
	if v == "true" {
		r.keep(name, v)
		return true
	}
	if v != "" && v != "false" {
		r.notOneOf(name, v, []string{"true", "false"})
	}
	return false
}

// number reads a plain decimal above 0; 0 if there is none.
func (r *fitReader) number(name string) float64 {
	if v := r.optional(name); v != nil {
		return *v
	}
	return 0
}

func (r *fitReader) optional(name string) *float64 {
	v := r.value(name)
	if v == "" {
		return nil
	}
	pm := r.r.byName[name]
	n, ok := plainDecimal(v)
	kind, least := "number", "above 0"
	if pm.kind == wholeNumber {
		kind, least, ok = "whole number", "from 1", ok && n == math.Trunc(n)
	}
	if pm.fromZero {
		least = "from 0"
	}
	if !ok || n > pm.most || n == 0 && !pm.fromZero {
		r.fault(invalidParameter, name, v, fmt.Sprintf("must be a %s %s to %s", kind, least, strconv.FormatFloat(pm.most, 'f', -1, 64)))
		return nil
	}
	r.keep(name, strconv.FormatFloat(n, 'f', -1, 64))
	return &n
}

// fitFault reports what the engine found wrong with a query.
func (p *parser) fitFault(fault *fit.Fault) {
	p.fault(invalidParameter, fault.Field, strings.Join(p.values[fault.Field], ","), fault.Text)
}
