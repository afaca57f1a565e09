package httpapi

import (
	"net/http"
	"strings"
	"testing"
)

// mainOf is the main part of a page as a browser is sent it; all of it, if it has no such part.
func mainOf(t *testing.T, s *service, path string) string {
	t.Helper()
	all := string(s.ask(t, "GET", path, "Authorization", "", "Accept", "text/html").body)
	_, body, isPage := strings.Cut(all, "<main")
	if body, _, _ = strings.Cut(body, "</main>"); !isPage {
		return all
	}
	return body
}

// pageSays checks what pages over the shipped dataset say, and, behind an exclamation mark, do not say.
func pageSays(t *testing.T, s *service, says map[string][]string) {
	t.Helper()
	for path, wants := range says {
		body := mainOf(t, s, path)
		text := strings.Join(strings.Fields(visible.ReplaceAllString(body, "")), " ")
		for _, want := range wants {
			not, is := strings.CutPrefix(want, "!")
			if has := strings.Contains(body, not) || strings.Contains(text, not); has == is {
				t.Errorf("%s: has %q: %t, want %t: %.1500s", path, not, has, !is, text)
			}
		}
	}
}

// TestPageTexts holds pages to what they say.
func TestPageTexts(t *testing.T) {
	s := shippedService(t)
	const empty = "Speeds are for an empty cache"
	for name, says := range map[string]map[string][]string{
		"a pair says how fast it is, in the quantization that lists name, and leads on": {
			"/fit?hardware=nvidia-rtx-4090&model=qwen3-8b": {
				" tok/s with an empty cache (", "Q8_0 fits in 24 GB with a context of 8k tokens.", `href="/models/qwen3-8b"`,
				` published benchmarks</a>`, `href="/explore/benchmarks?hardware=nvidia-rtx-4090&amp;model=qwen3-8b"`, `class="self">Q8_0<`,
			},
			"/fit?hardware=nvidia-rtx-4090&model=gpt-oss-20b":               {"MXFP4 fits", "empty cache (measured"},
			"/fit?hardware=nvidia-rtx-4090&model=gpt-oss-20b&context=32768": {"MXFP4 fits", "It generates about ", "tok/s with 32k tokens in the cache, or "},
			"/fit?hardware=nvidia-rtx-3060&model=gpt-oss-120b":              {"MXFP4 needs ", "so only part of it fits in 12 GB", `href="/explore/hardware?runs=gpt-oss-120b"`, `href="/fit?hardware=nvidia-rtx-3060"`, " GiB short", "!>-"},
			"/fit?hardware=nvidia-rtx-4090&model=gemma-3-27b-it&quantization=Q4_K_M&projector=true&draft=gemma-3-1b-it&kv=q8_0&kv_v=q4_0": {
				"projector 1.0 GiB, draft ", "cache in q8_0 and q4_0 (values)", `<option value="q4_0" selected>`, `<option value="true" selected>yes (adds the projector)`, "!Memory by device",
			},
			"/fit?hardware=nvidia-rtx-4090,nvidia-rtx-3060&model=qwen3-235b-a22b&quantization=Q4_K_M&system_memory_gb=192&flash_attention=false": {
				"Memory by device", "--n-cpu-moe ", "-ts ", "NVIDIA GeForce RTX 3060 ", "Main memory weights and cache", "cache without flash attention",
			},
			"/fit?hardware=nvidia-rtx-4090&model=qwen3-8b&quantization=FP8&engine=vllm&context=8192": {" tokens of cache, ", " parallel requests"},
			"/fit?memory_gb=12&model=qwen3-8b": {"tok/s with an empty cache (estimated", "!published benchmark"},
			"/fit?memory_gb=13&model=qwen3-8b": {"Enter the memory bandwidth to see how fast."},
		},
		"a machine says with which memory, and with which filling of the cache": {
			"/fit?hardware=rtx+3060+12gb":                 {" models run in 12 GB with a context of 8k tokens", empty, `href="/hardware/nvidia-rtx-3060"`, "Compare"},
			"/fit?hardware=apple-m4":                      {"the usable 16 of 24 GB (macOS default up to 36 GB)"},
			"/fit?hardware=nvidia-rtx-3060&context=32768": {"Speeds are for a full cache", "!" + empty},
			"/fit?hardware=2x3090":                        {"What runs on 2 × NVIDIA GeForce RTX 3090?"},
			"/fit?hardware=nvidia-rtx-4090&min_tps=5000":  {"0 models", `href="/fit?hardware=nvidia-rtx-4090"`, "Include slower models"},
			"/fit?hardware=nvidia-rtx-4090&memory_gb=0.1": {"No model fits"},
			"/hardware/amd-ryzen-9-7950x":                 {"$450", "depends on how much memory is installed", `href="/hardware/amd-ryzen-9-7950x?memory_gb=64"`},
			"/hardware/amd-ryzen-9-7950x?memory_gb=64":    {"!depends on how much memory", `class="picks"`},
			"/fit?hardware=amd-ryzen-9-7950x":             {"depends on how much memory is installed", `href="/fit?hardware=amd-ryzen-9-7950x&amp;memory_gb=64"`},
		},
		"lists are in the order that pages name, and filters in force are said in words": {
			"/explore/models":                      {`selected>Most capable</option>`, `aria-sort="descending"`, "!sort=-capability&"},
			"/explore/benchmarks":                  {`aria-sort="descending"`},
			"/explore/models?fits=nvidia-rtx-3060": {"below 4 bits", empty + "."},
			"/explore/models?min_context=32768&fits=nvidia-rtx-3060&context=16384": {"Context length from 32k tokens", "Context: 16k tokens", "!" + empty + "."},
			"/explore/hardware?max_price_usd=1500":                                 {"Street price to $1,500"},
			"/explore/benchmarks?quantization=Q4_K_M":                              {"!Q4 K M", "Quantization: Q4_K_M"},
			"/explore/hardware?q=nvida":                                            {`Did you mean <a href="/explore/hardware?q=nvidia" rel="nofollow">“nvidia”</a>`},
			"/explore/benchmarks?q=qwenn+vulkan":                                   {"Clear all filters"},
		},
		"words that were searched for are shown as they were typed": {
			"/explore/models?q=Qwen3+Coder":   {`value="Qwen3 Coder"`},
			"/explore/models?q=%E2%80%AEqwen": {`“\u202eqwen”`},
		},
		"pages of machines and models begin with three choices, and links to other conditions": {
			"/hardware/nvidia-rtx-4090":                                   {">Best<", ">Fast<", ">Small<", " tok/s", "Longest context", "/hardware/nvidia-rtx-4090?context=32768", "/hardware/nvidia-rtx-4090?system_memory_gb=64", `id="tab-facts"`},
			"/hardware/nvidia-rtx-4090?context=32768&system_memory_gb=64": {`href="/hardware/nvidia-rtx-4090?context=32768"`, `href="/hardware/nvidia-rtx-4090?system_memory_gb=64"`, `aria-current="true">32k tokens<`},
			"/hardware/apple-m2":                                          {`href="/hardware/apple-m2?memory_gb=16"`, `aria-current="true">24 GB<`},
			"/models/llama-3.3-70b-instruct":                              {">Best<", ">Fast<", ">Small<", "On popular hardware", "2 × NVIDIA", ">estimated<", ">measured<", "AMD Ryzen AI Max"},
			"/models/llama-3.3-70b-instruct?context=131072":               {"with a context of 128k tokens"},
			"/models/deepseek-v4.1-flash-1017":                            {"too little is published about its architecture", "Contribute a benchmark", "Unknown: "},
		},
		"a comparison leads to its runs, and all parameters of a dense model are active": {
			"/compare?hardware=nvidia-rtx-4090,nvidia-rtx-3090": {"Benchmarks with the same settings", "<svg", ">24 GB", `#rests" rel="nofollow" class=`},
			"/compare?models=gpt-oss-20b,llama-3.1-8b-instruct": {` billion<`, `>mixture of experts<`},
		},
		"a machine that nobody has measured shows the runs of its chip": {
			"/hardware/nvidia-dgx-spark": {"these are from hardware with the same chip", "/explore/benchmarks?silicon=nvidia-dgx-spark"},
			"/hardware/nvidia-gb10":      {"!with the same chip"},
			"/hardware/amd-epyc-7282":    {"No comparable benchmarks yet", "!All benchmarks o", "!Generation speed for one request"},
		},
		"who has no listed hardware is led to an answer, and told what else to enter": {
			"/":                      {`href="/fit">Enter its memory instead`},
			"/fit":                   {`<details open>`, `href="/fit?memory_gb=16"`},
			"/fit?memory_gb=16":      {"16 GB", "tok/s"},
			"/about":                 {`id="words"`},
			"/fit?hardware=cpu":      {`name="memory_gb"`, "<details open>"},
			"/fit?hardware=GTX+1060": {"“GTX 1060” could be NVIDIA GeForce GTX 1060 6GB or NVIDIA GeForce GTX 1060 3GB", "hardware=nvidia-gtx-1060-6gb"},
		},
		"the front page has one box for anything, and an answer with its chart, before everything else": {
			"/": {`action="/ask"`, `name="q"`, "What runs on", ">Best<", ">Fast<", `href="/explore/models"`, `href="/explore/hardware"`, `href="/compare"`, `href="/docs"`, "!<textarea", "!benchmarks</"},
		},
		"columns of figures name their unit where everybody sees it": { // a narrow window, and Markdown, have no text to point at
			"/explore/models.md":     {"| Context (tokens) |"},
			"/explore/hardware.md":   {"| Memory (GB) | Bandwidth (GB/s) |"},
			"/explore/benchmarks.md": {"| Generation (tok/s) | Prompt (tok/s) |"},
			"/models/gpt-oss-20b.md": {"| Median tok/s |"},
		},
		"errors speak of what the visitor asked, in the words of the pages, and offer what was meant": {
			"/models/nonexistent-model":        {"“nonexistent-model” is not a model we know"},
			"/hardware/nonexistent-card":       {"“nonexistent-card” is not hardware we know"},
			"/explore/models?fits=2x+RTX+3090": {"We took “2x RTX 3090” to mean"},
			"/compare?hardware=nvidia-l4,nvidia-gb10,nvidia-rtx-3060,nvidia-rtx-3090,nvidia-rtx-4090": {"must have at most 4 values"},
			"/compare?hardware=no-such-card":      {"“no-such-card” (Hardware) does not match anything we know"},
			"/explore/models?max_params_b=-3":     {"Maximum parameters"},
			"/explore/hardware?min_vram_gb=often": {"Minimum memory"},
		},
		"a mistake in a form keeps what was typed, and what it may mean is offered without the words of an error": {
			"/fit?hardware=gtx+1060&context=16384":      {"“gtx 1060” could be", `href="/fit?context=16384&amp;hardware=nvidia-gtx-1060-6gb"`, `value="16384"`},
			"/fit?hardware=foo+bar+9999&model=qwen3-8b": {`value="foo bar 9999"`, `value="qwen3-8b"`, `name="memory_gb"`, "!several records"},
			"/fit?hardware=raspberry+pi":                {`href="/fit?hardware=broadcom-raspberry-pi-5"`},
			"/fit?hardware=gpt-oss-20b":                 {`href="/models/gpt-oss-20b"`, `value="gpt-oss-20b"`},
			"/fit?hardware=rtx+4090&unified_share=much": {"“much” (Share of unified memory) must be", `value="much"`},
			"/fit?hardware=rtx+4090&context=99999999":   {"from 1 to 16777216"},
			"/compare?models=qwen3-8b,llama+3.1+8b":     {"“llama 3.1 8b” could be"},
			"/compare?hardware=3090,5090":               {"NVIDIA GeForce RTX 5090"},
		},
		"a name in the wrong field, a question and a search without results lead on": {
			"/fit?hardware=ollama":                      {`href="/tools/ollama"`, "!/api/v1/fit", "!/api/v1/hardware"},
			"/fit?hardware=deepseek+r1":                 {`href="/models/deepseek-r1"`, "!/api/v1/fit", "!/api/v1/hardware"},
			"/explore/models?fits=24+GB":                {`href="/fit?memory_gb=24"`, "!/api/v1/fit", "!/api/v1/hardware"},
			"/compare?hardware=3090,5090":               {"We took “5090” to mean NVIDIA GeForce RTX 5090", "!/api/v1/fit", "!/api/v1/hardware"},
			"/explore/models?q=24+GB":                   {`href="/fit?memory_gb=24"`, "!/api/v1/fit", "!/api/v1/hardware"},
			"/explore/models?q=ollama":                  {`href="/tools/ollama"`, "!/api/v1/fit", "!/api/v1/hardware"},
			"/explore/benchmarks?q=deepseek-r1+macbook": {"Nothing matches these filters", "!/api/v1/fit", "!/api/v1/hardware"},
		},
	} {
		t.Run(name, func(t *testing.T) { pageSays(t, s, says) })
	}
	if n := strings.Count(mainOf(t, s, "/models/deepseek"), `href="/models/deepseek-r1"`); n != 1 {
		t.Errorf("the page of a missing model suggests DeepSeek R1 %d times, want once", n)
	}
	if _, runs, facts := strings.Cut(mainOf(t, s, "/tools/llama.cpp"), `id="facts"`); !facts || !strings.Contains(runs, `id="runs"`) {
		t.Error("the page of a tool has not its homepage before the runs with it")
	}
}

// TestTitles holds that the title of a page, which search engines and previews of links show, says what it answers.
func TestTitles(t *testing.T) {
	s := shippedService(t)
	for path, want := range map[string]string{
		"/hardware/nvidia-rtx-3060":                                 "NVIDIA GeForce RTX 3060: which models run on it, and how fast ·",
		"/models/gpt-oss-20b":                                       "gpt-oss 20b: memory requirements and speed ·",
		"/explore/models?q=Qwen3+Coder":                             "Models: “Qwen3 Coder” ·",
		"/explore/models?q=coder++qwen3":                            "Models: “coder qwen3” ·",
		"/explore/hardware?vendor=amd,intel&min_vram_gb=8&type=gpu": "Hardware: Memory from 8 GB, Type: graphics card, Maker: AMD ·",
		"/explore/hardware":                                         "Hardware ·",
	} {
		body := string(s.ask(t, "GET", path, "Authorization", "").body)
		if _, title, _ := strings.Cut(body, "<title>"); !strings.HasPrefix(title, want) || !strings.Contains(body, `<meta property="og:title" content="`+strings.TrimSuffix(want, " ·")) {
			t.Errorf("%s is called %.100s", path, title)
		}
	}
}

// TestPageAddresses holds that other names of a page lead to it, that what people type into forms is read as they meant
// it, and that what is wrong is told.
func TestPageAddresses(t *testing.T) {
	s := shippedService(t)
	for _, tt := range []struct {
		path   string
		status int
		to     string
	}{
		{"/models/meta-llama/Llama-3.1-8B-Instruct", 301, "/models/llama-3.1-8b-instruct"},
		{"/models/llama3.1:8b.json", 301, "/models/llama-3.1-8b-instruct.json"},
		{"/hardware/RTX%204090", 301, "/hardware/nvidia-rtx-4090"},
		{"/models/", 301, "/explore/models"},
		{"/problems", 301, "/docs/errors"},
		{"/explore?q=llama", 303, "/explore/models?q=llama"},
		{"/explore/models?q=&family=llama&min_params_b=", 303, "/explore/models?family=llama"},
		{"/explore/models?q=", 303, "/explore/models"},
		{"/fit?hardware=&context=&model=gpt-oss-20b", 303, "/fit?model=gpt-oss-20b"},
		{"/fit?hardware=24+GB", 303, "/fit?memory_gb=24"},
		{"/fit?hardware=16GB+RAM&context=", 303, "/fit?memory_gb=16"},
		{"/fit?memory_gb=24+GB&bandwidth_gbps=1,008+GB/s", 303, "/fit?memory_gb=24&bandwidth_gbps=1008"},
		{"/fit?hardware=rtx+4090&context=32k", 303, "/fit?hardware=rtx+4090&context=32768"},
		{"/fit?hardware=rtx+4090&context=32,768&min_tps=20+tok/s", 303, "/fit?hardware=rtx+4090&context=32768&min_tps=20"},
		{"/explore/models?fits=rtx+4090&min_tps=20+tok/s", 303, "/explore/models?fits=rtx+4090&min_tps=20"},
		{"/explore/hardware?runs=gpt-oss-20b&context=128K", 303, "/explore/hardware?runs=gpt-oss-20b&context=131072"},
		{"/ask?q=RTX+4090", 303, "/hardware/nvidia-rtx-4090"},
		{"/ask?q=gpt-oss-20b", 303, "/models/gpt-oss-20b"},
		{"/ask?q=24+GB", 303, "/fit?memory_gb=24"},
		{"/ask?q=ollama", 303, "/tools/ollama"},
		{"/ask?q=gpt-oss-20b+on+my+RTX+4090%3F", 303, "/fit?asked=gpt-oss-20b+on+my+RTX+4090%3F&hardware=nvidia-rtx-4090&model=gpt-oss-20b"},
		{"/models/gpt-oss-20b.md?context=32k", 200, ""},
	} {
		if a := s.ask(t, "GET", tt.path, "Authorization", "", "Accept", "text/html"); a.status != tt.status || strings.ReplaceAll(a.header.Get("Location"), "%20", "+") != tt.to {
			t.Errorf("%s: status %d to %q, want %d to %q", tt.path, a.status, a.header.Get("Location"), tt.status, tt.to)
		}
	}
	for _, path := range []string{"/models/llama-3.1-8b-instruc", "/benchmarks/bm-000000000000", "/explore/modls"} {
		if a := s.ask(t, "GET", path, "Authorization", ""); a.status != http.StatusNotFound {
			t.Errorf("%s: status %d, want 404", path, a.status)
		}
	}
	for _, path := range []string{
		"/models/llama-3.1-8b-instruct?x=1", "/tools/llama.cpp?context=32768", "/explore/models?familly=llama", "/explore/models?min_params_b=9&max_params_b=2",
		"/hardware/nvidia-rtx-4090?context=many", "/hardware/nvidia-rtx-4090?kv=f16", "/hardware/nvidia-rtx-4090.json?context=32768",
		"/fit?hardware=rtx+4o90", "/fit?memory_gb=-1", "/fit?hardware=rtx+4090&context=many", "/fit?hardware=rtx+4090&context=1,23",
		"/compare?hardware=a,b,c,d,e", "/compare?hardware=nvidia-rtx-4090&models=qwen3-8b", "/fit.json", "/fit.csv?model=gpt-oss-20b", "/compare.json",
		"/explore/models.json?limit=201", "/explore/benchmarks.json?limit=501", "/explore/models.csv?limit=all", "/explore/models?limit=all&format=csv", "/explore/models?format=csv",
	} {
		if a := s.ask(t, "GET", path, "Authorization", ""); a.status != http.StatusBadRequest {
			t.Errorf("%s: status %d, want 400", path, a.status)
		}
	}
}
