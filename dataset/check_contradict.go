package dataset

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// contradictHardware looks for fields of a part that cannot both be true.
func (l *loader) contradictHardware(h *Hardware, p place) {
	for _, v := range Vendors {
		if v != h.Vendor && strings.HasPrefix(string(h.Slug), string(v)+"-") {
			l.at(p, "vendor", fmt.Sprintf("must be the one the slug begins with, %q, got %q", v, h.Vendor), "slug")
		}
	}
	if own := h.Type == "soc" || h.Type == "apu"; own && !h.UnifiedMemory || (h.Type == "gpu" || h.Type == "cpu") && h.UnifiedMemory {
		l.at(p, "unified_memory", fmt.Sprintf("must be %t where type is %q, got %t", own, h.Type, h.UnifiedMemory), "type")
	}
	for field, only := range map[string]struct {
		known  bool
		vendor Vendor
	}{"cuda_compute_capability": {h.CUDAComputeCapability != nil, Nvidia}, "gfx_target": {h.GFXTarget != nil, AMD}} {
		if only.known && h.Vendor != only.vendor {
			l.at(p, field, fmt.Sprintf("must be null where vendor is not %q, but %q", only.vendor, h.Vendor), "vendor")
		}
	}
	if h.VRAMGB != nil && h.MemoryOptionsGB != nil && !slices.Contains(*h.MemoryOptionsGB, *h.VRAMGB) {
		l.at(p, "vram_gb", fmt.Sprintf("must be one of memory_options_gb, got %s", plainNumber(*h.VRAMGB)), "memory_options_gb")
	}
	if h.ReleaseQuarter != nil && h.ReleaseDate != nil && !inQuarter(*h.ReleaseDate, *h.ReleaseQuarter) {
		l.at(p, "release_quarter", fmt.Sprintf("must be that of release_date, %q, got %q", *h.ReleaseDate, *h.ReleaseQuarter), "release_date")
	}
	if r := h.TDPRangeWatts; r != nil && len(*r) == 2 && h.TDPWatts != nil && (*h.TDPWatts < (*r)[0] || *h.TDPWatts > (*r)[1]) {
		l.at(p, "tdp_watts", fmt.Sprintf("must be in tdp_range_watts, %s to %s, got %s", plainNumber((*r)[0]), plainNumber((*r)[1]), plainNumber(*h.TDPWatts)), "tdp_range_watts")
	}
	l.inOrder(p, "tdp_watts", h.TDPWatts, "max_turbo_power_watts", h.MaxTurboPowerWatts)
	for i := range h.PriceObservations {
		o := &h.PriceObservations[i]
		if r := o.AmountRange; r != nil && len(*r) == 2 && (o.Amount < (*r)[0] || o.Amount > (*r)[1]) {
			at := fmt.Sprintf("price_observations.%d.amount", i)
			l.at(p, at, fmt.Sprintf("must be in amount_range, %s to %s, got %s", plainNumber((*r)[0]), plainNumber((*r)[1]), plainNumber(o.Amount)), at+"_range")
		}
	}
}

// inQuarter reports whether a date may be in a quarter such as 2023-Q1.
func inQuarter(d Date, quarter string) bool {
	if len(d) < len("2006-01") {
		return d[:4] == Date(quarter[:4])
	}
	month, _ := strconv.Atoi(string(d[5:7]))
	return string(d[:4])+"-Q"+strconv.Itoa((month+2)/3) == quarter
}

// contradictModel looks for fields of a model that cannot both be true.
func (l *loader) contradictModel(m *Model, p place) {
	a, k := &m.Architecture, &m.KVCache
	if a.Type != nil && *a.Type == "dense" {
		for field, known := range map[string]bool{
			"num_experts": a.NumExperts != nil, "num_experts_per_token": a.NumExpertsPerToken != nil, "num_shared_experts": a.NumSharedExperts != nil,
			"moe_intermediate_size": a.MoEIntermediateSize != nil, "num_dense_layers": a.NumDenseLayers != nil,
		} {
			if known {
				l.at(p, "architecture."+field, "must be null where type is \"dense\"", "architecture.type")
			}
		}
	}
	if k.Attention != nil && *k.Attention != "mla" {
		for field, known := range map[string]bool{"kv_lora_rank": k.KVLoraRank != nil, "qk_rope_head_dim": k.QKRopeHeadDim != nil} {
			if known {
				l.at(p, "kv_cache."+field, fmt.Sprintf("must be null where attention is %q", *k.Attention), "kv_cache.attention")
			}
		}
	}
	if !l.warn {
		return
	}
	type file struct{ name, format, repo, source string }
	files := map[file]int{}
	for i := range m.Quantizations {
		q := &m.Quantizations[i]
		of := file{q.Name, q.Format, textOf(q.Repo), textOf(q.Source)}
		if first, twice := files[of]; twice {
			l.warning(p, fmt.Sprintf("quantizations.%d.name", i), fmt.Sprintf("%q is a duplicate of quantizations.%d, of the same format, repo and source", q.Name, first))
			continue
		}
		files[of] = i
	}
	if m.ParamsB != nil && !sizeFits(m) {
		l.warning(p, "params_b", fmt.Sprintf("is far from the size in the slug %s, got %s", m.Slug, plainNumber(*m.ParamsB)), "slug", "active_params_b")
	}
}

// sizeName finds the sizes in a slug: "8b", "0.5b", "270m", "8x7b".
var sizeName = regexp.MustCompile(`(?:^|-)(?:([0-9]+)x)?([0-9]+(?:\.[0-9]+)?)([bm])(?:-|$)`)

// sizeFits reports whether a size in the slug of a model may be that of its parameters, all or active ones.
func sizeFits(m *Model) bool {
	found := sizeName.FindAllStringSubmatch(strings.ReplaceAll(string(m.Slug), "-", "--"), -1)
	for _, part := range found {
		size, _ := strconv.ParseFloat(part[2], 64)
		if part[3] == "m" {
			size /= 1000
		}
		if times, err := strconv.Atoi(part[1]); err == nil {
			size *= float64(times)
		}
		for _, own := range []*float64{m.ParamsB, m.ActiveParamsB, m.EffectiveParamsB} {
			if own != nil && *own > size*0.55 && *own < size*1.8 {
				return true
			}
		}
	}
	return len(found) == 0
}

// backendVendors are the makers on whose parts a backend works; one that is not here works on all.
var backendVendors = map[string][]Vendor{
	"cuda": {Nvidia}, "rocm": {AMD}, "mlx": {Apple}, "metal": {Apple, AMD, Intel}, "hexagon": {Qualcomm}, "hpu": {Intel},
}

// contradictRun looks for fields of a measurement that cannot both be true. It is called for every line.
func (l *loader) contradictRun(b *Benchmark, p place) {
	deviation := func(field string, speed, dev *float64) {
		switch {
		case dev == nil:
		case speed == nil:
			l.at(p, field+"_stddev", "must be null where "+field+" is null", field)
		case *dev > maxDeviation**speed:
			l.at(p, field+"_stddev", fmt.Sprintf("must be at most %d times %s, got %s of %s", maxDeviation, field, plainNumber(*dev), plainNumber(*speed)), field)
		}
	}
	if b.NPrompt != nil && *b.NPrompt == 0 && b.PromptTPS != nil {
		l.at(p, "n_prompt", "must be above 0 where prompt_tps is known", "prompt_tps")
	}
	if b.NGen != nil && *b.NGen == 0 && b.GenerationTPS != nil {
		l.at(p, "n_gen", "must be above 0 where generation_tps is known", "generation_tps")
	}
	deviation("prompt_tps", b.PromptTPS, b.PromptTPSStddev)
	deviation("generation_tps", b.GenerationTPS, b.GenerationTPSStddev)
	l.inOrder(p, "ttft_p50_ms", b.TTFTP50Ms, "ttft_p99_ms", b.TTFTP99Ms)
	l.inOrder(p, "tpot_p50_ms", b.TPOTP50Ms, "tpot_p99_ms", b.TPOTP99Ms)
	if many := b.Concurrency != nil && *b.Concurrency > 1; l.warn && b.RateBasis != nil && many != (*b.RateBasis == RateTotal) {
		l.warning(p, "rate_basis", fmt.Sprintf("must be \"total\" where concurrency is above 1, and only there, got %q", *b.RateBasis), "concurrency")
	}
	if b.Nodes != nil && *b.Nodes > b.HardwareCount {
		l.at(p, "nodes", fmt.Sprintf("must be at most hardware_count, the devices of all nodes, got %d of %d", *b.Nodes, b.HardwareCount), "hardware_count")
	}
	if b.PowerBasis != nil && b.PowerWatts == nil {
		l.warning(p, "power_basis", "must be null where power_watts is null", "power_watts")
	}
	if b.ComputeUnit != nil {
		l.contradictUnit(b, p)
	}
	if b.Withdrawn != nil && b.RunDate != nil && before(b.Withdrawn.Date, *b.RunDate) {
		l.at(p, "withdrawn.date", fmt.Sprintf("must not be before run_date, %q, got %q", *b.RunDate, b.Withdrawn.Date), "run_date")
	}
}

// contradictUnit compares what generated with where the layers were.
func (l *loader) contradictUnit(b *Benchmark, p place) {
	unit, layers := *b.ComputeUnit, b.NGPULayers
	switch {
	case layers != nil && *layers > 0 && unit == OnCPU, layers != nil && *layers == 0 && unit == OnGPU:
		l.at(p, "compute_unit", fmt.Sprintf("must not be %q where n_gpu_layers is %d", unit, *layers), "n_gpu_layers")
	case unit == OnMixed && b.PartialOffload != nil && !*b.PartialOffload:
		l.at(p, "partial_offload", "must not be false where compute_unit is \"mixed\"", "compute_unit")
	}
}

// inOrder holds two figures to their order.
func (l *loader) inOrder(p place, low string, a *float64, high string, b *float64) {
	if a != nil && b != nil && *a > *b {
		l.at(p, low, fmt.Sprintf("must be at most %s, got %s of %s", high, plainNumber(*a), plainNumber(*b)), high)
	}
}

// Slack of days: sources give the day of a listing or of the first sale, and makers measure before they sell.
const (
	modelSlack    = 90 * 24 * time.Hour
	hardwareSlack = 366 * 24 * time.Hour
)

// contradictNamed compares a measurement with the model and the hardware of these numbers, -1 for unknown ones.
func (l *loader) contradictNamed(b *Benchmark, p place, model, device int32) {
	clear := func(of place) bool { return len(l.faulty) == 0 || !l.anyFaulty(p, of) }
	if model >= 0 && clear(l.models.places[model]) {
		l.contradictWeights(b, p, l.models.recs[model])
	}
	if device >= 0 && clear(l.hardware.places[device]) {
		l.contradictPart(b, p, l.hardware.recs[device])
		l.unlikelyRun(b, p, l.hardware.recs[device])
	}
}

// contradictPart compares a measurement with the hardware it names: a backend works on the parts of its maker, and nothing
// was measured long before it was there.
func (l *loader) contradictPart(b *Benchmark, p place, h *Hardware) {
	if l.warn && b.Backend != nil {
		if vendors := backendVendors[*b.Backend]; vendors != nil && !slices.Contains(vendors, h.Vendor) {
			l.warning(p, "backend", fmt.Sprintf("%q does not work on parts of %q such as %s", *b.Backend, h.Vendor, h.Slug), "hardware")
		}
	}
	if l.warn && longBefore(b.RunDate, h.ReleaseDate, hardwareSlack) {
		l.warning(p, "run_date", fmt.Sprintf("is more than a year before %s was released, %q, got %q", h.Slug, *h.ReleaseDate, *b.RunDate), "hardware")
	}
}

// contradictWeights compares a measurement with the model it names, as contradictPart does.
func (l *loader) contradictWeights(b *Benchmark, p place, m *Model) {
	if l.warn && longBefore(b.RunDate, m.ReleaseDate, modelSlack) {
		l.warning(p, "run_date", fmt.Sprintf("is more than 90 days before %s was released, %q, got %q", m.Slug, *m.ReleaseDate, *b.RunDate), "model")
	}
}

// longBefore reports whether a date is before another by more than a time, as far as both say.
func longBefore(a, b *Date, slack time.Duration) bool {
	if a == nil || b == nil || !before(*a, *b) {
		return false
	}
	first, ok := a.Time()
	second, known := b.Time()
	for n := len(*a); n < len("2006-01-02"); n += 3 { // the last day it may be
		first = first.AddDate(0, 1, 0)
		if n == len("2006") {
			first = first.AddDate(0, 10, 0)
		}
	}
	return ok && known && second.Sub(first) > slack
}
