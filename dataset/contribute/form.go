package contribute

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/record"
	"modeldex/dataset/text"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// A kind is how a field is filled in: text, name (of a record), number, choice, date or long. The zero value is text.
type kind string

// Field is one field of the form. Its name is that of the field of a benchmark, but for OutputField.
type Field struct {
	Name, Label, Unit string
	// Hint is a value somebody might enter.
	Hint string
	// Help says what is not clear from the label.
	Help string
	Kind kind
	// Of is the kind of record a name is of: models, hardware or tools.
	Of string
	// Choices are the values of a choice, in words as well.
	Choices []Option
	// Usual is the value of a field that was not changed.
	Usual string
	Wide  bool
}

// Option is one value of a choice.
type Option struct{ Value, Label string }

// Group is fields that belong together.
type Group struct {
	Title  string
	Fields []Field
}

var yesNo = []Option{{"true", "yes"}, {"false", "no"}}

// OutputField is the field for what llama-bench printed. With it, the fields of sharedFields count and no others.
const OutputField = "output"

var sharedFields = []string{"model", "hardware", "source_url", "source", "run_date", OutputField}

// Groups is the form.
var Groups = []Group{
	{Title: "What was measured", Fields: []Field{
		{
			Name: "model", Label: "Model", Kind: "name", Of: "models", Hint: "Llama 3.1 8B Instruct", Wide: true,
			Help: "A model name, an ID from this site, or a file name such as Qwen3-8B-Q4_K_M.gguf. Required even with llama-bench output, which only says something like “llama 8B”.",
		},
		{Name: "hardware", Label: "Hardware", Kind: "name", Of: "hardware", Hint: "RTX 4090", Help: "Optional if the output below names the device.", Wide: true},
		{
			Name: "source_url", Label: "Source page", Hint: "https://github.com/…", Wide: true,
			Help: "The exact page. Only maintainers may leave this empty, for their own benchmarks.",
		},
		{Name: "source", Label: "Measured by", Kind: "choice", Usual: string(dataset.Community), Choices: []Option{
			{string(dataset.Community), "a user (community)"}, {string(record.Official), "the vendor (official)"}, {string(dataset.Owner), "modeldex (owner)"},
		}},
		{Name: "run_date", Label: "Date", Kind: "date", Hint: "2026-05-11"},
	}},
	{Title: "Output of llama-bench", Fields: []Field{{
		Name: OutputField, Label: "Output", Kind: "long", Wide: true,
		Help: "In any format (-o md, csv, json or jsonl). Include the lines around the table: they name the device and the build.",
	}}},
	{Title: "Or enter the speed yourself", Fields: []Field{
		{Name: "generation_tps", Label: "Generation speed", Unit: "tokens/s", Kind: "number", Hint: "131.4", Help: "Enter this, the prompt speed or both."},
		{Name: "rate_basis", Label: "Generation speed covers", Kind: "choice", Choices: []Option{
			{"decode", "generation only, one request"}, {"end_to_end", "prompt and generation time, one request"}, {"total", "all parallel requests"},
		}},
		{Name: "prompt_tps", Label: "Prompt speed", Unit: "tokens/s", Kind: "number", Hint: "2310"},
		{Name: "ttft_ms", Label: "Time to first token", Unit: "ms", Kind: "number", Hint: "212"},
		{Name: "n_gen", Label: "Generated tokens", Kind: "number", Hint: "128"},
		{Name: "n_prompt", Label: "Prompt tokens", Kind: "number", Hint: "512"},
	}},
	{Title: "Settings", Fields: []Field{
		{Name: "tool", Label: "Tool", Kind: "name", Of: "tools", Hint: "llama.cpp", Help: "Required without llama-bench output."},
		{Name: "tool_version", Label: "Tool version", Hint: "b7423 (2aa45ef9e)"},
		{Name: "quantization", Label: "Quantization", Hint: "Q4_K_M"},
		{Name: "hardware_count", Label: "Number of devices", Kind: "number", Usual: "1"},
		{Name: "backend", Label: "Backend", Hint: "cuda, vulkan, rocm, metal, cpu"},
		{Name: "compute_unit", Label: "Ran on", Kind: "choice", Choices: []Option{
			{"gpu", "GPU"}, {"cpu", "CPU"}, {"npu", "NPU"}, {"mixed", "GPU and CPU"},
		}},
		{Name: "context_depth", Label: "Tokens already in the cache", Kind: "number", Hint: "0"},
		{Name: "concurrency", Label: "Parallel requests", Kind: "number", Hint: "1"},
		{Name: "flash_attention", Label: "Flash attention", Kind: "choice", Choices: yesNo},
		{Name: "speculative_decoding", Label: "Speculative decoding", Kind: "choice", Choices: yesNo},
		{Name: "partial_offload", Label: "Offloading to main memory", Kind: "choice", Choices: yesNo},
		{Name: "n_gpu_layers", Label: "Layers on the GPU", Kind: "number", Hint: "99"},
		{Name: "batch_size", Label: "Batch size", Unit: "tokens", Kind: "number", Hint: "2048"},
		{Name: "threads", Label: "CPU threads", Kind: "number", Hint: "16"},
		{Name: "date_basis", Label: "Date refers to", Kind: "choice", Help: "By default, the day of the benchmark.", Choices: []Option{
			{"run", "the day of the benchmark"}, {"posted", "the day of the post"}, {"commit", "the day of the last commit"},
		}},
		{Name: "notes", Label: "Notes for readers", Kind: "long", Wide: true},
	}},
}

var fields = slices.Concat(Groups[0].Fields, Groups[1].Fields, Groups[2].Fields, Groups[3].Fields)

func place(name string) int {
	return slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
}

// ValuesOf are the values with which the form gives a line, as far as the form has its fields.
func ValuesOf(line []byte) (url.Values, error) {
	var members map[string]jsontext.Value
	if err := jsonv2.Unmarshal(line, &members); err != nil {
		return nil, err
	}
	out := url.Values{}
	for _, f := range fields {
		v := members[f.Name]
		text := string(v)
		if v.Kind() == '"' {
			if err := jsonv2.Unmarshal(v, &text); err != nil {
				return nil, err
			}
		}
		if text != "" && v.Kind() != 'n' {
			out.Set(f.Name, text)
		}
	}
	return out, nil
}

// longestAddress is how long a filled address may be. GitHub answers 414 to addresses of more than about 8 KiB.
const longestAddress = 7500

// IssueAddress leads to the form for an issue of a repository, filled in; elsewhere than on GitHub to an issue with the
// same text. cut says that a value was too long for an address.
func IssueAddress(repository string, values url.Values) (address string, cut bool) {
	title := strings.Join(strings.Fields("Measurement: "+cmp.Or(values.Get("model"), "llama-bench")+" on "+cmp.Or(values.Get("hardware"), "hardware")), " ")
	filled, body := url.Values{"template": {"measurement.yml"}, "title": {title}}, ""
	for _, f := range fields {
		text := strings.TrimSpace(values.Get(f.Name))
		for _, o := range f.Choices {
			if o.Value == text {
				text = o.Label
			}
		}
		if text != "" {
			filled.Set(f.Name, text)
			body += "### " + f.Label + "\n\n" + text + "\n\n"
		}
	}
	base, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimRight(repository, "/"), ".git"), "/tree/")
	if u, err := url.Parse(base); err != nil || !strings.EqualFold(u.Hostname(), "github.com") {
		filled = url.Values{"title": {title}, "body": {body}}
	}
	for _, long := range []string{OutputField, "notes", "body"} {
		if filled.Has(long) && len(base)+len(filled.Encode()) > longestAddress {
			filled.Del(long)
			cut = true
		}
	}
	return base + "/issues/new?" + filled.Encode(), cut
}

const emptyAnswer = "_No response_"

// maxIssue is the most bytes of an issue that are read; GitHub takes 65,536 characters.
const maxIssue = 256 << 10

// ReadIssue reads an issue made with the form: headings that are labels of fields, each once, with the value below.
func ReadIssue(body string) (url.Values, error) {
	if len(body) > maxIssue {
		return nil, fmt.Errorf("the issue: must be at most %d bytes long, got %d", maxIssue, len(body))
	}
	values, field := url.Values{}, ""
	found := map[string]string{}
	for line := range strings.Lines(strings.ReplaceAll(body, "\r\n", "\n")) {
		label, isHeading := strings.CutPrefix(strings.TrimRight(line, " \n"), "### ")
		i := slices.IndexFunc(fields, func(f Field) bool { return isHeading && f.Label == label })
		if i < 0 {
			found[field] += line
			continue
		}
		field = fields[i].Name
		if _, twice := found[field]; twice {
			return nil, fmt.Errorf("%s: appears twice in the issue", label)
		}
		found[field] = ""
	}
	if field == "" {
		return nil, errors.New("the issue: was not opened with the measurement form")
	}
	for i := range fields {
		f := &fields[i]
		value := strings.TrimSpace(found[f.Name])
		if f.Name == OutputField {
			value = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(value, "```text\n"), "```"))
		}
		for _, o := range f.Choices {
			if value == o.Label {
				value = o.Value
			}
		}
		if value != "" && value != emptyAnswer {
			values.Set(f.Name, value)
		}
	}
	return values, nil
}

// Report says in Markdown what came of a form. Values are shown as code, so that they have no effect.
func (d *Desk) Report(r *Result) string {
	var b strings.Builder
	list := func(title string, faults []Fault) {
		for i, f := range faults {
			if i == 0 {
				fmt.Fprintf(&b, "### %s\n\n", title)
			}
			label := ""
			if i := place(f.Field); i >= 0 {
				label = fields[i].Label + ": "
			}
			fmt.Fprintf(&b, "- %s\n", code(label+f.Text))
			for _, n := range f.Near {
				fmt.Fprintf(&b, "  - %s\n", code(fmt.Sprintf("%s (%s)", n.Name, n.Slug)))
			}
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%s from this issue.\n\n", text.Count(len(r.Lines), "entry was created", "entries were created"))
	list("Problems", r.Faults)
	list("Please check", r.Warnings)
	for _, s := range r.Skipped {
		fmt.Fprintf(&b, "- %s\n", code(s))
	}
	for _, l := range r.Lines {
		fmt.Fprintf(&b, "\n### %s on %s\n\n", l.Model, l.Hardware)
		d.compare(&b, l)
	}
	return b.String()
}

func (d *Desk) compare(b *strings.Builder, l Line) {
	var mine dataset.Benchmark
	if record.Decode([]byte(l.Text), &mine) != nil {
		return
	}
	row := func(r *dataset.Benchmark) {
		var cells []string
		for _, v := range []any{r.ID, r.Tool, r.Backend, r.HardwareCount, r.ContextDepth, r.PromptTPS, r.GenerationTPS, r.RunDate} {
			cell, _ := jsonv2.Marshal(v)
			cells = append(cells, code(strings.Trim(string(cell), `"`)))
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
	b.WriteString("| run | tool | backend | devices | depth | prompt tok/s | generation tok/s | date |\n|---|---|---|---|---|---|---|---|\n")
	row(&mine)
	const most = 5
	others := 0
	for _, r := range d.set.Benchmarks {
		if r.Model != mine.Model || r.Hardware != mine.Hardware || r.Scenario != nil || r.Withdrawn != nil ||
			r.Quantization == nil || mine.Quantization == nil || *r.Quantization != *mine.Quantization {
			continue
		}
		if others++; others <= most {
			row(r)
		}
	}
	fmt.Fprintf(b, "\nThe dataset has %s of the same model, hardware and quantization.\n\n", text.Count(others, "other benchmark", "other benchmarks"))
}

func code(s string) string {
	s = strings.NewReplacer("`", "'", "|", "/").Replace(record.Printable(s))
	return "`" + strings.Join(strings.Fields(s), " ") + "`"
}
