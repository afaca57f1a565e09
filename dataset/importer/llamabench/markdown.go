package llamabench

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What stands around the tables. Each backend names its devices in its own words.
var (
	deviceCount = regexp.MustCompile(`(?i)found ([0-9]+) (?:CUDA|ROCm|Vulkan|MUSA|SYCL) devices?`)
	deviceLines = []*regexp.Regexp{
		regexp.MustCompile(`^\s*Device [0-9]+: ([^,]+)(?:,|$)`),                                      // CUDA, ROCm
		regexp.MustCompile(`^ggml_vulkan: [0-9]+ = (.+?)(?: \| |$)`),                                 // Vulkan
		regexp.MustCompile(`^ggml_metal(?:_device)?_init: (?:GPU name: +|found device: )(.+?)\s*$`),  // Metal
		regexp.MustCompile(`^ggml_opencl: (?:default device|selected device|device): '?(.+?)'?\s*$`), // OpenCL
	}
	buildLine = regexp.MustCompile(`^build: ([0-9a-f]{7,40}) \(([0-9]+)\)`)
	rule      = regexp.MustCompile(`^[\s|:-]+$`)
	testName  = regexp.MustCompile(`^(?:pp ?([0-9]+))?\+?(?:tg ?([0-9]+))?(?: @ d([0-9]+))?$`)
	rate      = regexp.MustCompile(`^([0-9.]+) ?(?:±|\+/-|\+-) ?([0-9.]+)$`)
	sizeText  = regexp.MustCompile(`^([0-9.]+) ([GM]iB)$`)
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

// parseMarkdown reads tables and what stands around them; other text is passed over.
func parseMarkdown(b []byte) ([]row, error) {
	m := &markdown{}
	n := 0
	for text := range bytes.Lines(b) {
		n++
		line := strings.TrimRight(strings.TrimPrefix(string(text), "> "), "\r\n\t ")
		if strings.HasPrefix(strings.TrimSpace(line), "|") {
			if err := m.table(n, line); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			continue
		}
		m.heading = nil
		m.around(line)
	}
	return m.rows, nil
}

// around reads a line that is no table.
func (m *markdown) around(line string) {
	if deviceCount.MatchString(line) {
		m.devices = nil
	}
	for _, pattern := range deviceLines {
		if found := pattern.FindStringSubmatch(line); found != nil {
			m.devices = append(m.devices, strings.TrimSpace(found[1]))
		}
	}
	if found := buildLine.FindStringSubmatch(line); found != nil {
		for i := m.pending; i < len(m.rows); i++ {
			m.rows[i].build = fmt.Sprintf("b%s (%s)", found[2], found[1])
		}
		m.pending = len(m.rows)
		m.devices = nil // the next table lists its own
	}
}

func (m *markdown) table(n int, line string) error {
	cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	switch {
	case slices.Contains(cells, "model") && slices.Contains(cells, "t/s"):
		m.heading, m.block = cells, m.block+1
	case m.heading == nil, rule.MatchString(line):
	case len(cells) != len(m.heading):
		return fmt.Errorf("must have %d cells as its heading, got %d", len(m.heading), len(cells))
	default:
		return m.row(n, cells)
	}
	return nil
}

// row reads one line of a table by the names in its heading.
func (m *markdown) row(n int, cells []string) error {
	r := row{line: n, run: run{block: m.block, devices: strings.Join(m.devices, ", ")}}
	notes := []string{"llama-bench"}
	for i, name := range m.heading {
		ok, note := r.cell(name, cells[i])
		if !ok {
			return fmt.Errorf("%s: cannot be read, got %q", name, cells[i])
		}
		if note != "" {
			notes = append(notes, note)
		}
	}
	r.notes = strings.Join(notes, "; ")
	m.rows = append(m.rows, r)
	return nil
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
		r.gib, ok = gib(value)
	case "test":
		ok = r.test(value)
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
	case "params", "dev", "mmap", "dio", "nopo":
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
	m := sizeText.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if m[2] == "MiB" {
		v = math.Round(v/1024*1e4) / 1e4
	}
	return v, err == nil
}

func (r *row) test(text string) bool {
	m := testName.FindStringSubmatch(text)
	if m == nil || m[1] == "" && m[2] == "" {
		return false
	}
	r.prompt, _ = strconv.ParseInt(m[1], 10, 64)
	r.gen, _ = strconv.ParseInt(m[2], 10, 64)
	r.depth, _ = strconv.ParseInt(m[3], 10, 64)
	return true
}

func (r *row) rate(text string) bool {
	m := rate.FindStringSubmatch(text)
	if m == nil {
		m = []string{text, text, ""}
	}
	speed, err := strconv.ParseFloat(m[1], 64)
	if dev, err := strconv.ParseFloat(m[2], 64); err == nil {
		r.stddev = &dev
	}
	r.speed = speed
	return err == nil && speed > 0 && !math.IsInf(speed, 0)
}
