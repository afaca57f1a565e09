package dataset

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"modeldex/dataset/record"
)

var hardwareRules = []rule[*Hardware]{
	{"hardware-sources", "Every known fact has an entry in sources.", 0, func(c *checker, h *Hardware, p place) { checkSources(c, p, h, h.Sources) }},
	{"hardware-lists", "Dates are between 1990 and today, ranges start with the lower number, and lists have no duplicates.", 0, func(c *checker, h *Hardware, p place) {
		c.date(p, "release_date", h.ReleaseDate)
		c.pair(p, "fp16_tflops", h.FP16TFLOPS != nil, "fp16_basis", h.FP16Basis != nil)
		c.spread(p, "memory_bandwidth_range_gbps", h.MemoryBandwidthRangeGBps)
		c.spread(p, "tdp_range_watts", h.TDPRangeWatts)
		checkTwice(c, p, "backends", h.Backends)
		checkTwice(c, p, "driver_names", h.DriverNames)
	}},
	{"hardware-names", "chip, variants and integrated_gpu name existing records.", 0, func(c *checker, h *Hardware, p place) {
		c.hardwareSlugs.references(c, p, "chip", h.Chip)
		c.hardwareSlugs.references(c, p, "variants", h.Variants)
		if h.IntegratedGPU != nil {
			c.hardwareSlugs.reference(c, p, "integrated_gpu", *h.IntegratedGPU)
		}
	}},
	{"hardware-prices", "The street price is complete, recent and one of the listed prices.", 0, checkPrices},
	{"hardware-bounds", "Numbers are within the bounds of real hardware.", 0, checkHardwareBounds},
	{"hardware-contradiction", "Fields of a hardware record do not contradict each other.", clean, contradictHardware},
	{"hardware-unlikely", "Memory, bandwidth, compute rates and power are consistent with each other and with the slug.", warned | clean, checkHardwareUnlikely},
	{"hardware-fp16", "fp16_tflops is one of the FP16 rates, and the record says which.", clean, checkFP16},
	{"hardware-architecture", "Hardware does not predate the announcement of its architecture.", clean, checkArchitectureDate},
}

// Bounds of figures over each other: a mistake of units or decimals in either passes them. The shipped parts are well
// inside.
const (
	fewestReads   = 8     // of the whole memory per second, by the bandwidth of GDDR and HBM; parts have 12 to 186
	mostReads     = 250   // as fewestReads
	mostInt8      = 8     // times the FP16 rate; parts reach 4
	mostPerWatt   = 1     // TFLOPS of FP32; parts reach 0.43
	maxCapability = 20    // of CUDA; parts have 12.1
	maxCPUWatts   = 1_000 // the most built is 500
)

func checkHardwareBounds(c *checker, h *Hardware, p place) {
	c.bounded(p, h)
	most, why := bandwidthBound(h)
	c.atMost(p, "memory_bandwidth_gbps", h.MemoryBandwidthGBps, most, why)
	c.atMost(p, "memory_read_bandwidth_gbps", h.MemoryReadBandwidthGBps, most, why)
	for i := range known(h.MemoryBandwidthRangeGBps) {
		c.atMost(p, "memory_bandwidth_range_gbps."+strconv.Itoa(i), &(*h.MemoryBandwidthRangeGBps)[i], most, why)
	}
	if c.anyFaulty(p) {
		return
	}
	if least, why := leastBandwidth(h); h.MemoryBandwidthGBps != nil && *h.MemoryBandwidthGBps < least {
		c.at(p, "memory_bandwidth_gbps", fmt.Sprintf("must be at least %s%s, got %s", plainNumber(least), why, plainNumber(*h.MemoryBandwidthGBps)))
	}
	for i := range h.PriceObservations {
		o, most := &h.PriceObservations[i], float64(maxAmount)
		if o.Currency == "USD" {
			most = maxPriceUSD
		}
		c.atMost(p, "price_observations."+strconv.Itoa(i)+".amount", &o.Amount, most, " "+o.Currency)
	}
}

var typeBandwidth = []struct {
	prefix string
	gbps   float64
}{{"LPDDR", 1_500}, {"DDR", 2_000}, {"GDDR", 3_500}, {"HBM", maxBandwidth}}

func bandwidthBound(h *Hardware) (gbps float64, why string) {
	gbps, why = maxBandwidth, " GB/s"
	if h.MemoryType != nil {
		kind := strings.ToUpper(*h.MemoryType)
		if strings.Contains(kind, "SRAM") {
			return maxOnChip, " GB/s for memory on the chip"
		}
		for _, t := range typeBandwidth {
			if strings.HasPrefix(kind, t.prefix) {
				gbps, why = t.gbps, " GB/s for "+t.prefix+" memory"
				break
			}
		}
	}
	if h.MemoryChannels != nil && h.MemorySpeedMTs != nil && h.HBMGB == nil {
		if most := rated(h) * channelSlack; most < gbps {
			return math.Round(most), " GB/s (memory_channels x 8 bytes x memory_speed_mts)"
		}
	}
	return gbps, why
}

func leastBandwidth(h *Hardware) (gbps float64, why string) {
	switch {
	case h.MemoryChannels != nil && h.MemorySpeedMTs != nil && h.HBMGB == nil:
		return max(minBandwidth, minOfRated*rated(h)), " GB/s (half of memory_channels x 8 bytes x memory_speed_mts)"
	case h.MemoryType != nil && len(*h.MemoryType) >= 3 && (*h.MemoryType)[:3] == "HBM":
		return minHBM, " GB/s for HBM memory"
	}
	return minBandwidth, " GB/s"
}

func rated(h *Hardware) float64 {
	return float64(*h.MemoryChannels) * 8 * float64(*h.MemorySpeedMTs) / 1000
}

func contradictHardware(c *checker, h *Hardware, p place) {
	for _, v := range Vendors {
		if v != h.Vendor && strings.HasPrefix(string(h.Slug), string(v)+"-") {
			c.at(p, "vendor", fmt.Sprintf("must be %q, as in the slug, got %q", v, h.Vendor), "slug")
		}
	}
	if own := h.Type == "soc" || h.Type == "apu"; own && !h.UnifiedMemory || (h.Type == "gpu" || h.Type == "cpu") && h.UnifiedMemory {
		c.at(p, "unified_memory", fmt.Sprintf("must be %t if type is %q, got %t", own, h.Type, h.UnifiedMemory), "type")
	}
	for field, only := range map[string]struct {
		known  bool
		vendor Vendor
	}{"cuda_compute_capability": {h.CUDAComputeCapability != nil, Nvidia}, "gfx_target": {h.GFXTarget != nil, record.AMD}} {
		if only.known && h.Vendor != only.vendor {
			c.at(p, field, fmt.Sprintf("must be null unless vendor is %q, got vendor %q", only.vendor, h.Vendor), "vendor")
		}
	}
	if h.VRAMGB != nil && h.MemoryOptionsGB != nil && !slices.Contains(*h.MemoryOptionsGB, *h.VRAMGB) {
		c.at(p, "vram_gb", fmt.Sprintf("must be one of memory_options_gb, got %s", plainNumber(*h.VRAMGB)), "memory_options_gb")
	}
	if h.ReleaseQuarter != nil && h.ReleaseDate != nil && !inQuarter(*h.ReleaseDate, *h.ReleaseQuarter) {
		c.at(p, "release_quarter", fmt.Sprintf("must match release_date (%q), got %q", *h.ReleaseDate, *h.ReleaseQuarter), "release_date")
	}
	if r := h.TDPRangeWatts; r != nil && len(*r) == 2 && h.TDPWatts != nil && (*h.TDPWatts < (*r)[0] || *h.TDPWatts > (*r)[1]) {
		c.at(p, "tdp_watts", fmt.Sprintf("must be within tdp_range_watts (%s to %s), got %s", plainNumber((*r)[0]), plainNumber((*r)[1]), plainNumber(*h.TDPWatts)), "tdp_range_watts")
	}
	c.inOrder(p, "tdp_watts", h.TDPWatts, "max_turbo_power_watts", h.MaxTurboPowerWatts)
	for i := range h.PriceObservations {
		o := &h.PriceObservations[i]
		if r := o.AmountRange; r != nil && len(*r) == 2 && (o.Amount < (*r)[0] || o.Amount > (*r)[1]) {
			at := fmt.Sprintf("price_observations.%d.amount", i)
			c.at(p, at, fmt.Sprintf("must be within amount_range (%s to %s), got %s", plainNumber((*r)[0]), plainNumber((*r)[1]), plainNumber(o.Amount)), at+"_range")
		}
	}
}

func inQuarter(d Date, quarter string) bool {
	if len(d) < len("2006-01") {
		return d[:4] == Date(quarter[:4])
	}
	month, _ := strconv.Atoi(string(d[5:7]))
	return string(d[:4])+"-Q"+strconv.Itoa((month+2)/3) == quarter
}

func checkHardwareUnlikely(c *checker, h *Hardware, p place) {
	if size := memorySize.FindStringSubmatch(string(h.Slug)); size != nil && h.VRAMGB != nil && plainNumber(*h.VRAMGB) != size[1] {
		c.warning(p, "vram_gb", fmt.Sprintf("is %s, unlike the memory size in the slug %s", plainNumber(*h.VRAMGB), h.Slug), "slug")
	}
	if h.VRAMGB != nil && *h.VRAMGB >= 1 && *h.VRAMGB*2 != math.Trunc(*h.VRAMGB*2) {
		c.warning(p, "vram_gb", fmt.Sprintf("must be a size that memory is sold in (GiB, as printed on the box), got %s", plainNumber(*h.VRAMGB)))
	}
	if h.VRAMGB != nil && h.MemoryBandwidthGBps != nil && h.MemoryType != nil && !h.UnifiedMemory {
		kind := strings.ToUpper(*h.MemoryType)
		reads := *h.MemoryBandwidthGBps / *h.VRAMGB
		if beside := strings.HasPrefix(kind, "GDDR") || strings.HasPrefix(kind, "HBM"); beside && (reads < fewestReads || reads > mostReads) {
			c.warning(p, "memory_bandwidth_gbps", fmt.Sprintf("is %s, which reads all of vram_gb (%s) %s times per second; %d to %d is usual", plainNumber(*h.MemoryBandwidthGBps), plainNumber(*h.VRAMGB), roughNumber(reads), fewestReads, mostReads), "vram_gb")
		}
	}
	if h.INT8TOPS != nil && h.FP16TFLOPS != nil && *h.INT8TOPS > mostInt8**h.FP16TFLOPS {
		c.warning(p, "int8_tops", fmt.Sprintf("is %s, more than %d times fp16_tflops (%s)", plainNumber(*h.INT8TOPS), mostInt8, plainNumber(*h.FP16TFLOPS)), "fp16_tflops")
	}
	if h.FP32TFLOPS != nil && h.TDPWatts != nil && *h.FP32TFLOPS > mostPerWatt**h.TDPWatts {
		c.warning(p, "tdp_watts", fmt.Sprintf("is %s, less than a watt per TFLOPS of fp32_tflops (%s)", plainNumber(*h.TDPWatts), plainNumber(*h.FP32TFLOPS)), "fp32_tflops")
	}
	if v := h.CUDAComputeCapability; v != nil {
		if n, err := strconv.ParseFloat(*v, 64); err == nil && n > maxCapability {
			c.warning(p, "cuda_compute_capability", fmt.Sprintf("is above %d, got %q", maxCapability, *v))
		}
	}
	if h.Type == "cpu" && h.TDPWatts != nil && *h.TDPWatts > maxCPUWatts {
		c.warning(p, "tdp_watts", fmt.Sprintf("is %s, more than any processor uses (%d W)", plainNumber(*h.TDPWatts), maxCPUWatts), "type")
	}
}

var memorySize = regexp.MustCompile(`-([0-9]+)gb(?:-|$)`)

func checkFP16(c *checker, h *Hardware, p place) {
	want := cmp.Or(h.FP16TensorFP32AccTFLOPS, h.FP16VectorTFLOPS)
	switch {
	case h.FP16TFLOPS == nil, want == nil:
	case *h.FP16TFLOPS != *want:
		c.at(p, "fp16_tflops", fmt.Sprintf("must equal fp16_tensor_fp32acc_tflops or, if that is null, fp16_vector_tflops (%s), got %s", plainNumber(*want), plainNumber(*h.FP16TFLOPS)), "fp16_tensor_fp32acc_tflops", "fp16_vector_tflops")
	case (h.FP16TensorFP32AccTFLOPS == nil) != (h.FP16Basis != nil && *h.FP16Basis == "shader"):
		c.at(p, "fp16_basis", "must be \"shader\" if and only if fp16_tflops is the vector rate", "fp16_tflops")
	}
	if v, s := h.FP16VectorTFLOPS, h.FP16ShaderTFLOPS; v != nil && s != nil && *v != *s {
		c.at(p, "fp16_shader_tflops", fmt.Sprintf("must equal fp16_vector_tflops (%s), got %s", plainNumber(*v), plainNumber(*s)), "fp16_vector_tflops")
	}
}

// announced is the day on which the maker announced an architecture. No hardware of it is older.
var announced = map[string]Date{
	"Pascal": "2016-04-05", "Volta": "2017-05-10", "Turing": "2018-08-13", "Ampere": "2020-05-14", "Hopper": "2022-03-22",
	"Ada Lovelace": "2022-09-20", "Blackwell": "2024-03-18", "RDNA": "2019-05-27", "RDNA 2": "2020-10-28", "RDNA 3": "2022-11-03",
	"RDNA 3.5": "2024-06-03", "RDNA 4": "2025-01-06", "CDNA": "2020-11-16", "CDNA 2": "2021-11-08", "CDNA 3": "2023-01-04",
}

func checkArchitectureDate(c *checker, h *Hardware, p place) {
	if h.Architecture == nil || h.ReleaseDate == nil {
		return
	}
	first, known := announced[*h.Architecture]
	if n := len(*h.ReleaseDate); known && *h.ReleaseDate < first[:min(n, len(first))] {
		c.at(p, "release_date", fmt.Sprintf("must not be before %s, when its architecture was announced, got %q", first, *h.ReleaseDate), "architecture")
	}
}

func checkPrices(c *checker, h *Hardware, p place) {
	c.pair(p, "street_price_usd", h.StreetPriceUSD != nil, "street_price_date", h.StreetPriceDate != nil)
	c.pair(p, "street_price_usd", h.StreetPriceUSD != nil, "street_price_source", h.StreetPriceSource != nil)
	c.date(p, "street_price_date", h.StreetPriceDate)
	for i := range h.PriceObservations {
		o, at := &h.PriceObservations[i], "price_observations."+strconv.Itoa(i)
		c.date(p, at+".date", &o.Date)
		c.spread(p, at+".amount_range", o.AmountRange)
		c.checkCondition(p, at+".condition", o.Condition)
	}
	if h.StreetPriceUSD == nil || h.StreetPriceDate == nil || h.StreetPriceSource == nil {
		return
	}
	switch of := h.StreetPriceCondition; {
	case of == nil:
		c.warning(p, "street_price_usd", "needs a street_price_condition: new or used", "street_price_condition")
	case !seen(h, *of):
		c.warning(p, "street_price_usd", fmt.Sprintf("must match a US dollar price in price_observations with the same day, page and condition, got %s", plainNumber(*h.StreetPriceUSD)), "price_observations", "street_price_condition", "street_price_source")
	default:
		c.checkCondition(p, "street_price_condition", *of)
	}
	for _, info := range c.info.recs {
		if day, ok := info.Released.Time(); ok && before(*h.StreetPriceDate, Date(day.AddDate(-1, 0, 0).Format(time.DateOnly))) {
			c.warning(p, "street_price_date", fmt.Sprintf("is %q, more than a year before the release of the dataset (%s)", *h.StreetPriceDate, info.Released))
		}
	}
}

func (c *checker) checkCondition(p place, field, condition string) {
	if _, ok := record.ConditionOf(condition); !ok {
		c.warning(p, field, fmt.Sprintf("must begin with one of %s, got %q", strings.Join(record.Texts(record.PriceConditions), ", "), condition))
	}
}

func seen(h *Hardware, condition string) bool {
	want, _ := record.ConditionOf(condition)
	for i := range h.PriceObservations {
		o := &h.PriceObservations[i]
		if got, _ := record.ConditionOf(o.Condition); got == want && o.Currency == "USD" && o.Amount == *h.StreetPriceUSD && o.Date == *h.StreetPriceDate && o.Source == *h.StreetPriceSource {
			return true
		}
	}
	return false
}
