package record

// Hardware is one accelerator, processor, system on a chip or whole machine.
type Hardware struct {
	// Stable public key, lower case, vendor first.
	Slug Slug `json:"slug" jsonschema:"example=nvidia-rtx-4090"`
	// Name as its vendor writes it.
	Name string `json:"name" jsonschema:"minLength=1,example=NVIDIA GeForce RTX 4090"`
	// Maker of the hardware.
	Vendor Vendor `json:"vendor" jsonschema:"example=nvidia"`
	// Kind of hardware.
	Type HardwareType `json:"type" jsonschema:"example=gpu"`
	// Release date; only a year or a month if the source gives no more.
	ReleaseDate *Date `json:"release_date" jsonschema:"nullable,example=2022-10-12" fact:"sourced"`
	// Release quarter, if only that is known.
	ReleaseQuarter *string `json:"release_quarter" jsonschema:"nullable,pattern=^[0-9]{4}-Q[1-4]$,example=2023-Q1"`
	// Architecture of the graphics or processor cores.
	Architecture *string `json:"architecture" jsonschema:"nullable,minLength=1,example=Ada Lovelace" fact:"sourced"`
	// Architecture of the processor cores, if architecture is that of the graphics.
	CPUArchitecture *string `json:"cpu_architecture" jsonschema:"nullable,minLength=1,example=Zen 5" fact:"sourced"`
	// Kind of memory.
	MemoryType *string `json:"memory_type" jsonschema:"nullable,minLength=1,example=GDDR6X" fact:"sourced"`
	// Memory the accelerator can use, in GB as vendors count it; for unified memory, the largest configuration. Null for
	// plain processors.
	VRAMGB *float64 `json:"vram_gb" jsonschema:"nullable,exclusiveMinimum=0,example=24" jsonschema_extras:"unit=GB" fact:"sourced" bounds:"0.25..1536 GB"`
	// Memory sizes the part is sold with, in GB as vendors count it.
	MemoryOptionsGB *[]float64 `json:"memory_options_gb" jsonschema:"nullable,exclusiveMinimum=0,example=64" jsonschema_extras:"unit=GB" fact:"sourced" bounds:"0.25..16384 GB"`
	// Memory of a measured machine, in GB as vendors count it.
	MemoryGB *float64 `json:"memory_gb" jsonschema:"nullable,exclusiveMinimum=0,example=24" jsonschema_extras:"unit=GB" fact:"sourced" bounds:"0.25..16384 GB"`
	// Maximum memory of a processor, in GB as vendors count it.
	MaxMemoryGB *float64 `json:"max_memory_gb" jsonschema:"nullable,exclusiveMinimum=0,example=128" jsonschema_extras:"unit=GB" fact:"sourced" bounds:"0.25..16384 GB"`
	// High-bandwidth memory on the package of a processor, in GB as vendors count it.
	HBMGB *float64 `json:"hbm_gb" jsonschema:"nullable,exclusiveMinimum=0,example=64" jsonschema_extras:"unit=GB" fact:"sourced" bounds:"0.25..1536 GB"`
	// Whether processor and graphics share one memory.
	UnifiedMemory bool `json:"unified_memory" jsonschema:"example=false"`
	// Memory bandwidth, in GB/s (10^9 bytes).
	MemoryBandwidthGBps *float64 `json:"memory_bandwidth_gbps" jsonschema:"nullable,exclusiveMinimum=0,example=1008" jsonschema_extras:"unit=GB/s" fact:"sourced"`
	// Where the bandwidth of a processor comes from; computed means channels x 8 bytes x rated speed. Null for graphics,
	// whose vendors state it.
	MemoryBandwidthBasis *string `json:"memory_bandwidth_basis" jsonschema:"nullable,enum=vendor,enum=computed,enum=reported,enum=measured,example=computed"`
	// Lowest and highest bandwidth, in GB/s: measured, or possible with different memory.
	MemoryBandwidthRangeGBps *[]float64 `json:"memory_bandwidth_range_gbps" jsonschema:"nullable,minItems=2,maxItems=2,exclusiveMinimum=0,example=41.2" jsonschema_extras:"unit=GB/s" fact:"sourced" bounds:"1.. GB/s"`
	// Measured read bandwidth, in GB/s.
	MemoryReadBandwidthGBps *float64 `json:"memory_read_bandwidth_gbps" jsonschema:"nullable,exclusiveMinimum=0,example=65.9" jsonschema_extras:"unit=GB/s" fact:"sourced"`
	// Memory channels of a processor.
	MemoryChannels *int64 `json:"memory_channels" jsonschema:"nullable,minimum=1,example=12" fact:"sourced" bounds:"..1024"`
	// Rated memory speed, in MT/s.
	MemorySpeedMTs *int64 `json:"memory_speed_mts" jsonschema:"nullable,minimum=1,example=4800" jsonschema_extras:"unit=MT/s" fact:"sourced" bounds:"..100000 MT/s"`
	// Dense FP16 rate with FP32 accumulation, in TFLOPS; use it to compare products. It equals fp16_tensor_fp32acc_tflops
	// if the hardware has tensor or matrix units, otherwise fp16_vector_tflops. Null if only another rate is known.
	FP16TFLOPS *float64 `json:"fp16_tflops" jsonschema:"nullable,exclusiveMinimum=0,example=165.2" jsonschema_extras:"unit=TFLOPS" fact:"sourced" bounds:"..1000000 x 10^12 operations per second"`
	// Unit that fp16_tflops refers to: tensor cores, matrix units or ordinary shaders. Null if fp16_tflops is null.
	FP16Basis *string `json:"fp16_basis" jsonschema:"nullable,enum=tensor,enum=matrix,enum=shader,example=tensor"`
	// Dense FP16 rate of the tensor or matrix units with FP32 accumulation, in TFLOPS.
	FP16TensorFP32AccTFLOPS *float64 `json:"fp16_tensor_fp32acc_tflops" jsonschema:"nullable,exclusiveMinimum=0,example=165.2" jsonschema_extras:"unit=TFLOPS" fact:"sourced" bounds:"..1000000 x 10^12 operations per second"`
	// Dense FP16 rate of the tensor or matrix units with FP16 accumulation, in TFLOPS; on gaming cards twice the rate with FP32 accumulation.
	FP16TensorFP16AccTFLOPS *float64 `json:"fp16_tensor_fp16acc_tflops" jsonschema:"nullable,exclusiveMinimum=0,example=330.3" jsonschema_extras:"unit=TFLOPS" fact:"sourced" bounds:"..1000000 x 10^12 operations per second"`
	// FP16 rate of the ordinary (vector) units, in TFLOPS.
	FP16VectorTFLOPS *float64 `json:"fp16_vector_tflops" jsonschema:"nullable,exclusiveMinimum=0,example=82.58" jsonschema_extras:"unit=TFLOPS" fact:"sourced" bounds:"..1000000 x 10^12 operations per second"`
	// Older name of fp16_vector_tflops, with the same value.
	FP16ShaderTFLOPS *float64 `json:"fp16_shader_tflops" jsonschema:"nullable,exclusiveMinimum=0,example=82.58" jsonschema_extras:"unit=TFLOPS" fact:"sourced" bounds:"..1000000 x 10^12 operations per second"`
	// FP32 rate, in TFLOPS.
	FP32TFLOPS *float64 `json:"fp32_tflops" jsonschema:"nullable,exclusiveMinimum=0,example=82.58" jsonschema_extras:"unit=TFLOPS" fact:"sourced" bounds:"..1000000 x 10^12 operations per second"`
	// Dense INT8 rate, in TOPS.
	INT8TOPS *float64 `json:"int8_tops" jsonschema:"nullable,exclusiveMinimum=0,example=660" jsonschema_extras:"unit=TOPS" fact:"sourced" bounds:"..1000000 x 10^12 operations per second"`
	// Rate of the neural processor, in TOPS.
	NPUTOPS *float64 `json:"npu_tops" jsonschema:"nullable,exclusiveMinimum=0,example=50" jsonschema_extras:"unit=TOPS" fact:"sourced" bounds:"..1000000 x 10^12 operations per second"`
	// Board or package power, in watts.
	TDPWatts *float64 `json:"tdp_watts" jsonschema:"nullable,exclusiveMinimum=0,example=450" jsonschema_extras:"unit=W" fact:"sourced" bounds:"..30000 W"`
	// Lowest and highest configurable power, in watts.
	TDPRangeWatts *[]float64 `json:"tdp_range_watts" jsonschema:"nullable,minItems=2,maxItems=2,exclusiveMinimum=0,example=15" jsonschema_extras:"unit=W" fact:"sourced" bounds:"..30000 W"`
	// Highest turbo power of a processor, in watts.
	MaxTurboPowerWatts *float64 `json:"max_turbo_power_watts" jsonschema:"nullable,exclusiveMinimum=0,example=253" jsonschema_extras:"unit=W" fact:"sourced" bounds:"..30000 W"`
	// Host interface.
	PCIe *string `json:"pcie" jsonschema:"nullable,minLength=1,example=PCIe 4.0 x16" fact:"sourced"`
	// Compute backends known to work. A missing one may still be supported.
	Backends []string `json:"backends" jsonschema:"minLength=1,example=cuda" fact:"sourced"`
	// CUDA compute capability.
	CUDAComputeCapability *string `json:"cuda_compute_capability" jsonschema:"nullable,minLength=1,example=8.9" fact:"sourced"`
	// Target name for AMD compilers.
	GFXTarget *string `json:"gfx_target" jsonschema:"nullable,minLength=1,example=gfx1100" fact:"sourced"`
	// Graphics cores of an Apple chip.
	GPUCores *int64 `json:"gpu_cores" jsonschema:"nullable,minimum=1,example=40" fact:"sourced" bounds:"..1000000"`
	// Processor cores.
	CPUCores *int64 `json:"cpu_cores" jsonschema:"nullable,minimum=1,example=16" fact:"sourced" bounds:"..1000000"`
	// Form factor.
	FormFactor *string `json:"form_factor" jsonschema:"nullable,minLength=1,example=desktop"`
	// Manufacturer of a whole machine.
	Manufacturer *string `json:"manufacturer" jsonschema:"nullable,minLength=1,example=Framework"`
	// Slugs of the chips a whole machine can have. With integrated_gpu and variants, they show which records share the
	// same silicon.
	Chip *[]Slug `json:"chip" jsonschema:"nullable,example=amd-ryzen-ai-max-395"`
	// Slug of the graphics inside a processor.
	IntegratedGPU *Slug `json:"integrated_gpu" jsonschema:"nullable,example=amd-radeon-780m"`
	// Slugs of the products it may be, for reports that do not say which one. Such a record has only the facts they all
	// share; it is not a product itself.
	Variants *[]Slug `json:"variants" jsonschema:"nullable,example=apple-m2-ultra-60gpu"`
	// Price at launch, in US dollars.
	LaunchPriceUSD *float64 `json:"launch_price_usd" jsonschema:"nullable,exclusiveMinimum=0,example=1599" jsonschema_extras:"unit=US dollars" fact:"sourced" bounds:"..10000000 US dollars"`
	// Kind of launch price.
	LaunchPriceNote *string `json:"launch_price_note" jsonschema:"nullable,minLength=1,example=vendor price per unit for 1\\,000 units"`
	// Latest street price, in US dollars. street_price_condition says whether it is for new or used hardware;
	// price_observations has all prices.
	StreetPriceUSD *float64 `json:"street_price_usd" jsonschema:"nullable,exclusiveMinimum=0,example=2873" jsonschema_extras:"unit=US dollars" fact:"sourced"`
	// Day of the street price. Null if street_price_usd is null.
	StreetPriceDate *Date `json:"street_price_date" jsonschema:"nullable,example=2026-07-31" fact:"sourced"`
	// Page with the street price. Null if street_price_usd is null.
	StreetPriceSource *URL `json:"street_price_source" jsonschema:"nullable,example=https://gpupoet.com/gpu/market-report"`
	// Condition of the hardware: new, used, refurbished, mixed (a mean over new and used) or not stated; after a comma,
	// how the price was computed.
	StreetPriceCondition *string `json:"street_price_condition" jsonschema:"nullable,minLength=1,example=new"`
	// All known prices, newest first.
	PriceObservations []PriceObservation `json:"price_observations" fact:"sourced"`
	// Names that drivers, llama-bench and people use for it. They work wherever the slug does.
	Aliases []string `json:"aliases" jsonschema:"minLength=1,example=RTX 4090"`
	// PCI ids of this hardware only: vendor and device, plus the revision if needed to tell devices apart.
	PCIIDs []string `json:"pci_ids" jsonschema:"pattern=^[0-9a-f]{4}:[0-9a-f]{4}(:[0-9a-f]{2})?$,example=10de:2684" fact:"sourced"`
	// PCI ids it shares with others: memory sizes, laptop versions, or products that are not in the dataset.
	PCIIDsShared []string `json:"pci_ids_shared" jsonschema:"pattern=^[0-9a-f]{4}:[0-9a-f]{4}(:[0-9a-f]{2})?$,example=10de:1f10" fact:"sourced"`
	// Names that drivers print for it. Unlike aliases, drivers may print them for other hardware too.
	DriverNames []string `json:"driver_names" jsonschema:"minLength=1,example=NVIDIA GeForce RTX 4090" fact:"sourced"`
	// Notes on the values.
	Note *string `json:"note" jsonschema:"nullable,minLength=1,example=FP32 figure is approximate in its source"`
	// Sources of the values; each entry names the fields it supports.
	Sources []SourceRef `json:"sources"`
}

// OnlyChip is the chip of a machine that can have one only; empty for other hardware.
func (h *Hardware) OnlyChip() Slug {
	if h.Chip == nil || len(*h.Chip) != 1 {
		return ""
	}
	return (*h.Chip)[0]
}

// PriceObservation is one known price of hardware.
type PriceObservation struct {
	// Amount in currency.
	Amount float64 `json:"amount" jsonschema:"exclusiveMinimum=0,example=1599" jsonschema_extras:"unit=currency"`
	// ISO 4217 code.
	Currency string `json:"currency" jsonschema:"pattern=^[A-Z]{3}$,example=USD"`
	// Day (or month) of the price.
	Date Date `json:"date" jsonschema:"example=2026-07-31"`
	// Condition of the hardware: new, used, refurbished, mixed (a mean over new and used) or not stated; after a comma,
	// further details from the page.
	Condition string `json:"condition" jsonschema:"minLength=1,example=used"`
	// Page with the price.
	Source URL `json:"source" jsonschema:"example=https://prod.danawa.com/info/?pcode=74996477"`
	// Kind of price: street price paid or asked, listing of one shop, or the maker's list price. Null if the page does not
	// say.
	Kind *string `json:"kind" jsonschema:"nullable,enum=street,enum=listing,enum=msrp,example=listing"`
	// Lowest and highest offer, if the page gives a range.
	AmountRange *[]float64 `json:"amount_range" jsonschema:"nullable,minItems=2,maxItems=2,exclusiveMinimum=0,example=260" jsonschema_extras:"unit=currency"`
	// Notes on the price.
	Note *string `json:"note" jsonschema:"nullable,minLength=1,example=price of a whole laptop with this part"`
}
