package pages

import (
	"fmt"
	"net/url"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/text"
	"modeldex/httpapi/charts"
	"modeldex/index"
)

// maxSpeedRows is how many rows a table of speeds has.
const maxSpeedRows = 60

// singleStream are the single-stream speeds of a record, which field has, by another field and the quantization.
func singleStream(gen *index.Generation, field index.Field, slug string, by index.Field) *index.Stats {
	stats, err := gen.Benchmarks.Stats(index.StatsQuery{
		Query: index.Query{Sets: []index.Set{{Field: field, Values: []string{slug}}, {Field: index.Settings, Values: []string{index.SingleStream}}}},
		By:    []index.Field{by, index.Quantization}, Metric: index.GenerationTPS, MaxGroups: 10_000,
	})
	if err != nil { // more groups than one record can have
		return &index.Stats{}
	}
	return stats
}

// speedTable is the measured speeds of a record, which field has, with a row for each value of another field and each
// quantization, the fastest first. runs is how many runs of any kind there are.
func speedTable(n *names, speeds *index.Stats, field index.Field, slug string, by index.Field, runs int) Table {
	t := Table{
		ID: "speed", Title: "Measured speed by " + string(by),
		Intro:   "Tokens per second while one stream generates on one device, from an empty cache or behind a prompt of at most 1,200 tokens.",
		Columns: columns(Sentence(string(by)), "~Quantization", "#Median tok/s", "#Lowest", "#Highest", "#Runs", "#Pages|Distinct source pages"),
		Empty:   "No run of this kind is known. Runs with other settings are below.",
	}
	if runs == 0 {
		t.Empty = "Nobody has published a run yet."
		return t
	}
	kind, all := "hardware", "All runs of this model"
	if by == index.Model {
		kind, all = "models", "All runs on this hardware"
	}
	t.More = &Link{Text: all, Href: address("/explore/benchmarks", string(field), slug)}
	draw := charts.For(n.gen)
	groups, _ := speeds.Page("median", true, nil, maxSpeedRows)
	for i := range groups {
		g := &groups[i]
		other, quantization := g.Key()[0], g.Key()[1]
		count := Cell{Text: text.Whole(g.N), Href: draw.ListOf(field, slug, by, other, quantization)}
		if g.N > 1 && !g.Comparable {
			count.Note, count.Title = "mixed settings", "These runs differ in settings that matter; open them before comparing."
		}
		t.Rows = append(t.Rows, []Cell{
			n.cell(kind, dataset.Slug(other)), cell(quantization),
			{Text: text.Tenths(g.Median)},
			{Text: text.Tenths(g.Min)},
			{Text: text.Tenths(g.Max)},
			count,
			{Text: text.Whole(g.Pages)},
		})
	}
	if len(groups) > 0 {
		t.Source = text.Count(len(groups), "row", "rows") + " from published measurements; each run names its page."
	}
	return t
}

// benchmarksOf is the list of the runs behind a row.
func benchmarksOf(model, hardware, quantization string) string {
	q := url.Values{"settings": {index.SingleStream}}
	for name, v := range map[string]string{"model": model, "hardware": hardware, "quantization": quantization} {
		if v != "" {
			q.Set(name, v)
		}
	}
	return "/explore/benchmarks?" + q.Encode()
}

// shownRuns is how many runs the page of a record lists.
const shownRuns = 50

// runsOf is the newest runs of a record, of which own are its own and the others of its variants.
func runsOf(gen *index.Generation, field index.Field, slug string, own int) Table {
	page := gen.Benchmarks.Select(index.Query{Sets: []index.Set{{Field: field, Values: []string{slug}}}, Limit: shownRuns})
	t := Table{ID: "runs", Title: "Runs", Empty: "No run is known. If you measured one, propose it.", Columns: runColumns(field)}
	if page.Total > 0 {
		t.Intro = newestOf(len(page.Ords), page.Total) + "."
		t.More = &Link{Text: "All runs, with filters", Href: address("/explore/benchmarks", string(field), slug)}
		if page.Total > own && field != index.Tool {
			t.Intro += fmt.Sprintf(" %s of them are of the record itself, the others of its variants.", text.Whole(own))
		}
	}
	t.addRuns(gen, page.Ords, field)
	return t
}

// newestOf says how many of all published runs are listed.
func newestOf(listed, all int) string {
	switch {
	case listed < all:
		return "The newest " + text.Whole(listed) + " of " + text.Count(all, "published run", "published runs")
	case all == 1:
		return "The only published run"
	}
	return "All " + text.Count(all, "published run", "published runs")
}

func (t *Table) addRuns(gen *index.Generation, ords []uint32, without index.Field) {
	n := newNames(gen)
	for _, ord := range ords {
		t.Rows = append(t.Rows, runCells(n, readRun(gen.Benchmarks.Row(ord)), without))
	}
}

// runColumns are the columns of a table of runs; the field that all of them share is left out.
func runColumns(without index.Field) (out []Column) {
	fields := []index.Field{index.Model, index.Hardware, index.Tool}
	heads := columns("Model", "Hardware", "Tool", "Quantization", "#Generation, tok/s", "#Prompt, tok/s", "Settings", "~Date", "Source")
	for _, i := range []int{0, 1, 3, 4, 5, 6, 2, 7, 8} {
		if i >= len(fields) || fields[i] != without {
			out = append(out, heads[i])
		}
	}
	return out
}

// runCells are the cells of a run under runColumns.
func runCells(n *names, b *benchmarkRecord, without index.Field) []Cell {
	out := make([]Cell, 0, 9)
	speed, unit := b.GenerationTPS, " tok/s"
	if b.IsThroughput() {
		speed, unit = b.TotalTPS, " tok/s, output of the whole system under load"
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
		tool.Note = str(b.Backend)
		out = append(out, tool)
	}
	source := Cell{Text: "own measurement", Note: string(b.Source)}
	if b.SourceURL != nil {
		source.Text, source.Href = host(str(b.SourceURL)), webAddress(str(b.SourceURL))
	}
	return append(out, cell(str(b.RunDate)), source)
}

// settingsOf is what makes a run differ from one stream on one device, in a few words.
func settingsOf(b *benchmarkRecord) string {
	var out []string
	add := func(is bool, words string) {
		if is {
			out = append(out, words)
		}
	}
	yes := func(v *bool) bool { return v != nil && *v }
	count := func(v *int64) (n int64) {
		if v != nil {
			n = *v
		}
		return n
	}
	add(b.HardwareCount > 1, text.Count(b.HardwareCount, "device", "devices"))
	add(count(b.Concurrency) > 1, text.Whole(count(b.Concurrency))+" streams")
	add(count(b.ContextDepth) > 0, "depth "+text.Tokens(count(b.ContextDepth)))
	add(b.BehindPrompt() && count(b.NPrompt) > dataset.ShortPrompt, "prompt of "+text.Tokens(count(b.NPrompt))+" tokens")
	add(b.Scenario != nil, str(b.Scenario))
	add(yes(b.SpeculativeDecoding), "speculative")
	add(yes(b.PartialOffload), "offloaded")
	add(str(b.RateBasis) == "end_to_end", "end to end")
	add(yes(b.FlashAttention), "flash attention")
	return strings.Join(out, ", ")
}
