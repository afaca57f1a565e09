package httpapi

import (
	"maps"
	"math"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/best"
	"modeldex/dataset/fit"
	"modeldex/httpapi/query"
	"modeldex/index"
)

type modelRuns struct {
	// Hardware, by slug or alias: only models that run on it. The field fit of each row shows the best quantization, the
	// verdict and the speed. Hardware sold with several memory sizes counts with its vram_gb, and the notice
	// memory_assumed says so. A name with a memory size or number of devices, such as "M4 Max 64GB" or
	// "2x RTX 3090", sets memory_gb and count unless you give them.
	Fits string `query:"fits,name=hardware"`
	// Memory of one device, in GB of 2^30 bytes, for hardware sold with different memory sizes.
	MemoryGB float64 `query:"memory_gb,above=0,max=1e6,with=fits"`
}

type hardwareRuns struct {
	// Model, by slug or alias: only hardware that runs it. The field fit of each row shows the best quantization, the
	// verdict and the speed. Hardware sold with several memory sizes counts with its vram_gb; the notice memory_assumed
	// says how many rows that concerns.
	Runs string `query:"runs,name=model"`
	// Quantization of the model, such as Q4_K_M, instead of the best one.
	Quantization string `query:"quantization,bytes=100"`
}

// runNames are what lists of what runs ask of the engine beside machine and model.
var runNames = []string{
	"min_tps", "count", "split", "context", "kv", "kv_v", "flash_attention", "engine", "parallel", "batch_tokens", "gpu_memory_utilization",
	"host", "system_memory_gb", "allow_extended", "prefer",
}

type explainParams struct {
	// Add the score breakdown behind sort=best to the field fit. The points add up to the total.
	Explain bool `query:"explain"`
}

func runsParams[T any](main string) []query.Param {
	params := slices.Concat(query.Of[T](), query.Only(fitParams, runNames...), query.Of[explainParams]())
	for i := range params {
		if params[i].Name != main {
			params[i].With = main
		}
	}
	return params
}

// asks is what a list asks the engine.
func (q *listQuery) asks() (ask fit.Query) {
	q.Into(&ask)
	ask.Backend = "" // a filter of the hardware
	return ask
}

// The orders of what runs, by what rows have in the member fit.
const (
	byBest  index.Field = "best" // the default
	bySpeed index.Field = "tps"
	byPrice index.Field = "total_price_usd"
	byValue index.Field = "usd_per_tps"
)

// runOrders are those orders of a list, each with what it sorts by: less comes first.
func (r *resource) runOrders() map[index.Field]func(b *fit.Best) float64 {
	orders := map[index.Field]func(b *fit.Best) float64{
		byBest:  func(b *fit.Best) float64 { return -b.Points.Total },
		bySpeed: func(b *fit.Best) float64 { return orNaN(b.TPS) },
	}
	if r.main == "runs" {
		orders[byPrice] = func(b *fit.Best) float64 { return orNaN(b.TotalPriceUSD) }
		orders[byValue] = func(b *fit.Best) float64 { return orNaN(b.TotalPriceUSD) / orNaN(b.TPS) }
	}
	return orders
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// readRuns finds what runs. It returns a filter by slug and the values for each row.
func (q *listQuery) readRuns() {
	main := q.r.main
	q.name("host")
	if !q.Given(main) {
		q.checkAlone(main)
		return
	}
	q.name(main)
	slug := q.Text(main)
	if q.Code != "" {
		return
	}
	ask, why, list, fault := q.asks(), undecided, best.List{}, (*fit.Fault)(nil)
	if ask.MinTPS > 0 {
		q.searches = searchCalls
	}
	if main == "runs" {
		ask.Model = dataset.Slug(slug)
		list, fault = q.gen.Best.Hardware(ask)
	} else {
		ask.Hardware = dataset.Slug(slug)
		if ask.MemoryGB == 0 && len(q.gen.Fit.Unpublished(ask.Hardware)) > 0 {
			why = ": the memory of " + slug + " is not published"
		}
		list, fault = q.gen.Best.Models(ask)
	}
	if fault != nil {
		q.fitFault(fault)
		return
	}
	q.noticeLeftOut(main, list.Undecided, why)
	q.noticeLeftOut("min_tps", list.NoSpeed, noSpeed)
	found := list.Found
	if q.Sort.Field == byBest || main == "runs" {
		var slugs []dataset.Slug
		for _, rows := range list.LeftOut {
			for i := range rows {
				slugs = append(slugs, q.runSlug(&rows[i]))
			}
		}
		q.noticeCount(notRecommended, main, slugs, ": "+strings.Join(slices.Sorted(maps.Keys(list.LeftOut)), ", or "))
	} else {
		found = list.All()
	}
	switch {
	case main == "runs":
		q.noticeMemories(found)
	case !q.Given("memory_gb"):
		q.noticeMemory(dataset.Slug(slug))
	}
	q.keepRuns(found)
}

func (q *listQuery) checkAlone(main string) {
	var names []string
	for i := range q.r.params {
		if p := &q.r.params[i]; p.With == main && q.Changes(p.Name) {
			names = append(names, p.Name)
		}
	}
	if names != nil && !q.Sent(main) {
		q.Missing(main, "is required with "+strings.Join(names, ", "))
	}
	if q.r.runOrders()[q.Sort.Field] != nil {
		q.Fault("sort", q.Text("sort"), "needs "+main+": it sorts by the field fit")
	}
}

// Why records are left out of what runs, as the end of a notice.
const (
	undecided = ": a fact needed to tell whether they run is not published; /api/v1/fit names it"
	noSpeed   = ": the speed was not measured, and a fact needed for an estimate is not published"
)

func (q *listQuery) runSlug(b *fit.Best) dataset.Slug {
	if q.r.main == "fits" {
		return b.Model
	}
	return b.Hardware
}

// keepRuns makes a filter of what was found, and the order that is asked for. The price of several devices is that of all.
func (q *listQuery) keepRuns(found []fit.Best) {
	t := q.r.table(q.gen)
	if q.r.main == "runs" && q.Sort.Field == "street_price_usd" {
		q.Sort.Field = byPrice
	}
	value := q.r.runOrders()[q.Sort.Field]
	if value != nil {
		q.Computed = slices.Repeat([]float64{math.NaN()}, t.Len())
	}
	q.runs = make(map[string]*fit.Best, len(found))
	slugs := make([]string, len(found))
	for i := range found {
		b := &found[i]
		slugs[i] = string(q.runSlug(b))
		q.runs[slugs[i]] = b
		if ord, ok := t.Find(slugs[i]); ok && value != nil {
			q.Computed[ord] = value(b)
		}
		if !q.Flag("explain") {
			b.Points = nil
		}
	}
	q.runsSet = len(q.Sets)
	q.addSet(q.r.main, index.Slug, slugs...)
}
