package llamabench

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset/resolve"
)

// Text around the tables. Each backend names its devices in its own words.
var (
	deviceCount = regexp.MustCompile(`(?i)found ([0-9]+) (?:CUDA|ROCm|Vulkan|MUSA|SYCL) devices?`)
	deviceLines = []*regexp.Regexp{
		regexp.MustCompile(`^Device [0-9]+: ([^,]+)(?:,|$)`),                                         // CUDA, ROCm
		regexp.MustCompile(`^ggml_vulkan: [0-9]+ = (.+?)(?: \| |$)`),                                 // Vulkan
		regexp.MustCompile(`^ggml_metal(?:_device)?_init: (?:GPU name: +|found device: )(.+?)\s*$`),  // Metal
		regexp.MustCompile(`^ggml_opencl: (?:default device|selected device|device): '?(.+?)'?\s*$`), // OpenCL
	}
	buildLine = regexp.MustCompile(`^build: ([0-9a-f]{7,40}) \(([0-9]+)\)`)
	rule      = regexp.MustCompile(`^[\s|:-]+$`)
	quotes    = regexp.MustCompile(`^(?:>[ \t]?)+`)
	link      = regexp.MustCompile(`\[([^\]]*)\]\((?:[^()]|\([^()]*\))*\)`)
	testName  = regexp.MustCompile(`^(?:pp ?([0-9]+))?\+?(?:tg ?([0-9]+))?(?: ?@ ?d ?([0-9]+))?$`)
	bothNames = regexp.MustCompile(`^pg ?([0-9]+),([0-9]+)(?: ?@ ?d ?([0-9]+))?$`) // as the option is written
	rate      = regexp.MustCompile(`^([0-9.,]+) ?\(?(?:±|\+/-|\+-) ?([0-9.,]+|nan|-nan|inf)\)?$`)
	plainText = regexp.MustCompile(`^[0-9]+(?:\.[0-9]+)?$`)
	// thousands has commas between groups of three digits. A single one may as well be a decimal comma,
	// unless a point is in the same cell.
	thousands = regexp.MustCompile(`^[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?$`)
	sizeText  = regexp.MustCompile(`(?i)^([0-9.,]+) ?([GM]iB)$`)
	// decimalSize is a size of ten to the power of nine or six, or of two: people write GB for both,
	// so that it is reported and not counted.
	decimalSize = regexp.MustCompile(`(?i)^[0-9][0-9.,]* ?[GM]B$`)
	countText   = regexp.MustCompile(`(?i)^([0-9.,]+) ?([BMTK])$`)
	timesBefore = regexp.MustCompile(`^([0-9]{1,2}) ?[x×] ?(.+)$`)
	timesBehind = regexp.MustCompile(`^(.+?) ?[x×] ?([0-9]{1,2})$`)
)

// markdown is the state of reading a terminal: the devices last listed, the heading of the table
// in hand, and the rows that wait for their build line.
type markdown struct {
	devices []string
	found   int // how many devices the program said it found, 0 for unknown
	listed  int // the block before which they were listed
	heading []string
	block   int
	rows    []row
	pending int      // rows from here on have no build yet
	leading []string // builds, where the first of them comes before all tables
}

// parseMarkdown reads tables and the text around them; other text is ignored.
func parseMarkdown(b []byte) []row {
	m := &markdown{}
	n := 0
	for text := range bytes.Lines(b) {
		n++
		line := strings.TrimSpace(quotes.ReplaceAllString(strings.TrimSpace(string(text)), ""))
		if strings.HasPrefix(line, "|") || strings.Contains(line, "|") && (m.heading != nil || isHeading(cells(line))) && !strings.HasPrefix(line, "ggml_") {
			m.table(n, cells(line))
			continue
		}
		m.heading = nil
		m.around(line)
	}
	if len(m.leading) > 0 {
		m.foreign()
	}
	return m.rows
}

// foreign gives rows the build of a text in which builds come before tables, if there is only one. llama-bench
// prints the build after the table, so with several the right one is not known.
func (m *markdown) foreign() {
	build := ""
	if len(slices.Compact(slices.Sorted(slices.Values(m.leading)))) == 1 {
		build = m.leading[0]
	}
	for i := range m.rows {
		m.rows[i].build = build
	}
}

// around reads a line that is not part of a table.
func (m *markdown) around(line string) {
	words := strings.Trim(line, "`*_~ ")
	if words == "" || rule.MatchString(words) {
		return
	}
	if m.block > m.listed { // the text behind a table belongs to the next one, which may be of another machine
		m.devices, m.found, m.listed = nil, 0, m.block
	}
	if found := deviceCount.FindStringSubmatch(line); found != nil {
		m.devices = nil
		m.found, _ = strconv.Atoi(found[1])
	}
	for _, pattern := range deviceLines {
		if found := pattern.FindStringSubmatch(line); found != nil {
			m.devices = append(m.devices, strings.TrimSpace(found[1]))
		}
	}
	if found := buildLine.FindStringSubmatch(words); found != nil {
		build := fmt.Sprintf("b%s (%s)", found[2], found[1])
		if m.block == 0 || len(m.leading) > 0 {
			m.leading = append(m.leading, build)
		}
		for i := m.pending; i < len(m.rows); i++ {
			m.rows[i].build = build
		}
		m.pending = len(m.rows)
	}
}

// cells cuts a line of a table, with or without bars at its ends, and takes off what is there for
// the eye only: bold, code, links, entities. What is struck out keeps its mark.
func cells(line string) []string {
	out := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|")
	for i, cell := range out {
		cell = html.UnescapeString(cell)
		cell = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2009", " ", "`", "", "**", "").Replace(cell)
		cell = link.ReplaceAllString(cell, "$1")
		out[i] = strings.Trim(strings.Join(strings.Fields(cell), " "), "*_ ")
	}
	return out
}

// columns are the headings in use, by what they are called besides.
var columns = map[string]string{
	"tokens/s": "t/s", "tok/s": "t/s", "tps": "t/s", "n_gpu_layers": "ngl", "flash_attn": "fa", "batch": "n_batch", "split_mode": "sm", "main_gpu": "mg", "n_threads": "threads",
	"gpus": "gpu", "card": "gpu", "device": "gpu", "hardware": "gpu", "quantization": "quant", "concurrency": "parallel", "n_parallel": "parallel", "users": "parallel",
}

// headings gives the names of columns in the spelling of llama-bench.
func headings(cells []string) []string {
	out := make([]string, len(cells))
	for i, cell := range cells {
		out[i] = strings.ToLower(cell)
		if usual := columns[out[i]]; usual != "" {
			out[i] = usual
		}
	}
	return out
}

func isHeading(cells []string) bool {
	names := headings(cells)
	return slices.Contains(names, "model") && slices.Contains(names, "t/s")
}

func (m *markdown) table(n int, cells []string) {
	switch {
	case isHeading(cells):
		m.heading, m.block = headings(cells), m.block+1
	case m.heading == nil, rule.MatchString(strings.Join(cells, "|")):
	default:
		m.row(n, cells)
	}
}

// row reads one line of a table by the names in its heading. What cannot be read makes the row a
// bad one and leaves the others.
func (m *markdown) row(n int, cells []string) {
	r := row{line: n, run: run{block: m.block, devices: strings.Join(m.devices, ", ")}}
	notes := []string{"llama-bench"}
	for i, name := range m.heading {
		if i >= len(cells) {
			break
		}
		ok, note := r.cell(name, cells[i])
		if !ok && r.bad == "" {
			r.bad = fmt.Sprintf("%s: cannot be read, got %q", name, cells[i])
		}
		if note != "" {
			notes = append(notes, note)
		}
	}
	if i := slices.Index(m.heading, "quant"); i >= 0 && i < len(cells) {
		r.stored(cells[i])
	}
	r.judge(m, cells)
	r.notes = strings.Join(append(notes, remote(r.backend)...), "; ")
	m.rows = append(m.rows, r)
}

// stored reads a column of storage types, which some people add beside the one in the type of the model.
func (r *row) stored(quant string) {
	_, printed := resolve.TypeQuantization(r.kind)
	_, own := resolve.TypeQuantization("x " + quant)
	switch {
	case printed == "":
		r.kind += " " + quant
	case own != printed && r.bad == "":
		r.bad = fmt.Sprintf("quant: must be that of the model, %s, got %q", printed, quant)
	}
}

// judge looks at what no single cell shows.
func (r *row) judge(m *markdown, cells []string) {
	named := slices.DeleteFunc(slices.Clone(m.heading), func(name string) bool { return name == "" })
	slices.Sort(named)
	switch {
	case len(cells) != len(m.heading):
		r.bad = fmt.Sprintf("must have %d cells as its heading, got %d", len(m.heading), len(cells))
	case len(slices.Compact(slices.Clone(named))) < len(named):
		r.bad = "the heading has a column twice"
	case slices.ContainsFunc(cells, func(cell string) bool { return strings.Contains(cell, "~~") }):
		r.bad = "is struck out"
	case r.bad == "" && len(m.devices) > 0 && m.found > 0 && len(m.devices) != m.found:
		r.bad = fmt.Sprintf("the program found devices: %d, of which listed: %d", m.found, len(m.devices))
	}
}

// cell reads one value; the note is what has no field.
func (r *row) cell(name, value string) (ok bool, note string) {
	ok = true
	switch name {
	case "model":
		r.kind = value
	case "backend":
		r.backend = value
	case "size":
		if r.gib, ok = gib(value); !ok && decimalSize.MatchString(value) {
			return true, "size printed as " + value
		}
	case "params":
		r.params, ok = billions(value)
	case "test":
		ok = r.test(strings.ToLower(value))
	case "t/s":
		ok = r.rate(value)
	case "ngl":
		r.layers, ok = number(value)
	case "fa":
		r.flash, ok = flash(value)
	case "gpu":
		r.devices = times(value)
	case "cpu":
		r.processor = value
	case "quant": // see stored
	case "parallel":
		ok = value == "1" // llama-bench has one stream
	case "threads":
		r.threads, ok = number(value)
	case "n_batch":
		r.batch, ok = number(value)
	case "sm":
		r.split = value
		if value != "layer" {
			note = "split mode " + value
		}
		return true, note
	case "mg":
		var main known
		main, ok = number(value)
		r.main = main.n
	case "dev":
		if value != "auto" && value != "none" {
			r.chosen = value
		}
	case "ts":
		r.shares = value
		return true, name + " " + value
	case "mmap", "dio":
	case "nopo":
		if value != "0" {
			note = "operations on weights in main memory stay on the processor"
		}
		return true, note
	default:
		r.offload = r.offload || (name == "ncmoe" || name == "n_cpu_moe") && value != "0" || name == "ot" && !plain(value)
		return true, name + " " + value
	}
	return ok, ""
}

// number reads a count; -1 leaves it to the program and counts as not printed.
func number(text string) (known, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return known{n, err == nil && n >= 0}, err == nil
}

// flash reads whether flash attention was on: -1, auto and nothing leave it to the program.
func flash(text string) (known, bool) {
	switch strings.ToLower(text) {
	case "0", "off":
		return known{0, true}, true
	case "1", "on":
		return known{1, true}, true
	}
	return known{}, text == "" || text == "-1" || strings.EqualFold(text, "auto")
}

// times lists a device as often as a text says it worked: "2x RTX 3090", "RTX 3090 x2".
func times(text string) string {
	name, count := text, ""
	if m := timesBefore.FindStringSubmatch(text); m != nil {
		name, count = m[2], m[1]
	} else if m := timesBehind.FindStringSubmatch(text); m != nil {
		name, count = m[1], m[2]
	}
	n, _ := strconv.Atoi(count)
	return strings.Join(slices.Repeat([]string{name}, max(1, n)), ", ")
}

// amount reads a number that is not negative; pointed says that it is in a cell with a decimal point.
func amount(text string, pointed bool) (float64, bool) {
	if !plainText.MatchString(text) && !(thousands.MatchString(text) && (pointed || strings.Count(text, ",") > 1)) {
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	return v, err == nil
}

func gib(text string) (float64, bool) {
	m := sizeText.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	v, ok := amount(m[1], strings.Contains(text, "."))
	if strings.EqualFold(m[2], "mib") {
		v = math.Round(v/1024*1e4) / 1e4
	}
	return v, ok
}

// billions reads a number of parameters: "8.03 B", "630.17 M".
func billions(text string) (float64, bool) {
	m := countText.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	v, ok := amount(m[1], strings.Contains(text, "."))
	return v * map[string]float64{"K": 1e-6, "M": 1e-3, "B": 1, "T": 1e3}[strings.ToUpper(m[2])], ok
}

func (r *row) test(text string) bool {
	m := testName.FindStringSubmatch(text)
	if m == nil {
		m = bothNames.FindStringSubmatch(text)
	}
	if m == nil || m[1] == "" && m[2] == "" {
		return false
	}
	ok := true
	for i, to := range []*int64{&r.prompt, &r.gen, &r.depth} {
		if m[i+1] != "" {
			n, err := strconv.ParseInt(m[i+1], 10, 64)
			*to, ok = n, ok && err == nil
		}
	}
	return ok
}

// rate reads a speed with or without its deviation: "124.65 ± 0.08", "11,000.55 (± 3.10)".
func (r *row) rate(text string) (ok bool) {
	m := rate.FindStringSubmatch(text)
	if m == nil {
		m = []string{text, text, "nan"}
	}
	pointed := strings.Contains(text, ".")
	if strings.Trim(m[2], "0123456789.,") == "" {
		dev, ok := amount(m[2], pointed)
		if !ok {
			return false
		}
		r.stddev = &dev
	}
	r.speed, ok = amount(m[1], pointed)
	return ok && r.speed > 0
}
