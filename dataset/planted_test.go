package dataset

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"modeldex/dataset/record"
)

// mistake is one edit of the shipped data as a person might make it. The sign § in the new text
// is where the finding must point and is taken out. An edit of an .ndjson file is made in the
// line that holds the id.
type mistake struct {
	file, id, from, to string
	want               string // field: the beginning of the sentence
}

var mistakes = []mistake{
	{"models/phi-4.json", "", `"name": "Phi 4"`, `"name": §""`, "name: must not be empty"},
	{"models/phi-2.json", "", `"family": "phi"`, `"family": §"Phi"`, "family: must be lower-case letters"},
	{"models/qwen3-8b.json", "", `"license"`, `§"licence"`, `licence: is not a known field; did you mean "license"?`},
	{"models/qwen3-14b.json", "", `"params_basis": "published"`, `"params_basis": §"publishd"`, `params_basis: must be one of published, computed, name, got "publishd"; did you mean "published"?`},
	{"models/qwen3-32b.json", "", `"num_layers": 64`, `"num_layers": §64.5`, "architecture.num_layers: must be a whole number or null"},
	{"models/qwen3-4b.json", "", `"num_kv_heads": 8`, `"num_kv_heads": §"8"`, "kv_cache.num_kv_heads: must be a whole number or null"},
	{"models/qwen3-1.7b.json", "", `"release_date": "2025-04-29"`, `"release_date": §"2025-04-31"`, "release_date: must be a date"},
	{"models/qwen3-0.6b.json", "", `"release_date": "2025-04-29"`, `"release_date": §"2925-04-29"`, "release_date: must not be in the future"},
	{"models/llama-3.1-8b-instruct.json", "", `"slug": "llama-3.1-8b-instruct"`, `"slug": §"llama-3.1-8b-instruct-x"`, "slug: must match the name of the file"},
	{"models/gemma-2-2b.json", "", `"type": "dense"`, `"type": §"dens"`, "architecture.type: must be one of"},
	{"models/gemma-2-9b.json", "", `"url": "https://`, `"url": §"htps://`, "sources.0.url: must be an address"},
	{"models/mixtral-8x22b-v0.1.json", "", `"active_params_b": 39`, `"active_params_b": §390`, "active_params_b: must be at most params_b"},
	{"models/olmo-2-1124-7b-instruct.json", "", `"params_basis": "published"`, `"params_basis": §null`, "params_basis: must be set if params_b is set"},
	{"models/glm-4.5-air.json", "", `"modalities": [`, `"modalities": §null, "x": [`, "modalities: must be a list"},
	{"models/deepseek-v3.json", "", "\n}", "§\n", "the file ends inside the record"},

	{"hardware/nvidia-rtx-4090.json", "", `"vendor": "nvidia"`, `"vendor": §"nvida"`, `vendor: must be one of nvidia, amd, intel, apple, qualcomm, alibaba, ampere, aws, broadcom, cerebras, google, groq, hailo, hisilicon, huawei, mediatek, moorethreads, rockchip, sambanova, samsung, sifive, spacemit, tenstorrent, got "nvida"; did you mean "nvidia"?`},
	{"hardware/nvidia-rtx-4080.json", "", `"vram_gb": 16`, `"vram_gb": §-16`, "vram_gb: must be greater than 0"},
	{"hardware/nvidia-rtx-3090.json", "", `"unified_memory": false,`, `"unified_memory": §null,`, "unified_memory: must be true or false, got null"},
	{"hardware/nvidia-rtx-3080.json", "", `"type": "gpu"`, `"type": "gpu", §"type": "gpu"`, "type: duplicate field"},
	{"hardware/nvidia-rtx-5090.json", "", `"street_price_date": "2026-09-15"`, `"street_price_date": §null`, "street_price_date: must be set if street_price_usd is set"},
	{"hardware/nvidia-rtx-5080.json", "", `"currency": "USD"`, `"currency": §"usd"`, "price_observations.0.currency: must match"},
	{"hardware/apple-m5-max.json", "", `"apple-m5-max-32gpu"`, `§"apple-m5-max-33gpu"`, `variants.0: no hardware has slug "apple-m5-max-33gpu"; did you mean`},
	{"hardware/amd-rx-7900-xtx.json", "", `"RX 7900 XTX"`, `§"rx 6800"`, "aliases."},
	{"hardware/amd-rx-7900-xt.json", "", `"npu_tops": null`, `"npu_tops": §50`, "npu_tops: needs a source: add the field to an entry in sources"},
	{"hardware/intel-arc-a770.json", "", `"backends": [`, `"backends": §"sycl", "y": [`, "backends: must be a list"},
	{"hardware/apple-m1.json", "", `"fields": [`, "\"fields\": [\n        §\"memory\",", `sources.0.fields.0: "memory" is not a field`},

	{"tools/ollama.json", "", `"category": "runner"`, `"category": §"runer"`, "category: must be one of"},
	{"tools/llama.cpp.json", "", `"homepage": null`, `"homepage": §"llama.app"`, "homepage: must be an address"},
	{"tools/lm-studio.json", "", `"aliases": [`, `"aliases": §{}, "z": [`, "aliases: must be a list"},
	{"tools/vllm.json", "", `{`, `§{`, "description: is required"},

	{"benchmarks/2025.ndjson", "bm-01de356eab89", `"model":"falcon3-7b-instruct-1.58bit"`, `"model":§"falcon3-7b-instruct"x`, "not JSON"},
	{"benchmarks/2025.ndjson", "bm-0b4babdbf2a7", `"hardware":"amd-ryzen-9-7950x"`, `"hardware":§"amd-ryzen-9-7950xx"`, "hardware: no hardware has slug"},
	{"benchmarks/2024.ndjson", "", `"tool":"llama.cpp"`, `"tool":§"lama.cpp"`, `tool: no tool has slug "lama.cpp"; did you mean "llama.cpp"?`},
	{"benchmarks/2026.ndjson", "bm-18aff202cc00", `"generation_tps":41.7`, `"generation_tps":§417`, "generation_tps: is 6.9038 times what the memory bandwidth allows"},
	{"benchmarks/2026.ndjson", "bm-0e5c85cee749", `"source_url":"https`, `"source_url":§"git+https`, "source_url: must be an address"},
	{"benchmarks/2026.ndjson", "bm-66f54fc300ef", `"id":"bm-66f54fc300ef"`, `"id":§"bm-0e5c85cee749"`, `id: "bm-0e5c85cee749" is a duplicate of benchmarks/2026.ndjson:`},
	{"benchmarks/2026.ndjson", "bm-19e5ecf5d46d", `"date_basis":"run"`, `"date_basis":§"rum"`, "date_basis: must be one of"},
	{"benchmarks/undated.ndjson", "bm-d20987d408c6", `"date_basis":null`, `"date_basis":§"run"`, "date_basis: must be null if run_date is null"},
	{"benchmarks/2023.ndjson", "", `"hardware_count":1`, `"hardware_count":§0`, "hardware_count: must be at least 1"},
	{"quantizations.json", "", `"name": "IQ1_M"`, `"name": §"IQ1_S"`, `name: "IQ1_S" is a duplicate of quantizations.json:`},
	{"sources.json", "", `"owner": "abachy.com"`, `"owner": §""`, "owner: must not be empty"},
	{"sources.json", "", `"key": "accio.com"`, `"key": §"accio.org"`, `key: must match url ("accio.com"), got "accio.org"`},
	{"benchmarks/2025.ndjson", "bm-2c2cd2e41aa7", `"source_key":"`, `"source_key":§"x`, "source_key: must match source_url"},
	{"dataset.json", "", `"schema_version": 1`, `"schema_version": §2`, "schema_version: must be 1, got 2"},
}

// unknownKeys are the second findings of edits that move a list under a key of one letter.
var unknownKeys = map[string]string{"models/glm-4.5-air.json": `"x"`, "hardware/intel-arc-a770.json": `"y"`, "tools/lm-studio.json": `"z"`}

// TestPlantedMistakes plants forty mistakes in the shipped data at once: each is found at its
// line and column, and nothing else is.
func TestPlantedMistakes(t *testing.T) {
	fsys, want := shipped(t), map[string]bool{}
	for _, m := range mistakes {
		want[plant(t, fsys, m)] = true
	}
	for file, key := range unknownKeys {
		text := string(fsys[file].Data)
		want[placeOfByte(file, text, strings.Index(text, key+":"))+": "+strings.Trim(key, `"`)+": is not a known field"] = true
	}
	found, err := Check(fsys, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var unexpected []string
	for _, f := range found.Faults() {
		if !matched(want, f.String()) {
			unexpected = append(unexpected, f.String())
		}
	}
	missed := slices.Sorted(func(yield func(string) bool) {
		for w := range want {
			if !yield(w) {
				return
			}
		}
	})
	if diff := cmp.Diff([]string(nil), missed); diff != "" {
		t.Errorf("missed:\n%s", strings.Join(missed, "\n"))
	}
	if len(unexpected) > 0 {
		t.Errorf("found besides:\n%s", strings.Join(unexpected, "\n"))
	}
}

// matched takes the expectation a finding meets out of the set.
func matched(want map[string]bool, finding string) bool {
	for w := range want {
		if strings.HasPrefix(finding, w) {
			delete(want, w)
			return true
		}
	}
	return false
}

// plant makes the edit and returns how the finding must begin.
func plant(t *testing.T, fsys fstest.MapFS, m mistake) string {
	t.Helper()
	text := string(fsys[m.file].Data)
	start := strings.Index(text, m.id)
	if start < 0 {
		t.Fatalf("%s has no %s", m.file, m.id)
	}
	if strings.HasSuffix(m.file, ".ndjson") {
		start = strings.LastIndexByte(text[:start], '\n') + 1
	}
	at := strings.Index(text[start:], m.from)
	if at < 0 {
		t.Fatalf("%s %s has no %s", m.file, m.id, m.from)
	}
	if m.from == "\n}" {
		at = strings.LastIndex(text, m.from) - start
	}
	at += start
	marked := text[:at] + m.to + text[at+len(m.from):]
	mark := strings.Index(marked, "§")
	text = strings.Replace(marked, "§", "", 1)
	if strings.Contains(m.want, "is required") { // the edit is to take the line away
		head, rest, _ := strings.Cut(text, `"description":`)
		_, rest, _ = strings.Cut(rest, "\n")
		text = strings.TrimRight(head, " ") + strings.TrimLeft(rest, "\n")
	}
	fsys[m.file].Data = []byte(text)
	if m.want == "not JSON" {
		mark = strings.Index(text, `"falcon3-7b-instruct"x`) + len(`"falcon3-7b-instruct"`)
	}
	return placeOfByte(m.file, text, mark) + ": " + m.want
}

func placeOfByte(file, text string, at int) string {
	line := strings.Count(text[:at], "\n") + 1
	col := len([]rune(text[strings.LastIndexByte(text[:at], '\n')+1:at])) + 1
	return fmt.Sprintf("%s:%d:%d", file, line, col)
}

// TestPlantedSlips plants slips that are right in form: each is found at the record, by a rule about figures.
func TestPlantedSlips(t *testing.T) {
	fsys := shipped(t)
	slips := []struct{ file, from, to, rule string }{
		{"hardware/nvidia-rtx-3060.json", `"vram_gb": 12`, `"vram_gb": 120`, "hardware-memory"},
		{"hardware/nvidia-rtx-3060.json", `"street_price_usd": 200`, `"street_price_usd": 30000`, "hardware-price"},
		{"models/llama-3.3-70b-instruct.json", `"context_length": 131072`, `"context_length": 128`, "model-context"},
		{"models/qwen3-8b.json", `"name": "`, `"name": "=`, "names-text"},
		{"models/qwen3-30b-a3b.json", `"active_params_b": 3.3`, `"active_params_b": null`, "model-active"},
	}
	for _, slip := range slips {
		changed := bytes.Replace(fsys[slip.file].Data, []byte(slip.from), []byte(slip.to), 1)
		if bytes.Equal(fsys[slip.file].Data, changed) {
			t.Errorf("%s has no %s", slip.file, slip.from)
		}
		fsys[slip.file].Data = changed
	}
	found, err := Check(fsys, Options{})
	must(t, err)
	for _, slip := range slips {
		if !slices.ContainsFunc(found, func(f Finding) bool { return f.Path == slip.file && f.Rule == slip.rule }) {
			t.Errorf("%s with %s: no finding of %s", slip.file, slip.to, slip.rule)
		}
	}
}

// TestNoWarnings: each warning about the shipped data is accepted with a reason.
func TestNoWarnings(t *testing.T) {
	found, err := Check(os.DirFS("../data"), Options{})
	must(t, err)
	if len(found) > 0 {
		t.Errorf("fix each, or accept it in data/accepted.json (modeldex check --json names rule and record):\n%v", found)
	}
}

// TestRules: every rule has an id of its own and a sentence.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		if seen[r.ID] || r.ID == "" || r.Table == "" || !strings.HasSuffix(r.About, ".") {
			t.Errorf("rule %+v", r)
		}
		seen[r.ID] = true
	}
}

// spoiled are lines made of those of a set, most of them with something wrong: a mistake of decimals,
// of a name, of form, of a repeat.
func spoiled(tb testing.TB, set *Set, n int, rng *rand.Rand) []byte {
	tb.Helper()
	var out bytes.Buffer
	for i := range n {
		b := *set.Benchmarks[rng.IntN(len(set.Benchmarks))]
		b.ID = Slug(fmt.Sprintf("bm-%012x", i))
		if b.GenerationTPS != nil {
			v := *b.GenerationTPS * []float64{1, 1.003, 0.01, 10, 1000}[rng.IntN(5)]
			b.GenerationTPS = &v
		}
		switch rng.IntN(10) {
		case 0:
			b.Model += "x"
		case 1:
			b.SourceURL = nil
		case 2:
			b.ID = set.Benchmarks[rng.IntN(len(set.Benchmarks))].ID
		case 3:
			b.DateBasis = nil
		}
		line, err := record.Line(&b)
		must(tb, err)
		text := string(line)
		switch rng.IntN(12) {
		case 0:
			text = strings.Replace(text, `"hardware_count":1`, `"hardware_count":"one"`, 1)
		case 1:
			text = strings.Replace(text, `"tool":`, `"tol":`, 1)
		case 2:
			text = text[:len(text)-1]
		case 3:
			text = strings.Replace(text, `"source":"community"`, `"source":"me"`, 1)
		}
		out.WriteString(text + "\n")
	}
	return out.Bytes()
}

// TestPropose: what Propose says about lines is what Check says about them in a file of the dataset.
func TestPropose(t *testing.T) {
	fsys := sample(t)
	// The later of two equal measurements gets the finding. For Propose that is always the proposed line,
	// so no file may come after it.
	fsys["benchmarks/0000.ndjson"] = fsys["benchmarks/undated.ndjson"]
	delete(fsys, "benchmarks/undated.ndjson")
	set, err := Load(context.Background(), fsys, Options{})
	must(t, err)
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	kinds := map[Severity]int{}
	for _, n := range []int{1, 1, 150} {
		lines := spoiled(t, set, n, rng)
		got, err := Propose(set, lines, Options{})
		must(t, err)
		const last = "benchmarks/9999.ndjson" // no file has the name that Propose gives its lines
		fsys[last] = &fstest.MapFile{Data: lines}
		list, err := listFiles(fsys, true)
		must(t, err)
		src, err := readSource(t.Context(), list, Options{})
		must(t, err)
		c := newChecker(t.Context(), src, Options{})
		c.warn, c.each = true, true
		all, err := c.judge()
		must(t, err)
		want := slices.DeleteFunc(all, func(f Finding) bool { return f.Path != last })
		for i := range want {
			want[i].Path = proposedFile
			want[i].Text = strings.ReplaceAll(want[i].Text, last, proposedFile)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Finding{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("seed %d, %d lines: Check says -, Propose says +\n%s", seed, n, diff)
		}
		for _, f := range got {
			kinds[f.Severity]++
		}
	}
	if kinds[Fault] == 0 || kinds[Warning] == 0 {
		t.Errorf("seed %d: want faults and warnings, got %v: the test compares nothing", seed, kinds)
	}
	if again, err := Propose(set, nil, Options{}); err != nil || len(again) > 0 {
		t.Errorf("without lines: %v, %v", again, err)
	}
	if _, err := Propose(&Set{}, nil, Options{}); err == nil {
		t.Error("a set without files must be rejected")
	}
}

func BenchmarkPropose(b *testing.B) {
	set := mustShipped(b)
	line, err := record.Line(set.Benchmarks[0])
	must(b, err)
	b.ReportAllocs()
	for b.Loop() {
		_, err := Propose(set, line, Options{})
		must(b, err)
	}
}
