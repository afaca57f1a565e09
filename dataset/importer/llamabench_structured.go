package importer

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"regexp"
	"strings"

	"modeldex/dataset/ndjson"

	"github.com/goccy/go-json"
)

// logged is where a structured output begins that follows a log.
var logged = regexp.MustCompile(`(?m)^(?:\[\s*\{\s*"build_commit"|\{\s*"build_commit"|"?build_commit"?,)`)

// parse reads any of the forms. Among lines of objects, those that are not objects (logs) are ignored; one that begins as
// an object and cannot be read is a row of its own. A line of CSV that is cut short is a row without a speed; quotes that
// do not match are an error.
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

// unmarshal keeps numbers as they are written.
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
		r.bad = fmt.Sprintf("backends %s may all have worked: gpu_info does not say which devices are whose",
			strings.Join(names, ", "))
	}
	return r
}
