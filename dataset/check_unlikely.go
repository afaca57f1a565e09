package dataset

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Bounds of figures over each other: a mistake of units or decimals in either passes them. The shipped parts are well
// inside.
const (
	fewestReads     = 8     // of the whole memory per second, by the bandwidth of GDDR and HBM; parts have 12 to 186
	mostReads       = 250   // as fewestReads
	mostInt8        = 8     // times the FP16 rate; parts reach 4
	mostPerWatt     = 1     // TFLOPS of FP32; parts reach 0.43
	mostPower       = 2     // of tdp_watts for each device, where the devices were measured; runs reach 0.95
	maxRunWatts     = 5_000 // for each device, whatever was measured
	minRunWatts     = 0.5   // in all
	maxCapability   = 20    // of CUDA; parts have 12.1
	memorySlack     = 1.15  // between the memory of a run and that of its card, either way
	maxCPUWatts     = 1_000 // the most built is 500
	activeBelowName = 0.55  // of the active parameters in a slug, "-a3b"
	activeAboveName = 1.8   // as activeBelowName
	mostParts       = 16    // in one run on one machine
)

// mostPartsOf is how many parts of a type one run uses at most, where that is less than mostParts. A larger
// number is a cluster that nobody measured, or the number of cores.
var mostPartsOf = map[HardwareType]int64{"cpu": 4, "soc": 4, "apu": 4}

// unlikelyHardware warns of figures of a part that do not go with each other or with its slug.
func (l *loader) unlikelyHardware(h *Hardware, p place) {
	if !l.warn {
		return
	}
	if size, ok := memoryInSlug(h.Slug); ok && h.VRAMGB != nil && *h.VRAMGB != size {
		l.warning(p, "vram_gb", fmt.Sprintf("is not the memory in the slug %s, got %s", h.Slug, plainNumber(*h.VRAMGB)), "slug")
	}
	if h.VRAMGB != nil && *h.VRAMGB >= 1 && *h.VRAMGB*2 != math.Trunc(*h.VRAMGB*2) {
		l.warning(p, "vram_gb", fmt.Sprintf("is no size that memory is sold in, which is counted in GiB as on the box, got %s", plainNumber(*h.VRAMGB)))
	}
	if h.VRAMGB != nil && h.MemoryBandwidthGBps != nil && h.MemoryType != nil && !h.UnifiedMemory {
		kind := strings.ToUpper(*h.MemoryType)
		reads := *h.MemoryBandwidthGBps / *h.VRAMGB
		if beside := strings.HasPrefix(kind, "GDDR") || strings.HasPrefix(kind, "HBM"); beside && (reads < fewestReads || reads > mostReads) {
			l.warning(p, "memory_bandwidth_gbps", fmt.Sprintf("reads the memory of vram_gb %s times per second, where parts have %d to %d, got %s and %s", roughNumber(reads), fewestReads, mostReads, plainNumber(*h.MemoryBandwidthGBps), plainNumber(*h.VRAMGB)), "vram_gb")
		}
	}
	if h.INT8TOPS != nil && h.FP16TFLOPS != nil && *h.INT8TOPS > mostInt8**h.FP16TFLOPS {
		l.warning(p, "int8_tops", fmt.Sprintf("is more than %d times fp16_tflops, got %s and %s", mostInt8, plainNumber(*h.INT8TOPS), plainNumber(*h.FP16TFLOPS)), "fp16_tflops")
	}
	if h.FP32TFLOPS != nil && h.TDPWatts != nil && *h.FP32TFLOPS > mostPerWatt**h.TDPWatts {
		l.warning(p, "tdp_watts", fmt.Sprintf("is less than a watt for each of fp32_tflops, got %s and %s", plainNumber(*h.TDPWatts), plainNumber(*h.FP32TFLOPS)), "fp32_tflops")
	}
	if c := h.CUDAComputeCapability; c != nil {
		if v, err := strconv.ParseFloat(*c, 64); err == nil && v > maxCapability {
			l.warning(p, "cuda_compute_capability", fmt.Sprintf("is above %d, got %q", maxCapability, *c))
		}
	}
	if h.Type == "cpu" && h.TDPWatts != nil && *h.TDPWatts > maxCPUWatts {
		l.warning(p, "tdp_watts", fmt.Sprintf("is above %d W, more than any processor takes, got %s", maxCPUWatts, plainNumber(*h.TDPWatts)), "type")
	}
}

// memorySize and activeSize find what a slug says: "nvidia-gtx-1060-6gb", "qwen3-30b-a3b".
var (
	memorySize = regexp.MustCompile(`-([0-9]+)gb(?:-|$)`)
	activeSize = regexp.MustCompile(`-a([0-9]+(?:\.[0-9]+)?)b(?:-|$)`)
)

func memoryInSlug(slug Slug) (gb float64, ok bool) {
	m := memorySize.FindStringSubmatch(string(slug))
	if m == nil {
		return 0, false
	}
	gb, err := strconv.ParseFloat(m[1], 64)
	return gb, err == nil
}

// unlikelyModel warns of figures of a model that do not go with each other or with its slug.
func (l *loader) unlikelyModel(m *Model, p place) {
	if !l.warn {
		return
	}
	if said := activeSize.FindStringSubmatch(string(m.Slug)); said != nil && m.ActiveParamsB != nil {
		if size, err := strconv.ParseFloat(said[1], 64); err == nil && (*m.ActiveParamsB < size*activeBelowName || *m.ActiveParamsB > size*activeAboveName) {
			l.warning(p, "active_params_b", fmt.Sprintf("is far from the size in the slug %s, got %s", m.Slug, plainNumber(*m.ActiveParamsB)), "slug")
		}
	}
	a := &m.Architecture
	if m.ParamsB != nil && a.VocabSize != nil && a.HiddenSize != nil {
		if table := float64(*a.VocabSize) * float64(*a.HiddenSize) / 1e9; table > *m.ParamsB {
			l.warning(p, "architecture.vocab_size", fmt.Sprintf("gives embeddings of %s billion parameters, more than params_b, got %d", roughNumber(table), *a.VocabSize), "params_b", "architecture.hidden_size")
		}
	}
}

// unlikelyRun warns of figures of a measurement that do not go with its hardware.
func (l *loader) unlikelyRun(b *Benchmark, p place, h *Hardware) {
	if !l.warn || b.Withdrawn != nil {
		return
	}
	if w := b.PowerWatts; w != nil {
		devices, rated := float64(b.HardwareCount), h.TDPWatts
		if r := h.TDPRangeWatts; r != nil && len(*r) == 2 { // makers of machines set it
			rated = &(*r)[1]
		}
		ofDevices := b.PowerBasis != nil && *b.PowerBasis == "device" && rated != nil
		switch {
		case *w < minRunWatts || *w > maxRunWatts*devices:
			l.warning(p, "power_watts", fmt.Sprintf("must be %s to %d W for each device, got %s", plainNumber(minRunWatts), maxRunWatts, plainNumber(*w)), "hardware_count")
		case ofDevices && *w > mostPower*devices**rated:
			l.warning(p, "power_watts", fmt.Sprintf("is more than %d times the %s W of %s, got %s", mostPower, plainNumber(*rated*devices), h.Slug, plainNumber(*w)), "hardware", "hardware_count")
		}
	}
	most, of := mostPartsOf[h.Type]
	if !of {
		most = mostParts
	}
	if h.FormFactor != nil && *h.FormFactor == "laptop" {
		most = 2
	}
	if b.HardwareCount > most && b.HardwareCount <= maxDevices && b.Nodes == nil {
		l.warning(p, "hardware_count", fmt.Sprintf("is more than the %d such parts that one machine has, where nodes is null, got %d", most, b.HardwareCount), "hardware", "nodes")
	}
	if b.MemoryGB != nil && h.VRAMGB != nil && h.Type == "gpu" && h.Variants == nil && (*b.MemoryGB > memorySlack**h.VRAMGB || *b.MemoryGB < *h.VRAMGB/memorySlack) {
		l.warning(p, "memory_gb", fmt.Sprintf("is not that of one %s, %s GB, got %s", h.Slug, plainNumber(*h.VRAMGB), plainNumber(*b.MemoryGB)), "hardware")
	}
}
