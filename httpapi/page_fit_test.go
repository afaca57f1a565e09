package httpapi

import (
	"encoding/json"
	"html"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/resolve"
	"modeldex/httpapi/charts"
	"modeldex/httpapi/pages"
	"modeldex/httpapi/rows"
	"modeldex/index"
)

// mainOf is the main part of a page as a browser is sent it.
func mainOf(t *testing.T, s *service, path string) string {
	t.Helper()
	a := s.ask(t, "GET", path, "Authorization", "", "Accept", "text/html")
	_, body, _ := strings.Cut(string(a.body), "<main")
	body, _, _ = strings.Cut(body, "</main>")
	return body
}

// pageSays holds what pages over the shipped dataset have, and, behind an exclamation mark, have not.
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

// TestPagePair holds that the page of one model on one machine says how fast it is, in the size lists name, and leads on.
func TestPagePair(t *testing.T) {
	t.Parallel()
	pageSays(t, map[string][]string{
		"/fit?hardware=nvidia-rtx-4090&model=qwen3-8b": {
			"Q8_0: about ", " tok/s with an empty cache, estimated (", "It fits in 24 GB, with room for 8k tokens.", `href="/models/qwen3-8b"`, `href="/hardware/nvidia-rtx-4090"`,
			` published runs</a>`, `href="/explore/benchmarks?hardware=nvidia-rtx-4090&amp;model=qwen3-8b"`, `<span class="self">Q8_0</span>`,
		},
		"/fit?hardware=nvidia-rtx-4090&model=gpt-oss-20b":               {"MXFP4: ", "empty cache, measured ("},
		"/fit?hardware=nvidia-rtx-4090&model=gpt-oss-20b&context=32768": {"MXFP4: about ", "tok/s with 32k tokens in the cache;"},
		"/fit?hardware=nvidia-rtx-3060&model=gpt-oss-120b": {
			"No size fits on the device in 12 GB, with room for 8k tokens: the smallest takes ", `href="/explore/hardware?runs=gpt-oss-120b"`, "Hardware that runs it", `href="/fit?hardware=nvidia-rtx-3060"`, "What else runs here",
		},
		"/fit?memory_gb=12&model=qwen3-8b": {"Enter the bandwidth of the memory", "!published run"},
	})
}

// TestPageFigures holds that pages write figures in one form.
func TestPageFigures(t *testing.T) {
	t.Parallel()
	pageSays(t, map[string][]string{
		"/fit?hardware=nvidia-rtx-3060&model=gpt-oss-120b":                     {" GiB short", "!>-"},
		"/hardware/amd-ryzen-9-7950x":                                          {"$450", "!450 USD"},
		"/explore/models?min_context=32768&fits=nvidia-rtx-3060&context=16384": {"Context length from 32k tokens", "Context: 16k tokens", "!Speeds are with an empty cache."},
		"/explore/hardware?max_price_usd=1500":                                 {"Street price to $1,500"},
	})
}

// TestPageMemoryAndCache holds that an answer says which memory it counts with, and whether its speeds are with a full cache.
func TestPageMemoryAndCache(t *testing.T) {
	t.Parallel()
	const empty = "Speeds are with an empty cache"
	pageSays(t, map[string][]string{
		"/fit?hardware=rtx+3060+12gb":                 {"With 12 GB, ", " models run with room for 8k tokens", empty + "; enter a context to see them with a full one.", `href="/hardware/nvidia-rtx-3060"`, "Facts and prices", "Compare"},
		"/fit?hardware=apple-m4":                      {"Of 24 GB, 16 GiB are for models (default working set of macOS"},
		"/fit?hardware=nvidia-a100":                   {"With 40 GB, the least of its variants, "},
		"/fit?hardware=nvidia-rtx-3060&context=32768": {"Speeds are with a full cache", "!" + empty, " left out because their limit is a shorter context"},
		"/fit?hardware=2x3090":                        {"With 2 × 24 GB, ", `href="/explore/benchmarks?hardware=nvidia-rtx-3090&amp;hardware_count=2&amp;sort=-generation_tps"`, "!/hardware/nvidia-rtx-3090#speed"},
		"/fit?hardware=nvidia-rtx-4090&min_tps=5000":  {"Nothing is that fast", "!Nothing fits", `href="/fit?hardware=nvidia-rtx-4090"`, "What runs here at any speed"},
		"/fit?memory_gb=12":                           {"!With 12 GB, "},
		"/hardware/nvidia-rtx-3060":                   {"It runs ", empty},
		"/hardware/nvidia-a100":                       {"With 40 GB, the least of its variants, it runs "},
	})
}

// TestPageBestSpeeds holds that an answer calls a model one of the best only where it has a score, and names better ones
// that are estimated where all measured ones are far below.
func TestPageBestSpeeds(t *testing.T) {
	t.Parallel()
	answer := func(score func(dataset.Slug) float64) string {
		scored := rows.RenderersOf(nil)
		scored.Score = score
		gen, err := index.Build(t.Context(), mustShipped(t).set, scored)
		if err != nil {
			t.Fatal(err)
		}
		ord, _ := gen.Hardware.Find("nvidia-rtx-3060")
		var out strings.Builder
		for _, c := range pages.New(pages.Config{}).Record(gen, "hardware", ord, pages.Place{}).Answer {
			out.WriteString(c.Text)
		}
		return out.String()
	}
	const measured, best, example = "llama-3.2-3b-instruct", "The best with a measured speed: Llama 3.2 3B Instruct (", "Measured, for example: "
	of := func(points map[dataset.Slug]float64) func(dataset.Slug) float64 {
		return func(slug dataset.Slug) float64 {
			if v, ok := points[slug]; ok {
				return v
			}
			return math.NaN()
		}
	}
	for _, tt := range []struct {
		points    map[dataset.Slug]float64
		has, lack []string
	}{
		{nil, []string{example}, []string{"best"}},
		{map[dataset.Slug]float64{measured: 50}, []string{best}, []string{example, ", Qwen", "estimated"}},
		{map[dataset.Slug]float64{measured: 50, "qwen3-14b": 53}, []string{best}, []string{"estimated"}},
		{map[dataset.Slug]float64{measured: 50, "qwen3-14b": 60}, []string{example, "Estimated speeds of the best: Qwen3 14B ("}, []string{best}},
		{map[dataset.Slug]float64{"qwen3-14b": 60}, []string{example, "Estimated speeds of the best: Qwen3 14B ("}, nil},
	} {
		got := answer(of(tt.points))
		for _, want := range tt.has {
			if !strings.Contains(got, want) {
				t.Errorf("with the scores %v: %q, want %q in it", tt.points, got, want)
			}
		}
		for _, not := range tt.lack {
			if strings.Contains(got, not) {
				t.Errorf("with the scores %v: %q, want no %q", tt.points, got, not)
			}
		}
	}
}

// TestPageNeighbours holds that the plot of neighbours is of hardware of the same kind, that its words are not those of
// the table below it, and that nothing is drawn of hardware without neighbours.
func TestPageNeighbours(t *testing.T) {
	t.Parallel()
	gen := mustShipped(t).live.Current()
	var kinds []string
	drawn := charts.For(gen).HardwareNeighbours("amd-beelink-gtr9-pro").SVG(charts.Auto, charts.DefaultWidth)
	for _, tip := range regexp.MustCompile(`<title>([^:<]+): `).FindAllStringSubmatch(string(drawn), -1)[1:] { // the first is of the drawing
		slug := gen.Names.Resolve(resolve.Hardware, html.UnescapeString(tip[1])).Slug
		ord, ok := gen.Hardware.Find(string(slug))
		if !ok {
			t.Fatalf("no hardware is called %s", tip[1])
		}
		var h struct{ Type string }
		if err := json.Unmarshal(gen.Hardware.Row(ord), &h); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, h.Type)
	}
	slices.Sort(kinds)
	if got := slices.Compact(kinds); len(got) < 2 || slices.Contains(got, "gpu") || slices.Contains(got, "cpu") {
		t.Errorf("a machine has neighbours of the kinds %v, want several, and neither graphics cards nor processors", got)
	}
	pageSays(t, map[string][]string{
		"/hardware/amd-beelink-gtr9-pro":                 {"!No other hardware has the same amount"},
		"/hardware/nvidia-rtx-4090":                      {"Beside it is what is most like it", "With the same amount of memory, by bandwidth:", "!the table says which price"},
		"/hardware/amd-ryzen-9-7950x":                    {"A processor uses the memory of the machine: choose how much yours has.", `href="/fit?hardware=amd-ryzen-9-7950x&amp;memory_gb=64"`, "With 64 GB", "!enter yours", "!No model is known to fit"},
		"/fit?hardware=amd-ryzen-9-7950x":                {"A processor uses the memory of the machine: choose how much yours has.", "!not published"},
		"/fit?hardware=amd-ryzen-9-7950x&model=qwen3-8b": {"A processor uses the memory of the machine"},
		"/hardware/apple-m3-max":                         {"enter yours", "With 64 GB"},
	})
}

// TestPageListsByName holds that lists are in the order of names where nothing else is asked for, and mark sizes that a
// score says little about.
func TestPageListsByName(t *testing.T) {
	t.Parallel()
	pageSays(t, map[string][]string{
		"/explore/models":                      {`<option value="name" selected>A to Z</option>`, "!By name", `!value="slug"`, `aria-sort="ascending"`, "!sort=name&"},
		"/explore/benchmarks":                  {`aria-sort="descending"`},
		"/explore/models?fits=nvidia-rtx-3060": {"Models marked “below 4 bits” fit only", "Speeds are with an empty cache."},
	})
	body := mainOf(t, newService(t, mustShipped(t).live), "/explore/models")
	var names []string
	for _, m := range regexp.MustCompile(`<th scope="row"><a href="[^"]*">([^<]*)</a>`).FindAllStringSubmatch(body, -1) {
		names = append(names, strings.ToLower(m[1]))
	}
	if len(names) < 20 || !slices.IsSorted(names) {
		t.Errorf("models A to Z: %v", names)
	}
}

// TestPageWithoutFacts holds that a model of which nothing is published says so once, and that one without runs has estimates.
func TestPageWithoutFacts(t *testing.T) {
	t.Parallel()
	pageSays(t, map[string][]string{
		"/models/deepseek-v4-pro-0813":  {"Not published: parameters, layers, length of context, sizes of its files, measured speeds.", "!Quantized sizes", "!Memory by context", "Contribute a run"},
		"/models/hermes-4-14b":          {"No run is known. Estimated: ", "tok/s.", "Memory by context", "!Not published:"},
		"/models/llama-3.1-8b-instruct": {"!No run is known. Estimated"},
	})
}

// TestPageWords holds words of pages that say what they are about.
func TestPageWords(t *testing.T) {
	t.Parallel()
	pageSays(t, map[string][]string{
		"/models/nonexistent-model":           {"“nonexistent-model” is not the name of a model here"},
		"/hardware/nonexistent-card":          {"“nonexistent-card” is not the name of hardware here"},
		"/explore/models?fits=Raspberry-Pi-5": {"!was read as"},
		"/explore/models?fits=2x+RTX+3090":    {"was read as"},
		"/hardware/nvidia-rtx-4090":           {"The newest 50 of "},
	})
	s := newService(t, mustShipped(t).live)
	if a := s.ask(t, "GET", "/problems", "Authorization", "", "Accept", "text/html"); a.header.Get("Location") != "/docs/errors" {
		t.Errorf("/problems: status %d to %q", a.status, a.header.Get("Location"))
	}
}
