package record

import "strings"

// Single says whether a measurement is a decode speed of one stream on one device, the kind
// that compares across sources.
type Single uint8

// The answers of SingleStream. Unknown is its own answer: a null never counts as 1 or false
// where the tool has no known default.
const (
	SingleUnknown Single = iota
	SingleNo
	SingleYes
)

// Tokens that still count as an empty cache. In the shipped data (package fit), for the 60 most measured models, 512
// tokens cost 0.7 % of the speed in the median and at most 2 % for nine of ten; 1,200 cost 1.6 and 4.4 %.
const (
	// Shallow is the most that may be in the cache before the run.
	Shallow = 512
	// ShortPrompt is the most that may be in it when generation begins behind a prompt: the 1,024 of bench
	// programs, which are up to 1,200 by the tokenizers of models.
	ShortPrompt = 1200
)

// ToolDefault is what a tool measures where a row does not say.
type ToolDefault struct {
	Decode bool // the rate excludes the prompt
	Alone  bool // one request at a time
	Plain  bool // no drafted tokens
	Empty  bool // the cache is empty before the run
	Apart  bool // prompt and generation are runs of their own, where a row names the depth of both
}

var (
	// A bench program of the tool generates from an empty or short cache, one stream, no draft, and
	// prints prompts apart. So do chat servers for one user: Ollama and LM Studio draft only for
	// models with a draft head, and then a row says so.
	benchTool = ToolDefault{Decode: true, Alone: true, Plain: true, Empty: true}
	// A program for one user reports one request; whether its rate includes the prompt is up to the
	// page. Drafting has to be asked for, and every run begins with an empty cache.
	runner = ToolDefault{Alone: true, Plain: true, Empty: true}
	// A batching server or library measures totals over requests unless the row says otherwise.
	batchTool = ToolDefault{Plain: true, Empty: true}
	// A bench program that reads a prompt in one run and generates in another, each from the depth it prints:
	// llama-bench, and the "best" speed of exllama. Rows without a depth are of other programs, as
	// llama-batched-bench and llama-server, which generate behind the prompt.
	apartTool = ToolDefault{Decode: true, Alone: true, Plain: true, Empty: true, Apart: true}
)

// ToolDefaults maps tools to what they measure by default, as their own pages print it. Nothing is known of others.
var ToolDefaults = func() map[Slug]ToolDefault {
	out := map[Slug]ToolDefault{}
	for _, group := range []struct {
		ToolDefault
		tools string
	}{
		{apartTool, "llama.cpp ik-llama.cpp exllama"},
		{benchTool, "mlx-lm exllamav2 exllamav3 mlc-llm gpt-fast openvino-genai t-mac bitnet.cpp" +
			" rkllm autoawq ktransformers hailo-genai ollama lm-studio"},
		{runner, "calm chatglm.cpp llm-awq mlx-vlm qualcomm-genie qualcomm-qnn executorch mnn cactus litert-lm coreml-llm-cli" +
			" powerinfer llama-cpp-python ctransformers candle distributed-llama"},
		{batchTool, "vllm sglang tensorrt-llm text-generation-inference lmdeploy optimum-habana deepspeed-mii openvino-model-server" +
			" transformers ctranslate2 litgpt autogptq onnxruntime mistral.rs omlx vllm-mlx rapid-mlx vllm.rs dashinfer" +
			" optimum-nvidia ipex-llm tensorrt-edge-llm docker-model-runner ds4 quip-sharp aqlm"},
	} {
		for tool := range strings.FieldsSeq(group.tools) {
			out[Slug(tool)] = group.ToolDefault
		}
	}
	return out
}()

// SingleStream reports whether the generation speed of b is the decode rate of one stream on one device, from a nearly
// empty cache, without speculation and weights in other memory. A null is the default of the tool, or unknown. field
// names the field that decided against it, in the spelling of the API; it is empty for SingleYes.
func (b *Benchmark) SingleStream() (is Single, field string) {
	d := ToolDefaults[b.Tool]
	switch {
	case b.Withdrawn != nil:
		return SingleNo, "withdrawn"
	case b.GenerationTPS == nil:
		return SingleNo, "generation_tps"
	case b.IsThroughput():
		return SingleNo, "scenario"
	case b.RateBasis != nil && *b.RateBasis != RateDecode, b.RateBasis == nil && b.endToEnd():
		return SingleNo, "rate_basis"
	case b.Concurrency != nil && *b.Concurrency > 1:
		return SingleNo, "concurrency"
	case b.HardwareCount > 1:
		return SingleNo, "hardware_count"
	case b.SpeculativeDecoding != nil && *b.SpeculativeDecoding:
		return SingleNo, "speculative_decoding"
	case b.PartialOffload != nil && *b.PartialOffload:
		return SingleNo, "partial_offload"
	case b.ComputeUnit != nil && *b.ComputeUnit == OnMixed:
		return SingleNo, "compute_unit"
	case b.ContextDepth != nil && *b.ContextDepth > Shallow:
		return SingleNo, "context_depth"
	case b.CacheTokens() > ShortPrompt:
		return SingleNo, "n_prompt"
	case b.Concurrency == nil && !d.Alone:
		return SingleUnknown, "concurrency"
	case b.RateBasis == nil && !d.Decode:
		return SingleUnknown, "rate_basis"
	case b.SpeculativeDecoding == nil && !d.Plain:
		return SingleUnknown, "speculative_decoding"
	case b.ContextDepth == nil && !d.Empty:
		return SingleUnknown, "context_depth"
	}
	return SingleYes, ""
}

// WholeRequest reports whether b would be a single stream if its time did not include the prompt, which is short.
func (b *Benchmark) WholeRequest() bool {
	if b.RateBasis == nil || *b.RateBasis != RateEndToEnd || b.NPrompt != nil && (b.NGen == nil || 2**b.NPrompt > *b.NGen) {
		return false
	}
	decode, alike := RateDecode, *b
	alike.RateBasis = &decode
	is, _ := alike.SingleStream()
	return is == SingleYes
}

// BehindPrompt reports whether generation begins behind the n_prompt tokens: the tool reads them in the same run.
func (b *Benchmark) BehindPrompt() bool {
	return b.NPrompt != nil && (b.ContextDepth == nil || !ToolDefaults[b.Tool].Apart)
}

// CacheTokens is how many tokens are in the cache when generation begins, as far as the row says.
func (b *Benchmark) CacheTokens() (n int64) {
	if b.ContextDepth != nil {
		n = *b.ContextDepth
	}
	if b.BehindPrompt() {
		n += *b.NPrompt
	}
	return n
}

// FromEmpty reports whether a speed counts as one from an empty cache.
func (b *Benchmark) FromEmpty() bool {
	return (b.ContextDepth == nil || *b.ContextDepth <= Shallow) && b.CacheTokens() <= ShortPrompt
}

// endToEnd reports whether the speed includes the prompt, by rate_basis or else the notes.
func (b *Benchmark) endToEnd() bool {
	if b.RateBasis != nil {
		return *b.RateBasis == RateEndToEnd
	}
	if b.Notes == nil {
		return false
	}
	notes := strings.ToLower(*b.Notes)
	for _, words := range []string{"end-to-end", "end to end", "whole-request", "whole request", "whole response"} {
		if strings.Contains(notes, words) {
			return true
		}
	}
	return false
}
