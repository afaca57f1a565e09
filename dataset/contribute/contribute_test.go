package contribute

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/record"
	"modeldex/dataset/resolve"

	"modeldex/dataset/datasettest"

	jsonv2 "github.com/goccy/go-json/v2"
)

func TestMain(m *testing.M) { datasettest.Main(m) }

var shippedDesk struct {
	sync.Once
	*Desk
	err error
}

// named are the records that forms of the tests name, and those their names may mean.
var named = []string{
	"models/qwen3-8b.json", "models/gpt-oss-20b.json", "models/llama-3.2-3b-instruct.json",
	"hardware/apple-m4.json", "hardware/nvidia-rtx-4090.json", "hardware/nvidia-rtx-3090.json", "hardware/nvidia-rtx-4060-ti-8gb.json",
	"hardware/nvidia-rtx-4060-ti-16gb.json", "hardware/nvidia-gtx-1060-3gb.json", "hardware/nvidia-gtx-1060-6gb.json", "hardware/nvidia-gtx-1060-laptop.json",
}

// mustDesk has the records of this repository, or a sample of them in the short form, loaded once for all tests.
func mustDesk(tb testing.TB) *Desk {
	tb.Helper()
	d := &shippedDesk
	d.Do(func() {
		files := os.DirFS("../../data")
		if !datasettest.Long() {
			files = datasettest.Sample(tb, named...)
		}
		var set *dataset.Set
		if set, d.err = dataset.Load(context.Background(), files, dataset.Options{}); d.err == nil {
			d.Desk = NewDesk(set, resolve.New(set), func() time.Time { return time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC) })
		}
	})
	if d.err != nil {
		tb.Fatal(d.err)
	}
	return d.Desk
}

// filled is a form that gives a line, with changes: name and value in turn, an empty value removes.
func filled(changes ...string) url.Values {
	v := url.Values{
		"model": {"unsloth/Qwen3-8B-GGUF:Q4_K_M"}, "hardware": {"RTX 4090"}, "tool": {"llama.cpp"}, "generation_tps": {"101.27"},
		"source_url": {"https://github.com/ggml-org/llama.cpp/discussions/4167"}, "run_date": {"2026-05-01"},
	}
	for i := 0; i < len(changes); i += 2 {
		v.Set(changes[i], changes[i+1])
	}
	return v
}

// TestMeasurement: what is entered is what the line says, names are read, and what follows is added.
func TestMeasurement(t *testing.T) {
	r := mustDesk(t).Check(filled("flash_attention", "true", "n_gen", "128", "notes", `<script>"x"</script>`))
	if len(r.Faults) > 0 || len(r.Lines) != 1 {
		t.Fatalf("faults %v, lines %v", r.Faults, r.Lines)
	}
	line := r.Lines[0]
	var b dataset.Benchmark
	if problems := record.Decode([]byte(line.Text), &b); problems != nil {
		t.Fatalf("%v: %s", problems, line.Text)
	}
	again, err := record.Line(&b)
	if err != nil || string(again) != line.Text {
		t.Errorf("%v: the line is not in the form of files:\n%s\n%s", err, line.Text, again)
	}
	if id, err := record.BenchmarkID(&b); err != nil || b.ID != id || line.ID != id {
		t.Errorf("%v: id %s and %s, want %s", err, b.ID, line.ID, id)
	}
	if line.File != "benchmarks/2026.ndjson" {
		t.Errorf("the line belongs in %s", line.File)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(line.Text), &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"model": "qwen3-8b", "model_raw": "unsloth/Qwen3-8B-GGUF:Q4_K_M", "quantization": "Q4_K_M", "hardware": "nvidia-rtx-4090", "hardware_raw": "RTX 4090",
		"hardware_count": 1.0, "tool": "llama.cpp", "generation_tps": 101.27, "flash_attention": true, "n_gen": 128.0, "prompt_tps": nil, "speculative_decoding": nil,
		"source": "community", "source_key": "github.com/ggml-org/llama.cpp", "run_date": "2026-05-01", "date_basis": "run", "notes": `<script>"x"</script>`,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
}

// TestCountInName: a number of devices in the name of the hardware is taken where the form does not say another.
func TestCountInName(t *testing.T) {
	for count, want := range map[string]string{"": `"hardware_count":2`, "1": `"hardware_count":2`, "4": `"hardware_count":4`} {
		r := mustDesk(t).Check(filled("hardware", "2x RTX 3090", "hardware_count", count))
		noted := slices.ContainsFunc(r.Notes, func(n string) bool { return strings.HasPrefix(n, "The number of devices (2)") })
		if len(r.Lines) != 1 || !strings.Contains(r.Lines[0].Text, want) || noted != (count != "4") {
			t.Errorf("2x RTX 3090, count %q: faults %v, lines %v, notes %q, want %s", count, r.Faults, r.Lines, r.Notes, want)
		}
	}
}

// TestFieldFaults: each rule is reported at its field, in the words of modeldex check.
func TestFieldFaults(t *testing.T) {
	for _, tt := range []struct {
		name    string
		changes []string
		field   string
		text    string // part of it
		near    string
	}{
		{"unknown model", []string{"model", "qwen3-8c"}, "model", "no model has this name", "qwen3-8b"},
		{"no hardware of this memory", []string{"hardware", "RTX 4060 Ti 99GB"}, "hardware", "no hardware has this name", ""},
		{"ambiguous hardware", []string{"hardware", "GTX 1060"}, "hardware", "may be several records: ", "nvidia-gtx-1060-6gb"},
		{"no model", []string{"model", ""}, "model", "is required", ""},
		{"no tool", []string{"tool", ""}, "tool", "is required", ""},
		{"no speed", []string{"generation_tps", ""}, "generation_tps", "must be set if there is no prompt speed", ""},
		{"a speed in words", []string{"generation_tps", "fast"}, "generation_tps", `must be a number, got "fast"`, ""},
		{"a comma", []string{"generation_tps", "101,27"}, "generation_tps", `must be a number, got "101,27"`, ""},
		{"no number", []string{"generation_tps", "null"}, "generation_tps", `must be a number, got "null"`, ""},
		{"not a number", []string{"generation_tps", "NaN"}, "generation_tps", "must be a number", ""},
		{"hex", []string{"generation_tps", "0x10"}, "generation_tps", "must be a number", ""},
		{"negative", []string{"generation_tps", "-1"}, "generation_tps", "must be greater than 0, got -1", ""},
		{"faster than the memory", []string{"generation_tps", "90000"}, "generation_tps", "times what the memory bandwidth allows", ""},
		{"half a device", []string{"hardware_count", "0.5"}, "hardware_count", "must be a whole number, got 0.5", ""},
		{"no devices", []string{"hardware_count", "0"}, "hardware_count", "must be at least 1", ""},
		{"a flag of another kind", []string{"flash_attention", "maybe"}, "flash_attention", `must be true or false, got "maybe"`, ""},
		{"a value outside its set", []string{"rate_basis", "decod"}, "rate_basis", `must be one of decode, end_to_end, total, got "decod"; did you mean "decode"?`, ""},
		{"no page", []string{"source_url", ""}, "source_url", "is required", ""},
		{"a page that is none", []string{"source_url", "javascript:alert(1)"}, "source_url", "must be an address that starts with https:// or http://", ""},
		{"no such day", []string{"run_date", "2026-02-30"}, "run_date", "must be a date as YYYY-MM-DD", ""},
		{"the future", []string{"run_date", "2027-01-01"}, "run_date", "must not be in the future", ""},
		{"an invisible character", []string{"notes", "a\u202eb"}, "notes", "must not contain control or invisible characters", ""},
		{"too long", []string{"notes", strings.Repeat("x", maxValue+1)}, "notes", "must be at most 1000 bytes long, got 1001", ""},
		{"not UTF-8", []string{"notes", "\xff"}, "notes", "must be UTF-8", ""},
		{"an unknown field", []string{"id", "bm-1"}, "", "id: is not a field of the form", ""},
	} {
		r := mustDesk(t).Check(filled(tt.changes...))
		if len(r.Lines) != 0 {
			t.Errorf("%s: a line is ready: %v", tt.name, r.Lines)
		}
		i := slices.IndexFunc(r.Faults, func(f Fault) bool { return f.Field == tt.field })
		if i < 0 || !strings.Contains(r.Faults[i].Text, tt.text) {
			t.Errorf("%s: faults %v, want %q at %q", tt.name, r.Faults, tt.text, tt.field)
			continue
		}
		if tt.near != "" && !slices.ContainsFunc(r.Faults[i].Near, func(n resolve.Candidate) bool { return string(n.Slug) == tt.near }) {
			t.Errorf("%s: near are %v, want %s", tt.name, r.Faults[i].Near, tt.near)
		}
	}
	r := mustDesk(t).Check(filled("run_date", "today", "generation_tps", "fast", "tool", "", "model", "qwen3-8c"))
	var order []string
	for _, f := range r.Faults {
		order = append(order, f.Field)
	}
	if want := []string{"model", "run_date", "generation_tps", "tool"}; !slices.Equal(order, want) {
		t.Errorf("faults of %q, want %q in the order of the form", order, want)
	}
	r = mustDesk(t).Check(url.Values{"model": {"qwen3-8b", "gpt-oss-20b"}})
	if len(r.Faults) != 1 || r.Faults[0].Text != "must be given once" {
		t.Errorf("a field given twice: %v", r.Faults)
	}
}

// TestRepeat: a measurement the dataset has is rejected, by its id or its figures.
func TestRepeat(t *testing.T) {
	d := mustDesk(t)
	var b *dataset.Benchmark
	for _, b = range d.set.Benchmarks {
		plain := b.PromptTPS != nil && b.GenerationTPS != nil && *b.PromptTPS > 1234.5 && *b.GenerationTPS != float64(int(*b.GenerationTPS))
		if plain && b.Tool == "llama.cpp" && b.Source == dataset.Community && b.RunDate != nil && b.Notes == nil {
			break
		}
	}
	line, err := record.Line(b)
	if err != nil {
		t.Fatal(err)
	}
	form, err := ValuesOf(line)
	if err != nil {
		t.Fatal(err)
	}
	form.Set("source_url", "https://example.com/elsewhere") // which is not among the sources
	r := d.Check(form)
	if len(r.Lines) != 0 || !slices.ContainsFunc(r.Faults, func(f Fault) bool { return strings.Contains(f.Text, "is the same measurement as") }) {
		t.Errorf("%s entered again from another page: faults %v, lines %v", b.ID, r.Faults, r.Lines)
	}
	if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.HasPrefix(n, "example.com is not in sources.json yet") }) {
		t.Errorf("notes %v do not say that the source is new", r.Notes)
	}
}

// TestOutput: an output of llama-bench gives the lines the importer makes, each checked with all of
// the dataset.
func TestOutput(t *testing.T) {
	d := mustDesk(t)
	text, err := os.ReadFile(filepath.Join("../importer/testdata", "json-metal-m4-llama-3.2-3b.json"))
	if err != nil {
		t.Fatal(err)
	}
	form := url.Values{OutputField: {string(text)}, "source_url": {"https://github.com/ggml-org/llama.cpp/discussions/4167"}, "hardware": {"Apple M4"}, "model": {"llama-3.2-3b-instruct"}}
	r := d.Check(form)
	if len(r.Faults) > 0 || len(r.Lines) == 0 {
		t.Fatalf("faults %v, %d lines, skipped %v", r.Faults, len(r.Lines), r.Skipped)
	}
	for _, l := range r.Lines {
		var b dataset.Benchmark
		if record.Decode([]byte(l.Text), &b) != nil || b.ID != l.ID || b.Model != "llama-3.2-3b-instruct" || b.SourceKey == nil || *b.SourceKey != "github.com/ggml-org/llama.cpp" {
			t.Errorf("a line is %s", l.Text)
		}
	}
	for _, tt := range []struct{ field, value, at, text string }{
		{OutputField, "", "generation_tps", "must be set"},
		{OutputField, "hello", OutputField, "has no result of llama-bench"},
		{OutputField, "[1,2", OutputField, ""},
		{OutputField, strings.Repeat("x", maxPasted+1), OutputField, "must be at most"},
		{"model", "llama-3.2-3b-instrukt", "model", "no model has this name"},
		{"source_url", "", "source_url", "must be given if source is"},
		{"source_url", "x", "source_url", "must start with https:// or http://"},
		{"run_date", "today", "run_date", "must be a date"},
		{"total_tps", "3", "", "total_tps: is not a field of the form"},
	} {
		form := url.Values{OutputField: {string(text)}, "source_url": {"https://github.com/ggml-org/llama.cpp/discussions/4167"}, "hardware": {"apple-m4"}}
		form.Set(tt.field, tt.value)
		r := d.Check(form)
		if len(r.Lines) > 0 || !slices.ContainsFunc(r.Faults, func(f Fault) bool { return f.Field == tt.at && strings.Contains(f.Text, tt.text) }) {
			t.Errorf("%s=%.40q: faults %v, %d lines", tt.field, tt.value, r.Faults, len(r.Lines))
		}
	}
}

// TestOutputFaults: a row that breaks a rule keeps its own line back, and no other, and an unlikely row is ready with
// a warning.
func TestOutputFaults(t *testing.T) {
	rows := "Device 0: NVIDIA GeForce RTX 4090, compute capability 8.9, VMM: yes\n| model | size | params | backend | ngl | test | t/s |\n|---|---|---|---|---|---|---|\n"
	for _, speed := range []string{"90000.5 ± 1", "124.65 ± 0.08", "0.65 ± 0.01"} {
		rows += "| llama 8B Q4_K - Medium | 4.58 GiB | 8.03 B | CUDA | 99 | tg128 | " + speed + " |\n"
	}
	r := mustDesk(t).Check(url.Values{OutputField: {rows}, "model": {"Llama 3.1 8B Instruct"}, "source_url": {"https://example.com/run"}})
	if len(r.Faults) > 0 || len(r.Lines) != 2 || !strings.Contains(r.Lines[0].Text, "124.65") || !strings.Contains(r.Lines[1].Text, "0.65") {
		t.Errorf("faults %v, lines %v, want the second and the third", r.Faults, r.Lines)
	}
	const place = "llama-3.1-8b-instruct on nvidia-rtx-4090, generation_tps: "
	if len(r.Skipped) != 1 || !strings.HasPrefix(r.Skipped[0], place+"is 439.0861 times what the memory bandwidth allows") {
		t.Errorf("left out are %q", r.Skipped)
	}
	for _, want := range []string{"is 90000.5, far above the median", "is 0.65, far below the median"} {
		if !slices.ContainsFunc(r.Warnings, func(f Fault) bool { return strings.HasPrefix(f.Text, place+want) }) {
			t.Errorf("warnings are %v, want %q", r.Warnings, want)
		}
	}
}

// TestOutputBeside: figures that are filled in beside an output are not used, which a note says.
func TestOutputBeside(t *testing.T) {
	rows := "Device 0: NVIDIA GeForce RTX 4090, compute capability 8.9, VMM: yes\n| model | size | params | backend | ngl | test | t/s |\n|---|---|---|---|---|---|---|\n" +
		"| llama 8B Q4_K - Medium | 4.58 GiB | 8.03 B | CUDA | 99 | tg128 | 124.65 ± 0.08 |\n"
	r := mustDesk(t).Check(url.Values{OutputField: {rows}, "model": {"Llama 3.1 8B Instruct"}, "source_url": {"https://example.com/run"}, "generation_tps": {"3"}, "hardware_count": {"1"}})
	if len(r.Lines) != 1 || !strings.Contains(r.Lines[0].Text, "124.65") || !slices.Contains(r.Notes, "Generation speed was ignored: if you paste output, only the output counts.") ||
		slices.ContainsFunc(r.Notes, func(n string) bool { return strings.HasPrefix(n, "Number of devices") }) {
		t.Errorf("lines %v, notes %q", r.Lines, r.Notes)
	}
}

// TestOutputDate: the clock of the desk says what is in the future, also for an output that prints no date.
func TestOutputDate(t *testing.T) {
	d := mustDesk(t)
	rows := "Device 0: NVIDIA GeForce RTX 4090, compute capability 8.9, VMM: yes\n| model | size | params | backend | ngl | test | t/s |\n|---|---|---|---|---|---|---|\n" +
		"| llama 8B Q4_K - Medium | 4.58 GiB | 8.03 B | CUDA | 99 | tg128 | 124.65 ± 0.08 |\n"
	form := url.Values{OutputField: {rows}, "model": {"Llama 3.1 8B Instruct"}, "source_url": {"https://example.com/run"}, "run_date": {"2025-01-05"}}
	for day, want := range map[int]int{1: 1, 5: 0} {
		r := NewDesk(d.set, d.names, func() time.Time { return time.Date(2025, 1, day, 0, 0, 0, 0, time.UTC) }).Check(form)
		faults := slices.DeleteFunc(r.Faults, func(f Fault) bool {
			return f.Field != "run_date" || !strings.Contains(f.Text, "must not be in the future")
		})
		if len(faults) != want || len(r.Lines) != 1-want {
			t.Errorf("5 January on the %d: faults %v, %d lines", day, r.Faults, len(r.Lines))
		}
	}
}

// TestOutputLength: an output of as many lines as one page can show is taken, and one line more is not.
func TestOutputLength(t *testing.T) {
	rows := "Device 0: NVIDIA GeForce RTX 4090, compute capability 8.9, VMM: yes\n| model | size | params | backend | ngl | test | t/s |\n|---|---|---|---|---|---|---|\n"
	for n := 1; n <= maxLines+1; n++ {
		rows += fmt.Sprintf("| llama 8B Q4_K - Medium | 4.58 GiB | 8.03 B | CUDA | 99 | tg%d | 124.%d ± 0.08 |\n", n, 100+n)
		if n < maxLines {
			continue
		}
		r := mustDesk(t).Check(url.Values{OutputField: {rows}, "model": {"Llama 3.1 8B Instruct"}, "source_url": {"https://example.com/run"}})
		if n == maxLines && (len(r.Faults) > 0 || len(r.Lines) != n) || n > maxLines && (len(r.Lines) > 0 || len(r.Faults) != 1 || r.Faults[0].Text != "must give at most 100 lines, got 101") {
			t.Errorf("%d rows: faults %v, %d lines, skipped %v", n, r.Faults, len(r.Lines), r.Skipped)
		}
	}
}

// TestFields: every field of the form is one of a benchmark, of the kind it is filled in as, and
// every choice is one the record takes.
func TestFields(t *testing.T) {
	kinds := map[string]reflect.Kind{}
	for _, f := range record.SchemaOf(reflect.TypeFor[dataset.Benchmark]()).Fields {
		kinds[f.Name] = f.Kind
	}
	for _, f := range fields {
		name := f.Name
		if name == OutputField {
			continue
		}
		kind, known := kinds[name]
		if !known || (f.Kind == "number") != (kind.String() == "int64" || kind.String() == "float64") || kind.String() == "bool" && len(f.Choices) != 2 {
			t.Errorf("%s is a %s in the form and a %s in the record", name, f.Kind, kind)
		}
		for _, c := range f.Choices {
			for _, fault := range mustDesk(t).Check(filled(name, c.Value)).Faults {
				if fault.Field == name {
					t.Errorf("%s=%s: %s", name, c.Value, fault.Text)
				}
			}
		}
	}
}

// FuzzForm: whatever is sent, a line that is ready decodes, and what is rejected says why.
func FuzzForm(f *testing.F) {
	f.Add("model=qwen3-8b&hardware=RTX+4090&tool=llama.cpp&generation_tps=100.1&source_url=https%3A%2F%2Fexample.com")
	f.Add("output=%7C+model+%7C+test+%7C+t%2Fs+%7C%0A%7C+llama+8B+%7C+tg128+%7C+1+%7C&source_url=https%3A%2F%2Fexample.com&model=llama-3.1-8b-instruct&hardware=rtx+4090")
	f.Add("model=%00&notes=%3Cscript%3E&hardware_count=1e400&run_date=-1")
	f.Add("output=%5B%7B%22model_filename%22%3A1%7D%5D")
	d := mustDesk(f)
	f.Fuzz(func(t *testing.T, body string) {
		values, err := url.ParseQuery(body)
		if err != nil || len(body) > 8<<10 {
			return
		}
		r := d.Check(values)
		for _, l := range r.Lines {
			var b dataset.Benchmark
			if problems := record.Decode([]byte(l.Text), &b); problems != nil || strings.Contains(l.Text, "\n") {
				t.Errorf("%v: %q", problems, l.Text)
			}
			if findings, err := dataset.Propose(d.set, []byte(l.Text), dataset.Options{Now: d.now}); err != nil || len(findings.Faults()) > 0 {
				t.Errorf("a line that is ready: %v %v: %s", err, findings, l.Text)
			}
		}
		if len(r.Lines) == 0 && len(r.Faults) == 0 && len(r.Skipped) == 0 {
			t.Errorf("nothing came of %q, and nothing says why", body)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	d := mustDesk(b)
	b.ReportAllocs()
	for b.Loop() {
		if r := d.Check(filled()); len(r.Lines) != 1 {
			b.Fatal(r.Faults)
		}
	}
}

var update = flag.Bool("update", false, "write the form of issues")

// asIssue is what GitHub makes of a form that was filled in.
func asIssue(values url.Values) string {
	var b strings.Builder
	for _, f := range fields {
		v := values.Get(f.Name)
		for _, o := range f.Choices {
			if o.Value == v {
				v = o.Label
			}
		}
		switch {
		case v == "":
			v = emptyAnswer
		case f.Name == OutputField:
			v = "```text\n" + v + "\n```"
		}
		fmt.Fprintf(&b, "### %s\r\n\r\n%s\r\n\r\n", f.Label, v)
	}
	return b.String()
}

// issueForm is the form for an issue with which GitHub asks for a measurement, as YAML.
func issueForm() []byte {
	var b strings.Builder
	b.WriteString(`# Made from the form of the page /contribute: go test ./dataset/contribute -update
name: Measurement
description: Tokens per second that you measured or found published.
title: "Measurement: "
labels: [measurement]
body:
  - type: markdown
    attributes:
      value: Paste the output of llama-bench or fill in the fields. When a maintainer accepts the issue, it becomes a pull request.
`)
	attribute := func(name, text string) {
		quoted, _ := jsonv2.Marshal(text) // of this program; JSON is YAML
		if text != "" {
			fmt.Fprintf(&b, "      %s: %s\n", name, quoted)
		}
	}
	for _, f := range fields {
		kinds := map[kind]string{"choice": "dropdown", "long": "textarea"}
		fmt.Fprintf(&b, "  - type: %s\n    id: %s\n    attributes:\n", cmp.Or(kinds[f.Kind], "input"), f.Name)
		attribute("label", f.Label)
		attribute("description", strings.TrimSpace(f.Help+" "+strings.TrimSuffix("In "+f.Unit+".", "In .")))
		attribute("placeholder", f.Hint)
		if f.Choices != nil {
			b.WriteString("      options:\n")
		}
		for _, o := range f.Choices {
			fmt.Fprintf(&b, "        - %q\n", o.Label)
		}
		if f.Name == OutputField {
			attribute("render", "text")
		}
	}
	return []byte(b.String())
}

// TestIssue: the form of issues is that of the page, and both make the same line of the same values.
func TestIssue(t *testing.T) {
	const path = "../../.github/ISSUE_TEMPLATE/measurement.yml"
	if *update {
		if err := os.WriteFile(path, issueForm(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != string(issueForm()) {
		t.Errorf("%v: the form of issues is not that of the page; run go test ./dataset/contribute -update", err)
	}
	desk := mustDesk(t)
	output := "| model | size | params | backend | ngl | test | t/s |\n|---|---|---|---|---|---|---|\n| qwen3 8B Q4_K - Medium | 4.68 GiB | 8.19 B | CUDA | 99 | tg128 | 101.27 ± 0.1 |\n\nbuild: b7423 (2aa45ef9e)\n"
	for name, values := range map[string]url.Values{
		"fields":    filled("flash_attention", "true", "compute_unit", "gpu", "notes", "one\n\n### two\n<b>three</b>"),
		"a fault":   filled("hardware", "unobtainium"),
		"an output": {"output": {strings.TrimSpace(output)}, "model": {"qwen3-8b"}, "hardware": {"RTX 4090"}, "source": {"community"}, "source_url": {"https://github.com/ggml-org/llama.cpp/discussions/4167"}, "run_date": {"2026-05-01"}},
	} {
		read, err := ReadIssue(asIssue(values))
		if err != nil {
			t.Fatal(err)
		}
		page, issue := desk.Check(values), desk.Check(read)
		if fmt.Sprint(page.Lines, page.Faults) != fmt.Sprint(issue.Lines, issue.Faults) || len(page.Lines) == 0 && name != "a fault" {
			t.Errorf("%s: the page makes %v %v, the issue %v %v", name, page.Lines, page.Faults, issue.Lines, issue.Faults)
		}
		if report := desk.Report(issue); !strings.Contains(report, "other benchmark") && !strings.Contains(report, "no hardware has this name") {
			t.Errorf("%s: the report is %s", name, report)
		}
	}
	for body, want := range map[string]string{
		"hello":                              "was not opened with the measurement form",
		"### Model\n\na\n\n### Model\n\nb\n": "appears twice",
		strings.Repeat("x", maxIssue+1):      "must be at most",
	} {
		if _, err := ReadIssue(body); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", body, err, want)
		}
	}
}
