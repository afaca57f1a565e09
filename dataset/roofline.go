package dataset

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Roofline holds measured decode speeds against memory bandwidth. Each token of a request reads the weights in use
// once, so speed x bytes per token cannot exceed the bandwidth of the devices. The ratio of the two is how near a
// measurement comes. Reads of the cache and activations are left aside, so an honest ratio stays below 1.
//
// It is built once from tables that do not change after, costs a few map look-ups per record, and
// is safe for concurrent use.
type Roofline struct {
	models   map[Slug]*reading
	hardware map[Slug]*device
	bits     map[string]float64 // storage type, upper case -> bits per weight

	byName sync.Map // quantization as printed -> bits, worked out when first met
}

type device struct {
	*Hardware
	bytesPS float64
}

type reading struct {
	params float64            // parameters; 0 where unknown
	share  float64            // of all parameters; 0 where unknown
	layers int64              // 0 where unknown
	sizes  map[string]float64 // quantization -> bytes of the published file
}

// NewRoofline takes the tables a ratio is worked out from; it keeps pointers into them.
func NewRoofline(models []Model, hardware []Hardware, types []QuantizationType) *Roofline {
	return newRoofline(Pointers(models), Pointers(hardware), Pointers(types))
}

// Pointers are those to the entries of a list.
func Pointers[T any](recs []T) []*T {
	out := make([]*T, len(recs))
	for i := range recs {
		out[i] = &recs[i]
	}
	return out
}

func newRoofline(models []*Model, hardware []*Hardware, types []*QuantizationType) *Roofline {
	r := &Roofline{
		models: make(map[Slug]*reading, len(models)), hardware: make(map[Slug]*device, len(hardware)),
		bits: make(map[string]float64, len(types)),
	}
	for _, m := range models {
		r.models[m.Slug] = readingOf(m)
	}
	for _, h := range hardware {
		r.hardware[h.Slug] = &device{Hardware: h}
	}
	for _, d := range r.hardware {
		d.bytesPS = r.fastest(d.Hardware) * 1e9
	}
	for _, t := range types {
		if bits := t.EffectiveBitsPerWeight; bits != nil {
			r.bits[strings.ToUpper(t.Name)] = *bits
		}
	}
	return r
}

// readingOf has no share for a mixture of unknown active size, and for a model of unknown kind.
func readingOf(m *Model) *reading {
	out := &reading{sizes: make(map[string]float64, len(m.Quantizations))}
	for i := range m.Quantizations {
		if q := &m.Quantizations[i]; q.Basis == Published {
			out.sizes[q.Name] = float64(q.SizeBytes)
		}
	}
	if m.Architecture.NumLayers != nil {
		out.layers = *m.Architecture.NumLayers
	}
	part := m.EffectiveParamsB
	if part == nil {
		part = m.ActiveParamsB
	}
	dense := m.Architecture.Type != nil && *m.Architecture.Type != "moe" && m.Architecture.NumExperts == nil
	switch {
	case part != nil && m.ParamsB != nil:
		out.params, out.share = *part*1e9, *part / *m.ParamsB
	case part != nil || !dense:
	case m.ParamsB != nil:
		out.params, out.share = *m.ParamsB*1e9, 1
	default:
		out.share = 1
	}
	return out
}

// fastest is the bandwidth in GB/s: of several variants the highest, of a machine that of its only chip; 0 if unknown.
func (r *Roofline) fastest(h *Hardware) (gbps float64) {
	if h.MemoryBandwidthGBps != nil {
		return *h.MemoryBandwidthGBps
	}
	if chip := r.hardware[h.OnlyChip()]; chip != nil && chip.MemoryBandwidthGBps != nil {
		return *chip.MemoryBandwidthGBps
	}
	if h.Variants == nil {
		return 0
	}
	for _, slug := range *h.Variants {
		v := r.hardware[slug]
		if v == nil || v.MemoryBandwidthGBps == nil {
			return 0
		}
		gbps = max(gbps, *v.MemoryBandwidthGBps)
	}
	return gbps
}

// Ratio returns how much of the memory bandwidth the generation speed of b takes, rounded to four decimals: above 1
// tokens were drafted or something is wrong. It is unknown if an input is missing, or part of the weights was
// elsewhere.
func (r *Roofline) Ratio(b *Benchmark) (ratio float64, known bool) {
	bytes, limit := r.BytesPerToken(b), r.Bandwidth(b.Hardware)*float64(b.HardwareCount)
	if b.GenerationTPS == nil || bytes == 0 || limit == 0 || r.Elsewhere(b) {
		return 0, false
	}
	speed := *b.GenerationTPS
	if b.Concurrency != nil {
		speed /= float64(*b.Concurrency)
	}
	return math.Round(speed*bytes/limit*1e4) / 1e4, true
}

// Bandwidth returns the memory bandwidth of a device in bytes per second, of several variants the highest; 0 if
// unknown.
func (r *Roofline) Bandwidth(hardware Slug) float64 {
	if h := r.hardware[hardware]; h != nil {
		return h.bytesPS
	}
	return 0
}

// Elsewhere reports whether part of the weights of a run was outside the memory of its device, by partial_offload or
// the number of layers. Unified memory is one memory.
func (r *Roofline) Elsewhere(b *Benchmark) bool {
	m, h := r.models[b.Model], r.hardware[b.Hardware]
	switch {
	case m == nil || h == nil:
		return false
	case b.PartialOffload != nil:
		return *b.PartialOffload
	case b.NGPULayers == nil || h.UnifiedMemory || h.Type == "cpu":
		return false
	}
	return *b.NGPULayers == 0 || *b.NGPULayers < m.layers
}

// BytesPerToken returns what one token reads of the weights in use, in bytes: from the size the source prints, else
// that of the published file, else parameters x bits per weight. 0 if it is unknown.
func (r *Roofline) BytesPerToken(b *Benchmark) float64 {
	m := r.models[b.Model]
	switch {
	case m == nil || m.share == 0:
		return 0
	case b.ModelSizeGiB != nil && (b.SizeIncludesProjector == nil || !*b.SizeIncludesProjector):
		return *b.ModelSizeGiB * (1 << 30) * m.share
	case b.Quantization == nil:
		return 0
	case m.sizes[*b.Quantization] > 0:
		return m.sizes[*b.Quantization] * m.share
	default:
		return m.params * r.BitsPerWeight(*b.Quantization) / 8
	}
}

// BitsPerWeight returns the bits per weight of a quantization: of its type, or of the smallest mix of the type
// (UD-Q4_K_XL counts as Q4_K_S), else the number in the name. 0 means unknown.
func (r *Roofline) BitsPerWeight(quantization string) float64 {
	if bits, known := r.byName.Load(quantization); known {
		return bits.(float64)
	}
	bits := r.readBits(quantization)
	r.byName.Store(strings.Clone(quantization), bits) // the text may be a part of a longer one
	return bits
}

func (r *Roofline) readBits(name string) float64 {
	plain := strings.TrimPrefix(strings.ToUpper(name), "UD-")
	if bits := r.bits[plain]; bits > 0 {
		return bits
	}
	if cut := mix.FindStringIndex(plain); cut != nil {
		plain = plain[:cut[0]]
	}
	least := r.bits[plain]
	for name, bits := range r.bits {
		if strings.HasPrefix(name, plain+"_") && r.bits[plain] == 0 && (least == 0 || bits < least) {
			least = bits
		}
	}
	if least > 0 {
		return least
	}
	for _, digits := range nominal.FindStringSubmatch(name) {
		if bits, err := strconv.ParseFloat(digits, 64); err == nil {
			return bits
		}
	}
	return 0
}

var mix = regexp.MustCompile(`(_(X{0,3}[SML]|R[0-9]+)| .*)$`)

var nominal = regexp.MustCompile(`(?i)([0-9](?:\.[0-9]+)?) ?bpw|([0-9])-?bit|(?:int|fp|bf|\bw|\bq|\bf)([0-9]+)`)
