package httpapi

import (
	"strings"
	"testing"
)

// mainOf is the main part of a page as a browser is sent it.
func mainOf(t *testing.T, s *service, path string) string {
	t.Helper()
	a := s.ask(t, "GET", path, "Authorization", "", "Accept", "text/html")
	_, body, _ := strings.Cut(string(a.body), "<main")
	body, _, _ = strings.Cut(body, "</main>")
	return body
}

// pageSays checks what pages over the shipped dataset say, and, behind an exclamation mark, do not say.
func pageSays(t *testing.T, says map[string][]string) {
	t.Helper()
	s := newService(t, mustShipped(t).live)
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

// TestPagePair: the page of one model on one machine says how fast it is, in the quantization that lists name, and leads on.
func TestPagePair(t *testing.T) {
	t.Parallel()
	pageSays(t, map[string][]string{
		"/fit?hardware=nvidia-rtx-4090&model=qwen3-8b": {
			" tok/s with an empty cache, ", "It fits in 24 GB, with room for 8k tokens.", `href="/models/qwen3-8b"`,
			` published runs</a>`, `href="/explore/benchmarks?hardware=nvidia-rtx-4090&amp;model=qwen3-8b"`, `class="self">Q8_0<`,
		},
		"/fit?hardware=nvidia-rtx-4090&model=gpt-oss-20b":               {"MXFP4: ", "empty cache, measured"},
		"/fit?hardware=nvidia-rtx-4090&model=gpt-oss-20b&context=32768": {"MXFP4: about ", "tok/s with 32k tokens in the cache;"},
		"/fit?hardware=nvidia-rtx-3060&model=gpt-oss-120b":              {"The smallest takes ", `href="/explore/hardware?runs=gpt-oss-120b"`, `href="/fit?hardware=nvidia-rtx-3060"`, " GiB short", "!>-"},
		"/fit?memory_gb=12&model=qwen3-8b":                              {"Enter the bandwidth of the memory", "!published run"},
	})
}

// TestPageMachine: the page of what runs on a machine says with which memory, and with which filling of the cache.
func TestPageMachine(t *testing.T) {
	t.Parallel()
	const empty = "Speeds are with an empty cache"
	pageSays(t, map[string][]string{
		"/fit?hardware=rtx+3060+12gb":                 {"With 12 GB: ", " models run with room for 8k tokens", empty, `href="/hardware/nvidia-rtx-3060"`, "Compare"},
		"/fit?hardware=apple-m4":                      {"16 of 24 GB that models may use (default working set of macOS"},
		"/fit?hardware=nvidia-rtx-3060&context=32768": {"Speeds are with a full cache", "!" + empty},
		"/fit?hardware=2x3090":                        {"What runs on 2 × NVIDIA GeForce RTX 3090?"},
		"/fit?hardware=nvidia-rtx-4090&min_tps=5000":  {"0 models", `href="/fit?hardware=nvidia-rtx-4090"`, "What runs here at any speed"},
		"/fit?hardware=nvidia-rtx-4090&memory_gb=0.1": {"No known quantization of any model fits"},
		"/hardware/amd-ryzen-9-7950x":                 {"$450", "depends on how much memory it has", `href="/hardware/amd-ryzen-9-7950x?memory_gb=64"`},
		"/hardware/amd-ryzen-9-7950x?memory_gb=64":    {"!depends on how much memory", `class="picks"`},
		"/fit?hardware=amd-ryzen-9-7950x":             {"depends on how much memory it has", `href="/fit?hardware=amd-ryzen-9-7950x&amp;memory_gb=64"`},
	})
}

// TestPageOrders: lists are in the order that pages name, and filters in force are said in words.
func TestPageOrders(t *testing.T) {
	t.Parallel()
	pageSays(t, map[string][]string{
		"/explore/models":                      {`selected>Most capable</option>`, `aria-sort="descending"`, "!sort=-capability&"},
		"/explore/benchmarks":                  {`aria-sort="descending"`},
		"/explore/models?fits=nvidia-rtx-3060": {"below 4 bits", "Speeds are with an empty cache."},
		"/explore/models?min_context=32768&fits=nvidia-rtx-3060&context=16384": {"Context length from 32k tokens", "Context: 16k tokens", "!Speeds are with an empty cache."},
		"/explore/hardware?max_price_usd=1500":                                 {"Street price to $1,500"},
	})
}

// TestPageFirstScreen: the pages of machines and models begin with three choices, each with speed, memory, quantization and
// context, and with links to other conditions.
func TestPageFirstScreen(t *testing.T) {
	t.Parallel()
	pageSays(t, map[string][]string{
		"/hardware/nvidia-rtx-4090":                                   {">Best<", ">Fast<", ">Small<", " tok/s", "Longest context", "/hardware/nvidia-rtx-4090?context=32768", "/hardware/nvidia-rtx-4090?system_memory_gb=64", `id="tab-facts"`},
		"/hardware/nvidia-rtx-4090?context=32768&system_memory_gb=64": {`href="/hardware/nvidia-rtx-4090?context=32768"`, `href="/hardware/nvidia-rtx-4090?system_memory_gb=64"`, `aria-current="true">32k tokens<`},
		"/hardware/apple-m2":                                          {`href="/hardware/apple-m2?memory_gb=16"`, `aria-current="true">24 GB<`},
		"/models/llama-3.3-70b-instruct":                              {">Best<", ">Fast<", ">Small<", "On common machines", "2 × NVIDIA", ">estimated<", ">measured<", "AMD Ryzen AI Max"},
		"/models/llama-3.3-70b-instruct?context=131072":               {"with room for 128k tokens"},
		"/models/deepseek-v4-pro-0813":                                {"facts about its memory are not published", "Contribute a run", "Not known: "},
		"/compare?hardware=nvidia-rtx-4090,nvidia-rtx-3090":           {"The same measurements", "<svg", ">24 GB"},
	})
	s := newService(t, mustShipped(t).live)
	for path, status := range map[string]int{"/hardware/nvidia-rtx-4090?context=many": 400, "/hardware/nvidia-rtx-4090?kv=f16": 400, "/hardware/nvidia-rtx-4090.json?context=32768": 400, "/tools/llama.cpp?context=32768": 400, "/models/gpt-oss-20b.md?context=32k": 200} {
		if a := s.ask(t, "GET", path, "Authorization", ""); a.status != status {
			t.Errorf("%s: status %d, want %d", path, a.status, status)
		}
	}
}

// TestPageWords: pages of what is not there say so in words.
func TestPageWords(t *testing.T) {
	t.Parallel()
	pageSays(t, map[string][]string{
		"/models/nonexistent-model":        {"“nonexistent-model” is not the name of a model here"},
		"/hardware/nonexistent-card":       {"“nonexistent-card” is not the name of hardware here"},
		"/explore/models?fits=2x+RTX+3090": {"was read as"},
	})
	s := newService(t, mustShipped(t).live)
	if a := s.ask(t, "GET", "/problems", "Authorization", "", "Accept", "text/html"); a.header.Get("Location") != "/docs/errors" {
		t.Errorf("/problems: status %d to %q", a.status, a.header.Get("Location"))
	}
}
