package dataset

import (
	"fmt"
	"iter"
	"reflect"
	"strconv"
	"strings"

	"modeldex/dataset/record"
)

// Bounds of figures that no other rule holds to each other. They are far beyond what is built and measured, so that new
// products fit: what they find is a figure in another unit, in the wrong field, or made by a program.
const (
	minMemoryGB   = 0.25    // of one part; the least published is 1
	maxVRAMGB     = 1_536   // of one accelerator or machine; the most built is 512
	maxMemoryGB   = 16_384  // of one processor; the most built is 9,216
	maxTDPWatts   = 30_000  // of one part; a wafer-scale engine takes 23,000
	minBandwidth  = 1       // GB/s; the least published is 17
	minHBM        = 50      // GB/s of memory with wide buses; the least published is 410
	minOfRated    = 0.5     // of channels x 8 bytes x rated speed
	maxBandwidth  = 30_000  // GB/s of memory beside the chip; HBM4 parts reach 22,000
	maxOnChip     = 1e8     // GB/s of memory on the chip; a wafer-scale engine has 21,000,000
	channelSlack  = 1.02    // of channels x 8 bytes x rated speed, for rounding
	maxTeraOps    = 1e6     // TFLOPS or TOPS of one part; a wafer-scale engine has 125,000
	maxCores      = 1e6     // of one part; a wafer-scale engine has 900,000
	maxPriceUSD   = 1e7     // of one part
	maxAmount     = 1e11    // of a price in any currency
	minParamsB    = 0.0001  // billion parameters
	maxParamsB    = 100_000 // billion parameters
	maxWidth      = 1e6     // of a layer
	maxExperts    = 100_000
	maxTokens     = 1e8    // of a context, a prompt or an answer; the longest published context has 10,485,760
	maxDevices    = 1e5    // of one measurement; the most published are 288
	maxSpeedTPS   = 1e6    // of one device, prompt or generation; the most published is some 60,000
	minSpeedTPS   = 0.001  // tokens per second; the least published is 0.24
	maxMs         = 1e9    // 11 days
	maxPowerWatts = 1e8    // of a machine
	minTypeBits   = 0.5    // of a storage type
	minWeightBits = 0.8    // of a file; the smallest published have 1.6
	maxWeightBits = 40     // of a file; 32-bit floats with some parts twice reach 35
	minYear       = "1990" // nothing here is older
)

// A bound is the least and the most that a figure may be. Of a list it holds for each entry.
type bound struct {
	field       string  // dotted
	least, most float64 // 0 for none
	unit        string
}

var hardwareBounds = []bound{
	{"vram_gb", minMemoryGB, maxVRAMGB, " GB"},
	{"hbm_gb", minMemoryGB, maxVRAMGB, " GB"},
	{"memory_gb", minMemoryGB, maxMemoryGB, " GB"},
	{"max_memory_gb", minMemoryGB, maxMemoryGB, " GB"},
	{"memory_options_gb", minMemoryGB, maxMemoryGB, " GB"},
	{"tdp_watts", 0, maxTDPWatts, " W"},
	{"tdp_range_watts", 0, maxTDPWatts, " W"},
	{"max_turbo_power_watts", 0, maxTDPWatts, " W"},
	{"fp16_tflops", 0, maxTeraOps, operations},
	{"fp16_tensor_fp32acc_tflops", 0, maxTeraOps, operations},
	{"fp16_tensor_fp16acc_tflops", 0, maxTeraOps, operations},
	{"fp16_vector_tflops", 0, maxTeraOps, operations},
	{"fp16_shader_tflops", 0, maxTeraOps, operations},
	{"fp32_tflops", 0, maxTeraOps, operations},
	{"int8_tops", 0, maxTeraOps, operations},
	{"npu_tops", 0, maxTeraOps, operations},
	{"gpu_cores", 0, maxCores, ""},
	{"cpu_cores", 0, maxCores, ""},
	{"memory_channels", 0, 1_024, ""},
	{"memory_speed_mts", 0, 100_000, " MT/s"},
	{"memory_bandwidth_range_gbps", minBandwidth, 0, " GB/s"},
	{"launch_price_usd", 0, maxPriceUSD, " US dollars"},
}

const operations = " x 10^12 operations per second"

var modelBounds = []bound{
	{"params_b", minParamsB, maxParamsB, " billion parameters"},
	{"active_params_b", minParamsB, maxParamsB, " billion parameters"},
	{"effective_params_b", minParamsB, maxParamsB, " billion parameters"},
	{"architecture.hidden_size", 0, maxWidth, ""},
	{"architecture.intermediate_size", 0, maxWidth, ""},
	{"architecture.moe_intermediate_size", 0, maxWidth, ""},
	{"architecture.num_attention_heads", 0, maxWidth, ""},
	{"kv_cache.head_dim", 0, maxWidth, ""},
	{"kv_cache.global_head_dim", 0, maxWidth, ""},
	{"kv_cache.v_head_dim", 0, maxWidth, ""},
	{"kv_cache.qk_rope_head_dim", 0, maxWidth, ""},
	{"kv_cache.kv_lora_rank", 0, maxWidth, ""},
	{"architecture.ssm_inner_size", 0, maxWidth, ""},
	{"architecture.ssm_state_size", 0, maxWidth, ""},
	{"architecture.ssm_group_count", 0, maxWidth, ""},
	{"architecture.ssm_conv_kernel", 0, 1_024, ""},
	{"architecture.num_layers", 0, 10_000, ""},
	{"architecture.num_experts", 0, maxExperts, ""},
	{"architecture.num_shared_experts", 0, maxExperts, ""},
	{"architecture.vocab_size", 0, 1e7, " tokens"},
	{"architecture.context_length", 0, maxTokens, " tokens"},
	{"architecture.sliding_window", 0, maxTokens, " tokens"},
}

// runBounds are those of a benchmark; the speeds of its devices are bounded as well.
var runBounds = []bound{
	{"n_prompt", 0, maxTokens, " tokens"},
	{"n_gen", 0, maxTokens, " tokens"},
	{"context_depth", 0, maxTokens, " tokens"},
	{"batch_size", 0, maxTokens, " tokens"},
	{"hardware_count", 0, maxDevices, ""},
	{"threads", 0, 1e5, ""},
	{"concurrency", 0, 1e6, ""},
	{"prompt_tps", minSpeedTPS, 0, " tokens per second"},
	{"generation_tps", minSpeedTPS, 0, " tokens per second"},
	{"total_tps", minSpeedTPS, 0, " tokens per second"},
	{"ttft_ms", 0, maxMs, " ms"},
	{"ttft_p50_ms", 0, maxMs, " ms"},
	{"ttft_p99_ms", 0, maxMs, " ms"},
	{"tpot_ms", 0, maxMs, " ms"},
	{"tpot_p50_ms", 0, maxMs, " ms"},
	{"tpot_p99_ms", 0, maxMs, " ms"},
	{"request_rate", 0, maxSpeedTPS, " requests per second"},
	{"memory_gb", minMemoryGB, maxMemoryGB, " GB"},
	{"power_watts", 0, maxPowerWatts, " W"},
}

var typeBounds = []bound{
	{"block_bits_per_weight", minTypeBits, maxWeightBits, " bits"},
	{"effective_bits_per_weight", minTypeBits, maxWeightBits, " bits"},
	{"llama_1_7b_bits_per_weight", minTypeBits, maxWeightBits, " bits"},
	{"observed.min", minTypeBits, 0, " bits"},
	{"observed.max", 0, maxWeightBits, " bits"},
}

// bounded holds the figures of a record to bounds.
func (c *checker) bounded(p place, rec any, bounds []bound) {
	v := reflect.ValueOf(rec).Elem()
	for i := range bounds {
		b := &bounds[i]
		for at, f := range figuresAt(v, b.field) {
			switch n, text := number(f); {
			case b.least != 0 && n < b.least:
				c.at(p, at, fmt.Sprintf("must be at least %s%s, got %s", plainNumber(b.least), b.unit, text))
			case b.most != 0 && n > b.most:
				c.at(p, at, fmt.Sprintf("must be at most %s%s, got %s", plainNumber(b.most), b.unit, text))
			}
		}
	}
}

// figuresAt yields the known figures of a field, by their names: one, or the entries of a list.
func figuresAt(v reflect.Value, field string) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		for name := range strings.SplitSeq(field, ".") {
			f := record.SchemaOf(v.Type()).Field(name)
			if v = v.FieldByIndex(f.Index); v.Kind() == reflect.Pointer {
				if v.IsNil() {
					return
				}
				v = v.Elem()
			}
		}
		if v.Kind() != reflect.Slice {
			yield(field, v)
			return
		}
		for i := range v.Len() {
			if !yield(field+"."+strconv.Itoa(i), v.Index(i)) {
				return
			}
		}
	}
}

// number is a figure, and as files write it.
func number(v reflect.Value) (n float64, text string) {
	if v.CanInt() {
		return float64(v.Int()), strconv.FormatInt(v.Int(), 10)
	}
	return v.Float(), plainNumber(v.Float())
}

// atMost adds a fault where a known value passes a bound.
func (c *checker) atMost(p place, field string, v *float64, bound float64, why string) {
	if v != nil && *v > bound {
		c.at(p, field, fmt.Sprintf("must be at most %s%s, got %s", plainNumber(bound), why, plainNumber(*v)))
	}
}

// atLeast adds a fault where a known value is below a bound.
func (c *checker) atLeast(p place, field string, v *float64, bound float64, why string) {
	if v != nil && *v < bound {
		c.at(p, field, fmt.Sprintf("must be at least %s%s, got %s", plainNumber(bound), why, plainNumber(*v)))
	}
}
