package importer

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset"
)

// row is one test as it was printed. Whatever its form, its values have the names of -o json.
type row struct {
	line    int
	values  map[string]value
	devices []device // listed above the table, or in gpu_info
	build   value    // "b7361 (a81a56957)"
	table   int      // of Markdown: rows of different tables are different runs

	prompt, gen int64 // tokens; both above 0 in a combined test
	speed       float64
	stddev      string  // empty: not printed, or no number
	gib, params float64 // params in billions; 0: not printed
	day         dataset.Date
	bad         string // why the row cannot be read, empty where it can
}

func (r *row) text(name string) string { return r.values[name].text }

func (r *row) fault(name, must string) {
	if r.bad == "" {
		_, column, _ := strings.Cut(r.values[name].from, ", ") // as it is printed
		r.bad = fmt.Sprintf("%s: %s, got %q", cmp.Or(column, name), must, r.text(name))
	}
}

// count reads a whole number, also written as 99.0; nil if none was printed, or -1.
func (r *row) count(name string) *int64 {
	text := strings.TrimSuffix(r.text(name), ".0")
	if text == "" || text == "-1" {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		r.fault(name, "must be a whole number")
		return nil
	}
	return &n
}

func (r *row) flash() string {
	switch strings.ToLower(r.text("flash_attn")) {
	case "0", "off":
		return "false"
	case "1", "on":
		return "true"
	case "", "-1", "auto":
	default:
		r.fault("flash_attn", "must be 0, 1 or -1")
	}
	return ""
}

// testName is a test as tables print it: "pp512", "tg128 @ d4096", "pp512+tg128".
var testName = regexp.MustCompile(`^(?:pp ?([0-9]+))?\+?(?:tg ?([0-9]+))?(?: ?@ ?d ?([0-9]+))?$`)

func (r *row) read() {
	if test := r.values["test"]; test.text != "" {
		m := testName.FindStringSubmatch(strings.ToLower(test.text))
		if m == nil || m[1] == "" && m[2] == "" {
			r.fault("test", "must be like pp512 or tg128")
			return
		}
		for i, name := range []string{"n_prompt", "n_gen", "n_depth"} {
			r.values[name] = value{m[1+i], test.from}
		}
	}
	for name, to := range map[string]*int64{"n_prompt": &r.prompt, "n_gen": &r.gen} {
		if n := r.count(name); n != nil {
			*to = *n
		}
	}
	for _, name := range []string{"n_depth", "n_batch", "n_threads", "n_gpu_layers", "n_cpu_moe", "main_gpu"} {
		r.count(name) // for its fault
	}
	r.flash()
	if r.speed = r.amount("avg_ts", map[string]float64{"": 1}); !(r.speed > 0) {
		r.fault("avg_ts", "must be a number above 0")
	}
	if dev := r.text("stddev_ts"); dev != "" && strings.Trim(dev, "-") != "nan" && dev != "inf" {
		r.stddev = strconv.FormatFloat(r.amount("stddev_ts", map[string]float64{"": 1}), 'f', -1, 64)
	}
	decimals := 100.0 // as llama-bench prints of GiB
	if strings.HasSuffix(r.text("model_size"), "MiB") {
		decimals = 1e4
	}
	gib := r.amount("model_size", map[string]float64{"GiB": 1, "MiB": 1.0 / 1024, "": 1.0 / (1 << 30)})
	r.gib = math.Round(decimals*gib) / decimals
	r.params = r.amount("model_n_params", map[string]float64{"M": 1e-3, "B": 1, "T": 1e3, "": 1e-9})
	if day, _, ok := strings.Cut(r.text("test_time"), "T"); ok && dataset.Date(day).Valid() {
		r.day = dataset.Date(day)
	}
}

// plain is a number as llama-bench prints it; a comma could be a decimal one.
var plain = regexp.MustCompile(`^[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?$`)

func (r *row) amount(name string, units map[string]float64) float64 {
	text, unit, _ := strings.Cut(r.text(name), " ")
	scale, known := units[unit]
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case text == "":
		return 0
	case err != nil || !known || !plain.MatchString(text):
		r.fault(name, "must be a number in the form llama-bench prints")
	}
	return v * scale
}

func (r *row) name() string {
	test := fmt.Sprintf("pp%d+tg%d", r.prompt, r.gen)
	switch {
	case r.gen == 0:
		test = fmt.Sprintf("pp%d", r.prompt)
	case r.prompt == 0:
		test = fmt.Sprintf("tg%d", r.gen)
	}
	return cmp.Or(stem(r.text("model_filename")), r.text("model_type")) + " " + test
}

func stem(file string) string {
	if file == "" {
		return ""
	}
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(file, `\`, "/")), ".gguf")
}

// ofTest are the values of one test, not of its run. A run may pass midnight.
var ofTest = []string{"test", "n_prompt", "n_gen", "test_time", "avg_ns", "stddev_ns", "avg_ts", "stddev_ts"}

func (r *row) run() string {
	same := map[string]string{"build": r.build.text}
	for i, d := range r.devices {
		same[fmt.Sprint("device ", i)] = d.text
	}
	for name, v := range r.values {
		if !slices.Contains(ofTest, name) {
			same[name] = v.text
		}
	}
	return fmt.Sprint(r.table, same)
}

// pair puts the prompt and the generation tests of runs together, in the order of their first lines.
func pair(rows []*row) (out [][]*row) {
	runs := map[string][]*row{}
	for _, r := range rows {
		runs[r.run()] = append(runs[r.run()], r)
	}
	for _, run := range runs {
		out = append(out, pairRun(run)...)
	}
	begins := func(tests []*row) int {
		return slices.MinFunc(tests, func(a, b *row) int { return a.line - b.line }).line
	}
	slices.SortFunc(out, func(a, b []*row) int { return begins(a) - begins(b) })
	return out
}

// pairRun puts tests of equal length together, then the usual 512 and 128, then the rest if it is one of each.
func pairRun(rows []*row) (out [][]*row) {
	var prompts, gens []*row
	for _, r := range rows {
		if r.prompt == 0 {
			gens = append(gens, r)
		} else {
			prompts = append(prompts, r)
		}
	}
	match := func(fits func(p, g *row) bool) {
		prompts = slices.DeleteFunc(prompts, func(p *row) bool {
			j := slices.IndexFunc(gens, func(g *row) bool { return p.gen == 0 && fits(p, g) })
			if j >= 0 {
				out = append(out, []*row{p, gens[j]})
				gens = slices.Delete(gens, j, j+1)
			}
			return j >= 0
		})
	}
	match(func(p, g *row) bool { return p.prompt == g.gen })
	match(func(p, g *row) bool { return p.prompt == 512 && g.gen == 128 })
	if len(prompts) == 1 && len(gens) == 1 {
		match(func(*row, *row) bool { return true })
	}
	for _, r := range slices.Concat(prompts, gens) {
		out = append(out, []*row{r})
	}
	return out
}
