package dataset

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"modeldex/dataset/record"
)

// A run is a benchmark with the records it names. A record is nil if there is none or it has faults.
type run struct {
	*Benchmark
	number              int
	at                  place
	model               *Model
	hardware            *Hardware
	tool                *Tool
	modelAt, hardwareAt place
	ratio               float64 // of the memory bandwidth; NaN where it is unknown
	uncertain           bool    // it, its model or its hardware has a fault
}

var runRules = []rule[*run]{
	{"run-names", "model, hardware and tool name existing records.", 0, func(c *checker, r *run, p place) {
		c.modelSlugs.reference(c, p, "model", r.Model)
		c.hardwareSlugs.reference(c, p, "hardware", r.Hardware)
		c.toolSlugs.reference(c, p, "tool", r.Tool)
		if r.ID.Reserved() {
			c.reserved(p, "id", r.ID)
		}
	}},
	{"run-source-key", "source_key matches source_url and is an entry in sources.json.", 0, checkSourceKey},
	{"run-dates", "Dates are between 1990 and today, and run_date matches the year of the file.", 0, checkRunDates},
	{"run-source", "A benchmark not run by the dataset's owner links to its source page.", 0, func(c *checker, r *run, p place) {
		if r.SourceURL == nil && r.Source != Owner {
			c.at(p, "source_url", fmt.Sprintf("must not be null if source is %q", r.Source), "source")
		}
	}},
	{"run-kind", "A throughput result has a scenario and a total; any other result has a speed and no load fields.", 0, checkRunKind},
	{"run-bounds", "Numbers are within plausible bounds.", clean, func(c *checker, r *run, p place) {
		c.bounded(p, r.Benchmark)
		for field, v := range map[string]*float64{"prompt_tps": r.PromptTPS, "generation_tps": r.GenerationTPS, "total_tps": r.TotalTPS} {
			c.atMost(p, field, v, maxSpeedTPS*float64(r.HardwareCount), " tokens per second")
		}
	}},
	{"run-contradiction", "Fields of a benchmark do not contradict each other.", clean, checkRunContradiction},
	{"run-too-early", "A run is not dated long before the release of its model or hardware.", warned | clean, func(c *checker, r *run, p place) {
		if m := r.model; m != nil && longBefore(r.RunDate, m.ReleaseDate, modelSlack) {
			c.warning(p, "run_date", fmt.Sprintf("is %q, more than 90 days before %s was released (%q)", *r.RunDate, m.Slug, *m.ReleaseDate), "model")
		}
		if h := r.hardware; h != nil && longBefore(r.RunDate, h.ReleaseDate, hardwareSlack) {
			c.warning(p, "run_date", fmt.Sprintf("is %q, more than a year before %s was released (%q)", *r.RunDate, h.Slug, *h.ReleaseDate), "hardware")
		}
	}},
	{"run-backend", "The backend works on the hardware and is supported by the tool.", warned, checkRunBackend},
	{"run-stored", "The quantization is that of the weights, and the depth is within the context length of the model.", warned | clean, checkStored},
	{"run-type-spelling", "The quantization is spelled as in quantizations.json.", warned, func(c *checker, r *run, p place) {
		if r.Quantization != nil {
			c.spelledType(p, "quantization", *r.Quantization)
		}
	}},
	{"run-unlikely", "Power, device count and memory match the hardware.", warned | clean, checkRunUnlikely},
	{"run-speed", "Speeds are within the limits of memory bandwidth and compute, and sizes match the bits per weight.", 0, checkRunSpeed},
}

var allRunsRules = []rule[all]{
	{"run-id", "Ids of benchmarks are unique.", 0, checkIDs},
	{"run-repeat", "A measurement has only one id.", 0, checkRepeats},
	{"run-copied", "Runs of different models or hardware do not share all their figures.", warned, checkCopied},
	{"run-far-below", "A speed is not far below others on the same machine with the same tool.", warned, checkFarBelow},
	{"run-prompt-outlier", "A prompt speed is not far above all others for its model and hardware.", warned, checkPromptOutliers},
	{"run-peers", "A speed is less than eight times the other speeds of the model, or of models of its size, on the same hardware.", warned, checkPeers},
	{"run-spread", "A speed is close to those of other runs with the same configuration.", warned, checkSpread},
	{"run-weights", "A run with weights larger than the memory is marked as offloaded.", warned, checkWeights},
	{"run-review", "The model and hardware names in the output do not match another record better.", warned, review},
}

func (c *checker) index() {
	c.modelSlugs = register(c, &c.models, "model", modelNames)
	c.hardwareSlugs = register(c, &c.hardware, "hardware", hardwareNames)
	c.toolSlugs = register(c, &c.tools, "tool", toolNames)
	c.keys = registerOrigins(c)
	c.line = newRoofline(c.models.recs, c.hardware.recs, c.quantizations.recs)
	c.runs, c.skipping, c.qualityIDs = map[Slug]int{}, map[Slug]bool{}, map[Slug]place{}
	for _, b := range c.benchmarks.recs {
		c.runs[b.Model]++
	}
	for _, m := range c.models.recs {
		if kv, all := m.KVCache.NumKVLayers, m.Architecture.NumLayers; kv != nil && all != nil && *kv < *all {
			c.skipping[m.Family] = true
		}
	}
	c.types, c.typeNames, c.typeBits = map[string]place{}, map[string]string{}, map[string]float64{}
	for i, q := range c.quantizations.recs {
		if _, twice := c.types[q.Name]; !twice {
			c.types[q.Name] = c.quantizations.places[i]
		}
		c.typeNames[typeLetters(q.Name)] = q.Name
		if q.EffectiveBitsPerWeight != nil {
			c.typeBits[q.Name] = *q.EffectiveBitsPerWeight
		}
	}
	for _, t := range c.tools.recs {
		c.toolBackends = append(c.toolBackends, known(t.Backends)...)
	}
	slices.Sort(c.toolBackends)
	c.toolBackends = slices.Compact(c.toolBackends)
}

func (c *checker) checkBenchmarks() {
	c.eachRun(func(r *run) { applyTo(c, runRules, r, r.at) })
	c.applyAll(allRunsRules)
}

func (c *checker) eachRun(visit func(r *run)) {
	for i, b := range c.benchmarks.recs {
		if i%1024 == 0 && c.ctx.Err() != nil {
			return
		}
		r := &run{Benchmark: b, number: i, at: c.benchmarks.places[i], ratio: math.NaN()}
		r.model, r.modelAt = recordOf(c, c.modelSlugs, &c.models, b.Model)
		r.hardware, r.hardwareAt = recordOf(c, c.hardwareSlugs, &c.hardware, b.Hardware)
		r.tool, _ = recordOf(c, c.toolSlugs, &c.tools, b.Tool)
		r.uncertain = c.anyFaulty(r.at, r.modelAt, r.hardwareAt)
		if ratio, known := c.line.Ratio(b); known {
			r.ratio = ratio
		}
		visit(r)
	}
}

func recordOf[T any](c *checker, r *registry, t *table[T], slug Slug) (rec *T, at place) {
	i, known := r.owner[slug]
	if !known || i < 0 {
		return nil, place{}
	}
	if at = t.places[i]; c.anyFaulty(at) {
		return nil, at
	}
	return t.recs[i], at
}

// yearFile is a file of the benchmarks of one year. Other numbers are parts of a generated dataset.
var yearFile = regexp.MustCompile(`^benchmarks/((?:19|20)[0-9]{2})\.ndjson$`)

func checkRunDates(c *checker, r *run, p place) {
	c.pair(p, "run_date", r.RunDate != nil, "date_basis", r.DateBasis != nil)
	c.date(p, "run_date", r.RunDate)
	if r.Withdrawn != nil {
		c.date(p, "withdrawn.date", &r.Withdrawn.Date)
	}
	name := c.files[p.file].name
	if path.Base(name) == "undated.ndjson" && r.RunDate != nil {
		c.at(p, "run_date", fmt.Sprintf("must be null in undated.ndjson, got %q", *r.RunDate))
	}
	switch year := yearFile.FindStringSubmatch(name); {
	case year == nil:
	case r.RunDate == nil:
		c.at(p, "run_date", "must not be null in the file of a year; undated runs belong in undated.ndjson")
	case !strings.HasPrefix(string(*r.RunDate), year[1]):
		c.at(p, "run_date", fmt.Sprintf("must be in %s, the year of the file, got %q", year[1], *r.RunDate))
	}
}

func checkRunKind(c *checker, r *run, p place) {
	c.pair(p, "scenario", r.Scenario != nil, "total_tps", r.TotalTPS != nil)
	if r.IsThroughput() {
		const text = "must be null in a throughput result, which has total_tps instead"
		c.allNull(p, r.Benchmark, "", "prompt_tps generation_tps concurrency rate_basis", text, "scenario")
		return
	}
	if r.PromptTPS == nil && r.GenerationTPS == nil {
		c.at(p, "generation_tps", "must be set if prompt_tps is null", "prompt_tps")
	}
	const fields = "request_rate nodes submitter round division availability system"
	c.allNull(p, r.Benchmark, "", fields, "must be null if scenario is null", "scenario")
}

const maxDeviation = 3 // times a speed; ten runs that are not negative cannot have more

func checkRunContradiction(c *checker, r *run, p place) {
	if r.NPrompt != nil && *r.NPrompt == 0 && r.PromptTPS != nil {
		c.at(p, "n_prompt", "must be above 0 if prompt_tps is set", "prompt_tps")
	}
	if r.NGen != nil && *r.NGen == 0 && r.GenerationTPS != nil {
		c.at(p, "n_gen", "must be above 0 if generation_tps is set", "generation_tps")
	}
	c.deviation(p, "prompt_tps", r.PromptTPS, r.PromptTPSStddev)
	c.deviation(p, "generation_tps", r.GenerationTPS, r.GenerationTPSStddev)
	c.inOrder(p, "ttft_p50_ms", r.TTFTP50Ms, "ttft_p99_ms", r.TTFTP99Ms)
	c.inOrder(p, "tpot_p50_ms", r.TPOTP50Ms, "tpot_p99_ms", r.TPOTP99Ms)
	if many := r.Concurrency != nil && *r.Concurrency > 1; r.RateBasis != nil && many != (*r.RateBasis == record.RateTotal) {
		c.warning(p, "rate_basis", fmt.Sprintf("must be \"total\" if and only if concurrency is above 1, got %q", *r.RateBasis), "concurrency")
	}
	if r.Nodes != nil && *r.Nodes > r.HardwareCount {
		c.at(p, "nodes", fmt.Sprintf("must be at most hardware_count (%d, in all nodes), got %d", r.HardwareCount, *r.Nodes), "hardware_count")
	}
	if r.PowerBasis != nil && r.PowerWatts == nil {
		c.warning(p, "power_basis", "must be null if power_watts is null", "power_watts")
	}
	if unit, layers := textOf(r.ComputeUnit), r.NGPULayers; unit != "" {
		switch {
		case layers != nil && (*layers > 0 && unit == string(record.OnCPU) || *layers == 0 && unit == string(record.OnGPU)):
			c.at(p, "compute_unit", fmt.Sprintf("must not be %q if n_gpu_layers is %d", unit, *layers), "n_gpu_layers")
		case unit == string(record.OnMixed) && r.PartialOffload != nil && !*r.PartialOffload:
			c.at(p, "partial_offload", "must not be false if compute_unit is \"mixed\"", "compute_unit")
		}
	}
	if r.Withdrawn != nil && r.RunDate != nil && before(r.Withdrawn.Date, *r.RunDate) {
		c.at(p, "withdrawn.date", fmt.Sprintf("must not be before run_date (%q), got %q", *r.RunDate, r.Withdrawn.Date), "run_date")
	}
}

func (c *checker) deviation(p place, field string, speed, dev *float64) {
	switch {
	case dev == nil:
	case speed == nil:
		c.at(p, field+"_stddev", "must be null if "+field+" is null", field)
	case *dev > maxDeviation**speed:
		c.at(p, field+"_stddev", fmt.Sprintf("must be at most %d times %s (%s), got %s", maxDeviation, field, plainNumber(*speed), plainNumber(*dev)), field)
	}
}

// Slack of days: sources give the day of a listing or of the first sale, and makers measure before they sell.
const (
	modelSlack    = 90 * 24 * time.Hour
	hardwareSlack = 366 * 24 * time.Hour
)

var backendVendors = map[string][]Vendor{
	"cuda": {Nvidia}, "rocm": {record.AMD}, "mlx": {Apple}, "metal": {Apple, record.AMD, record.Intel}, "hexagon": {record.Qualcomm}, "hpu": {record.Intel},
}

// checkRunBackend trusts a tool with one backend only: a list of several may lack one that was not seen.
func checkRunBackend(c *checker, r *run, p place) {
	own := !c.anyFaulty(p)
	if h := r.hardware; h != nil && own && r.Backend != nil {
		if vendors := backendVendors[*r.Backend]; vendors != nil && !slices.Contains(vendors, h.Vendor) {
			c.warning(p, "backend", fmt.Sprintf("%q does not run on %q hardware such as %s", *r.Backend, h.Vendor, h.Slug), "hardware")
		}
	}
	if r.Withdrawn != nil {
		return
	}
	mlx := r.Quantization != nil && strings.HasPrefix(*r.Quantization, "MLX")
	if mlx && (r.Backend == nil || *r.Backend != "mlx") {
		c.warning(p, "backend", fmt.Sprintf("must be \"mlx\" if quantization is %q", *r.Quantization), "quantization")
	}
	if r.Backend != nil && len(c.toolBackends) > 0 && !slices.Contains(c.toolBackends, *r.Backend) {
		if near := record.Suggestion(*r.Backend, c.toolBackends); near != "" {
			c.warning(p, "backend", fmt.Sprintf("matches no tool, got %q%s", *r.Backend, near))
		}
	}
	t := r.tool
	if t == nil || !own {
		return
	}
	if t.Backends != nil && len(*t.Backends) == 1 && r.Backend != nil && (*t.Backends)[0] != *r.Backend && !mlx {
		c.warning(p, "backend", fmt.Sprintf("is %q, but %s supports only %q", *r.Backend, t.Slug, (*t.Backends)[0]), "tool")
	}
	if v := r.ToolVersion; v != nil && (strings.EqualFold(*v, t.Name) || strings.EqualFold(*v, string(t.Slug))) {
		c.warning(p, "tool_version", fmt.Sprintf("must be a version, not the name of the tool, got %q", *v), "tool")
	}
}

func checkStored(c *checker, r *run, p place) {
	m := r.model
	if m == nil || r.Withdrawn != nil {
		return
	}
	large := r.ModelSizeGiB != nil && m.ParamsB != nil && *r.ModelSizeGiB*(1<<30)*8 > storedSmaller**m.ParamsB*1e9 // it is stored in 16 bits after all
	if q := r.Quantization; q != nil && m.TrainedBits != nil && *m.TrainedBits >= 4 && c.line.BitsPerWeight(*q) >= fullBits && !large {
		c.warning(p, "quantization", fmt.Sprintf("must be the quantization of the weights, which were trained in %s bits, got %q", plainNumber(*m.TrainedBits), *q), "model")
	}
	if most, depth := m.Architecture.ContextLength, r.ContextDepth; most != nil && depth != nil && *depth > *most {
		c.warning(p, "context_depth", fmt.Sprintf("is %d, more than the context length of %s (%d tokens)", *depth, m.Slug, *most), "model")
	}
}

// Bounds of a run over its hardware: a mistake of units or decimals in either passes them.
const (
	mostPower   = 2     // of tdp_watts for each device, where the devices were measured; runs reach 0.95
	maxRunWatts = 5_000 // for each device, whatever was measured
	minRunWatts = 0.5   // in all
	memorySlack = 1.15  // between the memory of a run and that of its card, either way
	mostParts   = 16    // in one run on one machine
)

// mostPartsOf is the limit where it is below mostParts: more is a cluster, or the number of cores.
var mostPartsOf = map[HardwareType]int64{"cpu": 4, "soc": 4, "apu": 4}

func checkRunUnlikely(c *checker, r *run, p place) {
	h := r.hardware
	if h == nil || r.Withdrawn != nil {
		return
	}
	if w := r.PowerWatts; w != nil {
		devices, rated := float64(r.HardwareCount), h.TDPWatts
		if r := h.TDPRangeWatts; r != nil && len(*r) == 2 { // makers of machines set it
			rated = &(*r)[1]
		}
		ofDevices := r.PowerBasis != nil && *r.PowerBasis == "device" && rated != nil
		switch {
		case *w < minRunWatts || *w > maxRunWatts*devices:
			c.warning(p, "power_watts", fmt.Sprintf("must be %s to %d W for each device, got %s", plainNumber(minRunWatts), maxRunWatts, plainNumber(*w)), "hardware_count")
		case ofDevices && *w > mostPower*devices**rated:
			c.warning(p, "power_watts", fmt.Sprintf("is %s, more than %d times the rated %s W of %s", plainNumber(*w), mostPower, plainNumber(*rated*devices), h.Slug), "hardware", "hardware_count")
		}
	}
	most := cmp.Or(mostPartsOf[h.Type], mostParts)
	if h.FormFactor != nil && *h.FormFactor == "laptop" {
		most = 2
	}
	if r.HardwareCount > most && r.HardwareCount <= maxDevices && r.Nodes == nil {
		c.warning(p, "hardware_count", fmt.Sprintf("is %d, but nodes is null and one machine has at most %d", r.HardwareCount, most), "hardware", "nodes")
	}
	if r.MemoryGB != nil && h.VRAMGB != nil && h.Type == "gpu" && h.Variants == nil && (*r.MemoryGB > memorySlack**h.VRAMGB || *r.MemoryGB < *h.VRAMGB/memorySlack) {
		if !c.doubtful(p, "hardware") {
			text := fmt.Sprintf("is %s, but one %s has %s GB", plainNumber(*r.MemoryGB), h.Slug, plainNumber(*h.VRAMGB))
			c.blame(blamed{r.hardwareAt, "vram_gb", Warning}, p, "memory_gb", text)
		}
	}
}

func review(c *checker, _ all, _ place) {
	if c.opt.Review == nil || len(c.faulty) > 0 {
		return
	}
	rule := c.opt.Review(c.models.recs, c.hardware.recs)
	c.benchmarks.all(func(b *Benchmark, p place) {
		if field, text := rule(b); text != "" && b.Withdrawn == nil {
			c.warning(p, field, text)
		}
	})
}

// spare is what weights may pass the memory by before it counts: sizes are rounded.
const spare = 1.05

var quantized = regexp.MustCompile(`(?i)[a-z]?q[0-9]|int[0-9]|fp[0-9]|bit`)

func checkWeights(c *checker, _ all, _ place) {
	if len(c.faulty) > 0 {
		return
	}
	c.eachRun(func(r *run) {
		h := r.hardware
		onCPU := r.ComputeUnit != nil && *r.ComputeUnit != record.OnGPU
		if h == nil || r.Withdrawn != nil || r.PartialOffload != nil && *r.PartialOffload || h.Type == "cpu" || onCPU || r.IsThroughput() {
			return
		}
		memory := cmp.Or(r.MemoryGB, h.VRAMGB)
		if memory == nil || h.Variants != nil && r.MemoryGB == nil {
			return
		}
		params := 0.0
		if r.model != nil && r.model.ParamsB != nil {
			params = *r.model.ParamsB
		}
		gib := 0.0
		switch {
		case r.ModelSizeGiB != nil:
			gib = *r.ModelSizeGiB
		case r.Quantization != nil:
			gib = params * 1e9 * c.line.BitsPerWeight(*r.Quantization) / 8 / (1 << 30)
		case r.Tool == "ollama" && !quantized.MatchString(r.ModelRaw): // a tag alone is a file of four bits or more
			gib = params * 1e9 * 4 / 8 / (1 << 30)
		}
		room := *memory * float64(r.HardwareCount)
		switch {
		case gib <= room*spare:
		case r.PartialOffload != nil:
			c.warning(r.at, "memory_gb", fmt.Sprintf("is too small for a run without offload: the weights take %.1f GiB of %s GB", gib, plainNumber(room)), "partial_offload", "model_size_gib")
		default:
			c.warning(r.at, "partial_offload", fmt.Sprintf("must say whether part of the weights was in main memory: they take %.1f GiB of %s GB", gib, plainNumber(room)), "memory_gb", "model_size_gib")
		}
	})
}
