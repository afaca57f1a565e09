package pages

import (
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/record"
	"modeldex/dataset/text"
	"modeldex/httpapi/charts"
	"modeldex/httpapi/rows"
	"modeldex/index"
)

const maxSpeedRows = 60

// speedTable is the measured single-stream speeds of a record, which field has, with a row for each value of another field
// and each quantization, the fastest first.
func speedTable(gen *index.Generation, field index.Field, slug string, by index.Field) Table {
	kind, all := "hardware", "All benchmarks of this model"
	if by == index.Model {
		kind, all = "models", "All benchmarks on this hardware"
	}
	t := Table{
		ID: "speed", Title: "Benchmarks",
		Intro:   "Generation speed for one request at a time on one device, with an empty cache or a prompt of at most 1,200 tokens.",
		Columns: columns(Sentence(string(by)), "~Quantization", "#Median tok/s", "#Lowest", "#Highest", "#Benchmarks", "#Sources"),
		Empty:   "No comparable benchmarks yet.",
		More:    &Link{Text: all, Href: address("/explore/benchmarks", string(field), slug)},
	}
	_, runs := gen.Benchmarks.First(index.Query{Sets: []index.Set{{Field: field, Values: []string{slug}}}})
	listed := field
	if runs == 0 && field == index.Hardware { // a machine is as fast as others with its chip
		if _, n := gen.Benchmarks.First(index.Query{Sets: []index.Set{{Field: index.Silicon, Values: []string{slug}}}}); n > 0 {
			listed, runs = index.Silicon, n
			t.Intro += " There are no benchmarks of this exact hardware; these are from hardware with the same chip."
			t.More = &Link{Text: "All benchmarks on this chip", Href: address("/explore/benchmarks", string(index.Silicon), slug)}
		}
	}
	stats, err := gen.Benchmarks.Stats(index.StatsQuery{
		Query: index.Query{Sets: []index.Set{{Field: listed, Values: []string{slug}}, {Field: index.Settings, Values: []string{index.SingleStream}}}},
		By:    []index.Field{by, index.Quantization}, Metric: index.GenerationTPS, MaxGroups: 10_000,
	})
	if runs == 0 || err != nil { // more groups than one record can have
		t.Intro, t.More = "", nil
		return t
	}
	t.More.Text += " (" + text.Whole(runs) + ")"
	n, draw := newNames(gen), charts.For(gen)
	groups, _ := stats.Page("median", true, nil, maxSpeedRows)
	for i := range groups {
		g := &groups[i]
		other, quantization := g.Key()[0], g.Key()[1]
		count := Cell{Text: text.Whole(g.N), Href: draw.ListOf(listed, slug, by, other, quantization)}
		if g.N > 1 && !g.Comparable {
			count.Note, count.Title = "mixed settings", "These benchmarks used different settings; check them before you compare."
		}
		t.Rows = append(t.Rows, []Cell{
			n.cell(kind, dataset.Slug(other)), cell(quantization), {Text: text.Tenths(g.Median)}, {Text: text.Tenths(g.Min)}, {Text: text.Tenths(g.Max)}, count, {Text: text.Whole(g.Pages)},
		})
	}
	return t
}

const shownRuns = 30

func runsOf(gen *index.Generation, field index.Field, slug string) Table {
	page := gen.Benchmarks.Select(index.Query{Sets: []index.Set{{Field: field, Values: []string{slug}}}, Limit: shownRuns})
	t := Table{ID: "runs", Title: "Newest benchmarks", Columns: runColumns(field), More: &Link{Text: "All " + text.Whole(page.Total) + " benchmarks", Href: address("/explore/benchmarks", string(field), slug)}}
	n := newNames(gen)
	for _, ord := range page.Ords {
		t.Rows = append(t.Rows, runCells(n, decode[rows.Benchmark](gen.Benchmarks.Row(ord)), field))
	}
	return t
}

// runColumns are the columns of a table of runs; the field that all of them share is left out.
func runColumns(without index.Field) (out []Column) {
	fields := []index.Field{index.Model, index.Hardware, index.Tool}
	heads := columns("Model", "Hardware", "Tool", "Quantization", "#Generation (tok/s)", "#Prompt (tok/s)", "Settings", "~Date", "Source")
	for _, i := range []int{0, 1, 3, 4, 5, 6, 2, 7, 8} {
		if i >= len(fields) || fields[i] != without {
			out = append(out, heads[i])
		}
	}
	return out
}

func runCells(n *names, b *rows.Benchmark, without index.Field) []Cell {
	out := make([]Cell, 0, 9)
	speed, unit := b.GenerationTPS, " tok/s"
	if b.IsThroughput() {
		speed, unit = b.TotalTPS, " tok/s in total, under load"
	}
	generation := known(speed, text.Tenths)
	if generation.Href = "/benchmarks/" + string(b.ID); speed != nil {
		generation.Title = text.Exact(*speed) + unit
	}
	if b.Withdrawn != nil {
		generation.Note, generation.Title = "withdrawn", b.Withdrawn.Reason
	}
	prompt := known(b.PromptTPS, text.Tenths)
	if b.PromptTPS != nil && text.Exact(*b.PromptTPS) != prompt.Text {
		prompt.Title = text.Exact(*b.PromptTPS) + " tok/s"
	}
	if without != index.Model {
		out = append(out, n.cell("models", b.Model))
	}
	if without != index.Hardware {
		hardware := n.cell("hardware", b.Hardware)
		if b.HardwareCount > 1 {
			hardware.Note = "× " + text.Whole(b.HardwareCount)
		}
		out = append(out, hardware)
	}
	quantization := cell(str(b.Quantization))
	if len(quantization.Text) > 14 { // most are short; sentences of sources may break anywhere
		quantization.Class = "long"
	}
	out = append(out, quantization, generation, prompt, cell(settingsOf(b)))
	if without != index.Tool {
		tool := n.cell("tools", b.Tool)
		tool.Note = shown(str(b.Backend))
		out = append(out, tool)
	}
	source := Cell{Text: shown(string(b.Source))}
	if b.SourceURL != nil {
		source = Cell{Text: host(str(b.SourceURL)), Href: webAddress(str(b.SourceURL)), Note: source.Text}
	}
	return append(out, cell(str(b.RunDate)), source)
}

// settingsOf is what makes a run differ from one stream on one device, in a few words.
func settingsOf(b *rows.Benchmark) string {
	var out []string
	add := func(is bool, words string) {
		if is {
			out = append(out, words)
		}
	}
	add(b.HardwareCount > 1, text.Count(b.HardwareCount, "device", "devices"))
	add(value(b.Concurrency) > 1, text.Whole(value(b.Concurrency))+" parallel requests")
	add(value(b.ContextDepth) > 0, text.Tokens(value(b.ContextDepth))+" tokens in the cache")
	add(b.BehindPrompt() && value(b.NPrompt) > record.ShortPrompt, "prompt of "+text.Tokens(value(b.NPrompt))+" tokens")
	add(b.Scenario != nil, str(b.Scenario))
	add(value(b.SpeculativeDecoding), "speculative decoding")
	add(value(b.PartialOffload), "offloaded")
	add(str(b.RateBasis) == "end_to_end", "prompt time included")
	add(value(b.FlashAttention), "flash attention")
	return strings.Join(out, ", ")
}
