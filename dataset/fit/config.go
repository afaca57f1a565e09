package fit

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/record"
)

// Class is a kind of hardware whose speeds resemble each other. Errors are published by it.
type Class uint8

// The classes.
const (
	NVIDIA  Class = iota // discrete cards of NVIDIA
	AMD                  // discrete cards of AMD
	Intel                // discrete cards of Intel
	Apple                // Apple chips
	Unified              // other machines whose graphics share the main memory
	CPU                  // processors, and any machine whose processor does the work
	Others               // discrete accelerators of other makers
	classes
)

var classNames = [classes]string{"discrete_nvidia", "discrete_amd", "discrete_intel", "apple", "other_unified", "cpu", "discrete_other"}

// String gives the name shown to callers.
func (c Class) String() string { return classNames[c] }

func classOf(h *dataset.Hardware, unit ComputeUnit) Class {
	switch {
	case unit == "cpu" || h.Type == "cpu":
		return CPU
	case h.Vendor == dataset.Apple:
		return Apple
	case h.UnifiedMemory:
		return Unified
	}
	if i := slices.Index([]dataset.Vendor{NVIDIA: dataset.Nvidia, AMD: record.AMD, Intel: record.Intel}, h.Vendor); i >= 0 {
		return Class(i)
	}
	return Others
}

// A config is a model in one quantization on one device with a program, in numbers: measured, or asked for.
type config struct {
	class                              Class
	silicon, arch, kernels             int32
	tool, format                       int32   // 0 for those without an effect of their own
	logBandwidth, logCompute, logPlain float64 // bytes per second of the device, its operations (0: unknown), those without matrix units
	year                               float64 // since 2025.5
	modelPart
	logBytes, logBits     float64 // of the weights one token reads, bits per weight
	cache, depth, prompt  float64 // bytes and tokens of the cache that one token reads, tokens of the prompt
	whole, plainAttention bool    // the time includes a short prompt; known to be without flash attention
	batch
}

// A modelPart is what a configuration has of its model, the same for all models of one shape.
type modelPart struct {
	shape              int32 // 0 where it has no effect of its own
	mixture            bool
	layers, logExperts float64 // 32 and those of 8 where unknown
	share, perToken    float64 // of the weights, and of the experts, what one token reads
	logWork            float64 // operations of a token beside attention (0: unknown)
	attention
}

// attention is the operations of a token for each token before it: in layers that see all of them, and in those that see
// a window of so many tokens.
type attention struct{ global, sliding, window float64 }

// work is the operations of attention behind so many tokens.
func (a *attention) work(depth float64) float64 {
	return a.global*depth + a.sliding*min(depth, a.window)
}

// names are those of a configuration. A name whose first number is 0 has no effect.
func (c *config) names() [groups]name {
	class := int32(c.class)
	names := [groups]name{
		ofSilicon: {1: c.silicon, c.kernels}, ofArch: {1: c.arch, c.kernels, class}, ofKernels: {1: c.kernels, class}, ofTool: {1: c.tool},
		ofShape: {1: c.shape}, ofMeasured: {1: c.shape, c.silicon, c.kernels},
		ofFormat: {1: c.format, c.kernels}, ofFormatArch: {1: c.format, c.arch, c.kernels},
	}
	for g := range names {
		names[g][0] = int32(g)
	}
	return names
}

// logTime is the logarithm of the seconds one token takes at full bandwidth.
func (c *config) logTime() float64 { return c.logBytes - c.logBandwidth }

// reads is the bytes of the weights that so many tokens at once read: of a mixture, those of the experts that any needs.
func (c *config) reads(tokens float64) float64 {
	bytes, k := math.Exp(c.logBytes), c.perToken
	if k > 0 {
		bytes += max(0, bytes/c.share-bytes) * (1 - k - math.Pow(1-k, tokens)) / (1 - k)
	}
	return bytes
}

const (
	perClass = 8  // features whose weights a class changes
	features = 16 // all of them
)

// A vector has the features of a configuration, which explain a speed together with the effects.
type vector [features]float64

const (
	// The seconds that launching the work of one layer may take: a fast card, and a slow driver.
	fastLaunch = 1e-5
	slowLaunch = 1.5e-4
	// fewestBits is where fewer bits per weight no longer make kernels slower.
	fewestBits = 2.5
)

// generation is what physics says of the share of the bandwidth: launching layers takes time, the cache is read beside the
// weights, attention costs more at depth, programs get faster with the years, and wide memory is harder to use.
func (c *config) generation() vector {
	time, bits := math.Exp(c.logTime()), max(c.logBits, math.Log(fewestBits))-math.Log(4.85)
	cache, depth := math.Log1p(c.cache/math.Exp(c.logBytes)), math.Log1p(c.depth/8192)
	v := vector{
		1, math.Log1p(fastLaunch * c.layers / time), math.Log1p(slowLaunch * c.layers / time), c.logBandwidth - math.Log(1e11),
		cache, depth, c.year, 0, bits, bits * bits,
	}
	if c.mixture {
		v[10], v[11], v[12] = c.logTime()+math.Log(1e3), c.logExperts, cache
	}
	if c.whole {
		v[13] = 1
	}
	if c.plainAttention {
		v[14] = depth
	}
	if c.class == CPU {
		v[15] = math.Log1p(math.Exp(c.logWork-c.logPlain) / time)
	}
	return v
}

// numbers gives equal texts equal numbers, from 1.
type numbers map[string]int32

// of is the number of a text, which it may give. It is for making an engine only.
func (n numbers) of(s string) int32 {
	if n[s] == 0 {
		n[strings.Clone(s)] = int32(len(n) + 1) // s may be a part of a larger text
	}
	return n[s]
}

// find is the number of a text, below 0 for one that has none.
func (n numbers) find(s string) int32 { return cmp.Or(n[s], -1) }

// deviceConfig is the part of a configuration that is of a device, a program and a backend, which may be empty.
func (e *Engine) deviceConfig(h *piece, tool dataset.Slug, backend string, unit ComputeUnit, bandwidth float64, number func(string) int32) config {
	class, kind := classOf(h.Hardware, unit), toolKindOf(tool)
	switch {
	case class == CPU:
		unit, backend = "cpu", cmp.Or(backend, "cpu")
	case backend == "" && (class == NVIDIA || class == Apple): // others have several
		backend = backendOf(h.Hardware, tool)
	}
	c := config{
		class: class, silicon: h.silicon, arch: h.arch,
		kernels:      number("kernels " + kind + " " + backend + " " + string(unit)),
		logBandwidth: math.Log(bandwidth), logPlain: math.Log(usualWork * bandwidth), year: e.year,
	}
	if !plainTool(tool) {
		c.tool = number("tool " + string(tool))
	}
	if class == CPU {
		c.runs(h.Hardware, float64(cmp.Or(val(h.CPUCores), usualCores)))
	} else if flops := computeOf(h.Hardware); flops > 0 {
		c.logCompute, c.logPlain = math.Log(flops), math.Log(1e12*cmp.Or(val(h.FP32TFLOPS), max(val(h.FP16ShaderTFLOPS), val(h.FP16VectorTFLOPS))/2, flops/4e12))
	}
	return c
}

const (
	usualWork  = 30 // operations per byte of bandwidth of a device whose operations per second are not known
	usualCores = 8  // of a processor that does not say
	// coreWork is the operations per second of a core: 32 a cycle of 3 to 4 GHz with AVX2. AVX-512 does wideWork times as
	// many. wattWork is the operations per second for each watt of the power limit, as a Ryzen 9 7950X has.
	coreWork = 1e11
	wideWork = 2
	wattWork = 1e10
)

// wideCores are the architectures of processors with AVX-512 and its products of 8-bit values (VNNI).
var wideCores = []string{
	"Zen 4", "Zen 5", "Zen 5c", "Cascade Lake", "Ice Lake", "Tiger Lake", "Rocket Lake", "Sapphire Rapids", "Sapphire Rapids HBM", "Emerald Rapids",
	"Granite Rapids",
}

// runs sets the operations per second of a processor with at most so many threads: cores and power limit each of them.
func (c *config) runs(h *dataset.Hardware, threads float64) {
	if known := val(h.CPUCores); known > 0 {
		threads = min(threads, float64(known))
	}
	seconds := 1 / (threads * coreWork)
	if slices.Contains(wideCores, cmp.Or(val(h.CPUArchitecture), val(h.Architecture))) {
		seconds /= wideWork
	}
	if watts := val(h.TDPWatts); watts > 0 {
		seconds += 1 / (watts * wattWork)
	}
	c.logPlain = -math.Log(seconds)
}

// computeOf is the operations per second of a device with 16-bit values; 0 if unknown.
func computeOf(h *dataset.Hardware) float64 {
	matrix := max(val(h.FP16TFLOPS), val(h.FP16TensorFP32AccTFLOPS))
	return 1e12 * cmp.Or(matrix, max(val(h.FP16ShaderTFLOPS), val(h.FP16VectorTFLOPS), 2*val(h.FP32TFLOPS)))
}

// unitOf is the part of a machine that does the work, by its backend.
func unitOf(backend string) ComputeUnit {
	switch backend {
	case "cpu":
		return "cpu"
	case "npu", "ane", "hexagon":
		return "npu"
	}
	return "gpu"
}

// unitThat is the part of a machine that did the work of a measurement, empty if it does not say.
func unitThat(b *dataset.Benchmark) ComputeUnit {
	if b.ComputeUnit == nil && b.Backend != nil {
		return unitOf(*b.Backend)
	}
	return ComputeUnit(val(b.ComputeUnit))
}

// toolKindOf groups tools that share kernels.
func toolKindOf(tool dataset.Slug) string {
	switch tool {
	case "llama.cpp", "ik-llama.cpp", "ollama", "lm-studio", "llama-cpp-python", "koboldcpp", "llamafile", "ctransformers", "localscore":
		return "gguf"
	case "mlx-lm", "mlx-vlm", "omlx", "vllm-mlx":
		return "mlx"
	case "vllm", "sglang", "tensorrt-llm", "lmdeploy", "text-generation-inference", "optimum-nvidia":
		return "server"
	case "transformers", "autoawq", "autogptq", "litgpt", "optimum-habana":
		return "transformers"
	case "exllama", "exllamav2", "exllamav3", "mlc-llm", "gpt-fast", "llm-awq", "calm":
		return "kernels"
	}
	return string(tool)
}

// plainTool reports whether a tool is what others with its kernels are compared with.
func plainTool(tool dataset.Slug) bool {
	return slices.Contains([]dataset.Slug{"llama.cpp", "mlx-lm", "vllm", "transformers"}, tool) || string(tool) == toolKindOf(tool)
}

// rulesOf are the rules of the program that a tool is, or has the kernels of.
func rulesOf(tool dataset.Slug) Rules {
	return cmp.Or(map[string]Rules{"mlx": MLX, "server": VLLM}[toolKindOf(tool)], LlamaCpp)
}

// formats are kinds of quantization with kernels of their own, by how their names begin.
var formats = strings.Fields("IQ1 IQ2 IQ3 IQ4 Q2_K Q3_K Q4_K Q5_K Q6_K Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 F16 BF16 FP16 F32 MXFP4 NVFP4 MLX AWQ GPTQ FP8 INT4 INT8 TQ Q1_0 Q2_0")

// formatOf is the kind of a quantization. Files that mix types by layer (UD-) are of the kind of their bits.
func formatOf(quantization string) string {
	q := strings.ToUpper(quantization)
	if mixed, is := strings.CutPrefix(q, "UD-"); is {
		return "UD" + strings.Trim(mixed[:min(len(mixed), 3)], "IQF_ABKLMNOPRSTX")
	}
	for _, f := range formats {
		if strings.HasPrefix(q, f) {
			return f
		}
	}
	return "other"
}

// linkSilicon finds the record that variants, graphics inside a chip, and machines of one silicon share.
func (e *Engine) linkSilicon(hardware []dataset.Hardware) {
	e.silicon = map[dataset.Slug]string{}
	for i := range hardware {
		h := &hardware[i]
		for _, v := range val(h.Variants) {
			e.silicon[v] = string(h.Slug)
		}
		if h.IntegratedGPU != nil {
			e.silicon[*h.IntegratedGPU] = string(h.Slug)
		}
	}
	for i := range hardware {
		chips := val(hardware[i].Chip)
		other := func(chip dataset.Slug) bool { return e.siliconOf(chip) != e.siliconOf(chips[0]) }
		if len(chips) > 0 && !slices.ContainsFunc(chips, other) {
			e.silicon[hardware[i].Slug] = e.siliconOf(chips[0])
		}
	}
}

// siliconOf is the record that represents the silicon of some hardware.
func (e *Engine) siliconOf(h dataset.Slug) string { return cmp.Or(e.silicon[h], string(h)) }
