package pages

import (
	"cmp"
	"regexp"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/text"
)

// A field describes one member of the records of a kind: what pages call it, in which unit it is, and how a value is
// shown. Pages of records, the form of changes and the filters of lists have their words from here.
type field struct {
	path  string // such as "architecture.context_length"; "a|b" is the first of two that is known
	label string
	unit  string
	say   func(string) string // a value in the words of pages; nil: as it is
	href  func(string) string // where a value leads; nil: nowhere
	of    string              // kind of the records that are named, each a fact of its own; empty: none
	note  string              // behind the value: a path where it begins with @, else these words
	notes map[string]string   // what a note at a path is called; others are as they are
	alone bool                // of no use beside other records
	asked bool                // the page says so where the value is not known
}

type fieldGroup struct {
	title  string
	fields []field
}

func listed(kind, param string) func(string) string {
	return func(v string) string { return address("/explore/"+kind, param, v) }
}

var modelFields = []fieldGroup{
	{"About", []field{
		{path: "organization", label: "Maker", href: listed("models", "organization")},
		{path: "family", label: "Family", href: listed("models", "family")},
		{path: "release_date", label: "Released", asked: true, note: "@release_date_basis", notes: map[string]string{
			"maker": "", "repository": "repository created", "listing": "according to a third-party list", "paper": "paper published", "reported": "as reported",
		}},
		{path: "license", label: "Licence", asked: true},
		{path: "hf_repo", label: "Repository", note: "Hugging Face", href: huggingFace},
		{path: "form", label: "Purpose"},
		{path: "thinking", label: "Reasoning"},
		{path: "modalities", label: "Input and output"},
		{path: "aliases", label: "Other names", alone: true},
		{path: "slug", label: "ID", alone: true},
	}},
	{"Architecture", []field{
		{path: "params_b", label: "Parameters", unit: "billion", asked: true},
		{path: "active_params_b", label: "Active parameters", unit: "billion"},
		{path: "effective_params_b", label: "Effective parameters", unit: "billion"},
		{path: "trained_bits", label: "Trained precision", unit: "bits"},
		{path: "projector_bytes", label: "Projector size", unit: "bytes"},
		{path: "gguf_architecture", label: "GGUF architecture", href: listed("models", "gguf_architecture")},
		{path: "shape", label: "Shape ID", href: listed("models", "shape")},
		{path: "architecture.type", label: "Type"},
		{path: "architecture.num_layers", label: "Layers", asked: true},
		{path: "architecture.hidden_size", label: "Hidden size", asked: true},
		{path: "architecture.intermediate_size", label: "Feed-forward size"},
		{path: "architecture.moe_intermediate_size", label: "Expert size"},
		{path: "architecture.num_experts", label: "Experts"},
		{path: "architecture.num_experts_per_token", label: "Experts per token"},
		{path: "architecture.num_shared_experts", label: "Shared experts"},
		{path: "architecture.num_dense_layers", label: "Leading dense layers"},
		{path: "architecture.num_attention_heads", label: "Attention heads", asked: true},
		{path: "architecture.vocab_size", label: "Vocabulary", unit: "tokens", asked: true},
		{path: "architecture.context_length", label: "Context length", unit: "tokens", asked: true},
		{path: "architecture.sliding_window", label: "Sliding window", unit: "tokens"},
		{path: "architecture.ssm_conv_kernel", label: "State-space convolution width"},
		{path: "architecture.ssm_inner_size", label: "State-space inner size"},
		{path: "architecture.ssm_state_size", label: "State-space state size"},
		{path: "architecture.ssm_group_count", label: "State-space groups"},
		{path: "architecture.rope_theta", label: "RoPE base"},
		{path: "architecture.activation", label: "Activation"},
		{path: "architecture.norm", label: "Normalization"},
		{path: "architecture.tie_word_embeddings", label: "Tied embeddings"},
	}},
	{"Key-value cache", []field{
		{path: "kv_cache.attention", label: "Attention"},
		{path: "kv_cache.num_kv_heads", label: "Key-value heads", asked: true},
		{path: "kv_cache.head_dim", label: "Head dimension", asked: true},
		{path: "kv_cache.kv_lora_rank", label: "Compressed width"},
		{path: "kv_cache.qk_rope_head_dim", label: "Rotary part"},
		{path: "kv_cache.num_kv_layers", label: "Layers with a cache"},
		{path: "kv_cache.num_sliding_window_layers", label: "Sliding-window layers"},
		{path: "kv_cache.num_linear_attention_layers", label: "Linear-attention layers"},
		{path: "kv_cache.recurrent_state_bytes", label: "Recurrent state", unit: "bytes", note: "per sequence"},
	}},
}

var hardwareFields = []fieldGroup{
	{"About", []field{
		{path: "vendor", label: "Maker", say: vendorName, href: listed("hardware", "vendor")},
		{path: "type", label: "Type", say: typeName},
		{path: "release_date|release_quarter", label: "Released", asked: true},
		{path: "architecture", label: "Architecture"},
		{path: "cpu_architecture", label: "CPU architecture"},
		{path: "form_factor", label: "Form factor"},
		{path: "manufacturer", label: "Built by"},
		{path: "chip", label: "Chip", of: "hardware", alone: true},
		{path: "integrated_gpu", label: "Integrated graphics", of: "hardware", alone: true},
		{path: "variants", label: "Variant", of: "hardware", alone: true},
		{path: "aliases", label: "Other names", alone: true},
		{path: "slug", label: "ID", alone: true},
	}},
	{"Memory", []field{
		{path: "vram_gb", label: "Memory", unit: "GB"},
		{path: "memory_options_gb", label: "Memory options", unit: "GB"},
		{path: "memory_gb", label: "Memory of the machine", unit: "GB"},
		{path: "max_memory_gb", label: "Maximum memory", unit: "GB"},
		{path: "hbm_gb", label: "High-bandwidth memory", unit: "GB"},
		{path: "memory_type", label: "Memory type", asked: true},
		{path: "unified_memory", label: "Unified memory"},
		{path: "memory_bandwidth_gbps", label: "Bandwidth", unit: "GB/s", asked: true, note: "@memory_bandwidth_basis"},
		{path: "memory_bandwidth_range_gbps", label: "Bandwidth range (GB/s)", say: span},
		{path: "memory_read_bandwidth_gbps", label: "Read bandwidth", unit: "GB/s"},
		{path: "memory_channels", label: "Memory channels"},
		{path: "memory_speed_mts", label: "Memory speed", unit: "MT/s"},
	}},
	{"Compute", []field{
		{path: "fp16_tflops", label: "FP16", unit: "TFLOPS", note: "@fp16_basis"},
		{path: "fp16_tensor_fp16acc_tflops", label: "FP16 tensor with FP16 accumulation", unit: "TFLOPS"},
		{path: "fp16_vector_tflops", label: "FP16 vector", unit: "TFLOPS"},
		{path: "fp32_tflops", label: "FP32", unit: "TFLOPS"},
		{path: "int8_tops", label: "INT8", unit: "TOPS"},
		{path: "npu_tops", label: "NPU", unit: "TOPS"},
		{path: "gpu_cores", label: "GPU cores"},
		{path: "cpu_cores", label: "CPU cores"},
		{path: "tdp_watts", label: "Power", unit: "W", asked: true},
		{path: "tdp_range_watts", label: "Power range (W)", say: span},
		{path: "max_turbo_power_watts", label: "Turbo power", unit: "W"},
		{path: "pcie", label: "Interface"},
		{path: "backends", label: "Supported backends"},
		{path: "cuda_compute_capability", label: "CUDA compute capability"},
		{path: "gfx_target", label: "GFX target"},
		{path: "pci_ids", label: "PCI IDs", alone: true},
	}},
}

var toolFields = []fieldGroup{
	{"About", []field{
		{path: "category", label: "Category"},
		{path: "also_categories", label: "Also used as"},
		{path: "vendor_or_org", label: "Maker"},
		{path: "homepage", label: "Homepage", say: host, href: webAddress},
		{path: "repository", label: "Source code", say: host, href: webAddress},
		{path: "license", label: "Licence", asked: true},
		{path: "language", label: "Language"},
		{path: "first_release", label: "First release", asked: true},
		{path: "maintenance", label: "Maintenance"},
		{path: "aliases", label: "Other names", alone: true},
		{path: "slug", label: "ID", alone: true},
	}},
	{"Works with", []field{
		{path: "platforms", label: "Operating systems"},
		{path: "backends", label: "Backends"},
		{path: "model_formats", label: "Weight formats"},
		{path: "api_compatibility", label: "APIs"},
	}},
}

var benchmarkFields = []fieldGroup{
	{"What was measured", []field{
		{path: "model", label: "Model", of: "models", note: "@model_raw"},
		{path: "quantization", label: "Quantization", asked: true},
		{path: "model_size_gib", label: "Weights", unit: "GiB"},
		{path: "hardware", label: "Hardware", of: "hardware", note: "@hardware_raw"},
		{path: "hardware_count", label: "Devices"},
		{path: "memory_gb", label: "Memory per device", unit: "GB"},
		{path: "tool", label: "Tool", of: "tools", note: "@tool_version"},
		{path: "backend", label: "Backend", asked: true},
		{path: "driver_version", label: "Driver"},
		{path: "compute_unit", label: "Ran on"},
		{path: "os", label: "Operating system"},
	}},
	{"Settings", []field{
		{path: "n_prompt", label: "Prompt length", unit: "tokens", asked: true},
		{path: "n_gen", label: "Generated length", unit: "tokens", asked: true},
		{path: "context_depth", label: "Tokens already in the cache", unit: "tokens"},
		{path: "batch_size", label: "Batch size", unit: "tokens"},
		{path: "concurrency", label: "Parallel requests"},
		{path: "n_gpu_layers", label: "Layers on the GPU"},
		{path: "flash_attention", label: "Flash attention"},
		{path: "speculative_decoding", label: "Speculative decoding"},
		{path: "partial_offload", label: "Offloading to main memory"},
		{path: "random_weights", label: "Random weights"},
		{path: "threads", label: "Threads"},
		{path: "rate_basis", label: "Time measured", asked: true},
		{path: "scenario", label: "Load"},
	}},
	{"More results", []field{
		{path: "prompt_tps_stddev", label: "Prompt speed, standard deviation", unit: "tok/s"},
		{path: "generation_tps_stddev", label: "Generation speed, standard deviation", unit: "tok/s"},
		{path: "generation_tps_per_stream", label: "Generation speed per request", unit: "tok/s"},
		{path: "ttft_p50_ms", label: "Time to first token, median", unit: "ms"},
		{path: "ttft_p99_ms", label: "Time to first token, 99th percentile", unit: "ms"},
		{path: "tpot_ms", label: "Time per output token", unit: "ms"},
		{path: "tpot_p50_ms", label: "Time per output token, median", unit: "ms"},
		{path: "tpot_p99_ms", label: "Time per output token, 99th percentile", unit: "ms"},
		{path: "request_rate", label: "Request rate", unit: "requests/s"},
		{path: "power_basis", label: "Power measured at"},
	}},
	{"Source", []field{
		{path: "source", label: "Measured by"},
		{path: "source_url", label: "Page", href: webAddress},
		{path: "source_key", label: "Source"},
		{path: "run_date", label: "Date", asked: true, note: "@date_basis", notes: map[string]string{
			"run": "day of the benchmark", "posted": "day of the post", "commit": "day of the last commit",
		}},
		{path: "submitter", label: "Submitted by"},
		{path: "round", label: "Round"},
		{path: "system", label: "Machine"},
		{path: "nodes", label: "Number of machines"},
		{path: "division", label: "Division"},
		{path: "availability", label: "Availability"},
		{path: "reproduce", label: "How to reproduce"},
	}},
}

// groupsOf are the sources of a record, and its facts in groups. Facts without a value are left out, and so are groups
// without facts; the asked ones among them are what the page says it lacks.
func (v *Sheet) groupsOf(n *names, groups []fieldGroup, row []byte, sources []dataset.SourceRef) (list []Source, out []Group) {
	list, refs := sourcesOf(sources)
	record := *decode[map[string]any](row)
	for _, g := range groups {
		group := Group{Title: g.title}
		for i := range g.fields {
			f := &g.fields[i]
			facts := f.facts(n, record)
			for j := range facts {
				facts[j].Refs = refsOf(refs, f.path)
			}
			if group.Facts = append(group.Facts, facts...); f.asked && facts == nil {
				v.Lacks = append(v.Lacks, f.label)
			}
		}
		if group.Facts != nil {
			out = append(out, group)
		}
	}
	return list, out
}

func (f *field) facts(n *names, record map[string]any) (out []Fact) {
	value, _, _ := strings.Cut(f.path, "|")
	v := member(record, value)
	if v == nil {
		_, value, _ = strings.Cut(f.path, "|")
		v = member(record, value)
	}
	if list, several := v.([]any); several && f.of != "" {
		for _, one := range list {
			out = append(out, f.fact(n, record, one))
		}
		return out
	}
	if shown := plain(v); v == nil || shown == "" || shown == none {
		return nil
	}
	return []Fact{f.fact(n, record, v)}
}

func (f *field) fact(n *names, record map[string]any, v any) Fact {
	value := plain(v)
	out := Fact{Label: f.label, Value: Cell{Text: value}, Note: f.note}
	switch {
	case f.of != "":
		out.Value = n.cell(f.of, dataset.Slug(value))
	case f.say != nil:
		out.Value.Text = f.say(value)
	case f.unit != "":
		out.Value.Text += " " + f.unit
	case !f.alone:
		out.Value.Text = shown(value)
	}
	if f.href != nil {
		out.Value.Href = f.href(value)
	}
	if path, ok := strings.CutPrefix(f.note, "@"); ok {
		if out.Note = ""; member(record, path) != nil {
			out.Note = plain(member(record, path))
		}
		if said, ok := f.notes[out.Note]; ok {
			out.Note = said
		} else if strings.HasSuffix(path, "_raw") {
			out.Note = "given as “" + out.Note + "”"
		}
	}
	return out
}

func member(record map[string]any, path string) any {
	object, inner, nested := strings.Cut(path, ".")
	if !nested {
		return record[path]
	}
	of, _ := record[object].(map[string]any)
	return member(of, inner)
}

func refsOf(refs map[string][]int, path string) []int {
	path, _, _ = strings.Cut(path, "|")
	object, _, _ := strings.Cut(path, ".")
	if found := refs[path]; found != nil {
		return found
	}
	return refs[object]
}

// shownAs are values that pages call something else than the dataset does.
var shownAs = map[string]string{
	"moe": "mixture of experts", "ssm": "state-space model", "gqa": "grouped-query (GQA)", "mha": "multi-head (MHA)", "mqa": "multi-query (MQA)", "mla": "latent (MLA)",
	"owner": "modeldex", "official": "vendor", "decode": "generation only", "end_to_end": "prompt and generation", "total": "all parallel requests",
	"cpu": "CPU", "gpu": "GPU", "npu": "NPU", "hpu": "HPU", "xpu": "XPU", "tpu": "TPU", "mixed": "GPU and CPU", "ane": "Apple Neural Engine", "musa": "MUSA", "cann": "CANN", "ascend": "Ascend", "gaudi": "Gaudi", "soc": "system on a chip",
	"cuda": "CUDA", "rocm": "ROCm", "metal": "Metal", "vulkan": "Vulkan", "opencl": "OpenCL", "directml": "DirectML", "openvino": "OpenVINO", "sycl": "SYCL", "webgpu": "WebGPU",
	"mlx": "MLX", "gguf": "GGUF", "ggml": "GGML", "gptq": "GPTQ", "awq": "AWQ", "onnx": "ONNX", "exl2": "EXL2", "exl3": "EXL3", "coreml": "Core ML", "mps": "MPS", "qnn": "QNN",
	"nvidia": "NVIDIA", "amd": "AMD", "aws": "AWS", "hisilicon": "HiSilicon", "mediatek": "MediaTek", "moorethreads": "Moore Threads", "sambanova": "SambaNova", "sifive": "SiFive", "spacemit": "SpacemiT",
	"linux": "Linux", "windows": "Windows", "macos": "macOS", "ios": "iOS", "android": "Android", "openai": "OpenAI", "anthropic": "Anthropic", "ollama": "Ollama", "msrp": "list price", "street": "market price", "base": "base model", "single_stream": "comparable speeds",
	"runner": "local runner", "gui": "desktop or web app", "ide": "code editor", "orchestrator": "orchestration", "finetuner": "fine-tuning", "quantizer": "quantization",
}

func span(pair string) string { return strings.Replace(pair, ", ", " to ", 1) }

func shown(v string) string {
	parts := strings.Split(v, ", ")
	for i, part := range parts {
		parts[i] = cmp.Or(shownAs[part], part)
	}
	return strings.Join(parts, ", ")
}

// none is an empty list in words.
const none = "none"

func plain(v any) string {
	switch v := v.(type) {
	case bool:
		return yesNo(v)
	case float64:
		return text.Exact(v)
	case string:
		return v
	case map[string]any:
		return text.Count(len(v), "field", "fields")
	case []any:
		parts := make([]string, len(v))
		for i, one := range v {
			if _, object := one.(map[string]any); object {
				return text.Count(len(v), "entry", "entries")
			}
			parts[i] = plain(one)
		}
		return cmp.Or(strings.Join(parts, ", "), none)
	}
	return "unknown"
}

func yesNo(v bool) string {
	if v {
		return "yes"
	}
	return "no"
}

var fieldNames = func() map[string]string {
	out := map[string]string{"model_raw": "Model as given", "hardware_raw": "Hardware as given", "kv_cache": "Key-value cache", "prompt_tps": "Prompt speed", "generation_tps": "Generation speed"}
	for _, groups := range [][]fieldGroup{modelFields, hardwareFields, toolFields, benchmarkFields} {
		for _, g := range groups {
			for _, f := range g.fields {
				path, _, _ := strings.Cut(f.path, "|")
				out[path] = cmp.Or(out[path], f.label)
			}
		}
	}
	return out
}()

// labels are the names of fields and parameters in filters and forms, where they differ from those of facts.
var labels = map[string]string{
	"street_price_usd": "Street price", "launch_price_usd": "Launch price", "price_observations": "Prices", "intelligence": "Evaluation score", "release_date": "Release date", "fp16_tflops": "FP16 compute",
	"modality": "Input and output", "api": "API", "context_depth": "Tokens in the cache", "run_date": "Date", "fits": "Runs on", "os": "Operating system",
	"runs": "Can run", "min_tps": "Minimum speed", "memory_gb": "Memory", "bandwidth_gbps": "Bandwidth",
	"unified_share": "Share of unified memory", "count": "Number of devices", "kv": "KV cache type", "system_memory_gb": "Main memory", "organization": "Maker", "vendor": "Maker",
	"fp16_shader_tflops": "FP16 shader", "fp16_tensor_fp32acc_tflops": "FP16 tensor with FP32 accumulation", "pci_ids_shared": "Shared PCI IDs",
}

// Label is what filters and forms call a field or parameter.
func Label(name string) string {
	return cmp.Or(labels[name], fieldNames[name], Sentence(words(name)))
}

func fieldName(path string) string {
	return cmp.Or(fieldNames[path], Label(path[strings.LastIndexByte(path, '.')+1:]))
}

var rawField = regexp.MustCompile(`\b[a-z0-9]+_[a-z0-9_]+\b`)

// plainNote is a note of the dataset with the names of fields that pages show.
func plainNote(note string) string {
	return Sentence(rawField.ReplaceAllStringFunc(note, func(name string) string {
		return strings.ToLower(cmp.Or(labels[name], fieldNames[name], fieldNames["architecture."+name], fieldNames["kv_cache."+name], name))
	}))
}

func fieldNamesOf(paths []string) string {
	out := make([]string, len(paths))
	for i, path := range paths {
		out[i] = fieldName(strings.TrimPrefix(path, "hardware."))
	}
	return strings.Join(out, ", ")
}
