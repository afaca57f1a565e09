package record

// QuantizationType is one way of storing weights: data/quantizations.json.
type QuantizationType struct {
	// Name of the type, as files carry it.
	Name string `json:"name" jsonschema:"minLength=1,example=Q4_K_M"`
	// File format.
	Format string `json:"format" jsonschema:"minLength=1,example=gguf"`
	// Storage type most blocks of such a file have.
	MainBlockType *string `json:"main_block_type" jsonschema:"nullable,minLength=1,example=Q4_K"`
	// Storage of that block type, in bits per weight, exact.
	BlockBitsPerWeight *float64 `json:"block_bits_per_weight" jsonschema:"nullable,exclusiveMinimum=0,example=4.5" jsonschema_extras:"unit=bits" bounds:"0.5..40 bits"`
	// Whether some tensors of such a file have another block type.
	Mix *bool `json:"mix" jsonschema:"nullable,example=true"`
	// Whole-file average to estimate sizes with; null where none was measured.
	EffectiveBitsPerWeight *float64 `json:"effective_bits_per_weight" jsonschema:"nullable,exclusiveMinimum=0,example=4.8944" jsonschema_extras:"unit=bits" bounds:"0.5..40 bits"`
	// Where the whole-file average comes from.
	EffectiveBasis *string `json:"effective_basis" jsonschema:"nullable,minLength=1,example=measured\\, whole-file average for Llama 3.1 8B"`
	// Older published average over a file of the first LLaMA 7B.
	Llama17BBitsPerWeight *float64 `json:"llama_1_7b_bits_per_weight" jsonschema:"nullable,exclusiveMinimum=0,example=4.83" jsonschema_extras:"unit=bits" bounds:"0.5..40 bits"`
	// Spread over the published sizes of models of 3 billion parameters and more.
	Observed *ObservedBits `json:"observed" jsonschema:"nullable"`
	// Where the figures come from; each entry names the fields it backs.
	Sources []SourceRef `json:"sources"`
}

// ObservedBits is the spread of bits per weight over published files.
type ObservedBits struct {
	// Number of files.
	N int64 `json:"n" jsonschema:"minimum=1,example=5"`
	// Median, in bits per weight.
	Median float64 `json:"median" jsonschema:"exclusiveMinimum=0,example=1.762" jsonschema_extras:"unit=bits"`
	// Smallest, in bits per weight.
	Min float64 `json:"min" jsonschema:"exclusiveMinimum=0,example=1.66" jsonschema_extras:"unit=bits" bounds:"0.5.. bits"`
	// Largest, in bits per weight.
	Max float64 `json:"max" jsonschema:"exclusiveMinimum=0,example=3.075" jsonschema_extras:"unit=bits" bounds:"..40 bits"`
}
