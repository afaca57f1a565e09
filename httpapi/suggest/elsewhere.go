package suggest

import (
	"cmp"
	"iter"
	"net/url"
	"slices"
	"strings"
)

// Parameters are names that other APIs have for parameters, folded as by Fold, with the names that this one may
// have for them, best first. They are looked up only where an endpoint has no parameter with that name.
var Parameters = map[string][]string{
	"gpu": {"hardware", "fits"}, "device": {"hardware", "fits"}, "card": {"hardware", "fits"}, "chip": {"hardware", "fits", "silicon"},
	"machine": {"hardware", "fits"}, "accelerator": {"hardware", "fits"}, "hardware": {"fits"}, "runs": {"fits"},
	"llm": {"model", "runs"}, "model": {"runs"}, "fits": {"runs"}, "modelid": {"model", "runs"},
	"gpus": {"count", "hardware_count"}, "gpucount": {"count", "hardware_count"}, "numgpus": {"count", "hardware_count"}, "devices": {"count", "hardware_count"},

	"page": {"cursor"}, "offset": {"cursor"}, "skip": {"cursor"}, "startingafter": {"cursor"}, "pagetoken": {"cursor"},
	"perpage": {"limit"}, "pagesize": {"limit"}, "top": {"limit"}, "take": {"limit"}, "count": {"limit"}, "maxresults": {"limit"},
	"order": {"sort"}, "orderby": {"sort"}, "sortby": {"sort"}, "ordering": {"sort"},
	"search": {"q"}, "query": {"q"}, "name": {"q"}, "text": {"q"}, "keyword": {"q"}, "keywords": {"q"},
	"select": {"fields"}, "columns": {"fields"}, "attributes": {"fields"}, "include": {"fields"},
	"by": {"group_by"}, "group": {"group_by"}, "pricemax": {"max_price_usd"}, "maxsize": {"max_params_b"}, "minsize": {"min_params_b"},
	"releasedafter": {"released_since"}, "publishedafter": {"released_since"}, "newerthan": {"released_since", "since"}, "after": {"cursor"},
	"releasedbefore": {"released_until"}, "publishedbefore": {"released_until"}, "olderthan": {"released_until", "until"},
	"id": {"slug"}, "ids": {"id", "slug"}, "slug": {"id"}, "slugs": {"slug", "id"},
	"type": {"category", "kind", "architecture"}, "kind": {"type", "category"},

	"brand": {"vendor"}, "manufacturer": {"vendor"}, "maker": {"vendor"},
	"org": {"organization"}, "author": {"organization"}, "creator": {"organization"}, "publisher": {"organization"}, "provider": {"organization", "vendor"},
	"quant": {"quantization"}, "precision": {"quantization"}, "dtype": {"quantization"}, "bits": {"quantization"},
	"engine": {"tool"}, "tool": {"engine"}, "runtime": {"tool", "engine"}, "runner": {"tool", "engine"}, "software": {"tool", "engine"},
	"ctx": {"context", "min_context", "min_depth"}, "nctx": {"context", "min_context", "min_depth"}, "numctx": {"context", "min_context", "min_depth"},
	"contextlength": {"min_context", "context", "min_depth"}, "contextsize": {"context", "min_context", "min_depth"}, "contextdepth": {"min_depth", "context"}, "depth": {"min_depth", "context"}, "mincontextdepth": {"min_depth"}, "maxcontextdepth": {"max_depth"},

	"tps": {"min_tps"}, "speed": {"min_tps"}, "minspeed": {"min_tps"}, "tokenspersecond": {"min_tps"}, "generationtps": {"min_tps"}, "mingenerationtps": {"min_tps"}, "maxgenerationtps": {"max_tps"},
	"vram": {"min_vram_gb", "fits", "memory_gb"}, "memory": {"min_vram_gb", "fits", "memory_gb"}, "minmemory": {"min_vram_gb", "fits", "memory_gb"}, "maxmemory": {"max_vram_gb"}, "minmemorygb": {"min_vram_gb"}, "maxmemorygb": {"max_vram_gb"}, "ram": {"min_vram_gb", "system_memory_gb", "fits"}, "vramgb": {"min_vram_gb", "fits", "memory_gb"}, "memorygb": {"min_vram_gb", "fits"},
	"bandwidth": {"min_bandwidth_gbps", "bandwidth_gbps"}, "memorybandwidthgbps": {"min_bandwidth_gbps", "bandwidth_gbps"},
	"params": {"min_params_b"}, "parameters": {"min_params_b"}, "size": {"min_params_b", "quantization"},
	"price": {"max_price_usd"}, "maxprice": {"max_price_usd"}, "budget": {"max_price_usd"}, "streetpriceusd": {"max_price_usd"},
	"power": {"max_tdp_watts"}, "tdp": {"max_tdp_watts"},
	"from": {"since", "released_since"}, "start": {"since", "released_since"}, "startdate": {"since", "released_since"}, "rundate": {"since"}, "date": {"since", "released_since"},
	"to": {"until", "released_until"}, "end": {"until", "released_until"}, "enddate": {"until", "released_until"},
	"released": {"released_since"}, "releasedate": {"released_since"}, "since": {"released_since"}, "until": {"released_until"},
}

// Addresses are first names of addresses of other APIs, and names that have no address of their own here, folded as
// by Fold, with the address that has what they promise.
var Addresses = map[string]string{
	"model": "/api/v1/models", "llm": "/api/v1/models", "llms": "/api/v1/models",
	"gpu": "/api/v1/hardware", "gpus": "/api/v1/hardware", "cpu": "/api/v1/hardware", "cpus": "/api/v1/hardware", "card": "/api/v1/hardware", "cards": "/api/v1/hardware", "chips": "/api/v1/hardware",
	"device": "/api/v1/hardware", "devices": "/api/v1/hardware", "machines": "/api/v1/hardware", "accelerators": "/api/v1/hardware",
	"engines": "/api/v1/tools", "runtimes": "/api/v1/tools", "runners": "/api/v1/tools", "software": "/api/v1/tools",
	"runs": "/api/v1/benchmarks", "results": "/api/v1/benchmarks", "measurements": "/api/v1/benchmarks", "speeds": "/api/v1/benchmarks", "performance": "/api/v1/benchmarks",
	"stats": "/api/v1/benchmarks/stats", "statistics": "/api/v1/benchmarks/stats", "aggregate": "/api/v1/benchmarks/stats", "summary": "/api/v1/benchmarks/stats",
	"families": "/api/v1/models/facets", "organizations": "/api/v1/models/facets", "licenses": "/api/v1/models/facets", "vendors": "/api/v1/hardware/facets", "facets": "/api/v1/models/facets",
	"sources": "/api/v1/benchmarks/facets", "quantizations": "/api/v1/benchmarks/facets", "backends": "/api/v1/benchmarks/facets",
	"search": "/api/v1/resolve", "lookup": "/api/v1/resolve", "match": "/api/v1/resolve", "aliases": "/api/v1/resolve",
	"recommend": "/api/v1/fit", "recommendations": "/api/v1/fit", "estimate": "/api/v1/fit", "predict": "/api/v1/fit", "calculate": "/api/v1/fit", "canrun": "/api/v1/fit", "compatibility": "/api/v1/fit",
	"compare": "/compare", "leaderboard": "/api/v1/snapshots/latest", "rankings": "/api/v1/snapshots/latest", "scores": "/api/v1/snapshots/latest", "intelligence": "/api/v1/snapshots/latest",
	"key": "/api/v1/keys", "tokens": "/api/v1/keys", "signup": "/api/v1/keys", "register": "/api/v1/keys", "usage": "/api/v1/keys/self", "quota": "/api/v1/keys/self", "me": "/api/v1/keys/self",
	"version": "/api/v1/dataset", "info": "/api/v1/dataset", "meta": "/api/v1/dataset", "metadata": "/api/v1/dataset",
	"releases": "/api/v1/changes", "changelog": "/api/v1/changes", "history": "/api/v1/changes", "export": "/api/v1/dumps", "download": "/api/v1/dumps", "downloads": "/api/v1/dumps",
	"rss": "/feeds/benchmarks.atom", "atom": "/feeds/benchmarks.atom", "feed": "/feeds/benchmarks.atom", "feeds": "/feeds/benchmarks.atom",
	"health": "/healthz", "ping": "/healthz", "live": "/healthz", "livez": "/healthz", "ready": "/readyz", "status": "/readyz",
	"openapi": "/openapi.json", "openapijson": "/openapi.json", "openapiyaml": "/openapi.json", "swagger": "/openapi.json", "swaggerjson": "/openapi.json", "swaggeryaml": "/openapi.json", "apidocs": "/openapi.json",
	"docs": "/docs", "reference": "/docs", "redoc": "/docs", "api": "/api/v1",
}

// Address is the address without parameters that a caller who sent another path probably meant, with a name after
// it for one record; empty where there is none. paths are all that are served, and lists are the names of the lists of records.
func (s *Suggester) Address(path string, paths iter.Seq[string], lists []string) string {
	names := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	for len(names) > 1 && (names[0] == "api" || names[0] == "rest" || isVersion(names[0])) {
		names = names[1:]
	}
	if len(names) == 0 || len(path) > 200 {
		return ""
	}
	first := Fold(names[0])
	if isVersion(first) {
		first = "api"
	}
	address := Addresses[first]
	var others []string
	for served := range paths {
		switch name, ok := strings.CutPrefix(served, "/api/v1/"); {
		case !ok || strings.ContainsAny(name, "/:{*"):
		case Fold(name) == first:
			address = served
		default:
			others = append(others, name)
		}
	}
	if address == "" {
		if near := s.Nearest(names[0], others); near != "" {
			address = "/api/v1/" + near
		}
	}
	isList := slices.ContainsFunc(lists, func(list string) bool { return address == "/api/v1/"+list })
	if isList && len(names) == 2 {
		address += "/" + url.PathEscape(names[1])
	}
	return address
}

func isVersion(name string) bool {
	digits, ok := strings.CutPrefix(name, "v")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// Fields are names that other APIs have for fields and orders of rows, folded as by Fold, with the names that rows
// may have for them, best first.
var Fields = map[string][]string{
	"id": {"slug"}, "slug": {"id"},
	"gpu": {"hardware"}, "device": {"hardware"}, "card": {"hardware"}, "chip": {"hardware"}, "machine": {"hardware"}, "accelerator": {"hardware"},
	"llm": {"model"}, "modelid": {"model"}, "quant": {"quantization"}, "precision": {"quantization"}, "dtype": {"quantization"}, "bits": {"quantization"},
	"engine": {"tool"}, "runtime": {"tool"}, "runner": {"tool"}, "software": {"tool"}, "version": {"tool_version"},
	"gpus": {"hardware_count"}, "gpucount": {"hardware_count"}, "numgpus": {"hardware_count"}, "devices": {"hardware_count"}, "count": {"n"},

	"tps": {"generation_tps"}, "speed": {"generation_tps", "memory_bandwidth_gbps", "tps"}, "tokenspersecond": {"generation_tps", "tps"}, "tokenspersec": {"generation_tps", "tps"}, "toks": {"generation_tps", "tps"}, "generationtps": {"tps"},
	"decode": {"generation_tps"}, "decodetps": {"generation_tps"}, "decodespeed": {"generation_tps"}, "throughput": {"generation_tps"}, "fastest": {"-generation_tps", "-memory_bandwidth_gbps"}, "cheapest": {"street_price_usd"},
	"prefill": {"prompt_tps"}, "prefilltps": {"prompt_tps"}, "promptspeed": {"prompt_tps"}, "ttft": {"ttft_ms"}, "efficiency": {"tokens_per_joule"},
	"context": {"context_length", "architecture.context_length", "context_depth"}, "ctx": {"context_length", "architecture.context_length", "context_depth"},
	"contextlength": {"architecture.context_length", "context_depth"}, "depth": {"context_depth", "depth_band"},

	"vram": {"vram_gb", "memory_gb"}, "memory": {"vram_gb", "memory_gb"}, "ram": {"vram_gb", "memory_gb"}, "bandwidth": {"memory_bandwidth_gbps"},
	"params": {"params_b"}, "parameters": {"params_b"}, "size": {"params_b", "model_size_gib"},
	"price": {"street_price_usd"}, "cost": {"street_price_usd"}, "msrp": {"launch_price_usd"}, "tdp": {"tdp_watts"}, "power": {"tdp_watts", "power_watts"}, "watts": {"tdp_watts", "power_watts"},
	"date": {"run_date", "release_date", "first_release"}, "newest": {"-run_date", "-release_date"}, "latest": {"-run_date", "-release_date"}, "created": {"release_date"}, "released": {"release_date", "first_release"}, "releasedate": {"first_release"},
	"score": {"intelligence"}, "quality": {"intelligence"}, "elo": {"intelligence"}, "runs": {"benchmark_count"}, "benchmarks": {"benchmark_count"},
	"brand": {"vendor"}, "manufacturer": {"vendor"}, "maker": {"vendor", "organization"}, "org": {"organization"}, "author": {"organization"}, "creator": {"organization"}, "publisher": {"organization"},
	"url": {"source_url", "repository", "hf_repo"}, "link": {"source_url", "repository", "hf_repo"},
}

// Values are words that callers use for values of filters and choices, folded as by Fold, with the values that were meant.
var Values = map[string][]string{
	"yes": {"true"}, "on": {"true"}, "no": {"false"}, "off": {"false"},
	"vision": {"image"}, "multimodal": {"image"}, "vlm": {"image"}, "speech": {"audio"}, "voice": {"audio"},
	"notebook": {"laptop"}, "graphics": {"gpu"}, "graphicscard": {"gpu"}, "processor": {"cpu"}, "phone": {"soc"}, "mac": {"apple", "desktop"}, "npu": {"soc"},
	"radeon": {"amd"}, "geforce": {"nvidia"}, "sparse": {"moe"}, "mixtureofexperts": {"moe"},
	"ui": {"gui"}, "inference": {"runner"}, "finetuning": {"finetuner"}, "coding": {"ide"},
	"fp16": {"f16"}, "bf16": {"f16"}, "float16": {"f16"}, "16bit": {"f16"}, "fp8": {"q8_0"}, "f8": {"q8_0"}, "q8": {"q8_0"}, "int8": {"q8_0"}, "8bit": {"q8_0"}, "fp4": {"q4_0"}, "q4": {"q4_0"}, "int4": {"q4_0"}, "4bit": {"q4_0"},
	"mps": {"metal"}, "hip": {"rocm"}, "cublas": {"cuda"}, "clblast": {"opencl"}, "oneapi": {"sycl"},
	"jsonl": {"ndjson"}, "jsonlines": {"ndjson"}, "xlsx": {"csv"}, "excel": {"csv"}, "tsv": {"csv"}, "arrow": {"parquet"},
}

// Fold is a name without the ways of writing it: case, separators and the brackets of lists.
func Fold(name string) string { return separators.Replace(strings.ToLower(name)) }

var separators = strings.NewReplacer("_", "", "-", "", ".", "", "[]", "")

// Parameter is the one of names that a caller who sent another probably meant, empty where there is none: the same in
// another way of writing, the name of another API, a field without the end of its range, or what is spelled nearly so.
func (s *Suggester) Parameter(sent string, names []string) string {
	if inner, ok := strings.CutPrefix(sent, "filter["); ok { // JSON:API
		sent = strings.TrimSuffix(inner, "]")
	}
	name := Fold(sent)
	as := func(same string) string {
		if i := slices.IndexFunc(names, func(n string) bool { return Fold(n) == same }); i >= 0 {
			return names[i]
		}
		return ""
	}
	other := slices.IndexFunc(Parameters[name], func(n string) bool { return slices.Contains(names, n) })
	switch {
	case as(name) != "":
		return as(name)
	case other >= 0:
		return Parameters[name][other]
	default:
		return cmp.Or(as("min"+name), as("max"+name), s.Nearest(sent, names))
	}
}

// Value is the one of values that a caller who sent another word probably meant by it, whatever their letters; empty where there is
// none.
func Value(sent string, values []string) string {
	for _, v := range Values[Fold(sent)] {
		if slices.Contains(values, v) {
			return v
		}
	}
	return ""
}

// Field is the one of names of fields, of orders by them or of values that a caller who sent another probably meant, empty
// where there is none.
func (s *Suggester) Field(sent string, names []string) string {
	bare, descending := strings.CutPrefix(sent, "-")
	for _, name := range slices.Concat(Fields[Fold(bare)], Values[Fold(bare)]) {
		if descending {
			name = "-" + name
		}
		if slices.Contains(names, name) {
			return name
		}
	}
	return s.Nearest(sent, names)
}
