package fit

import (
	"strings"

	"modeldex/dataset"
)

// Class is a kind of hardware whose speeds resemble each other. Estimates fall back to it, and
// errors are published by it.
type Class uint8

// The classes.
const (
	NVIDIA  Class = iota // discrete cards of NVIDIA
	AMD                  // discrete cards of AMD
	Intel                // discrete cards of Intel
	Apple                // Apple chips
	Unified              // other machines whose graphics share the main memory
	CPU                  // processors, and any machine whose processor does the work
	classes
	noClass = classes // discrete accelerators of other makers: too few were measured to tell how near they are to anything
)

var classNames = [classes]string{"discrete_nvidia", "discrete_amd", "discrete_intel", "apple", "other_unified", "cpu"}

// String gives the name shown to callers.
func (c Class) String() string { return classNames[c] }

// A point is a configuration in numbers: one that was measured, or one an estimate is asked for.
// Names are numbered, so that comparing them costs one comparison.
type point struct {
	setup
	form
	model, family int32
	network       int32 // models of one shape, such as those trained from one base
	way           int32 // of a size asked for: its number in the list of the engine, from 1; 0 for a measurement
	class         Class
	logBytes      float64 // of the bytes one token reads
}

// A setup is what a configuration runs on and with.
type setup struct {
	hardware, silicon, arch       int32 // silicon: the record and its variants count as one
	tool, toolKind, backend, unit int32
	memory                        memoryKind
	logBandwidth                  float64 // of the bytes per second of one device
}

// A memoryKind is memory of whose bandwidth machines reach a share of their own.
type memoryKind uint8

const (
	ownMemory     memoryKind = iota
	stackedMemory            // HBM: cards with it reach half of the bandwidth where others reach four fifths
	sharedMemory             // with graphics: it is as wide as they need it, and the processor beside them reaches a third
)

// A form is how weights are stored, and whether the model is a mixture of experts.
type form struct {
	quant, quantKind int32
	logBits          float64 // of the bits per weight
	mixture          bool
}

// logTime is the logarithm of the seconds one token takes at full bandwidth.
func (p *point) logTime() float64 { return p.logBytes - p.logBandwidth }

// logActive is the logarithm of the parameters one token reads, less that of 8, which cancels out
// where two are compared.
func (p *point) logActive() float64 { return p.logBytes - p.logBits }

// amounts are what one token takes, in logarithms.
type amounts struct {
	logBytes, logTime, logActive float64
}

func (p *point) amounts() amounts { return amounts{p.logBytes, p.logTime(), p.logActive()} }

// A sample is one configuration as one source page measured it: the median of the page's rows.
type sample struct {
	point
	page     int32
	rows     int32
	id       dataset.Slug // of the row with the median
	row      uint32       // the number of that row in the dataset
	logShare float64      // logarithm of speed x bytes per token / bandwidth
	trend    float64      // how far the trend moved its place
}

// moved is the share of a sample, moved by the trend to the middle of all configurations.
func (s *sample) moved() float64 { return s.logShare - s.trend }

// A kind of name; equal names of different kinds have nothing to do with each other.
type kind uint8

const (
	modelName kind = iota
	familyName
	networkName
	hardwareName
	siliconName
	archName
	toolName
	toolKindName
	backendName
	unitName
	quantName
	quantKindName
	foldedName // of a quantization, letter case aside
	pageName
	kinds
)

// numbers gives equal names equal numbers, counted from 0 for each kind.
type numbers [kinds]map[string]int32

func newNumbers() (n numbers) {
	for k := range n {
		n[k] = map[string]int32{}
	}
	return n
}

func (n *numbers) of(k kind, s string) int32 {
	i, known := n[k][s]
	if !known {
		i = int32(len(n[k]))
		n[k][strings.Clone(s)] = i // s may be a part of a larger text
	}
	return i
}

// list is the names of a kind by number.
func (n *numbers) list(k kind) []string {
	out := make([]string, len(n[k]))
	for name, i := range n[k] {
		out[i] = name
	}
	return out
}

// find is of for a name that may be new; a new one equals no other.
func (n *numbers) find(k kind, s string) int32 {
	if i, known := n[k][s]; known {
		return i
	}
	return -1
}

func classOf(h *dataset.Hardware, unit string) Class {
	switch {
	case unit == "cpu" || h.Type == "cpu":
		return CPU
	case h.Vendor == dataset.Apple:
		return Apple
	case h.UnifiedMemory:
		return Unified
	case h.Vendor == dataset.AMD:
		return AMD
	case h.Vendor == dataset.Intel:
		return Intel
	case h.Vendor == dataset.Nvidia:
		return NVIDIA
	}
	return noClass
}

// unitOf is the part of a machine that does the work, by its backend.
func unitOf(backend string) string {
	switch backend {
	case "cpu":
		return "cpu"
	case "npu", "ane", "hexagon":
		return "npu"
	}
	return "gpu"
}

// toolKindOf groups tools that share kernels.
func toolKindOf(tool dataset.Slug) string {
	switch tool {
	case "llama.cpp", "ik-llama.cpp", "ollama", "lm-studio", "llama-cpp-python", "koboldcpp", "llamafile", "ctransformers":
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

// quantKindOf groups ways of storing weights that share kernels.
func quantKindOf(name string) string {
	u := strings.TrimPrefix(strings.ToUpper(name), "UD-")
	switch {
	case strings.HasPrefix(u, "IQ"):
		return "iq"
	case strings.HasPrefix(u, "MLX"):
		return "mlx"
	case strings.HasPrefix(u, "MXFP4"), strings.HasPrefix(u, "NVFP4"):
		return "fp4"
	case u == "F16", u == "BF16", u == "F32", u == "FP16":
		return "float"
	case strings.HasPrefix(u, "FP8"):
		return "fp8"
	case strings.HasPrefix(u, "Q") && strings.Contains(u, "_K"):
		return "k"
	case strings.HasPrefix(u, "Q"):
		return "legacy"
	case strings.HasPrefix(u, "AWQ"), strings.HasPrefix(u, "GPTQ"):
		return "gptq"
	}
	return "int"
}

// sameName compares names of quantizations, letter case aside.
func sameName(a, b string) bool { return strings.EqualFold(a, b) }

// folded is equal for names that are the same.
func folded(name string) string { return strings.ToLower(name) }

// text gives an optional text, empty where unknown.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// A row is one comparable measurement.
type row struct {
	point
	page     int32
	at       uint32 // number in the pack
	heldBack bool
	id       dataset.Slug
	logShare float64
}
