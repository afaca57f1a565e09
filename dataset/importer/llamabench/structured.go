package llamabench

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strconv"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/ndjson"

	"github.com/goccy/go-json"
)

// printed is one object of -o json or jsonl, and one line of -o csv, by name of the value.
type printed map[string]string

// parseJSON reads a list of objects.
func parseJSON(b []byte) ([]row, error) {
	var objects []map[string]any
	if err := unmarshal(b, &objects); err != nil {
		return nil, err
	}
	rows := make([]row, 0, len(objects))
	for i, o := range objects {
		rows = append(rows, flat(o).row(i+1))
	}
	return rows, nil
}

// parseLines reads one object on each line. Lines that are not objects (logs) are ignored; one that
// begins as an object and cannot be read is a row of its own.
func parseLines(first int, b []byte) ([]row, error) {
	var rows []row
	for n, line := range ndjson.Lines(first, b) {
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] != '{' {
			continue
		}
		var o map[string]any
		if err := unmarshal(line, &o); err != nil {
			rows = append(rows, row{line: n, bad: "not a JSON object: " + err.Error()})
			continue
		}
		rows = append(rows, flat(o).row(n))
	}
	return rows, nil
}

// unmarshal keeps numbers as they are written.
func unmarshal(b []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	return dec.Decode(v)
}

// flat writes the values of an object as CSV does.
func flat(o map[string]any) printed {
	r := printed{}
	for name, v := range o {
		switch v := v.(type) {
		case bool:
			r[name] = map[bool]string{true: "1", false: "0"}[v]
		case string, json.Number:
			r[name] = fmt.Sprint(v)
		}
	}
	return r
}

// parseCSV reads a heading and lines of values; first is the line of the heading.
func parseCSV(first int, b []byte) ([]row, error) {
	in := csv.NewReader(bytes.NewReader(b))
	head, err := in.Read()
	if err != nil {
		return nil, err
	}
	var rows []row
	for {
		values, err := in.Read()
		if errors.Is(err, io.EOF) {
			if len(rows) == 0 {
				return nil, errors.New("no line follows the heading")
			}
			return rows, nil
		}
		if fault := new(csv.ParseError); errors.As(err, &fault) {
			rows = append(rows, row{line: first + fault.StartLine - 1, bad: "not a CSV line: " + fault.Err.Error()})
			continue
		}
		r := printed{}
		for i, name := range head {
			r[name] = values[i]
		}
		n, _ := in.FieldPos(0)
		rows = append(rows, r.row(first+n-1))
	}
}

// row reads the values llama-bench has printed under these names since 2023.
func (rec printed) row(line int) row {
	r := row{line: line, bad: rec.unreadable(), run: run{
		kind: rec["model_type"], processor: rec["cpu_info"], devices: rec["gpu_info"],
		backend: rec["backends"], batch: rec.number("n_batch"), threads: rec.number("n_threads"),
		layers: rec.number("n_gpu_layers"), depth: rec.number("n_depth").n,
	}}
	if name := rec["model_filename"]; name != "" {
		r.file = strings.TrimSuffix(path.Base(strings.ReplaceAll(name, `\`, "/")), ".gguf")
	}
	r.prompt, r.gen = rec.number("n_prompt").n, rec.number("n_gen").n
	speed, err := strconv.ParseFloat(rec["avg_ts"], 64)
	if r.bad == "" && (err != nil || !(speed > 0) || math.IsInf(speed, 0)) {
		r.bad = fmt.Sprintf("avg_ts: must be a number above 0, got %q", rec["avg_ts"])
	}
	r.speed = speed
	if dev, err := strconv.ParseFloat(rec["stddev_ts"], 64); err == nil && dev >= 0 && !math.IsInf(dev, 0) {
		r.stddev = &dev
	}
	if size := rec.number("model_size"); size.ok {
		r.gib = hundredths(float64(size.n) / (1 << 30))
	}
	rec.settings(&r.run)
	return r
}

// settings reads what needs more than copying.
func (rec printed) settings(r *run) {
	if r.layers.n < 0 {
		r.layers = known{} // -1 leaves it to the program
	}
	r.flash, _ = flash(rec["flash_attn"])
	if rec["build_number"] != "" {
		r.build = fmt.Sprintf("b%s (%s)", strings.TrimSuffix(rec["build_number"], ".0"), rec["build_commit"])
	}
	if day, _, ok := strings.Cut(rec["test_time"], "T"); ok && dataset.Date(day).Valid() {
		r.date = dataset.Date(day)
	}
	r.params = float64(rec.number("model_n_params").n) / 1e9
	r.split, r.main, r.shares = rec["split_mode"], rec.number("main_gpu").n, rec["tensor_split"]
	if d := rec["devices"]; d != "auto" && d != "none" {
		r.chosen = d
	}
	r.offload = rec.number("n_cpu_moe").n > 0 || !plain(rec["tensor_buft_overrides"])
	r.notes = rec.notes()
}

func plain(override string) bool { return override == "" || override == "none" }

// usual are the settings that need not be mentioned.
var usual = []struct{ name, value, words string }{
	{"type_k", "f16", "key cache %s"},
	{"type_v", "f16", "value cache %s"},
	{"n_ubatch", "512", "ubatch %s"},
	{"n_cpu_moe", "0", "experts of %s layers on the processor"},
	{"tensor_buft_overrides", "none", "tensors placed by %s"},
	{"split_mode", "layer", "split mode %s"},
	{"no_kv_offload", "0", "cache in main memory"},
	{"no_op_offload", "0", "operations on weights in main memory stay on the processor"},
	{"embeddings", "0", "embeddings"},
}

// notes words the settings that are not the usual ones.
func (rec printed) notes() string {
	notes := append([]string{"llama-bench"}, remote(rec["backends"])...)
	for _, u := range usual {
		v, ok := rec[u.name]
		switch {
		case !ok, v == "", v == u.value:
		case strings.Contains(u.words, "%s"):
			notes = append(notes, fmt.Sprintf(u.words, v))
		default:
			notes = append(notes, u.words)
		}
	}
	return strings.Join(notes, "; ")
}

// counts are the values that are whole numbers.
var counts = []string{"n_prompt", "n_gen", "n_depth", "n_batch", "n_threads", "n_gpu_layers", "n_cpu_moe", "main_gpu", "model_size", "model_n_params"}

// unreadable says which value is there and cannot be read, empty for none: taken for one that was not printed, it would
// make another test of the row.
func (rec printed) unreadable() string {
	for _, name := range counts {
		if text := rec[name]; text != "" && !rec.number(name).ok {
			return fmt.Sprintf("%s: must be a whole number, got %q", name, text)
		}
	}
	if _, ok := flash(rec["flash_attn"]); !ok {
		return fmt.Sprintf("flash_attn: must be 0, 1 or -1, got %q", rec["flash_attn"])
	}
	return ""
}

// number reads a count; programs that work with tables write 99 as 99.0.
func (rec printed) number(name string) known {
	n, err := strconv.ParseInt(strings.TrimSuffix(rec[name], ".0"), 10, 64)
	if err != nil {
		return known{}
	}
	return known{n, true}
}

// hundredths rounds to what llama-bench prints of a size.
func hundredths(v float64) float64 { return math.Round(v*100) / 100 }
