// Package ask makes of a question, as dataset/resolve reads it, the structured call that answers it: one for the API
// and the command line.
package ask

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/resolve"
)

// Of is the list or the calculation that answers a call, by its name in the API.
type Of string

// What answers calls.
const (
	Fit      Of = "fit"      // one model on one machine
	Models   Of = "models"   // models, or those that run on a machine ("fits")
	Hardware Of = "hardware" // hardware, or that which runs a model ("runs")
	Memory   Of = "memory"   // what runs in an amount of memory
)

// A Call is the structured request that a question means. Its parameters are those of the API.
type Call struct {
	Of     Of // empty where there is none
	Params url.Values
	Left   string // why there is none, or what of the question it does not ask for
}

// Rows is how many rows the answer to a question has at most.
const Rows = 10

// bytesPerParameter is what a parameter takes in Q4_K_M, 4.8 bits: https://github.com/ggml-org/llama.cpp/blob/master/tools/quantize/README.md
const bytesPerParameter = 0.6

// Meant is the call that a question means. has reports whether a model has a quantization of a name.
func Meant(q *resolve.Question, has func(model dataset.Slug, name string) bool) (c Call) {
	c.Params = url.Values{}
	devices := q.Hardware
	if len(devices) == 0 && q.Host != nil {
		devices = []resolve.Named{*q.Host}
	}
	models, hardware := slugs(q.Models), slugs(devices)
	if len(models) < min(1, len(q.Models)) || len(hardware) < min(1, len(devices)) {
		c.Left = "no record has a name from the question; the candidates are similar"
		return c
	}
	compare := q.Intent == resolve.Compare && len(hardware) > 1
	described := q.Intent == resolve.Fit && q.MemoryGB > 0 || q.Processor && q.Intent != resolve.WhichHardware // by memory alone
	list := func(names []string) string { return strings.Join(names, ",") }
	switch {
	case len(models) > 1:
		c.Of = Models
		c.Params.Set("slug", list(models))
		if len(hardware) > 0 {
			c.machine(q, "fits", devices, hardware)
		}
	case len(models) == 1 && (len(hardware) == 0 && !described || compare || q.Intent == resolve.WhichHardware), compare:
		c.Of = Hardware
		if len(models) == 1 {
			c.Params.Set("runs", models[0])
			c.set("context", float64(q.Context))
			c.set("min_tps", q.MinTPS)
			c.quantization(q, models[0], has)
		}
		if compare {
			c.Params.Set("slug", list(hardware))
		} else {
			c.limits(q)
		}
	case len(models) == 1:
		c.Of = Fit
		c.Params.Set("model", models[0])
		c.machine(q, "hardware", devices, hardware)
		c.quantization(q, models[0], has)
	case len(hardware) > 0:
		c.Of = Models
		c.machine(q, "fits", devices, hardware)
		c.set("min_tps", q.MinTPS)
		c.set("min_params_b", math.Round(q.SizeB*90)/100)
		c.set("max_params_b", math.Round(q.SizeB*110)/100)
		c.set("limit", Rows)
	case q.SizeB > 0 || q.MaxPriceUSD > 0:
		c.Of = Hardware
		c.set("min_vram_gb", math.Ceil(q.SizeB*bytesPerParameter))
		c.limits(q)
	case q.MemoryGB > 0 || q.HostMemoryGB > 0:
		c.Of = Memory
		c.machine(q, "", nil, nil)
		c.set("min_tps", q.MinTPS)
	default:
		c.Left = "no model, hardware or memory was found in the question"
	}
	return c
}

// slugs are the records that names of a question mean.
func slugs(list []resolve.Named) (out []string) {
	for i := range list {
		if slug := string(list[i].Slug); slug != "" && !slices.Contains(out, slug) {
			out = append(out, slug)
		}
	}
	return out
}

func (c *Call) set(name string, v float64) {
	if v > 0 {
		c.Params.Set(name, strconv.FormatFloat(v, 'f', -1, 64))
	}
}

// machine is the machine of a question, with or without names. Cards of several kinds are one machine where one model is
// asked for.
func (c *Call) machine(q *resolve.Question, main string, devices []resolve.Named, hardware []string) {
	c.set("context", float64(q.Context))
	switch {
	case q.Tool == nil || q.Tool.Slug == "llama.cpp" || q.Tool.Slug == "":
	case fit.Rules(q.Tool.Slug) == fit.VLLM:
		c.Params.Set("engine", string(fit.VLLM))
	case c.Of == Fit:
		c.Params.Set("tool", string(q.Tool.Slug))
	}
	if c.Of == Fit && q.Host != nil && len(q.Hardware) > 0 && q.Host.Slug != "" {
		c.Params.Set("host", string(q.Host.Slug))
	}
	switch {
	case q.Processor:
		c.Left = "no device is named; the answer is for a processor with two channels of DDR4 or DDR5 memory"
		c.set("memory_gb", cmp.Or(q.MemoryGB, q.HostMemoryGB))
		c.Params.Set("compute_unit", "cpu")
		return
	case len(hardware) == 0:
		c.set("memory_gb", q.MemoryGB)
		c.set("system_memory_gb", q.HostMemoryGB)
		c.set("count", float64(q.Count))
		return
	}
	c.Params.Set(main, hardware[0])
	first := devices[slices.IndexFunc(devices, func(n resolve.Named) bool { return n.Slug != "" })].Device
	memory := q.MemoryGB
	if first.Type == "cpu" && memory == 0 {
		memory = q.HostMemoryGB
	} else if c.Of == Fit || first.Type == "gpu" {
		c.set("system_memory_gb", q.HostMemoryGB)
	}
	switch {
	case len(hardware) > 1 && c.Of == Fit:
		var units []string
		for i := range devices {
			for range min(max(1, devices[i].Count), fit.MaxCount+1) {
				if devices[i].Slug != "" {
					units = append(units, string(devices[i].Slug))
				}
			}
		}
		c.Params.Set(main, strings.Join(units, ","))
		return
	case len(hardware) > 1:
		c.Left = "the answer covers only " + hardware[0]
		c.set("count", float64(max(1, devices[0].Count)))
	case q.Count > 1:
		c.set("count", float64(q.Count))
	}
	if first.VRAMGB == nil || memory != *first.VRAMGB {
		c.set("memory_gb", memory)
	}
}

// limits are what a question says of hardware that it asks for.
func (c *Call) limits(q *resolve.Question) {
	c.set("max_price_usd", q.MaxPriceUSD)
	for name, value := range q.Asked() {
		c.Params.Set(name, value)
	}
	c.set("limit", Rows)
}

// quantization asks for the quantization of a question, by the name that the model has it under.
func (c *Call) quantization(q *resolve.Question, model string, has func(model dataset.Slug, name string) bool) {
	for _, name := range q.Quantizations() {
		if has(dataset.Slug(model), name) {
			c.Params.Set("quantization", name)
			return
		}
	}
	if q.Quantization != "" {
		c.Left = "no quantization of " + model + " is called " + q.Quantization + "; the answer covers all"
	}
}
