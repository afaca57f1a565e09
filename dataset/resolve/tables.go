package resolve

import "modeldex/dataset"

// The lists of words of the vocabulary that are asked for most.
var (
	boardMakers     = wordsOf("board makers")
	boardWords      = wordsOf("board words")
	hwNoise         = wordsOf("noise")
	identity        = wordsOf("identity")
	measures        = wordsOf("measures")
	besideWords     = wordsOf("beside")
	versioned       = wordsOf("versioned")
	machineMakers   = wordsOf("machine makers")
	soldSizes       = wordsOf("sold sizes")
	labels          = wordsOf("labels")
	notDual         = wordsOf("not dual")
	companies       = wordsOf("companies")
	variantWords    = wordsOf("variants")
	sizeUnits       = wordsOf("size units")
	repackagers     = wordsOf("repackagers")
	ownArchitecture = wordsOf("own architectures")
	weak            = wordsOf("weak marks")
	toolBackends    = wordsOf("tool backends")
)

// makers are the words that name the maker of graphics, or a brand only one maker has.
var makers = map[string]dataset.Vendor{
	"nvidia": "nvidia", "geforce": "nvidia", "quadro": "nvidia", "tesla": "nvidia", "amd": "amd", "radeon": "amd", "instinct": "amd",
	"ryzen": "amd", "epyc": "amd", "apple": "apple",
}

// besideBeginnings and besideParts are in what drivers and tools print beside a name, whatever else it says.
var (
	besideBeginnings = []string{"uuid", "host", "rev ", "compute ", "vmm", "warp", "wave size", "uma", "fp16", "fp4", "bf16", "opencl ", "prog-if", "subsystem", "bus", "pci", "shared memory", "int dot", "matrix cores", "driver", "cuda ", "rocm ", "vulkan ", "radv", "radeonsi", "cortex", "10x cortex", "0x", "arrowlake"}
	besideParts      = []string{"channel", "jetpack", "limit", "power cap", " ram", "mesa", "linux", "passthrough"}
)

// memoryUnit gives the size of a unit in GB as the sizes of cards are counted, which are powers
// of two under either name. "Go" is the unit in French.
var memoryUnit = map[string]float64{"gb": 1, "gib": 1, "mb": 1.0 / 1024, "mib": 1.0 / 1024, "go": 1}

// countWords are the words for a number of devices.
var countWords = map[string]int{"single": 1, "dual": 2, "two": 2, "twin": 2, "pair": 2, "triple": 3, "three": 3, "quad": 4, "four": 4, "six": 6, "eight": 8}

// pciVendors are the vendors whose name precedes a device that no list knows yet: lspci
// prints "NVIDIA Corporation Device 2d05". Numbers: https://pcisig.com/membership/member-companies.
var pciVendors = []struct{ word, id string }{
	{"nvidia", "10de"}, {"advanced micro devices", "1002"}, {"amd", "1002"}, {"ati ", "1002"}, {"intel", "8086"},
}

// formerOwners are accounts under a name of before.
var formerOwners = map[string]string{"zai-org": "thudm", "coherelabs": "cohereforai", "meta-llama": "facebook", "openbmb": "minicpm", "teleai": "tele-ai"}

// hubs are addresses that may precede owner and name.
var hubs = []string{"huggingface.co/", "www.huggingface.co/", "hf.co/", "hf-mirror.com/", "modelscope.cn/models/", "www.modelscope.cn/models/", "ollama.com/library/", "registry.ollama.ai/library/", "ollama.com/", "lmstudio.ai/models/"}

// commands load a model, and are copied with its name.
var commands = []string{"ollama run ", "ollama pull ", "vllm serve ", "lms load ", "lms get "}

// strong are the words that are always marks, with the format they imply, if any. The value is
// how they are written in a quantization, empty where they are none.
var strong = map[string]struct{ quant, format string }{
	"gguf": {"", "gguf"}, "ggml": {"", "gguf"}, "mlx": {"", "mlx"}, "safetensors": {"", "safetensors"},
	"exl2": {"EXL2", "exl2"}, "exl3": {"EXL3", "exl3"}, "awq": {"AWQ", "safetensors"}, "autoawq": {"AWQ", "safetensors"},
	"gptq": {"GPTQ", "safetensors"}, "autogptq": {"GPTQ", "safetensors"}, "autoround": {"AutoRound", "safetensors"},
	"bnb": {"bnb", "safetensors"}, "quantized": {}, "onnx": {}, "ov": {}, "openvino": {}, "mlc": {}, "hf": {}, "i1": {}, "imat": {}, "imatrix": {}, "qat": {}, "dwq": {}, "mtp": {},
	"bf16": {"BF16", ""}, "fp16": {"F16", ""}, "f16": {"F16", ""}, "fp32": {"F32", ""}, "f32": {"F32", ""},
	"fp8": {"FP8", ""}, "fp4": {"FP4", ""}, "nf4": {"NF4", ""}, "nvfp4": {"NVFP4", ""}, "mxfp4": {"MXFP4", ""}, "mxfp8": {"MXFP8", ""},
	"mxfp4_moe": {"MXFP4_MOE", "gguf"}, "int2": {"INT2", ""}, "int3": {"INT3", ""}, "int4": {"INT4", ""}, "int8": {"INT8", ""},
	"w4a16": {"W4A16", "safetensors"}, "w8a8": {"W8A8", "safetensors"}, "w8a16": {"W8A16", "safetensors"}, "w4a8": {"W4A8", "safetensors"},
}

// sizes are the words llama-bench prints for the sizes of a mix.
var typeSizes = map[string]string{"small": "S", "medium": "M", "large": "L"}

// usualTypes are the types people call otherwise than llama.cpp prints them.
var usualTypes = map[string]string{"Q2_K_M": "Q2_K", "IQ3_S MIX": "IQ3_M"}
