package resolve

import (
	"strings"

	"modeldex/dataset"
)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// hwNoise are words that say nothing about which record a name means: the vendor, the brand every
// card of it carries, and what drivers put around a name. "quadro" is not among them: a Quadro RTX
// 4000 is not an RTX 4000.
var hwNoise = set("nvidia corporation amd ati inc intel apple qualcomm geforce radeon instinct tesla graphics gpu cpu processor series integrated design with generation edition igpu habana qrd crd adp vram developer kit devkit chip founders fe gpus card cards rig silicon nvlink")

// makers are the words that name the maker of graphics, or a brand only one maker has.
var makers = map[string]dataset.Vendor{
	"nvidia": "nvidia", "geforce": "nvidia", "quadro": "nvidia", "tesla": "nvidia", "amd": "amd", "radeon": "amd", "instinct": "amd",
	"ryzen": "amd", "epyc": "amd", "apple": "apple",
}

// laptopWords are the three ways of saying that a chip is the one for laptops.
var laptopWords = set("laptop mobile notebook")

// superchip is the long name of what the letters of "GH200" say already.
var superchip = set("grace hopper superchip")

// identity are words that make another product of a name. Where one is found beside the name, in
// brackets, it must be understood or the name is unknown.
var identity = set("ti super xt xtx gre laptop mobile notebook sxm pcie nvl ada ultra max pro plus elite server workstation sff blackwell d oem")

// measures are units that make a number beside a name harmless: "600W", "16C/32T", "240Hz".
var measures = set("w watt watts c t hz mhz ghz core cores thread threads nm")

// besideWords are words which, in brackets or after a comma, say nothing about which record a name means. They
// say what the part is in, how it is run, its architecture or its memory. A word that is not in this list may
// mean another product.
var besideWords = set("a an and at by for from in not of on only or over per the to via with built inside class run running stated" +
	" overclocked oc underclocked undervolted unlocked stock modified modded conversion third party variant water liquid air passive cooled cooling fan blower headless" +
	" egpu dgpu thunderbolt oculink usb nvlink bridge slot lane lanes x desktop tower rack node partition slurm" +
	" memory vram ram ddr lpddr gddr hbm e ecc unified shared dedicated allocated usable available total free channel channels single dual quad" +
	" each total combined used soldered ssd nvme disk storage inch sm moltenvk" +
	" core cores count form model unit vcpu virtual machine vm wsl windows macos ubuntu debian fedora arch docker container proxmox esxi" +
	" kaggle colab runpod vast lambda cloud instance" +
	" kepler maxwell pascal volta turing ampere lovelace hopper gcn polaris vega navi rdna cdna gfx alchemist battlemage bmg g dg pvc ponte vecchio" +
	" tiger alder raptor meteor arrow lunar ice rocket comet coffee skylake lake mtl arl lnl adl rpl tgl lp h gt turin genoa milan rome bergamo" +
	" renoir cezanne rembrandt phoenix hawk strix halo krackan kraken point zen znver adreno mali hexagon risc v arm mac dgx spark" +
	// the processors that compilers name: "(alderlake)", "(skylake-avx512)"
	" nehalem westmere sandybridge ivybridge haswell broadwell avx cascadelake icelake client tigerlake rocketlake alderlake" +
	" sapphirerapids")

// versioned are words before the number of an architecture: "gfx 1100", "navi 31".
var versioned = set("gfx sm cortex navi vega polaris a znver avx")

// besideBeginnings and besideParts are in what drivers and tools print beside a name, whatever else it says.
var (
	besideBeginnings = []string{"uuid", "host", "rev ", "compute ", "vmm", "warp", "wave size", "uma", "fp16", "fp4", "bf16", "opencl ", "prog-if", "subsystem", "bus", "pci", "shared memory", "int dot", "matrix cores", "driver", "cuda ", "rocm ", "vulkan ", "radv", "radeonsi", "cortex", "10x cortex", "0x", "arrowlake"}
	besideParts      = []string{"channel", "jetpack", "limit", "power cap", " ram", "mesa", "linux", "passthrough"}
)

// machineMakers begin the name of the machine a part was built into.
var machineMakers = set("gmktec beelink framework asus rog dell hp lenovo minisforum acer msi razer alienware mac macbook imac macbookpro macbookair ipad iphone oneplus huawei honor oppo vivo realme samsung galaxy nubia xiaomi redmi google aws azure gcp geekom aoostar zotac acemagic bosgame corsair chuwi steam mobile")

// boardMakers sell cards under names of their own; boardWords are what they add.
var (
	boardMakers = set("asus msi gigabyte zotac evga pny palit gainward inno galax kfa colorful sapphire powercolor xfx asrock sparkle maxsun biostar leadtek manli yeston acer gunnir onix")
	boardWords  = set("asus msi gigabyte zotac evga pny palit gainward inno galax kfa colorful sapphire powercolor xfx asrock sparkle maxsun biostar leadtek manli yeston acer gunnir onix" +
		" rog strix tuf gaming dual prime proart turbo phoenix oc trio slim ventus suprim vanguard shadow inspire aorus eagle windforce vision aero master xtreme nitro pulse pure toxic red devil hellhound fighter reaper" +
		" amp holo trinity twin edge solid ftw xc kingpin verto xlr epic rgb gamerock gamingpro jetstream phantom ghost panther ichill igame vulcan neptune speedster merc qick swft mercury quicksilver taichi challenger steel legend founders edition white black titan3 orc guardian fan triple argb vapor")
)

// memoryWords may follow a memory size, and storage words say that a size is not that of memory.
var (
	memoryWords = set("ram memory unified")
	storage     = set("ssd nvme hdd storage disk")
)

// soldSizes are memory sizes of cards in GB. Only behind one of them does a G alone mean GB.
var soldSizes = set("4 6 8 10 11 12 16 20 24 32 40 48 64 72 80 94 96 128 141 144 180 192 256 288 480 512")

// memoryUnit gives the size of a unit in GB as the sizes of cards are counted, which are powers
// of two under either name. "Go" is the unit in French.
var memoryUnit = map[string]float64{"gb": 1, "gib": 1, "mb": 1.0 / 1024, "mib": 1.0 / 1024, "go": 1}

// labels precede a name in the output of tools: "Card Series: …", "deviceName = …".
var labels = set("gpu device card series model name chipset cpu product brand string machdep.cpu.brand_string gpu_name devicename cuda vulkan rocm sycl opencl ggml_vulkan ggml_metal_init processor chip adapter renderer ggml_metal_device_init hw.model identifier marketing found using selected default models configuration and dxgi description")

// countWords are the words for a number of devices.
var countWords = map[string]int{"single": 1, "dual": 2, "two": 2, "twin": 2, "pair": 2, "triple": 3, "three": 3, "quad": 4, "four": 4, "six": 6, "eight": 8}

// notDual are words behind "dual" that make one of it: a card that ASUS calls Dual ("Dual GeForce RTX 3060 Ti OC"), and
// parts of a machine.
var notDual = set("geforce radeon oc evo mini white channel core rank fan slot boot gpu")

// lineWords may be left out before the number of a part: people write "7900xtx" for "Radeon RX 7900 XTX", "13900k" for
// "Core i9-13900K" and "Xeon 8480+" for "Xeon Platinum 8480+". "quadro" is not among them: a Quadro RTX 4000 is not an
// RTX 4000.
var lineWords = set("rtx gtx rx arc pro core i ultra ryzen ai max plus hx threadripper epyc xeon platinum gold e w x 3 5 7 9")

// cardBrands are in every name that cardNamed finds a card in: most names have none of them.
var cardBrands = []string{"rtx", "gtx", "rx", "arc", "geforce", "quadro", "nvidia"}

// pciVendors are the vendors whose name precedes a device that no list knows yet: lspci
// prints "NVIDIA Corporation Device 2d05". Numbers: https://pcisig.com/membership/member-companies.
var pciVendors = []struct{ word, id string }{
	{"nvidia", "10de"}, {"advanced micro devices", "1002"}, {"amd", "1002"}, {"ati ", "1002"}, {"intel", "8086"},
}

// companies are makers whose name some write before that of the model and some do not.
var companies = set("nvidia meta ibm google microsoft baidu ai21 lg tencent tiiuae")

// variantWords tell the variants of one release apart.
var variantWords = set("instruct it chat base thinking reasoning think pt")

// sizeUnits stay with the number before them: billions, millions, trillions, thousands, experts.
var sizeUnits = set("b m t k e")

// formerOwners are accounts under a name of before.
var formerOwners = map[string]string{"zai-org": "thudm", "coherelabs": "cohereforai", "meta-llama": "facebook", "openbmb": "minicpm", "teleai": "tele-ai"}

// repackagers are accounts of the Hub that convert the models of others and keep their names.
var repackagers = set("unsloth bartowski lmstudio-community mlx-community thebloke maziyarpanahi mradermacher ggml-org second-state quantfactory redhatai neuralmagic nm-testing cyankiwi quanttrio" +
	" lmstudio-ai gaianet tensorblock nexaai prince-canuma mungert dranger003 turboderp lonestriker bullerwins ubergarm anikifoss intel amd nvidia openvino onnx-community mlc-ai stelterlab hugging-quants" +
	" casperhansen solidrusst kaitchup modelcloud jamesburton brittlewis12 afrideva lewdiculous duyntnet crusoeai kosbu cpatonnz qwen ai-sage huihui-quants ollama library featherless-ai-quants devquasar alpindale")

// hubs are addresses that may precede owner and name.
var hubs = []string{"huggingface.co/", "www.huggingface.co/", "hf.co/", "hf-mirror.com/", "modelscope.cn/models/", "www.modelscope.cn/models/", "ollama.com/library/", "registry.ollama.ai/library/", "ollama.com/", "lmstudio.ai/models/"}

// commands load a model, and are copied with its name.
var commands = []string{"ollama run ", "ollama pull ", "vllm serve ", "lms load ", "lms get "}

// ownArchitecture are architectures of llama.cpp that a maker uses for one release of each size.
// Under all others there are several: a "llama 7B" may be Llama 1 or 2, Mistral, or made of them.
var ownArchitecture = set("gpt-oss")

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

// weak are words that are marks only behind another mark: "FP8-dynamic", "GPTQ-Pro".
var weak = set("dynamic static kv mixed pro fast moe channel block block128 sym asym e4m3 marlin unsloth hybrid gs32 gs64 gs128 g32 g64 g128")

// sizes are the words llama-bench prints for the sizes of a mix.
var typeSizes = map[string]string{"small": "S", "medium": "M", "large": "L"}

// usualTypes are the types people call otherwise than llama.cpp prints them.
var usualTypes = map[string]string{"Q2_K_M": "Q2_K", "IQ3_S MIX": "IQ3_M"}

// toolBackends are backends that a tool was built for, which programs print behind its version.
var toolBackends = set("cuda vulkan rocm hip metal sycl opencl cpu build")
