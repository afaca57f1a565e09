package resolve

// usualSizes are the quantizations that people mean by a short name, the usual one first.
var usualSizes = map[string][]string{
	"Q1": {"IQ1_M", "IQ1_S"}, "Q2": {"Q2_K", "IQ2_M"}, "Q3": {"Q3_K_M", "Q3_K_S"}, "Q4": {"Q4_K_M", "Q4_0", "4bit", "MXFP4"},
	"Q5": {"Q5_K_M", "Q5_K_S"}, "Q6": {"Q6_K"}, "Q8": {"Q8_0", "8bit"}, "AWQ": {"AWQ-4bit-g128", "AWQ-4bit"}, "GPTQ": {"GPTQ-4bit-g128", "GPTQ-4bit"},
	"INT4": {"AWQ-4bit-g128", "GPTQ-4bit-g128", "4bit", "Q4_K_M"}, "INT8": {"8bit", "Q8_0"}, "FP8": {"FP8-block128"}, "FP16": {"F16"}, "F16": {"BF16"}, "BF16": {"F16"},
	"Q3_K_XL": {"UD-Q3_K_XL"}, "Q2_K_XL": {"UD-Q2_K_XL"}, "Q4_K_XL": {"UD-Q4_K_XL"}, "Q5_K_XL": {"UD-Q5_K_XL"}, "Q6_K_XL": {"UD-Q6_K_XL"},
}

// Quantizations are the names that the quantization of a question may have in records, the likeliest first.
func (q *Question) Quantizations() []string {
	if q.Quantization == "" {
		return nil
	}
	return append([]string{q.Quantization}, usualSizes[q.Quantization]...)
}
