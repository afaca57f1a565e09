package record

import (
	"slices"
	"strings"
)

// Vendor is who makes the part.
type Vendor string

// The vendors most records are of.
const (
	Nvidia   Vendor = "nvidia"
	AMD      Vendor = "amd"
	Intel    Vendor = "intel"
	Apple    Vendor = "apple"
	Qualcomm Vendor = "qualcomm"
)

// Vendors lists every vendor, in the order shown to callers: the five most records are of, then
// makers of boards, phones and accelerators by name.
var Vendors = []Vendor{
	Nvidia, AMD, Intel, Apple, Qualcomm,
	"alibaba", "ampere", "aws", "broadcom", "cerebras", "google", "groq", "hailo", "hisilicon", "huawei", "mediatek",
	"moorethreads", "rockchip", "sambanova", "samsung", "sifive", "spacemit", "tenstorrent",
}

// HardwareType is the kind of part or machine.
type HardwareType string

// HardwareTypes lists every hardware type, in the order shown to callers.
var HardwareTypes = []HardwareType{"gpu", "cpu", "apu", "soc", "laptop", "desktop"}

// Category is what a tool is for.
type Category string

// Categories lists every tool category, in the order shown to callers.
var Categories = []Category{"runner", "gui", "server", "orchestrator", "finetuner", "quantizer", "agent", "ide"}

// Source is who measured a benchmark: the owner of this directory, a member of the public,
// or the maker of the measured tool or hardware.
type Source string

// The sources a benchmark can have.
const (
	Owner     Source = "owner"
	Community Source = "community"
	Official  Source = "official"
)

// Sources lists every source, in the order shown to callers.
var Sources = []Source{Owner, Community, Official}

// Basis says where a number comes from.
type Basis string

// Published is a figure its maker gave; Computed is worked out from other published figures.
const (
	Published Basis = "published"
	Computed  Basis = "computed"
)

// ParamsBasis says where a number of parameters comes from.
type ParamsBasis string

// NamedParams is the number in the name of a model, which is rounded: the weights can have a tenth more or fewer.
const NamedParams ParamsBasis = "name"

// ParamsBases lists the origins of a number of parameters.
var ParamsBases = []ParamsBasis{ParamsBasis(Published), ParamsBasis(Computed), NamedParams}

// Bases lists the origins of quantization sizes.
var Bases = []Basis{Published, Computed}

// FP16Basis is the kind of unit an FP16 rate belongs to; rates of different basis do not compare.
type FP16Basis string

// FP16Bases lists the kinds of FP16 rates: dense tensor cores, matrix units, ordinary shaders.
var FP16Bases = []FP16Basis{"tensor", "matrix", "shader"}

// BandwidthBasis says where a memory bandwidth comes from.
type BandwidthBasis string

// BandwidthBases lists the origins of a memory bandwidth.
var BandwidthBases = []BandwidthBasis{"vendor", "computed", "reported", "measured"}

// RateBasis says what a generation speed is the rate of; rates of different basis do not compare.
type RateBasis string

// The rates a generation speed can be.
const (
	RateDecode   RateBasis = "decode"
	RateEndToEnd RateBasis = "end_to_end"
	RateTotal    RateBasis = "total"
)

// RateBases lists them: one stream's decoding, output over the whole time with the prompt
// inside, the sum over simultaneous streams.
var RateBases = []RateBasis{RateDecode, RateEndToEnd, RateTotal}

// PowerBasis says what a power was measured at.
type PowerBasis string

// PowerBases lists what power can be measured at: the device itself, the machine at the wall.
var PowerBases = []PowerBasis{PowerDevice, PowerWall}

// What power can be measured at.
const (
	PowerDevice PowerBasis = "device"
	PowerWall   PowerBasis = "wall"
)

// ComputeUnit is the unit that generated.
type ComputeUnit string

// The units that can generate.
const (
	OnGPU   ComputeUnit = "gpu"
	OnCPU   ComputeUnit = "cpu"
	OnNPU   ComputeUnit = "npu"
	OnMixed ComputeUnit = "mixed"
)

// ComputeUnits lists the units: graphics, processor, neural processor, graphics and processor
// together.
var ComputeUnits = []ComputeUnit{OnGPU, OnCPU, OnNPU, OnMixed}

// Scenario is the load of a throughput result.
type Scenario string

// Scenarios lists the loads: all requests at once, requests arriving over time, a limit on the
// wait of each user.
var Scenarios = []Scenario{"offline", "server", "interactive"}

// Division is the part of a benchmark with rounds a result was submitted to.
type Division string

// Divisions lists them.
var Divisions = []Division{"closed", "open"}

// Availability says whether a submitted system could be bought.
type Availability string

// Availabilities lists the answers.
var Availabilities = []Availability{"available", "preview", "rdi"}

// PriceKind is a kind of price.
type PriceKind string

// PriceKinds lists them: paid or asked in the street, one shop's listing, the maker's list price.
var PriceKinds = []PriceKind{"street", "listing", "msrp"}

// PriceCondition is what a price was of.
type PriceCondition string

// PriceConditions lists them. A mean over new and used goods is mixed, and what a page does not tell
// is not stated; neither ever counts as new or as used.
var PriceConditions = []PriceCondition{"new", "used", "refurbished", "mixed", "not stated"}

// ConditionOf is the condition that a text begins with: the whole text, or what is before its first
// comma. It is not ok where that is none of PriceConditions.
func ConditionOf(text string) (c PriceCondition, ok bool) {
	first, _, _ := strings.Cut(text, ",")
	c = PriceCondition(first)
	return c, slices.Contains(PriceConditions, c)
}

// ReleaseDateBasis says what a model's release date is the day of.
type ReleaseDateBasis string

// ReleaseDateBases lists them: the maker's announcement or page, the paper, the making of the
// repository, the entry in a listing of others, a report of others.
var ReleaseDateBases = []ReleaseDateBasis{"maker", "paper", "repository", "listing", "reported"}

// ContextLengthBasis says where a context length comes from.
type ContextLengthBasis string

// ContextLengthBases lists the origins: the configuration, the maker's text, an extension such
// as YaRN, the window a listing of others states.
var ContextLengthBases = []ContextLengthBasis{"config", "maker", "extended", "listing"}

// DateBasis says what a benchmark's run date is the date of.
type DateBasis string

// DateBases lists what a run date can be the date of: the run itself, the post or submission,
// or the last commit of the file (the run may be older).
var DateBases = []DateBasis{"run", "posted", "commit"}

// ModelType is the shape of a model's blocks.
type ModelType string

// ModelTypes lists the shapes: dense transformer, mixture of experts, attention mixed with
// state-space or linear layers, pure state-space.
var ModelTypes = []ModelType{"dense", "moe", "hybrid", "ssm"}

// ModelForm is what a model was trained for.
type ModelForm string

// ModelForms lists the forms. Only chat models are recommended.
var ModelForms = []ModelForm{"base", "chat", "task", "embedding", "reranker", "guard", "ocr", "vision"}

// Attention is how attention heads share keys and values.
type Attention string

// Attentions lists the kinds: multi-head, grouped-query, multi-query, multi-head latent.
var Attentions = []Attention{"mha", "gqa", "mqa", "mla"}

// Modality is a kind of input or output of a model.
type Modality string

// Modalities lists every modality.
var Modalities = []Modality{"text", "image", "audio", "video"}

// A closedSet is a type with a fixed list of values; the list feeds checks, error Texts and
// schemas.
type closedSet interface{ Values() []string }

// Values lists the vendors.
func (Vendor) Values() []string { return Texts(Vendors) }

// Values lists the hardware types.
func (HardwareType) Values() []string { return Texts(HardwareTypes) }

// Values lists the tool categories.
func (Category) Values() []string { return Texts(Categories) }

// Values lists the benchmark sources.
func (Source) Values() []string { return Texts(Sources) }

// Values lists the origins of parameter counts.
func (ParamsBasis) Values() []string { return Texts(ParamsBases) }

// Values lists the origins of sizes.
func (Basis) Values() []string { return Texts(Bases) }

// Values lists the kinds of FP16 rates.
func (FP16Basis) Values() []string { return Texts(FP16Bases) }

// Values lists the origins of a bandwidth.
func (BandwidthBasis) Values() []string { return Texts(BandwidthBases) }

// Values lists what a run date can be the date of.
func (DateBasis) Values() []string { return Texts(DateBases) }

// Values lists the shapes of a model.
func (ModelType) Values() []string { return Texts(ModelTypes) }

// Values lists the forms of a model.
func (ModelForm) Values() []string { return Texts(ModelForms) }

// Values lists the kinds of attention.
func (Attention) Values() []string { return Texts(Attentions) }

// Values lists the modalities.
func (Modality) Values() []string { return Texts(Modalities) }

// Values lists what a generation speed can be the rate of.
func (RateBasis) Values() []string { return Texts(RateBases) }

// Values lists what power can be measured at.
func (PowerBasis) Values() []string { return Texts(PowerBases) }

// Values lists the units that can generate.
func (ComputeUnit) Values() []string { return Texts(ComputeUnits) }

// Values lists the loads of throughput results.
func (Scenario) Values() []string { return Texts(Scenarios) }

// Values lists the divisions.
func (Division) Values() []string { return Texts(Divisions) }

// Values lists the answers.
func (Availability) Values() []string { return Texts(Availabilities) }

// Values lists the kinds of prices.
func (PriceKind) Values() []string { return Texts(PriceKinds) }

// Values lists what a release date can be the day of.
func (ReleaseDateBasis) Values() []string { return Texts(ReleaseDateBases) }

// Values lists the origins of a context length.
func (ContextLengthBasis) Values() []string { return Texts(ContextLengthBases) }

// Texts returns a closed set as plain strings, for messages and look-ups.
func Texts[S ~string](set []S) []string {
	out := make([]string, len(set))
	for i, v := range set {
		out[i] = string(v)
	}
	return out
}
