package record

import (
	"slices"
	"strings"
)

// A closedSet is a type of text with a fixed list of values, which feeds checks, error texts and schemas.
type closedSet interface{ Values() []string }

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

// Vendors lists every vendor: the five most records are of, then makers of boards, phones and accelerators by name.
var Vendors = []Vendor{
	Nvidia, AMD, Intel, Apple, Qualcomm,
	"alibaba", "ampere", "aws", "broadcom", "cerebras", "google", "groq", "hailo", "hisilicon", "huawei", "mediatek",
	"moorethreads", "rockchip", "sambanova", "samsung", "sifive", "spacemit", "tenstorrent",
}

// Values lists every vendor.
func (Vendor) Values() []string { return Texts(Vendors) }

// HardwareType is the kind of part or machine.
type HardwareType string

// Values lists every hardware type.
func (HardwareType) Values() []string {
	return []string{"gpu", "cpu", "apu", "soc", "laptop", "desktop"}
}

// Category is what a tool is for.
type Category string

// Values lists every tool category.
func (Category) Values() []string {
	return []string{"runner", "gui", "server", "orchestrator", "finetuner", "quantizer", "agent", "ide"}
}

// Source is who measured a benchmark: the owner of this directory, a member of the public,
// or the maker of the measured tool or hardware.
type Source string

// The sources a benchmark can have.
const (
	Owner     Source = "owner"
	Community Source = "community"
	Official  Source = "official"
)

// Values lists the benchmark sources.
func (Source) Values() []string { return Texts([]Source{Owner, Community, Official}) }

// Basis says where the size of a quantization comes from.
type Basis string

// Published is a figure its maker gave; Computed is worked out from other published figures.
const (
	Published Basis = "published"
	Computed  Basis = "computed"
)

// Values lists the origins of sizes.
func (Basis) Values() []string { return Texts([]Basis{Published, Computed}) }

// ParamsBasis says where a number of parameters comes from.
type ParamsBasis string

// NamedParams is the number in the name of a model, which is rounded: the weights can have a tenth more or fewer.
const NamedParams ParamsBasis = "name"

// Values lists the origins of parameter counts.
func (ParamsBasis) Values() []string { return append(Basis("").Values(), string(NamedParams)) }

// RateBasis says what a generation speed is the rate of; rates of different basis do not compare.
type RateBasis string

// The rates a generation speed can be: one stream's decoding, output over the whole time with the prompt inside, the sum
// over simultaneous streams.
const (
	RateDecode   RateBasis = "decode"
	RateEndToEnd RateBasis = "end_to_end"
	RateTotal    RateBasis = "total"
)

// Values lists what a generation speed can be the rate of.
func (RateBasis) Values() []string { return Texts([]RateBasis{RateDecode, RateEndToEnd, RateTotal}) }

// PowerBasis says what a power was measured at.
type PowerBasis string

// Where power can be measured: at the device, or at the wall for the whole machine.
const (
	PowerDevice PowerBasis = "device"
	PowerWall   PowerBasis = "wall"
)

// Values lists what power can be measured at.
func (PowerBasis) Values() []string { return Texts([]PowerBasis{PowerDevice, PowerWall}) }

// ComputeUnit is the unit that generated.
type ComputeUnit string

// The units that can generate: graphics, processor, neural processor, graphics and processor together.
const (
	OnGPU   ComputeUnit = "gpu"
	OnCPU   ComputeUnit = "cpu"
	OnNPU   ComputeUnit = "npu"
	OnMixed ComputeUnit = "mixed"
)

// Values lists the units that can generate.
func (ComputeUnit) Values() []string { return Texts([]ComputeUnit{OnGPU, OnCPU, OnNPU, OnMixed}) }

// Scenario is the load of a throughput result.
type Scenario string

// Values lists the loads: all requests at once, requests arriving over time, a limit on the wait of each user.
func (Scenario) Values() []string { return []string{"offline", "server", "interactive"} }

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

// DateBasis says what a benchmark's run date is the date of.
type DateBasis string

// Values lists the dates: the run itself, the post or submission, or the last commit of the file (the run may be older).
func (DateBasis) Values() []string { return []string{"run", "posted", "commit"} }

// ModelType is the shape of a model's blocks.
type ModelType string

// Values lists the shapes: dense transformer, mixture of experts, attention mixed with state-space or linear layers,
// pure state-space.
func (ModelType) Values() []string { return []string{"dense", "moe", "hybrid", "ssm"} }

// ModelForm is what a model was trained for.
type ModelForm string

// Values lists the forms. Only chat models are recommended.
func (ModelForm) Values() []string {
	return []string{"base", "chat", "task", "embedding", "reranker", "guard", "ocr", "vision"}
}

// Modality is a kind of input or output of a model.
type Modality string

// Values lists every modality.
func (Modality) Values() []string { return []string{"text", "image", "audio", "video"} }

// Texts returns texts of one type as plain strings, for messages and look-ups.
func Texts[S ~string](set []S) []string {
	out := make([]string, len(set))
	for i, v := range set {
		out[i] = string(v)
	}
	return out
}
