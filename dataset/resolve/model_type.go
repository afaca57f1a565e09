package resolve

import (
	"regexp"
	"strings"
)

// typeWords finds the storage type at the end of a model type that llama-bench prints, with its size in words
// or bits. Examples: "Q4_K - Medium", "IQ2_XXS - 2.0625 bpw", "MXFP4 MoE", "mostly Q4_0", "Q8_0 (guessed)".
var typeWords = regexp.MustCompile(`(?i)\b((?:I|T)?Q[0-9]_[0-9A-Z_]+(?: mix)?|BF16|F16|F32|MXFP4|NVFP4)` +
	`(?: - (Small|Medium|Large)| - [0-9.]+ bpw(?: ternary)?| MoE)?(?: \(guessed\))?$`)

// TypeQuantization reads the storage type at the end of the type of a model as llama-bench prints
// it ("llama 8B Q4_K - Medium" is Q4_K_M). rest is what precedes it. The quantization is
// empty if there is none.
func TypeQuantization(printed string) (rest, quantization string) {
	at := typeWords.FindStringSubmatchIndex(printed)
	if at == nil {
		return printed, ""
	}
	name := strings.ToUpper(printed[at[2]:at[3]])
	if at[4] >= 0 {
		name += "_" + typeSizes[strings.ToLower(printed[at[4]:at[5]])]
	}
	if usual := usualTypes[name]; usual != "" {
		name = usual
	}
	rest = strings.TrimSpace(printed[:at[0]])
	rest = strings.TrimSuffix(strings.TrimSuffix(rest, " mostly"), " all")
	return rest, name
}
