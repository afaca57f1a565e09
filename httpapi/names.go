package httpapi

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/resolve"
	"modeldex/httpapi/query"
	"modeldex/index"
)

// reader is the parameters of one request, read as a generation has them: it finds the records that they name.
type reader struct {
	*query.Values
	gen     *index.Generation
	notices []Notice // what is to be said of them
}

// name makes the name that a parameter was given the slug of its record, and notes how it was read. A name that no
// record has is a fault.
func (r *reader) name(param string) {
	v, t := r.Text(param), r.tableOf(param)
	if v == "" {
		return
	}
	slug, a := named(r.gen, t, v)
	if slug == "" {
		r.unknownName(param, v, t, &a)
		return
	}
	r.noticeResolved(param, v, slug, &a)
	r.useStated(param, slug, &a)
	r.Set(param, slug)
}

// tableOf is the table of the records that a parameter names.
func (r *reader) tableOf(param string) *index.Table {
	return tableOf(index.Field(r.Param(param).Refers), r.gen)
}

// devices are the devices that the parameter hardware names, in order. What a name says of memory and number sets other
// parameters where it is the only one.
func (r *reader) devices() (units []fit.Unit) {
	table := r.tableOf("hardware")
	names := fit.SplitNames(r.Text("hardware"), func(name string) bool {
		slug, _ := named(r.gen, table, name)
		return slug != ""
	})
	if len(names) < 2 {
		r.name("hardware")
		return []fit.Unit{{Hardware: dataset.Slug(r.Text("hardware"))}}
	}
	var canonical []string
	for _, name := range names {
		slug, a := named(r.gen, table, name)
		if slug == "" {
			r.unknownName("hardware", name, table, &a)
			continue
		}
		u := fit.Unit{Hardware: dataset.Slug(slug)}
		memoryGB, count := a.Machine(r.ownMemory(slug))
		if u.MemoryGB = memoryGB; memoryGB > 0 {
			slug += " " + strconv.FormatFloat(memoryGB, 'f', -1, 64) + "GB"
		}
		for range max(1, min(count, fit.MaxCount+1)) {
			units, canonical = append(units, u), append(canonical, slug)
		}
	}
	if r.Sent("memory_gb") && len(units) > 0 {
		r.Fault("memory_gb", r.Text("memory_gb"), "is the memory of one device; with several names, write it after each, such as RTX 4090,RTX 3060 12GB")
	}
	r.Set("hardware", strings.Join(canonical, ","))
	return units
}

// unknownName is the fault of a name that no record of a table has, with near ones.
func (r *reader) unknownName(param, v string, table *index.Table, a *resolve.Answer) {
	if f := r.Fault(param, v, r.whyNot(table, v, a)); f != nil {
		near := r.nearRecords(table, v)
		if a.Explained() || len(near) == 0 || strings.Contains(v, " ") && len(a.Candidates) > 0 {
			f.Candidates, near = a.Candidates, candidateSlugs(a)
		}
		if len(near) > 0 {
			f.Suggestion = near[0]
		}
	}
}

// whyNot says why no record has a name.
func (r *reader) whyNot(table *index.Table, v string, a *resolve.Answer) string {
	if gb := amountOfMemory(v); gb != "" && table == r.gen.Hardware {
		return "is a memory size, not a hardware name: /fit.json?memory_gb=" + gb +
			" shows what runs in it, /api/v1/fit?memory_gb=" + gb + " whether one model does, and /api/v1/hardware?min_vram_gb=" + gb +
			"&max_vram_gb=" + gb + " what hardware has it"
	}
	if parts := strings.SplitN(v, ",", 3); len(parts) > 1 {
		first, _ := named(r.gen, table, parts[0])
		second, _ := named(r.gen, table, parts[1])
		if first != "" && second != "" {
			return fmt.Sprintf("must be one name; POST /api/v1/fit takes up to %d pairs", maxFitQueries)
		}
	}
	return a.WhyNot()
}

// useStated uses what the name of a machine says beside its record, where no parameter says it: "Raspberry Pi 5
// 8GB" is not the one with 16 GB, and "2x RTX 3090" is not one card.
func (r *reader) useStated(param, slug string, a *resolve.Answer) {
	memory := map[string]string{"hardware": "memory_gb", "fits": "memory_gb", "host": "system_memory_gb"}[param]
	if memory == "" || a.Slug == "" {
		return
	}
	memoryGB, count := a.Machine(r.ownMemory(slug))
	if memoryGB > 0 && !r.Sent(memory) {
		r.Set(memory, strconv.FormatFloat(memoryGB, 'f', -1, 64))
	}
	if count > 0 && param != "host" && !r.Sent("count") {
		r.Set("count", strconv.Itoa(count))
	}
}

// ownMemory is the memory of hardware in GB, NaN where it is unknown.
func (r *reader) ownMemory(slug string) float64 {
	if ord, ok := r.gen.Hardware.Find(slug); ok {
		return r.gen.Hardware.Number("vram_gb", ord)
	}
	return math.NaN()
}

// fitFault reports what the engine found wrong with a query.
func (r *reader) fitFault(fault *fit.Fault) {
	if f := r.Fault(fault.Field, strings.Join(r.Texts(fault.Field), ","), fault.Text); f != nil {
		f.Allowed = fault.Allowed
	}
}

// typedMemory is an amount that somebody who knows nothing else of a card gives as its name. A number without a unit is one
// up to 256: larger ones are numbers of cards.
var typedMemory = regexp.MustCompile(`(?i)^\s*(?:(\d+(?:\.\d+)?) ?(?:gb|gib)(?: (?:of )?(?:vram|ram|memory|gpu|card))?|(\d{1,2}|1\d\d|2[0-4]\d|25[0-6]))\s*$`)

// amountOfMemory is the gigabytes of a text that is nothing but an amount of memory, empty for other texts.
func amountOfMemory(text string) string {
	if m := typedMemory.FindStringSubmatch(text); m != nil && strings.Trim(m[1]+m[2], "0.") != "" {
		return m[1] + m[2]
	}
	return ""
}

// known is nil for the zero value, which JSON shows as null.
func known[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}

// named is the slug of the record of a table that a name means, the likeliest where several fit, empty for none. Filters
// and questions of fit find names here and nowhere else. The answer is empty for a slug itself, which
// needs no reading, and for benchmarks, which have ids only.
func named(gen *index.Generation, t *index.Table, name string) (slug string, a resolve.Answer) {
	if _, ok := t.Find(name); ok {
		return name, a
	}
	kind := kindOf(gen, t)
	if kind == "" {
		slug, _ = t.Resolve(name)
		return slug, a
	}
	a = gen.Names.Resolve(kind, name)
	return string(a.Slug), a
}

// only is named for those who can not say that several records fit: then no record has the name.
func only(gen *index.Generation, t *index.Table, name string) string {
	slug, a := named(gen, t, name)
	if a.Open() {
		return ""
	}
	return slug
}

// exactly is named without reading names by rules, nor looking for similar ones.
func exactly(gen *index.Generation, t *index.Table, name string) string {
	if kind := kindOf(gen, t); kind != "" && !gen.Names.Has(kind, name) {
		return ""
	}
	slug, a := named(gen, t, name)
	if a.Confidence == resolve.Parsed || a.Confidence == resolve.Likely {
		return ""
	}
	return slug
}

// kindOf is the kind of the names in a table, empty for benchmarks.
func kindOf(gen *index.Generation, t *index.Table) resolve.Kind {
	return map[*index.Table]resolve.Kind{gen.Models: resolve.Model, gen.Hardware: resolve.Hardware, gen.Tools: resolve.Tool}[t]
}
