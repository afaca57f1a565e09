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
	rate      = regexp.MustCompile(`^([0-9.]+) ?\(?(?:±|\+/-|\+-) ?([0-9.]+|nan|-nan|inf)\)?$`)
	thousands = regexp.MustCompile(`([0-9]),([0-9]{3})\b`)
	sizeText  = regexp.MustCompile(`(?i)^([0-9.]+) ?([GM]iB)$`)
	// decimalSize is a size of ten to the power of nine or six, or of two: people write GB for both,
	// so that it is reported and not counted.
	decimalSize = regexp.MustCompile(`(?i)^[0-9][0-9.,]* ?[GM]B$`)
	countText   = regexp.MustCompile(`(?i)^([0-9.]+) ?([BMTK])$`)
)

// markdown is the state of reading a terminal: the devices last listed, the heading of the table
// in hand, and the rows that wait for their build line.
type markdown struct {
	devices []string
	heading []string
	block   int
	rows    []row
	pending int // rows from here on have no build yet
}

// parseMarkdown reads tables and the text around them; other text is ignored.
func parseMarkdown(b []byte) ([]row, error) {
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
	return m.rows, nil
}

// around reads a line that is not part of a table.
func (m *markdown) around(line string) {
	if deviceCount.MatchString(line) {
		m.devices = nil
	}
	for _, pattern := range deviceLines {
		if found := pattern.FindStringSubmatch(line); found != nil {
			m.devices = append(m.devices, strings.TrimSpace(found[1]))
		}
	}
	if found := buildLine.FindStringSubmatch(strings.Trim(line, "`*_ ")); found != nil {
		for i := m.pending; i < len(m.rows); i++ {
			m.rows[i].build = fmt.Sprintf("b%s (%s)", found[2], found[1])
		}
		m.pending = len(m.rows)
		m.devices = nil // the next table lists its own
	}
}

// cells cuts a line of a table, with or without bars at its ends, and takes off what is there for
// the eye only: bold, code, links, entities.
func cells(line string) []string {
	out := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|")
	for i, cell := range out {
		cell = html.UnescapeString(cell)
		cell = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2009", " ", "`", "", "**", "", "~~", "").Replace(cell)
		cell = link.ReplaceAllString(cell, "$1")
		out[i] = strings.Trim(strings.Join(strings.Fields(cell), " "), "*_ ")
	}
	return out
}

// columns are the headings in use, by what they are called besides.
var columns = map[string]string{"tokens/s": "t/s", "tok/s": "t/s", "tps": "t/s", "n_gpu_layers": "ngl", "flash_attn": "fa", "batch": "n_batch", "split_mode": "sm", "main_gpu": "mg", "n_threads": "threads"}

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
	if len(cells) != len(m.heading) {
		r.bad = fmt.Sprintf("must have %d cells as its heading, got %d", len(m.heading), len(cells))
	}
	r.notes = strings.Join(append(notes, remote(r.backend)...), "; ")
	m.rows = append(m.rows, r)
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
		r.flash, ok = number(value)
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
	case "mmap", "dio", "nopo":
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

func gib(text string) (float64, bool) {
	m := sizeText.FindStringSubmatch(thousands.ReplaceAllString(text, "$1$2"))
	if m == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if strings.EqualFold(m[2], "mib") {
		v = math.Round(v/1024*1e4) / 1e4
	}
	return v, err == nil && v >= 0 && !math.IsInf(v, 0)
}

// billions reads a number of parameters: "8.03 B", "630.17 M".
func billions(text string) (float64, bool) {
	m := countText.FindStringSubmatch(thousands.ReplaceAllString(text, "$1$2"))
	if m == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(m[1], 64)
	return v * map[string]float64{"K": 1e-6, "M": 1e-3, "B": 1, "T": 1e3}[strings.ToUpper(m[2])], err == nil
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
func (r *row) rate(text string) bool {
	text = thousands.ReplaceAllString(thousands.ReplaceAllString(text, "$1$2"), "$1$2")
	m := rate.FindStringSubmatch(text)
	if m == nil {
		m = []string{text, text, ""}
	}
	speed, err := strconv.ParseFloat(m[1], 64)
	if dev, err := strconv.ParseFloat(m[2], 64); err == nil && dev >= 0 && !math.IsInf(dev, 0) {
		r.stddev = &dev
	}
	r.speed = speed
	return err == nil && speed > 0 && !math.IsInf(speed, 0)
}
