package resolve

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"modeldex/dataset"

	"modeldex/dataset/datasettest"
)

func TestMain(m *testing.M) { datasettest.Main(m) }

var update = flag.Bool("update", false, "add what is missing to testdata/reviewed.txt, to be reviewed")

var shipped = sync.OnceValues(func() (*dataset.Set, error) {
	return dataset.Load(context.Background(), os.DirFS("../../data"), dataset.Options{})
})

func load(t testing.TB) (*dataset.Set, *Resolver) {
	t.Helper()
	set, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	return set, resolver()
}

var resolver = sync.OnceValue(func() *Resolver {
	set, err := shipped()
	if err != nil {
		panic(err)
	}
	return New(set)
})

// entry is one line of a file of names.
type entry struct {
	line       int
	kind, name string
	want       string
}

// entries reads "kind: name => want" lines.
func entries(t testing.TB, file string) (out []entry) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text := lines.Text()
		if text == "" || text[0] == '#' {
			continue
		}
		kind, rest, ok := strings.Cut(text, ": ")
		at := strings.LastIndex(rest, " => ")
		if !ok || at < 0 {
			t.Fatalf("%s:%d: must read \"kind: name => expected\", got %q", file, n, text)
		}
		out = append(out, entry{n, kind, rest[:at], strings.TrimSpace(rest[at+4:])})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func kindOf(text string) Kind {
	if text == "any" {
		return ""
	}
	return Kind(text)
}

// TestNames reads testdata/names.txt, to which anyone can add a line.
func TestNames(t *testing.T) {
	_, r := load(t)
	list := entries(t, "testdata/names.txt")
	if len(list) < 300 {
		t.Errorf("the list has %d names, want at least 300", len(list))
	}
	seen := map[string]int{}
	for _, e := range list {
		if first := seen[e.kind+": "+e.name]; first > 0 {
			t.Errorf("names.txt:%d: duplicate of line %d: %s", e.line, first, e.name)
		}
		seen[e.kind+": "+e.name] = e.line
		a := r.Strict(kindOf(e.kind), e.name)
		if why := wrong(a, e.want); why != "" {
			t.Errorf("names.txt:%d: %s: %q => %s, want %s: %s\n\tgot %s", e.line, e.kind, e.name, a.Slug, e.want, why, show(a))
		}
	}
}

func show(a Answer) string {
	var candidates []string
	for _, c := range a.Candidates {
		candidates = append(candidates, string(c.Slug))
	}
	return fmt.Sprintf("slug %q confidence %q ambiguous %v reason %q candidates %v", a.Slug, a.Confidence, a.Ambiguous, a.Reason, candidates)
}

// wrong says how an answer differs from what is wanted, empty where it does not.
func wrong(a Answer, want string) string {
	slug, candidates, ambiguous := strings.Cut(want, "?")
	slug = strings.TrimSpace(slug)
	if slug == "-" {
		slug = ""
	}
	switch {
	case string(a.Slug) != slug:
		return "another record"
	case a.Ambiguous != ambiguous:
		return fmt.Sprintf("ambiguous is %v", a.Ambiguous)
	case a.Slug != "" && a.Confidence != Exact && a.Confidence != Parsed:
		return "a record with the confidence " + string(a.Confidence)
	case a.Confidence == Near && len(a.Candidates) == 0:
		return "near without candidates"
	case len(a.Candidates) > MaxCandidates:
		return "too many candidates"
	}
	for c := range strings.FieldsSeq(candidates) {
		if !slices.ContainsFunc(a.Candidates, func(have Candidate) bool { return string(have.Slug) == c }) {
			return c + " is not among the candidates"
		}
	}
	return ""
}

// TestFacts: what a name says of a model's storage and of hardware's memory and number.
func TestFacts(t *testing.T) {
	_, r := load(t)
	for _, tt := range []struct {
		name, quant, format string
		params              float64
	}{
		{"unsloth/Qwen3-8B-GGUF:Q4_K_M", "Q4_K_M", "gguf", 8},
		{"Qwen3-Coder-30B-A3B-Instruct-UD-Q4_K_XL.gguf", "UD-Q4_K_XL", "gguf", 30},
		{"hf.co/unsloth/Qwen3-8B-GGUF:UD-IQ2_XXS", "UD-IQ2_XXS", "gguf", 8},
		{"mlx-community/Llama-3.2-3B-Instruct-4bit", "4bit", "mlx", 3},
		{"Qwen2.5-Coder-14B-Instruct-MLX-4bit", "4bit", "mlx", 14},
		{"Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4", "GPTQ-INT4", "safetensors", 7},
		{"Qwen/Qwen2.5-7B-Instruct-AWQ", "AWQ", "safetensors", 7},
		{"Qwen/Qwen3-14B-FP8", "FP8", "", 14},
		{"Qwen2.5-Coder-32B-Instruct-exl2-4.0bpw", "EXL2-4.0bpw", "exl2", 32},
		{"gpt-oss-120b-mxfp4-00001-of-00003.gguf", "MXFP4", "gguf", 120},
		{"smollm2-135m-instruct-F16.gguf", "F16", "gguf", 0.135},
		{"llama 8B IQ2_XXS - 2.0625 bpw", "IQ2_XXS", "gguf", 8},
		{"llama 7B Q2_K - Medium", "Q2_K", "gguf", 7},
		{"Qwen/Qwen3-8B", "", "", 8},
		{"ollama run qwen3.5:9b-mlx", "", "mlx", 9},
	} {
		a := r.Strict(Model, tt.name)
		if a.Quantization != tt.quant || a.Format != tt.format || a.ParamsB != tt.params {
			t.Errorf("Resolve(model, %q) found %q, %q, %v, want %q, %q, %v", tt.name, a.Quantization, a.Format, a.ParamsB, tt.quant, tt.format, tt.params)
		}
	}
	for _, tt := range []struct {
		name   string
		memory float64
		count  int
	}{
		{"NVIDIA GeForce RTX 3090, 24576 MiB", 24, 0},
		{"8 x NVIDIA H100 80GB HBM3", 80, 8},
		{"2x RTX 3090", 0, 2},
		{"2x3090", 0, 2},
		{"RTX 3090 x2", 0, 2},
		{"RTX 3090 x 4", 0, 4},
		{"dual 3090", 0, 2},
		{"two RTX 4090s", 0, 2},
		{"2 RTX 3090", 0, 2},
		{"RTX 3090 (x2)", 0, 2},
		{"4x V100 (128 GB total)", 32, 4},
		{"ASUS Dual RTX 4070 SUPER", 0, 0},
		{"Dual GeForce RTX 4060 OC", 0, 0},
		{"dual channel DDR5", 0, 0},
		{"MacBook Pro m1 32Go", 32, 0},
		{"Apple M4 Max 128GB", 128, 0},
		{"NVIDIA GeForce RTX 3090", 0, 0},
	} {
		a := r.Strict(Hardware, tt.name)
		if a.MemoryGB != tt.memory || a.Count != tt.count {
			t.Errorf("Resolve(hardware, %q) found %v GB and %d devices, want %v and %d", tt.name, a.MemoryGB, a.Count, tt.memory, tt.count)
		}
	}
}

// TestAnswers: how sure an answer is, what it says of the name, and how many products are left.
func TestAnswers(t *testing.T) {
	_, r := load(t)
	const whole = "every word of the name was understood"
	for _, tt := range []struct {
		name       string
		slug       dataset.Slug
		confidence Confidence
		ambiguous  bool
		memory     float64
		count      int
		reason     string
		candidates int
	}{
		{"RTX 3060", "nvidia-rtx-3060", Exact, false, 0, 0, "slug, name or alias", 0},
		{"NVIDIA GeForce RTX 3060, 12288 MiB", "nvidia-rtx-3060", Parsed, false, 12, 0, whole, 0},
		{"NVIDIA GeForce RTX 3060, 11500 MiB", "nvidia-rtx-3060", Parsed, false, 11.23, 0, whole, 0},
		{"RTX 4060 Ti", "nvidia-rtx-4060-ti", Exact, true, 0, 0, "the record for measurements that do not name the exact product", 2},
		{"RTX 4060 Ti 16 GB", "nvidia-rtx-4060-ti-16gb", Parsed, false, 16, 0, "only this one is sold with that memory", 0},
		{"RTX 4060 Ti 24 GB", "", Near, false, 24, 0, "no record with this name has 24 GB of memory", 1},
		{"RTX 4090 (in a Foobar 9000)", "", Near, false, 0, 0, `"foobar" next to the name could not be read`, 1},
		{"RTX 4090 (Ryzen 9 7950X)", "nvidia-rtx-4090", Parsed, false, 0, 0, "in a machine with AMD Ryzen 9 7950X", 0},
		{"2*RTX 4090", "nvidia-rtx-4090", Parsed, false, 0, 2, "after a number of devices: slug, name or alias", 0},
		{"8 x RTX 4090", "nvidia-rtx-4090", Parsed, false, 0, 8, "after a number of devices: slug, name or alias", 0},
		{"RTX 4090 24G", "nvidia-rtx-4090", Parsed, false, 24, 0, whole, 0},
		{"RTX 4090 0 MiB", "nvidia-rtx-4090", Parsed, false, 0, 0, whole, 0},
		{"Radeon RX 7900 XT/7900 XTX/7900M", "", "", true, 0, 0, "the name lists several products", 3},
		{"Apple M4 Max (14-core CPU, 40-core GPU, 64GB)", "apple-m4-max-40gpu", Parsed, false, 64, 0, whole, 0},
		{"no such thing at all", "", "", false, 0, 0, unknownName, 0},
	} {
		a := r.Strict(Hardware, tt.name)
		if a.Slug != tt.slug || a.Confidence != tt.confidence || a.Ambiguous != tt.ambiguous || a.MemoryGB != tt.memory || a.Count != tt.count ||
			a.Reason != tt.reason || len(a.Candidates) != tt.candidates || (a.Name != "") != (tt.slug != "") {
			t.Errorf("Resolve(hardware, %q) = %+v, want %+v", tt.name, a, tt)
		}
	}
}

// TestOwnNames: every slug of every record is an exact answer, and every name and alias leads to
// its record, or is ambiguous with its record among the candidates. A name that states the memory
// of its record decides, however it is written.
func TestOwnNames(t *testing.T) {
	set, r := load(t)
	check := func(kind Kind, slug dataset.Slug, texts ...string) {
		if a := r.Strict(kind, string(slug)); a.Slug != slug || a.Confidence != Exact || a.Ambiguous {
			t.Errorf("Resolve(%s, %q) is %s", kind, slug, show(a))
		}
		for _, text := range texts {
			if !r.Has(kind, text) || r.Has(kind, text+", and more") {
				t.Errorf("Has(%s, %q) is false, or true with more words", kind, text)
			}
			a := r.Strict(kind, text)
			if a.Slug == slug && a.Confidence == Exact {
				continue
			}
			among := slices.ContainsFunc(a.Candidates, func(c Candidate) bool { return c.Slug == slug })
			memory := strings.HasSuffix(strings.ToLower(text), "gb")
			if a.Slug != "" || !a.Ambiguous || !among || memory {
				t.Errorf("Resolve(%s, %q), a name of %s, is %s", kind, text, slug, show(a))
			}
		}
	}
	for i := range set.Models {
		m := &set.Models[i]
		check(Model, m.Slug, append(m.Aliases, m.Name)...)
	}
	for i := range set.Hardware {
		h := &set.Hardware[i]
		check(Hardware, h.Slug, append(h.Aliases, h.Name)...)
	}
	for i := range set.Tools {
		check(Tool, set.Tools[i].Slug, append(set.Tools[i].Aliases, set.Tools[i].Name)...)
	}
}

// TestShared: no alias is an exact name where other products have the same words in their names and it leaves out what tells
// them apart.
func TestShared(t *testing.T) {
	set, r := load(t)
	for name, want := range map[string]string{
		"RTX PRO 6000":         "nvidia-rtx-pro-6000-blackwell nvidia-rtx-pro-6000-blackwell-max-q nvidia-rtx-pro-6000-blackwell-server",
		"Orin":                 "nvidia-jetson-agx-orin nvidia-jetson-orin-nano-4gb nvidia-jetson-orin-nx-16gb",
		"Xavier":               "nvidia-jetson-agx-xavier-16gb nvidia-jetson-xavier-nx-8gb",
		"P100":                 "nvidia-tesla-p100-pcie-16gb nvidia-tesla-p100-sxm2-16gb",
		"Adreno X1-85":         "qualcomm-snapdragon-x-elite qualcomm-snapdragon-x-plus",
		"Adreno(TM) X1-85 GPU": "qualcomm-snapdragon-x-elite qualcomm-snapdragon-x-plus",
	} {
		if why := wrong(r.Strict(Hardware, name), "? "+want); why != "" {
			t.Errorf("%s: %s: %s", name, why, show(r.Strict(Hardware, name)))
		}
	}
	own := map[string]dataset.Slug{}
	for i := range set.Hardware {
		h := &set.Hardware[i]
		maker := string(h.Vendor) + " "
		for _, name := range append([]string{h.Name, string(h.Slug)}, h.Aliases...) {
			other, cut := strings.CutPrefix(strings.ToLower(name), maker)
			if !cut {
				other = maker + name
			}
			if a, b := r.Strict(Hardware, name), r.Strict(Hardware, other); is("makers", string(h.Vendor)) &&
				(a.Slug != b.Slug || a.Ambiguous != b.Ambiguous || !slices.Equal(a.Candidates, b.Candidates)) {
				t.Errorf("%q and %q mean another:\n\t%s\n\t%s", name, other, show(a), show(b))
			}
			if other := own[clean(name)]; other != "" && other != h.Slug && r.Strict(Hardware, name).Confidence == Exact {
				t.Errorf("%q is an exact name of %s and of %s", name, other, h.Slug)
			}
			own[clean(name)] = h.Slug
		}
	}
}

// TestPrinted: the forms in which drivers, tools, hubs and catalogues print names.
func TestPrinted(t *testing.T) {
	_, r := load(t)
	for _, e := range entries(t, "testdata/printed.txt") {
		a := r.Strict(kindOf(e.kind), e.name)
		if why := wrong(a, e.want); why != "" {
			t.Errorf("printed.txt:%d: %q: %s: %s", e.line, e.name, why, show(a))
		}
	}
}

const reviewedFile = "testdata/reviewed.txt"

// TestShippedRows: what the sources of measurements call a model and its hardware leads to the
// record the measurement is filed under, or is in the reviewed list with a reason.
func TestShippedRows(t *testing.T) {
	set, r := load(t)
	reviewed := map[string]bool{}
	unused := map[string]int{}
	for _, e := range entries(t, reviewedFile) {
		slug, reason, _ := strings.Cut(e.want, "; ")
		if strings.TrimSpace(reason) == "" {
			t.Errorf("reviewed.txt:%d: a reason is missing", e.line)
		}
		key := e.kind + ": " + e.name + " => " + slug
		reviewed[key], unused[key] = true, e.line
	}
	missing := map[string]string{}
	look := func(kind Kind, name string, slug dataset.Slug) {
		a := r.Strict(kind, name)
		if a.Slug == slug {
			return
		}
		key := fmt.Sprintf("%s: %s => %s", kind, name, slug)
		delete(unused, key)
		if !reviewed[key] {
			missing[key] = a.Reason + ": " + show(a)
		}
	}
	for _, b := range set.Benchmarks {
		look(Model, b.ModelRaw, b.Model)
		look(Hardware, b.HardwareRaw, b.Hardware)
	}
	for key, line := range unused {
		t.Logf("reviewed.txt:%d: not needed any more: %s", line, key)
	}
	if *update {
		writeReviewed(t, missing)
		return
	}
	for key, why := range missing {
		t.Errorf("%s\n\tthe name gives %s\n\tadd it to %s with a reason if the page says more than the name", key, why, reviewedFile)
	}
}

func writeReviewed(t *testing.T, missing map[string]string) {
	f, err := os.OpenFile(reviewedFile, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []string
	for key, why := range missing {
		reason, _, _ := strings.Cut(why, ": slug ")
		lines = append(lines, key+"; "+reason)
	}
	slices.Sort(lines)
	for _, line := range lines {
		fmt.Fprintln(f, line)
	}
}

// changed gives names in which a digit, or the end, is another.
func changed(name string) (out []string) {
	for i, c := range []byte(name) {
		if '0' <= c && c <= '9' {
			out = append(out, name[:i]+string('0'+(c-'0'+1)%10)+name[i+1:], name[:i]+name[i+1:])
		}
	}
	return append(out, name+" Ti", name+"-x", name+"2", name+" Max", name+"-abliterated")
}

// TestChangedNames: a name with another digit or suffix is never exactly the same record.
func TestChangedNames(t *testing.T) {
	set, r := load(t)
	check := func(kind Kind, slug dataset.Slug, names []string) {
		for _, name := range names {
			for _, text := range changed(name) {
				a := r.Strict(kind, text)
				if a.Slug == slug && a.Confidence == Exact && !slices.ContainsFunc(names, func(own string) bool { return strings.EqualFold(own, text) }) {
					t.Errorf("Resolve(%s, %q), changed from %q, is exactly %s", kind, text, name, slug)
				}
			}
		}
	}
	for i := range set.Hardware {
		h := &set.Hardware[i]
		check(Hardware, h.Slug, append([]string{string(h.Slug), h.Name}, h.Aliases...))
	}
	for i := range set.Models {
		m := &set.Models[i]
		names := append([]string{string(m.Slug), m.Name}, m.Aliases...)
		if m.HFRepo != nil {
			names = append(names, *m.HFRepo)
		}
		check(Model, m.Slug, names)
	}
}

// FuzzResolve: whatever the text, an answer comes, keeps its rules, and is exact for nothing but
// a name of the record.
func FuzzResolve(f *testing.F) {
	set, r := load(f)
	for _, e := range entries(f, "testdata/names.txt") {
		f.Add(e.name, 0, "")
	}
	f.Add("[[[((", 3, " Ti")
	f.Add("10de:", 1, "2684")
	f.Add("ven_10de&dev_", 2, "laptop")
	f.Add("device ", 0, "\x00\xff")
	f.Add(strings.Repeat("(", 500), 1, strings.Repeat("/", 500))
	f.Add(strings.Repeat("a\x96", MaxName/2), 0, "") // longer once it is UTF-8
	own := map[string]map[Kind]dataset.Slug{}
	add := func(kind Kind, slug dataset.Slug, texts ...string) {
		for _, text := range append(texts, string(slug)) {
			for _, key := range []string{clean(text)} {
				if own[key] == nil {
					own[key] = map[Kind]dataset.Slug{}
				}
				own[key][kind] = slug
			}
		}
	}
	for i := range set.Models {
		m := &set.Models[i]
		texts := append([]string{m.Name}, m.Aliases...)
		if m.HFRepo != nil {
			texts = append(texts, *m.HFRepo)
		}
		add(Model, m.Slug, texts...)
	}
	for i := range set.Hardware {
		add(Hardware, set.Hardware[i].Slug, append([]string{set.Hardware[i].Name}, set.Hardware[i].Aliases...)...)
	}
	for i := range set.Tools {
		add(Tool, set.Tools[i].Slug, append([]string{set.Tools[i].Name}, set.Tools[i].Aliases...)...)
	}
	f.Fuzz(func(t *testing.T, name string, at int, insert string) {
		if len(name) > 0 && at != 0 {
			at = ((at % len(name)) + len(name)) % len(name)
			name = name[:at] + insert + name[at:]
		}
		for _, kind := range append([]Kind{""}, Kinds...) {
			a := r.Strict(kind, name)
			if why := breach(a); why != "" {
				t.Fatalf("Resolve(%q, %q): %s: %s", kind, name, why, show(a))
			}
			if a.Confidence == Exact && (own[clean(limit(name))][a.Kind] != a.Slug || !r.Has(a.Kind, name)) {
				t.Fatalf("Resolve(%q, %q) is exactly %s, which has no such name", kind, name, a.Slug)
			}
		}
	})
}

// breach names the rule of an answer that is broken.
func breach(a Answer) string {
	switch {
	case a.Slug != "" && a.Confidence != Exact && a.Confidence != Parsed:
		return "a slug needs the confidence exact or parsed"
	case a.Slug == "" && a.Confidence == Exact:
		return "exact needs a slug"
	case a.Confidence == Near && (a.Ambiguous || len(a.Candidates) == 0):
		return "near needs candidates and is not ambiguous"
	case len(a.Candidates) > MaxCandidates:
		return "too many candidates"
	case a.Reason == "":
		return "no reason"
	case len(a.Input) > MaxName:
		return "the input is too long"
	case strings.ContainsFunc(a.Reason, unicode.IsControl):
		return "a control character in the reason"
	}
	for _, c := range a.Candidates {
		if c.Slug == "" || c.Reason == "" || c.Kind == "" {
			return "an incomplete candidate"
		}
	}
	return ""
}

// names200 are 200 names of all forms and kinds.
func names200(b *testing.B) []entry {
	list := entries(b, "testdata/names.txt")
	var out []entry
	for i := 0; len(out) < 200; i += 3 { // spread over the file
		out = append(out, list[i%len(list)])
	}
	return out
}

// BenchmarkResolve200 reads 200 names, the most one request may send, without and with their kind.
//
//	go test ./dataset/resolve -bench .
func BenchmarkResolve200(b *testing.B) {
	_, r := load(b)
	list := names200(b)
	for _, kind := range []string{"any", "own"} {
		b.Run("kind="+kind, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, e := range list {
					k := kindOf(e.kind)
					if kind == "any" {
						k = ""
					}
					r.Strict(k, e.name)
				}
			}
		})
	}
}

// BenchmarkUnknown200 reads 200 names that no record has, in all kinds.
func BenchmarkUnknown200(b *testing.B) {
	_, r := load(b)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for i := range 200 {
			r.Strict("", fmt.Sprintf("qwen llama rtx %d%d instruct", n%1000, i))
		}
		n++
	}
}

// BenchmarkNew builds the names of the shipped records.
func BenchmarkNew(b *testing.B) {
	set, _ := load(b)
	b.ReportAllocs()
	for b.Loop() {
		New(set)
	}
}

// TestRead reads questions of testdata/questions.txt: "question => intent, then what was read".
func TestRead(t *testing.T) {
	_, r := load(t)
	for _, e := range entries(t, "testdata/questions.txt") {
		q := r.Read(e.name)
		got := []string{string(q.Intent)}
		for _, n := range append(slices.Clip(q.Models), q.Hardware...) {
			slug := string(n.Slug)
			if slug == "" {
				slug = "?"
			}
			if n.Count > 0 {
				slug = fmt.Sprintf("%dx %s", n.Count, slug)
			}
			got = append(got, slug)
		}
		say := func(format string, v any, said bool) {
			if said {
				got = append(got, fmt.Sprintf(format, v))
			}
		}
		say("%d devices", q.Count, q.Count > 0)
		if q.Host != nil {
			say("host %s", q.Host.Slug, true)
		}
		if q.Tool != nil {
			say("tool %s", q.Tool.Slug, true)
		}
		say("memory %v", q.MemoryGB, q.MemoryGB > 0)
		say("main memory %v", q.HostMemoryGB, q.HostMemoryGB > 0)
		say("%s", q.Quantization, q.Quantization != "")
		say("context %d", q.Context, q.Context > 0)
		say("$%v", q.MaxPriceUSD, q.MaxPriceUSD > 0)
		say("%v tok/s", q.MinTPS, q.MinTPS > 0)
		say("%vB", q.SizeB, q.SizeB > 0)
		say("unused %v", q.Unused, len(q.Unused) > 0)
		if all := strings.Join(got, "; "); all != e.want {
			t.Errorf("questions.txt:%d: %q was read as\n\t%s, want\n\t%s", e.line, e.name, all, e.want)
		}
	}
}

// TestPerturbed: names of the directory in other letter case, with other separators, glued, in another order, and with a
// maker or a storage type beside them, lead to their record or one that people mean by that name, and never to another.
func TestPerturbed(t *testing.T) {
	set, r := load(t)
	asked, answered := 0, 0
	ask := func(kind Kind, slug dataset.Slug, name string, changed ...string) {
		own := r.Resolve(kind, name)
		if own.Slug == "" {
			return
		}
		may := map[dataset.Slug]bool{slug: true, own.Slug: true}
		for _, c := range own.Candidates {
			may[c.Slug] = true
		}
		for _, text := range changed {
			a := r.Resolve(kind, text)
			asked++
			if a.Slug != "" {
				answered++
			}
			if ok := a.Slug == "" || may[a.Slug] || r.Related(a.Slug, slug) || slices.ContainsFunc(a.Candidates, func(c Candidate) bool { return may[c.Slug] }); !ok {
				t.Errorf("Resolve(%s, %q), changed from %q, is %s, want %s", kind, text, name, a.Slug, slug)
			}
		}
	}
	blank := strings.NewReplacer("-", " ", "_", " ")
	for i := range set.Models {
		m := &set.Models[i]
		for _, name := range append([]string{m.Name}, m.Aliases...) {
			if strings.ContainsAny(name, "/:") {
				continue
			}
			ask(Model, m.Slug, name, strings.ToUpper(name), blank.Replace(name), strings.ReplaceAll(name, " ", "-"), name+"-GGUF", "unsloth/"+strings.ReplaceAll(name, " ", "-")+"-GGUF:Q4_K_M", name+" Q8_0")
		}
	}
	for i := range set.Hardware {
		h := &set.Hardware[i]
		for _, name := range append([]string{h.Name}, h.Aliases...) {
			ask(Hardware, h.Slug, name, strings.ToUpper(name), blank.Replace(name), strings.ReplaceAll(name, " ", "-"), "2x "+name, strings.ToLower(name)+" ")
		}
	}
	for i := range set.Tools {
		tool := &set.Tools[i]
		ask(Tool, tool.Slug, tool.Name, strings.ToUpper(tool.Name), blank.Replace(tool.Name), tool.Name+" v1.2.3")
	}
	if share := float64(answered) / float64(asked); share < 0.95 {
		t.Errorf("%.1f %% of %d names are answered, want 95 %%", 100*share, asked)
	}
}

// BenchmarkNames resolves 200 names of all kinds.
func BenchmarkNames(b *testing.B) {
	_, r := load(b)
	list := entries(b, "testdata/names.txt")
	for b.Loop() {
		for i := range 200 {
			e := list[i*len(list)/200]
			r.Resolve(kindOf(e.kind), e.name)
		}
	}
}

// TestCoverage resolves the names of hardware that others list. As many are found as when the lists were taken over, or more.
func TestCoverage(t *testing.T) {
	_, r := load(t)
	text, err := os.ReadFile("testdata/coverage.txt")
	if err != nil {
		t.Fatal(err)
	}
	found, missed := map[string]int{}, map[string][]string{}
	for line := range strings.Lines(string(text)) {
		list, name, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || line[0] == '#' {
			continue
		}
		if a := r.Resolve(Hardware, name); a.Slug != "" {
			found[list]++
		} else {
			missed[list] = append(missed[list], name)
		}
	}
	for list, want := range map[string]int{"steam": 83, "others": 121, "whichllm": 109, "huggingface": 189} {
		if found[list] < want {
			t.Errorf("%s: %d names found, want at least %d; missing: %s", list, found[list], want, strings.Join(missed[list], "; "))
		}
		t.Logf("%s: %d found, missing: %s", list, found[list], strings.Join(missed[list], "; "))
	}
}
