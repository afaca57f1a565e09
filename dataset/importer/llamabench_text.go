package importer

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset/ndjson"

	"github.com/goccy/go-json"
)

var columns = map[string]string{
	"model": "model_type", "size": "model_size", "params": "model_n_params", "backend": "backends",
	"test": "test", "t/s": "avg_ts", "ngl": "n_gpu_layers", "n_gpu_layers": "n_gpu_layers",
	"ncmoe": "n_cpu_moe", "n_cpu_moe": "n_cpu_moe", "threads": "n_threads", "n_threads": "n_threads",
	"fa": "flash_attn", "flash_attn": "flash_attn", "sm": "split_mode", "split_mode": "split_mode",
	"mg": "main_gpu", "main_gpu": "main_gpu", "dev": "devices", "devices": "devices", "ts": "tensor_split",
	"tensor_split": "tensor_split", "ot": "tensor_buft_overrides", "nkvo": "no_kv_offload",
	"no_kv_offload": "no_kv_offload", "nopo": "no_op_offload", "no_op_offload": "no_op_offload",
	"noh": "no_host", "no_host": "no_host", "mmap": "use_mmap", "use_mmap": "use_mmap", "dio": "use_direct_io",
	"lm": "load_mode", "load_mode": "load_mode", "lazy_mode": "lazy_mode", "fitt": "fit_target", "fit_target": "fit_target",
	"fitc": "fit_min_ctx", "fit_min_ctx": "fit_min_ctx",
	"embd": "embeddings", "embeddings": "embeddings", "cpu_mask": "cpu_mask", "cpu_strict": "cpu_strict",
	"poll": "poll", "n_batch": "n_batch", "n_ubatch": "n_ubatch", "type_k": "type_k", "type_v": "type_v",
}

// The lines of the log that are read. Those of devices have an index, where the backend prints one, and a name.
var (
	deviceLines = map[string]*regexp.Regexp{
		"cuda":   regexp.MustCompile(`^Device ([0-9]+): ([^,]+)(?:,|$)`), // also ROCm and MUSA
		"vulkan": regexp.MustCompile(`^ggml_vulkan: ([0-9]+) = (.+?)(?: \| |$)`),
		"metal": regexp.MustCompile(`^ggml_metal(?:_device)?_init: (?:GPU name|found device|picking default device): +` +
			`(?:MTL([0-9]+) \()?([^()]+)\)?$`),
		"opencl": regexp.MustCompile(`^ggml_opencl: (?:default |selected |selecting )?device:() '?(.+?)'?$`),
	}
	foundLine   = regexp.MustCompile(`(?i)found ([0-9]+) (CUDA|ROCm|MUSA|HIP|Vulkan) devices?`)
	buildLine   = regexp.MustCompile(`^build: ([0-9a-f]{7,40}) \(([0-9]+)\)`)
	commandLine = regexp.MustCompile(`\bllama-bench(?:\.exe)?["']?\s`)
	modelOption = regexp.MustCompile(`\s(?:-m|--model|-hf|--hf-repo)[ =]("[^"]+"|'[^']+'|\S+)`)
	rule        = regexp.MustCompile(`^[\s|:-]+$`)
	quotes      = regexp.MustCompile(`^(?:>[ \t]?)+`)
)

type reader struct {
	rows    []*row
	table   int      // number of the table in hand or last read
	heading []string // its columns as printed, nil outside a table
	bad     string   // why no row of it can be read
	above            // what the lines above it say
	leading bool     // a build came before all tables
}

type above struct {
	behind  int // the table that they follow
	devices []device
	found   map[string]int // how many devices a backend said it found
	files   []value        // named by command lines
}

func parseText(b []byte) []*row {
	t := &reader{}
	n := 0
	for text := range bytes.Lines(b) {
		n++
		line := strings.TrimSpace(quotes.ReplaceAllString(strings.TrimSpace(string(text)), ""))
		if strings.HasPrefix(line, "|") {
			t.line(n, cells(line))
			continue
		}
		t.heading = nil
		if line = strings.Trim(line, "`*_~ "); line != "" && !rule.MatchString(line) {
			t.around(line, fmt.Sprintf("line %d, %s", n, line))
		}
	}
	return t.rows
}

func (t *reader) around(line, from string) {
	if t.found == nil || t.table > t.behind { // text behind a table belongs to the next one, maybe of another machine
		t.above = above{behind: t.table, found: map[string]int{}}
	}
	if m := foundLine.FindStringSubmatch(line); m != nil {
		t.found[deviceBackend(m[2])], _ = strconv.Atoi(m[1])
	}
	for backend, pattern := range deviceLines {
		if m := pattern.FindStringSubmatch(line); m != nil {
			index, _ := strconv.Atoi(m[1])
			d := device{backend, index, value{strings.TrimSpace(m[2]), from}}
			listed := func(o device) bool { return o.backend == backend && o.index == index && o.text == d.text }
			if !slices.ContainsFunc(t.devices, listed) { // a line may be printed twice
				t.devices = append(t.devices, d)
			}
		}
	}
	if commandLine.MatchString(line) {
		for _, m := range modelOption.FindAllStringSubmatch(line, -1) {
			for file := range strings.SplitSeq(strings.Trim(m[1], `"'`), ",") {
				if !slices.ContainsFunc(t.files, func(v value) bool { return v.text == file }) {
					t.files = append(t.files, value{file, from})
				}
			}
		}
	}
	if m := buildLine.FindStringSubmatch(line); m != nil {
		t.leading = t.leading || t.table == 0
		for _, r := range t.rows {
			if r.table == t.table && !t.leading { // where builds come before tables, the next one is of another table
				r.build = value{fmt.Sprintf("b%s (%s)", m[2], m[1]), from}
			}
		}
	}
}

func cells(line string) []string {
	out := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|")
	for i, cell := range out {
		cell = strings.NewReplacer("\u00a0", " ", "`", "", "**", "").Replace(html.UnescapeString(cell))
		out[i] = strings.Join(strings.Fields(cell), " ")
	}
	return out
}

func (t *reader) line(n int, cells []string) {
	switch {
	case slices.Contains(cells, "model") && slices.Contains(cells, "t/s"):
		t.heading, t.bad, t.table = cells, t.missing(), t.table+1
		for i, column := range cells {
			switch {
			case columns[column] == "":
				t.bad = fmt.Sprintf("the table has a column %q, which llama-bench does not print: "+
					"it comes from another program or was edited", column)
			case slices.Contains(cells[:i], column):
				t.bad = fmt.Sprintf("the table has the column %q twice", column)
			}
		}
	case t.heading != nil && !rule.MatchString(strings.Join(cells, "|")):
		t.rows = append(t.rows, t.row(n, cells))
	}
}

// missing says that a device which the program found is not listed, empty if all are.
func (t *reader) missing() string {
	slices.SortFunc(t.devices, func(a, b device) int { return cmp.Or(strings.Compare(a.backend, b.backend), a.index-b.index) })
	for backend, found := range t.found {
		others := slices.DeleteFunc(slices.Clone(t.devices), func(d device) bool { return d.backend == backend })
		if listed := len(t.devices) - len(others); listed > 0 && listed != found {
			return fmt.Sprintf("devices found: %d, listed: %d", found, listed)
		}
	}
	return ""
}

func (t *reader) row(n int, cells []string) *row {
	r := &row{line: n, table: t.table, values: map[string]value{}, bad: t.bad, devices: slices.Clone(t.devices)}
	switch {
	case r.bad != "":
	case len(cells) != len(t.heading):
		r.bad = fmt.Sprintf("must have %d cells like its header, got %d", len(t.heading), len(cells))
	case strings.Contains(strings.Join(cells, ""), "~~"):
		r.bad = "is struck out"
	}
	for i, column := range t.heading[:min(len(t.heading), len(cells))] {
		r.values[columns[column]] = value{cells[i], fmt.Sprintf("line %d, %s", n, column)}
	}
	speed := r.values["avg_ts"]
	rate, deviation, _ := strings.Cut(speed.text, "±")
	r.values["avg_ts"] = value{strings.TrimSpace(rate), speed.from}
	r.values["stddev_ts"] = value{strings.TrimSpace(deviation), speed.from}
	if len(t.files) == 1 { // of several, the table does not say which row is whose
		r.values["model_filename"] = t.files[0]
	}
	return r
}

var logged = regexp.MustCompile(`(?m)^(?:\[\s*\{\s*"build_commit"|\{\s*"build_commit"|"?build_commit"?,)`)

// parse reads any form. Lines that are no objects are logs; an object or line of CSV that is cut short is a bad row.
func parse(b []byte) (rows []*row, err error) {
	b = bytes.TrimPrefix(b, ndjson.ByteOrderMark)
	start := len(b) - len(bytes.TrimLeft(b, " \t\r\n"))
	if begins := b[start:]; !bytes.HasPrefix(begins, []byte{'['}) && !bytes.HasPrefix(begins, []byte{'{'}) {
		at := logged.FindIndex(b)
		if at == nil {
			return parseText(b), nil
		}
		start = at[0]
	}
	text, first := b[start:], 1+bytes.Count(b[:start], []byte{'\n'})
	switch {
	case !bytes.Contains(text, []byte("build_commit")): // JSON of another program
	case text[0] == '[':
		var objects []map[string]any
		if err := unmarshal(text, &objects); err != nil {
			return nil, err
		}
		for i, o := range objects {
			rows = append(rows, structured(i+1, "object", o))
		}
	case text[0] == '{':
		for n, line := range ndjson.Lines(first, text) {
			if line = bytes.TrimSpace(line); len(line) == 0 || line[0] != '{' {
				continue
			}
			var o map[string]any
			if err := unmarshal(line, &o); err != nil {
				rows = append(rows, &row{line: n, bad: "not a JSON object: " + err.Error()})
				continue
			}
			rows = append(rows, structured(n, "line", o))
		}
	default:
		in := csv.NewReader(bytes.NewReader(text))
		in.FieldsPerRecord = -1
		lines, err := in.ReadAll()
		if err != nil {
			return nil, err
		}
		for i, values := range lines[1:] {
			o := map[string]any{}
			for j, name := range lines[0][:min(len(values), len(lines[0]))] {
				o[name] = values[j]
			}
			rows = append(rows, structured(first+1+i, "line", o))
		}
	}
	return rows, nil
}

func unmarshal(b []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	return dec.Decode(v)
}

func structured(line int, place string, o map[string]any) *row {
	place = fmt.Sprintf("%s %d", place, line)
	r := &row{line: line, values: map[string]value{}}
	for name, v := range o {
		from := place + ", " + name
		switch v := v.(type) {
		case bool:
			r.values[name] = value{map[bool]string{true: "1", false: "0"}[v], from}
		case string:
			r.values[name] = value{v, from}
		case json.Number:
			r.values[name] = value{v.String(), from}
		}
	}
	if n := r.count("build_number"); n != nil {
		r.build = value{fmt.Sprintf("b%d (%s)", *n, r.text("build_commit")), place + ", build_number"}
	}
	names := r.accelerators()
	for i, name := range split(r.text("gpu_info")) { // with several backends it does not say whose they are
		if len(names) == 1 {
			r.devices = append(r.devices, device{deviceBackend(names[0]), i, value{name, place + ", gpu_info"}})
		}
	}
	if len(names) > 1 && r.bad == "" {
		r.bad = fmt.Sprintf("any of the backends %s may have been used: gpu_info does not assign devices to backends",
			strings.Join(names, ", "))
	}
	return r
}
