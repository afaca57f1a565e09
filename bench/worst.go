//go:build linux

package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// worstCmd measures requests that were made to cost as much as a request can.
type worstCmd struct {
	Data   string  `default:"data" placeholder:"DIR" help:"Dataset to serve."`
	Rounds int     `default:"15" help:"Requests of each kind, each of them new to the cache; the figure is the median."`
	Cases  string  `default:"." placeholder:"REGEXP" help:"Requests to send, by name."`
	GoalMS float64 `name:"goal-ms" default:"5" help:"Most milliseconds of processor time that a request may take."`
}

// A worstRequest is one kind of request.
type worstRequest struct {
	name, path string
	variants   []string
}

// address is that of a round, counted from 0.
func (r *worstRequest) address(round int) string {
	if len(r.variants) == 0 {
		return fmt.Sprintf(r.path, 10+round)
	}
	return fmt.Sprintf(r.path, 10+round, r.variants[round%len(r.variants)])
}

// measured are pieces of hardware with many measurements, of which each is asked once.
var measured = []string{
	"nvidia-rtx-4090", "apple-m2-ultra", "nvidia-rtx-3090", "amd-ryzen-ai-max-395", "nvidia-rtx-5090", "apple-m4-max", "nvidia-h100-sxm5-80gb", "nvidia-rtx-3060", "nvidia-a100-sxm4-80gb",
	"apple-m3-max", "nvidia-dgx-spark", "amd-rx-7900-xtx", "nvidia-rtx-4080", "apple-m1-max", "nvidia-tesla-p40",
}

// foursomes are lists of four of them, all different.
func foursomes() (lists []string) {
	for i := range measured {
		var four []string
		for _, off := range []int{0, 1, 3, 7} {
			four = append(four, measured[(i+off)%len(measured)])
		}
		lists = append(lists, strings.Join(four, ","))
	}
	return lists
}

// manyFields are lists of most fields of benchmarks, all different: no file has the columns of one before it.
func manyFields() (lists []string) {
	fields := strings.Split("model,model_raw,quantization,hardware,hardware_raw,hardware_count,memory_gb,tool,tool_version,backend,driver_version,compute_unit,n_prompt,n_gen,"+
		"context_depth,batch_size,concurrency,n_gpu_layers,flash_attention,speculative_decoding,threads,prompt_tps,prompt_tps_stddev,generation_tps,generation_tps_stddev,"+
		"rate_basis,ttft_ms,tpot_ms,model_size_gib,power_watts,os,scenario,total_tps,nodes,system,submitter,source,source_url,source_key,run_date,date_basis,notes,"+
		"roofline_ratio,generation_tps_per_stream,reproduced_by", ",")
	for i := range fields {
		lists = append(lists, strings.Join(slices.Delete(slices.Clone(fields), i, i+1), ","))
	}
	return lists
}

// worstRequests are addresses of up to 8 KB, with a body behind a space. A %d is another number in each round, so that no response
// is found in the cache; a %[2]s is another of variants.
func worstRequests() []worstRequest {
	fill := func(start, between string, most int, item func(i int) string) string {
		b := []byte(start)
		for i := 0; i < most && len(b) < 8000; i++ {
			if i > 0 {
				b = append(b, between...)
			}
			b = append(b, item(i)...)
		}
		return string(b)
	}
	numbered := func(text string) func(i int) string {
		return func(i int) string { return text + strconv.Itoa(i) }
	}
	const letters = "a%%20e%%20i%%20o%%20u%%20n%%20r%%20s"
	// conditions are words, sets and ranges that exclude records whose values are unknown: each is left out once
	// to count what it excludes.
	const conditions = "&q=" + letters + "&min_tps=0.000%d&rate_basis=decode,end_to_end,total&compute_unit=gpu,cpu,npu,mixed&concurrency=1,2,4,8,16&hardware_count=1,2,3,4" +
		"&speculative_decoding=true,false&partial_offload=true,false&flash_attention=true,false&tool_version=b*,v*,0*,1*,2*&max_tps=100000&min_prompt_tps=0.1" +
		"&since=2020-01-01&until=2030-01-01&min_tps_per_stream=0.001&min_roofline_ratio=0.0001&max_roofline_ratio=100&min_depth=0&max_depth=1000000" +
		"&min_concurrency=1&max_concurrency=1000&min_hardware_count=1&max_hardware_count=1000&min_reproduced_by=0"
	const everyFacet = "model,hardware,tool,family,quantization,backend,tool_version,source,rate_basis,compute_unit,concurrency,hardware_count,context_depth,depth_band,n_prompt,n_gen,month,generation_tps,generation_tps_per_stream,prompt_tps,roofline_ratio,run_date"
	return []worstRequest{
		{name: "list, eight words of one letter, sorted, 500 rows", path: "/api/v1/benchmarks?q=" + letters + "&sort=-generation_tps&limit=500&min_tps=0.000%d"},
		{name: "list, four ranges and four sets, sorted, 500 rows", path: "/api/v1/benchmarks?min_tps=0.000%d&max_tps=100000&min_prompt_tps=0.1&since=2020-01-01&until=2030-01-01&backend=cuda,metal,vulkan,cpu,rocm&rate_basis=decode&concurrency=1&hardware_count=1&sort=-prompt_tps&limit=500"},
		{name: "list, words, sets and ranges, sorted", path: "/api/v1/benchmarks?limit=500&sort=-roofline_ratio" + conditions},
		{name: "list as Parquet, 500 rows", path: "/api/v1/benchmarks?limit=500&min_tps=0.000%d&format=parquet"},
		{name: "list as Parquet, many fields", path: "/api/v1/benchmarks?limit=500&min_tps=0.000%[1]d&format=parquet&fields=%[2]s", variants: manyFields()},
		{name: "list as CSV, 500 rows", path: "/api/v1/benchmarks?limit=500&min_tps=0.000%d&format=csv"},
		{name: "list, names of files of 150 models", path: fill("/api/v1/models?min_params_b=0.0%d&slug=", ",", 200, func(i int) string { return fmt.Sprintf("unsloth/Qwen3-%dB-Instruct-GGUF:Q4_K_M", i) })},
		{name: "list, fields=, 500 rows", path: "/api/v1/benchmarks?fields=model,hardware,generation_tps,source_url&limit=500&min_tps=0.000%d"},
		{name: "list, 50 unknown pieces of hardware", path: fill("/api/v1/benchmarks?min_tps=0.000%d&hardware=", ",", 50, numbered("unheard-of-device-"))},
		{name: "list, 50 unknown values of four filters", path: fill(fill(fill(fill("/api/v1/benchmarks?min_tps=0.000%d&hardware=", ",", 50, numbered("unheard-of-device-"))+"&model=", ",", 50, numbered("unheard-of-model-"))+"&tool=", ",", 50, numbered("unheard-of-tool-"))+"&family=", ",", 50, numbered("unheard-of-family-"))},
		{name: "list, 8 KB of unknown parameters", path: fill("/api/v1/benchmarks?x=%d&", "&", 2000, func(i int) string { return "x" + strconv.Itoa(i) + "=1" })},
		{name: "list, 8 KB of bad numbers", path: fill("/api/v1/benchmarks?x=%d&", "&", 2000, func(int) string { return "min_tps=x" })},
		{name: "record, an unknown name of 8 KB", path: "/api/v1/models/%d" + strings.Repeat("a", 7900)},
		{name: "resolve, an unknown name", path: "/api/v1/resolve?q=unheard-of+%d+" + strings.Repeat("qwen+llama+rtx+", 12)},
		{name: "fit, one device and model", path: "/api/v1/fit?model=llama-3.3-70b-instruct&hardware=nvidia-rtx-4090&context=40%d"},
		{name: "facets, every field", path: "/api/v1/benchmarks/facets?fields=" + everyFacet + "&min_tps=0.000%d"},
		{name: "facets, every field, no filter", path: "/api/v1/benchmarks/facets?fields=" + everyFacet + "&limit=%d"},
		{name: "facets, every field, words, sets and ranges", path: "/api/v1/benchmarks/facets?fields=" + everyFacet + conditions},
		{name: "statistics, words, sets and ranges", path: "/api/v1/benchmarks/stats?group_by=hardware&settings=all&limit=1000" + conditions},
		{name: "statistics by model, weight=source", path: "/api/v1/benchmarks/stats?group_by=model&settings=all&weight=source&limit=1000&min_tps=0.000%d"},
		{name: "statistics as Parquet, 500 groups", path: "/api/v1/benchmarks/stats?group_by=model,quantization&settings=all&limit=500&min_tps=0.000%d&format=parquet"},
		{name: "statistics as CSV, 1,000 groups", path: "/api/v1/benchmarks/stats?group_by=model,quantization&settings=all&limit=1000&min_tps=0.000%d&format=csv"},
		{name: "statistics by family and month", path: "/api/v1/benchmarks/stats?group_by=family,month&settings=all&limit=1000&min_tps=0.000%d"},
		{name: "statistics by hardware", path: "/api/v1/benchmarks/stats?group_by=hardware&settings=all&limit=1000&min_tps=0.000%d"},
		{name: "statistics by hardware, weight=source", path: "/api/v1/benchmarks/stats?group_by=hardware&settings=all&weight=source&limit=1000&min_tps=0.000%d"},
		{name: "statistics by model and quantization", path: "/api/v1/benchmarks/stats?group_by=model,quantization&settings=all&limit=1000&min_tps=0.000%d"},
		{name: "statistics, pivot of a heat map", path: "/api/v1/benchmarks/stats?group_by=hardware,quantization&settings=all&shape=pivot&backend=cuda&min_tps=0.000%d"},
		{name: "list, models that one device runs fast", path: "/api/v1/models?fits=nvidia-h200-sxm&min_tps=300.%d&limit=200"},
		{name: "list, models that eight devices run fast", path: "/api/v1/models?fits=nvidia-h200-sxm&count=8&min_tps=300.%d&limit=200"},
		{name: "list, hardware eight of which run a model fast", path: "/api/v1/hardware?runs=llama-3.1-8b-instruct&count=8&min_tps=100.%d&limit=200"},
		{name: "list, hardware that runs a model", path: "/api/v1/hardware?runs=llama-3.3-70b-instruct&min_tps=9.%d&limit=200"},
		{name: "fit, 80 pairs in a body", path: "/api/v1/fit " + fill(`{"queries":[`, ",", 80, func(i int) string {
			return fmt.Sprintf(`{"model":"llama-3.3-70b-instruct","hardware":"nvidia-rtx-4090","context":4%%[1]d%d}`, i)
		}) + "]}"},
		{name: "resolve, 120 unknown names in a body", path: "/api/v1/resolve " + fill(`{"names":[`, ",", 120, func(i int) string {
			return fmt.Sprintf(`"unheard-of %%[1]d%d qwen llama rtx mixtral instruct geforce"`, i)
		}) + "]}"},
		{name: "resolve, 200 unknown names in a body", path: "/api/v1/resolve " + fill(`{"names":[`, ",", 200, func(i int) string { return fmt.Sprintf(`"qwen llama rtx %%[1]d%d instruct"`, i) }) + "]}"},
		{name: "record, a model and its benchmarks as Parquet", path: "/api/v1/models/llama-2-7b?benchmarks_limit=20%d&format=parquet"},
		{name: "changes, 50 fields", path: fill("/api/v1/changes?limit=4%d&field=", ",", 50, numbered("unheard-of-field-"))},
		{name: "page, benchmarks with words, sets and ranges", path: "/explore/benchmarks?limit=50" + conditions},
		{name: "page, 500 benchmarks as Markdown", path: "/explore/benchmarks.md?limit=500&min_tps=0.0%d"},
		{name: "page, fit of a machine to every model", path: "/fit?memory_gb=12&bandwidth_gbps=4%d"},
		{name: "page, fit of a machine to every model, fast", path: "/fit?memory_gb=1200&bandwidth_gbps=8000&min_tps=300.%d"},
		{name: "page, hardware that words find", path: "/explore/hardware?q=a&min_vram_gb=0.0%d"},
		{name: "list, models that one device runs fast, each device once", path: "/api/v1/models?fits=%[2]s&min_tps=30.%[1]d&limit=200", variants: measured},
		{name: "page, a piece of hardware, each once", path: "/hardware/%[2]s", variants: measured},
		{name: "page, a model, each once", path: "/models/%[2]s", variants: []string{
			"llama-2-7b", "gpt-oss-20b", "llama-3.1-8b-instruct", "qwen3-8b", "llama-3.3-70b-instruct", "gpt-oss-120b", "qwen3-30b-a3b", "llama-3-8b-instruct", "qwen3-32b", "gemma-3-27b-it", "qwen3-14b",
			"mistral-7b-instruct-v0.3", "gemma-3-12b-it", "llama-2-13b", "qwen2.5-7b-instruct",
		}},
		{name: "page, four pieces of hardware compared", path: "/compare?hardware=%[2]s", variants: foursomes()},
	}
}

// inRow is how many requests of one kind are sent one after the other, as who means harm would, before those of the next kind. A
// collection at a million rows lasts longer than that many, and begins after about as much garbage as one turn of all kinds leaves: each
// turn has them in another order, so that it is counted for a part of the requests of a kind.
const inRow = 5

// Run prints a table, the most expensive request first; it ends with 1 if one misses the goal.
func (c *worstCmd) Run() error {
	wanted, err := regexp.Compile(c.Cases)
	if err != nil {
		return fmt.Errorf("--cases: %w", err)
	}
	dir, err := os.MkdirTemp("", "bench-worst")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program, data, err := programAndData(dir, c.Data)
	if err != nil {
		return err
	}
	s, err := startServer(program, dir, data, 1, "--log-level", "error", "--dumps", "off")
	if err != nil {
		return err
	}
	defer s.stop()
	s.idle()
	type cost struct {
		worstRequest
		status int
		bytes  int
		times  []float64
	}
	var costs []cost
	for _, r := range worstRequests() {
		if wanted.MatchString(r.name) {
			costs = append(costs, cost{worstRequest: r})
		}
	}
	order := rand.New(rand.NewPCG(1, 1))
	for from := 0; from < c.Rounds; from += inRow {
		for _, i := range order.Perm(len(costs)) {
			one := &costs[i]
			for n := from; n < min(from+inRow, c.Rounds); n++ {
				began := s.used()
				a, err := s.send(one.address(n))
				if err != nil {
					return fmt.Errorf("%s: %w", one.name, err)
				}
				one.times = append(one.times, (s.used() - began).Seconds())
				one.status, one.bytes = a.status, len(a.body)
				if a.status >= http.StatusInternalServerError {
					return fmt.Errorf("%s: status %d: %s", one.name, a.status, a.body)
				}
			}
		}
	}
	for i := range costs {
		slices.Sort(costs[i].times)
	}
	slices.SortFunc(costs, func(a, b cost) int { return cmp.Compare(b.times[len(b.times)/2], a.times[len(a.times)/2]) })
	fmt.Printf("%s.\n\n| request | status | bytes | ms of processor time: median (least-most) | mean |\n|---|---:|---:|---:|---:|\n", describeMachine("."))
	missed := 0
	for _, one := range costs {
		fmt.Printf("| %s | %d | %d | %s | %.1f |\n", one.name, one.status, one.bytes, spread(one.times), mean(one.times)*1000)
		if one.times[len(one.times)/2]*1000 > c.GoalMS {
			missed++
		}
	}
	if missed > 0 {
		return fmt.Errorf("%d kinds of request take more than %v ms", missed, c.GoalMS)
	}
	return nil
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// send asks for an address, with POST if a body is given.
func (s *server) send(addressAndBody string) (*answered, error) {
	address, body, posts := strings.Cut(addressAndBody, " ")
	if !posts {
		return s.get(address)
	}
	return fetch(s.addr, fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		address, s.addr, s.keys[0], len(body), body))
}

// used is the processor time of all threads of the server. It is exact to a microsecond or so, which
// /proc/<pid>/stat is not.
func (s *server) used() time.Duration {
	var sum time.Duration
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", s.cmd.Process.Pid))
	for _, task := range tasks {
		b, err := os.ReadFile(task)
		if err != nil {
			continue // the thread has ended
		}
		if fields := strings.Fields(string(b)); len(fields) > 0 {
			ns, _ := strconv.ParseInt(fields[0], 10, 64) // the kernel writes numbers
			sum += time.Duration(ns)
		}
	}
	return sum
}

// idle waits until the server rests: what follows a load is over.
func (s *server) idle() {
	for range 120 {
		began := s.used()
		time.Sleep(500 * time.Millisecond)
		if s.used()-began < 10*time.Millisecond {
			return
		}
	}
}
