package pages

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/text"
	"modeldex/httpapi/charts"
	"modeldex/index"
)

// Model is the page of a model. ord is its ordinal in the generation.
func (s *Site) Model(gen *index.Generation, ord uint32, at Place) *Sheet {
	m := decode[modelRecord](gen.Models.Detail(ord))
	sources, refs := sourcesOf(m.Sources)
	v := &Sheet{
		Frame: recordFrame(gen, at, "/explore/models", m.Name, modelDescription(m)), Kind: "model", Heading: m.Name,
		Crumbs: []Link{{Text: "Models", Href: "/explore/models"}, {Text: familyName(m), Href: "/explore/models?family=" + url.QueryEscape(string(m.Family))}},
		Lead:   modelLead(m), Sources: sources, Figures: modelFigures(m, refs), Groups: modelGroups(m, refs),
		Actions: []Link{
			{Text: "Hardware that runs it", Href: "/explore/hardware?runs=" + url.QueryEscape(string(m.Slug)), NoFollow: true},
			{Text: "Does it fit on my machine?", Href: "/fit?model=" + url.QueryEscape(string(m.Slug)), NoFollow: true},
			{Text: "Compare", Href: "/compare?models=" + url.QueryEscape(string(m.Slug)), NoFollow: true},
		},
	}
	v.Title += ": memory it needs, and how fast it runs" // what people search for
	if m.Notes != nil {
		v.Notes = append(v.Notes, *m.Notes)
	}
	speeds := singleStream(gen, index.Model, string(m.Slug), index.Hardware, index.Quantization)
	v.Tables = append(v.Tables, speedByHardware(gen, m, speeds), memoryTable(gen, m), sizesTable(m), runsOf(gen, index.Model, string(m.Slug), m.BenchmarkCount))
	v.Answer = modelAnswer(gen, m, speeds, &v.Tables[1])
	draw, slug := charts.For(gen), string(m.Slug)
	v.Tables[0].Plot = plot(draw.ModelSpeeds(slug), "plot-speed", at.Base)
	v.Tables[1].Plot = plot(draw.ModelMemory(slug), "plot-memory", at.Base)
	if missing := missingFacts(m, v.Tables[:3]); missing != "" {
		v.Answer, v.Tables = []Cell{{Text: "Not published: " + missing + ". What memory it needs, and how fast it is, cannot be said."}}, v.Tables[3:]
	}
	s.finishRecord(v, "models", string(m.Slug), m.Name)
	return v
}

// missingFacts names what is not published of a model about which tables say nothing at all; empty where one of them
// has something.
func missingFacts(m *modelRecord, tables []Table) string {
	for i := range tables {
		if len(tables[i].Rows) > 0 || tables[i].Plot != nil {
			return ""
		}
	}
	var out []string
	for _, fact := range []struct {
		name    string
		unknown bool
	}{
		{"parameters", m.ParamsB == nil},
		{"layers", m.Architecture.NumLayers == nil},
		{"length of context", m.Architecture.ContextLength == nil},
		{"sizes of its files", len(m.Quantizations) == 0},
		{"measured speeds", true},
	} {
		if fact.unknown {
			out = append(out, fact.name)
		}
	}
	return strings.Join(out, ", ")
}

// recordFrame is the frame of the page of a record.
func recordFrame(gen *index.Generation, at Place, section, name, description string) Frame {
	return Frame{
		Place: at, Title: name, Description: description, Section: section, Canonical: at.Path, Dataset: stampOf(gen),
		Forms: forms(at, "json", "csv", "md"), Scripts: []string{"app.js"}, Styles: []string{"charts.css"},
	}
}

// familyName is the family of a model, spelled as in its name where that begins with it.
func familyName(m *modelRecord) string {
	family := string(m.Family)
	if len(m.Name) >= len(family) && strings.EqualFold(m.Name[:len(family)], family) {
		return m.Name[:len(family)]
	}
	return Sentence(family)
}

// blockWords are the kinds of blocks in words; others are words themselves.
var blockWords = map[string]string{"moe": "mixture of experts", "ssm": "state-space model"}

// blocks are the kind of blocks of a model in words, empty if it is not known.
func blocks(m *modelRecord) string {
	kind := str(m.Architecture.Type)
	return cmp.Or(blockWords[kind], kind)
}

func modelDescription(m *modelRecord) string {
	return m.Name + ": " + strings.TrimSuffix(modelLead(m), ".") + ". Memory it needs, quantized sizes and measured tokens per second, with sources."
}

func modelLead(m *modelRecord) string {
	parts := []string{m.Organization}
	if m.ParamsB != nil {
		size := text.Rounded(*m.ParamsB) + "B parameters"
		if m.ActiveParamsB != nil {
			size += ", " + text.Rounded(*m.ActiveParamsB) + "B active"
		}
		parts = append(parts, size)
	}
	if m.Architecture.Type != nil {
		parts = append(parts, blocks(m))
	}
	if m.Architecture.ContextLength != nil {
		parts = append(parts, text.Tokens(*m.Architecture.ContextLength)+" context")
	}
	if m.ReleaseDate != nil {
		parts = append(parts, "released "+dateText(m.ReleaseDate))
	}
	return strings.Join(parts, " · ")
}

func modelFigures(m *modelRecord, refs map[string][]int) []Fact {
	f := facts{refs: refs}
	if m.ParamsB != nil {
		note := ""
		if m.ActiveParamsB != nil {
			note = text.Rounded(*m.ActiveParamsB) + "B active per token"
		}
		f.add("Parameters", "params_b", Cell{Text: text.Rounded(*m.ParamsB) + "B", Title: text.Exact(*m.ParamsB) + " billion"}, note)
	}
	if n := m.Architecture.ContextLength; n != nil {
		f.add("Context", "architecture.context_length", Cell{Text: text.Tokens(*n), Title: text.Whole(*n) + " tokens"}, "tokens")
	}
	if in := m.Intelligence; in != nil && in.Score != nil {
		note := string(in.Confidence) + " confidence"
		if in.Lower != nil && in.Upper != nil {
			note = text.Tenths(*in.Lower) + " to " + text.Tenths(*in.Upper) + ", " + note
		}
		f.add("Intelligence", "", Cell{Text: text.Tenths(*in.Score), Href: "/snapshots", Title: "Composite of published evaluations, 0 to 100"}, note)
	}
	f.add("Benchmarks", "", Cell{Text: text.Whole(m.BenchmarkCountWithVariants), Href: "#runs"}, "measured runs")
	return f.list
}

func modelGroups(m *modelRecord, refs map[string][]int) (out []Group) {
	f := facts{refs: refs}
	f.add("Maker", "", Cell{Text: m.Organization, Href: "/explore/models?organization=" + url.QueryEscape(m.Organization), NoFollow: true}, "")
	f.add("Family", "", Cell{Text: string(m.Family), Href: "/explore/models?family=" + url.QueryEscape(string(m.Family)), NoFollow: true}, "")
	f.add("Released", "release_date", Cell{Text: dateText(m.ReleaseDate)}, basis(m.ReleaseDateBasis, map[string]string{"repository": "day of the repository", "listing": "from a listing", "paper": "day of the paper", "reported": "as reported"}))
	f.text("Licence", "license", str(m.License))
	if m.HFRepo != nil {
		f.add("Repository", "", Cell{Text: *m.HFRepo, Href: "https://huggingface.co/" + *m.HFRepo}, "Hugging Face")
	}
	f.text("Input and output", "", join(m.Modalities))
	f.text("Other names", "", strings.Join(m.Aliases, ", "))
	f.text("Slug", "", string(m.Slug))
	out = append(out, f.group("About")...)

	a := &m.Architecture
	f.number("Parameters", "params_b", m.ParamsB, "× 10⁹")
	f.number("Active parameters", "active_params_b", m.ActiveParamsB, "× 10⁹")
	f.number("Effective parameters", "effective_params_b", m.EffectiveParamsB, "× 10⁹")
	f.text("Blocks", "architecture.type", blocks(m))
	f.count("Layers", "architecture.num_layers", a.NumLayers, "")
	f.count("Hidden size", "architecture.hidden_size", a.HiddenSize, "")
	f.count("Feed-forward size", "architecture.intermediate_size", a.IntermediateSize, "")
	f.count("Expert size", "architecture.moe_intermediate_size", a.MoEIntermediateSize, "")
	f.count("Experts", "architecture.num_experts", a.NumExperts, "")
	f.count("Experts per token", "architecture.num_experts_per_token", a.NumExpertsPerToken, "")
	f.count("Shared experts", "architecture.num_shared_experts", a.NumSharedExperts, "")
	f.count("Dense layers first", "architecture.num_dense_layers", a.NumDenseLayers, "")
	f.count("Attention heads", "architecture.num_attention_heads", a.NumAttentionHeads, "")
	f.count("Vocabulary", "architecture.vocab_size", a.VocabSize, "tokens")
	f.count("Context length", "architecture.context_length", a.ContextLength, "tokens")
	f.count("Sliding window", "architecture.sliding_window", a.SlidingWindow, "tokens")
	f.number("RoPE base", "architecture.rope_theta", a.RopeTheta, "")
	f.text("Activation", "architecture.activation", str(a.Activation))
	f.text("Normalization", "architecture.norm", str(a.Norm))
	f.flag("Tied embeddings", "architecture.tie_word_embeddings", a.TieWordEmbeddings)
	out = append(out, f.group("Architecture")...)

	k := &m.KVCache
	f.text("Attention", "kv_cache.attention", str(k.Attention))
	f.count("Key-value heads", "kv_cache.num_kv_heads", k.NumKVHeads, "")
	f.count("Values per head", "kv_cache.head_dim", k.HeadDim, "")
	f.count("Compressed width", "kv_cache.kv_lora_rank", k.KVLoraRank, "")
	f.count("Rotary part", "kv_cache.qk_rope_head_dim", k.QKRopeHeadDim, "")
	f.count("Layers with a cache", "kv_cache.num_kv_layers", k.NumKVLayers, "")
	f.count("Sliding-window layers", "kv_cache.num_sliding_window_layers", k.NumSlidingWindowLayers, "")
	f.count("Linear-attention layers", "kv_cache.num_linear_attention_layers", k.NumLinearAttentionLayers, "")
	if k.RecurrentStateBytes != nil {
		f.add("Recurrent state", "kv_cache.recurrent_state_bytes", Cell{Text: text.Whole(*k.RecurrentStateBytes) + " bytes"}, "per sequence")
	}
	return append(out, f.group("Key-value cache")...)
}

func basis[T ~string](v *T, words map[string]string) string {
	if v == nil {
		return ""
	}
	return words[string(*v)]
}

// speedByHardware is the measured speeds of a model, one row per hardware and quantization.
func speedByHardware(gen *index.Generation, m *modelRecord, speeds *index.Stats) Table {
	t := speedTable("hardware")
	t.Intro += " Each row is one quantization on one piece of hardware."
	if m.BenchmarkCountWithVariants == 0 {
		t.Empty = noRuns
		return t
	}
	t.More = &Link{Text: "All runs of this model", Href: "/explore/benchmarks?model=" + url.QueryEscape(string(m.Slug)), NoFollow: true}
	n := newNames(gen)
	t.addSpeeds(fastest(speeds), func(other, quantization string) (Cell, string) {
		return n.cell("hardware", dataset.Slug(other)), charts.For(gen).ListOf(index.Model, string(m.Slug), index.Hardware, other, quantization)
	})
	return t
}

// speedTable is a table of measured speeds without rows; by is what its rows are of.
func speedTable(by string) Table {
	return Table{
		ID: "speed", Title: "Measured speed by " + by,
		Intro: "Tokens per second while one stream generates on one device, from an empty cache or behind a prompt of at most 1,200 tokens.",
		Columns: []Column{
			{Text: Sentence(by)},
			{Text: "Quantization", Short: true},
			{Text: "Median tok/s", Number: true},
			{Text: "Lowest", Number: true},
			{Text: "Highest", Number: true},
			{Text: "Runs", Number: true},
			{Text: "Pages", Number: true, Title: "Distinct source pages"},
		},
		Empty: "No run of this kind is known. Runs with other settings are below.",
	}
}

// noRuns is what a table of speeds says of a record without any run.
const noRuns = "Nobody has published a run yet."

// addSpeeds adds a row per group of a model or piece of hardware and a quantization: other gives the
// cell of the first and the list of the runs.
func (t *Table) addSpeeds(groups []index.Group, other func(slug, quantization string) (Cell, string)) {
	t.Rows = make([][]Cell, 0, len(groups))
	for i := range groups {
		g := &groups[i]
		key := g.Key()
		cell, runs := other(key[0], key[1])
		t.Rows = append(t.Rows, append([]Cell{cell, textCell(key[1])}, spread(g, runs)...))
	}
	if len(groups) > 0 {
		t.Source = Sentence(text.Count(len(groups), "row", "rows")) + " from published measurements; each run names its page."
	}
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

// maxSpeedRows is how many rows a table of speeds has.
const maxSpeedRows = 60

// singleStream are the single-stream speeds of a model or of hardware, grouped by other fields.
func singleStream(gen *index.Generation, field index.Field, slug string, by ...index.Field) *index.Stats {
	stats, err := gen.Benchmarks.Stats(index.StatsQuery{
		Query: index.Query{Sets: []index.Set{{Field: field, Values: []string{slug}}, {Field: index.Settings, Values: []string{index.SingleStream}}}},
		By:    by, Metric: index.GenerationTPS, MaxGroups: 10_000,
	})
	if err != nil { // more groups than one record can have
		return &index.Stats{}
	}
	return stats
}

// fastest are the groups with the highest medians.
func fastest(speeds *index.Stats) []index.Group {
	groups, _ := speeds.Page("median", true, nil, maxSpeedRows)
	return groups
}

// mostRun are the groups with most runs.
func mostRun(speeds *index.Stats) []index.Group {
	groups, _ := speeds.Page("n", true, nil, maxSpeedRows)
	return groups
}

// spread is the cells of a group: median, lowest, highest, runs, pages.
func spread(g *index.Group, href string) []Cell {
	runs := Cell{Text: text.Whole(g.N), Href: href, NoFollow: true}
	if g.N > 1 && !g.Comparable {
		runs.Note, runs.Title = "mixed settings", "These runs differ in settings that matter; open them before comparing."
	}
	return []Cell{{Text: text.Tenths(g.Median)}, {Text: text.Tenths(g.Min)}, {Text: text.Tenths(g.Max)}, runs, {Text: text.Whole(g.Pages)}}
}

// contexts are the lengths a table of memory shows.
var contexts = []int64{2048, 8192, 32768, 131072}

// shownSizes are the quantizations a table of memory shows where the model has them, smallest first.
var shownSizes = []string{"Q4_K_M", "Q5_K_M", "Q6_K", "Q8_0", "MXFP4", "BF16", "F16"}

// memoryTable is what a model takes at some context lengths.
func memoryTable(gen *index.Generation, m *modelRecord) Table {
	t := Table{
		ID: "memory", Title: "Memory by context length",
		Intro:   "Weights, key-value cache (16 bit) and compute buffer in llama.cpp on one device, computed from the published shape. A memory of 24 GB counts as 24 GiB.",
		Columns: []Column{{Text: "Quantization", Short: true}, {Text: "Weights", Number: true}},
		Empty:   "The facts to compute it from are not published.",
		Source:  "Computed; the formulas and their sources are in the reference of the API.",
		More:    &Link{Text: "Other lengths, caches and machines", Href: "/fit?model=" + url.QueryEscape(string(m.Slug)), NoFollow: true},
	}
	var rows [][]Cell
	for _, c := range contexts {
		if limit := m.Architecture.ContextLength; limit != nil && c > *limit {
			break
		}
		answer, fault := gen.Fit.Fit(fit.Query{Model: m.Slug, MemoryGB: 1e6, Context: c})
		if fault != nil {
			break
		}
		t.Columns = append(t.Columns, Column{Text: text.Tokens(c), Number: true, Title: text.Whole(c) + " tokens"})
		rows = memoryRows(rows, answer)
	}
	t.Rows = rows
	return t
}

// memoryRows adds a column to rows of sizes.
func memoryRows(rows [][]Cell, answer *fit.Answer) [][]Cell {
	if rows == nil {
		for _, name := range shownSizes {
			if size := sizeNamed(answer, name); size != nil {
				weights := Cell{Text: text.GiB(size.Memory.Weights.Bytes)}
				if size.Memory.Weights.Basis != fit.Published {
					weights.Note, weights.Title = "computed", "No published size is known: parameters x bits per weight / 8"
				}
				rows = append(rows, []Cell{{Text: size.Quantization}, weights})
			}
		}
	}
	for i := range rows {
		cell := textCell("")
		if size := sizeNamed(answer, rows[i][0].Text); size != nil && size.Memory.Total != nil {
			cell = Cell{Text: text.GiB(*size.Memory.Total)}
			if size.Memory.Cache != nil && size.Memory.Cache.Basis == fit.UpperBound {
				cell.Note, cell.Title = "at most", "A fact that would make the cache smaller is missing."
			}
		}
		rows[i] = append(rows[i], cell)
	}
	return rows
}

func sizeNamed(answer *fit.Answer, name string) *fit.Size {
	i := slices.IndexFunc(answer.Sizes, func(z fit.Size) bool { return strings.EqualFold(z.Quantization, name) })
	if i < 0 {
		return nil
	}
	return &answer.Sizes[i]
}

// sizesTable is the quantized forms of a model.
func sizesTable(m *modelRecord) Table {
	t := Table{
		ID: "sizes", Title: "Quantized sizes", Empty: "No size is known.",
		Columns: []Column{{Text: "Quantization", Short: true}, {Text: "Format"}, {Text: "Size", Number: true}, {Text: "Bits per weight", Number: true}, {Text: "Basis"}, {Text: "File"}},
	}
	for i := range m.Quantizations {
		q := &m.Quantizations[i]
		file := textCell("")
		switch {
		case q.Repo != nil:
			file = Cell{Text: *q.Repo, Href: "https://huggingface.co/" + *q.Repo}
		case q.Source != nil:
			file = Cell{Text: host(string(*q.Source)), Href: webAddress(string(*q.Source))}
		}
		b := Cell{Text: string(q.Basis), Title: str(q.Method)}
		if q.SizeRounding != nil {
			b.Title = "printed to " + *q.SizeRounding
		}
		t.Rows = append(t.Rows, []Cell{{Text: q.Name}, {Text: q.Format}, {Text: text.GiB(q.SizeBytes), Title: text.Whole(q.SizeBytes) + " bytes"}, bitsCell(q.BitsPerWeight), b, file})
	}
	return t
}

func bitsCell(v *float64) Cell {
	if v == nil {
		return textCell("")
	}
	return Cell{Text: text.Exact(math.Round(*v*100) / 100)}
}

// shownRuns is how many runs the page of a record lists.
const shownRuns = 50

// runsOf is the newest runs of a record.
func runsOf(gen *index.Generation, field index.Field, slug string, own int) Table {
	page := gen.Benchmarks.Select(index.Query{Sets: []index.Set{{Field: field, Values: []string{slug}}}, Limit: shownRuns})
	t := Table{ID: "runs", Title: "Runs", Empty: "No run is known. If you measured one, propose it.", Columns: runColumns(field)}
	if page.Total > 0 {
		t.Intro = newestOf(len(page.Ords), page.Total) + "."
		t.More = &Link{Text: "All runs, with filters", Href: "/explore/benchmarks?" + string(field) + "=" + url.QueryEscape(slug), NoFollow: true}
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
	for _, c := range []struct {
		field index.Field
		Column
	}{
		{index.Model, Column{Text: "Model"}},
		{index.Hardware, Column{Text: "Hardware"}},
		{index.None, Column{Text: "Quantization"}},
		{index.GenerationTPS, Column{Text: "Generation, tok/s", Number: true}},
		{index.PromptTPS, Column{Text: "Prompt, tok/s", Number: true}},
		{index.None, Column{Text: "Settings"}},
		{index.Tool, Column{Text: "Tool"}},
		{index.RunDate, Column{Text: "Date", Short: true}},
		{index.None, Column{Text: "Source"}},
	} {
		if c.field != without || without == index.None {
			out = append(out, c.Column)
		}
	}
	return out
}

func runCells(n *names, b *benchmarkRecord, without index.Field) []Cell {
	out := make([]Cell, 0, 9) // runColumns
	page := "/benchmarks/" + string(b.ID)
	speed, title := b.GenerationTPS, "tok/s"
	if b.IsThroughput() {
		speed, title = b.TotalTPS, "tok/s, output of the whole system under load"
	}
	generation := Cell{Text: text.Unknown, Href: page}
	if speed != nil {
		generation = Cell{Text: text.Tenths(*speed), Href: page, Title: text.Exact(*speed) + " " + title}
	}
	if b.Withdrawn != nil {
		generation.Note, generation.Title = "withdrawn", b.Withdrawn.Reason
	}
	if without != index.Model {
		out = append(out, n.cell("models", b.Model))
	}
	if without != index.Hardware {
		cell := n.cell("hardware", b.Hardware)
		if b.HardwareCount > 1 {
			cell.Note = "× " + text.Whole(b.HardwareCount)
		}
		out = append(out, cell)
	}
	prompt := Cell{Text: text.Unknown}
	if b.PromptTPS != nil {
		prompt.Text = text.Tenths(*b.PromptTPS)
		if whole := text.Exact(*b.PromptTPS); whole != prompt.Text {
			prompt.Title = whole + " tok/s"
		}
	}
	out = append(out, quantizationCell(str(b.Quantization)), generation, prompt, Cell{Text: settingsOf(b)})
	if without != index.Tool {
		tool := n.cell("tools", b.Tool)
		if b.Backend != nil {
			tool.Note = *b.Backend
		}
		out = append(out, tool)
	}
	return append(out, textCell(dateText(b.RunDate)), sourceCell(b))
}

// settingsOf is what makes a run differ from one stream on one device, in a few words.
func settingsOf(b *benchmarkRecord) string {
	var out []string
	add := func(is bool, words string) {
		if is {
			out = append(out, words)
		}
	}
	if b.HardwareCount > 1 {
		out = append(out, text.Count(int(b.HardwareCount), "device", "devices"))
	}
	if b.Concurrency != nil && *b.Concurrency > 1 {
		out = append(out, text.Whole(*b.Concurrency)+" streams")
	}
	if b.ContextDepth != nil && *b.ContextDepth > 0 {
		out = append(out, "depth "+text.Tokens(*b.ContextDepth))
	}
	if b.BehindPrompt() && *b.NPrompt > dataset.ShortPrompt {
		out = append(out, "prompt of "+text.Tokens(*b.NPrompt)+" tokens")
	}
	add(b.Scenario != nil, str(b.Scenario))
	add(b.SpeculativeDecoding != nil && *b.SpeculativeDecoding, "speculative")
	add(b.PartialOffload != nil && *b.PartialOffload, "offloaded")
	add(b.RateBasis != nil && *b.RateBasis == "end_to_end", "end to end")
	add(b.FlashAttention != nil && *b.FlashAttention, "flash attention")
	if len(out) == 0 {
		return text.Unknown
	}
	return strings.Join(out, ", ")
}

func sourceCell(b *benchmarkRecord) Cell {
	if b.SourceURL != nil {
		return Cell{Text: host(string(*b.SourceURL)), Href: webAddress(string(*b.SourceURL)), Note: string(b.Source)}
	}
	return Cell{Text: "own measurement", Note: string(b.Source)}
}
