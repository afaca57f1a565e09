package pages

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/text"
	"modeldex/httpapi/charts"
	"modeldex/index"
)

// model is the page of a model.
func (s *Site) model(gen *index.Generation, ord uint32, at Place) *Sheet {
	row := gen.Models.Detail(ord)
	m, slug, n := decode[modelRecord](row), gen.Models.Slug(ord), newNames(gen)
	sources, refs := sourcesOf(m.Sources)
	description := m.Name + ": " + strings.TrimSuffix(modelLead(m), ".") + ". Memory it needs, quantized sizes and measured tokens per second, with sources."
	v := &Sheet{
		Frame: s.recordFrame(gen, at, "/explore/models", m.Name, description), Heading: m.Name, Lead: modelLead(m), Words: true,
		Crumbs:  []Link{{Text: "Models", Href: "/explore/models"}, {Text: familyName(m), Href: address("/explore/models", "family", string(m.Family))}},
		Sources: sources, Figures: modelFigures(m, refs), Groups: groupsOf(n, modelFields, row, refs),
		Actions: []Link{
			{Text: "Hardware that runs it", Href: address("/explore/hardware", "runs", slug)},
			{Text: "Does it fit on my machine?", Href: address("/fit", "model", slug)},
			{Text: "Compare", Href: address("/compare", "models", slug)},
		},
		Invite: &Link{Text: "Contribute a run of this model", Href: address("/contribute", "model", slug)},
	}
	v.Title += ": memory it needs, and how fast it runs" // what people search for
	if m.Notes != nil {
		v.Notes = append(v.Notes, *m.Notes)
	}
	speeds := singleStream(gen, index.Model, slug, index.Hardware)
	speed := speedTable(n, speeds, index.Model, slug, index.Hardware, m.BenchmarkCountWithVariants)
	speed.Intro += " Each row is one quantization on one piece of hardware."
	memory, sizes, draw := memoryTable(gen, m), sizesTable(m), charts.For(gen)
	speed.Plot = plot(draw.ModelSpeeds(slug), "plot-speed", at.Base)
	memory.Plot = plot(draw.ModelMemory(slug), "plot-memory", at.Base)
	v.Tables = []Table{speed, memory, sizes, runsOf(gen, index.Model, slug, m.BenchmarkCount)}
	v.Answer = modelAnswer(gen, m, speeds, &memory)
	if missing := missingFacts(m, v.Tables[:3]); missing != "" {
		v.Answer, v.Tables = []Cell{{Text: "Not published: " + missing + ". What memory it needs, and how fast it is, cannot be said."}}, v.Tables[3:]
	}
	v.finishRecord("models", slug, m.Name)
	return v
}

// missingFacts names what is not published of a model about which tables say nothing at all; empty where one of them
// has something.
func missingFacts(m *modelRecord, tables []Table) string {
	if slices.ContainsFunc(tables, func(t Table) bool { return len(t.Rows) > 0 || t.Plot != nil }) {
		return ""
	}
	var out []string
	for _, fact := range []struct {
		name    string
		missing bool
	}{
		{"parameters", m.ParamsB == nil},
		{"layers", m.Architecture.NumLayers == nil},
		{"length of context", m.Architecture.ContextLength == nil},
		{"sizes of its files", len(m.Quantizations) == 0},
		{"measured speeds", true},
	} {
		if fact.missing {
			out = append(out, fact.name)
		}
	}
	return strings.Join(out, ", ")
}

// familyName is the family of a model, spelled as in its name where that begins with it.
func familyName(m *modelRecord) string {
	family := string(m.Family)
	if len(m.Name) >= len(family) && strings.EqualFold(m.Name[:len(family)], family) {
		return m.Name[:len(family)]
	}
	return Sentence(family)
}

// blocks is a kind of blocks in words.
func blocks(kind string) string {
	return cmp.Or(map[string]string{"moe": "mixture of experts", "ssm": "state-space model"}[kind], kind)
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
		parts = append(parts, blocks(str(m.Architecture.Type)))
	}
	if m.Architecture.ContextLength != nil {
		parts = append(parts, text.Tokens(*m.Architecture.ContextLength)+" context")
	}
	if m.ReleaseDate != nil {
		parts = append(parts, "released "+str(m.ReleaseDate))
	}
	return strings.Join(parts, " · ")
}

// billions is a number of parameters.
func billions(v *float64) Cell {
	out := known(v, text.Rounded)
	if v != nil {
		out.Text, out.Title = out.Text+"B", text.Exact(*v)+" billion"
	}
	return out
}

func contextCell(v *int64) Cell {
	out := known(v, text.Tokens)
	if v != nil {
		out.Title = text.Whole(*v) + " tokens"
	}
	return out
}

func modelFigures(m *modelRecord, refs map[string][]int) (out []Fact) {
	if m.ParamsB != nil {
		out = append(out, Fact{Label: "Parameters", Value: billions(m.ParamsB), Refs: refsOf(refs, "params_b")})
		if m.ActiveParamsB != nil {
			out[0].Note = billions(m.ActiveParamsB).Text + " active per token"
		}
	}
	if n := m.Architecture.ContextLength; n != nil {
		out = append(out, Fact{Label: "Context", Value: contextCell(n), Note: "tokens", Refs: refsOf(refs, "architecture.context_length")})
	}
	if in := m.Intelligence; in != nil && in.Score != nil {
		score := Cell{Text: text.Tenths(*in.Score), Href: "/snapshots", Title: "Composite of published evaluations, 0 to 100"}
		out = append(out, Fact{Label: "Intelligence", Value: score, Note: string(in.Confidence) + " confidence"})
		if in.Lower != nil && in.Upper != nil {
			out[len(out)-1].Note = text.Tenths(*in.Lower) + " to " + text.Tenths(*in.Upper) + ", " + out[len(out)-1].Note
		}
	}
	return append(out, Fact{Label: "Benchmarks", Value: Cell{Text: text.Whole(m.BenchmarkCountWithVariants), Href: "#runs"}, Note: "measured runs"})
}

// modelAnswer is how much memory a model takes, and how fast it is on the hardware it was measured on most. speeds are by
// hardware and quantization, memory is the table of memory by context.
func modelAnswer(gen *index.Generation, m *modelRecord, speeds *index.Stats, memory *Table) (out []Cell) {
	if len(memory.Rows) > 0 {
		row := memory.Rows[0]
		at := slices.IndexFunc(memory.Columns, func(c Column) bool { return c.Text == text.Tokens(8192) })
		if at < 0 {
			at = len(row) - 1
		}
		if at > 1 && row[at].Known() {
			out = append(out, Cell{Text: "In " + row[0].Text + " it takes "}, Cell{Text: row[at].Text, Href: "#memory"}, Cell{Text: " of memory with " + memory.Columns[at].Text + " tokens of context. "})
		}
	}
	n := newNames(gen)
	var examples []example
	groups, _ := speeds.Page("n", true, nil, maxSpeedRows)
	for i := range groups {
		key := groups[i].Key()
		hardware := n.cell("hardware", dataset.Slug(key[0]))
		if !slices.ContainsFunc(examples, func(e example) bool { return e.of == hardware }) {
			examples = append(examples, example{hardware, key[1], groups[i].Median})
		}
	}
	if len(examples) > 0 {
		return append(out, sayExamples("Measured, for example: ", "", examples)...)
	}
	for _, l := range quick(gen) { // hardware people have at home
		hardware := dataset.Slug(strings.TrimPrefix(l.Href, "/hardware/"))
		a, fault := gen.Fit.Fit(fit.Query{Model: m.Slug, Hardware: hardware, MeasuredFirst: true, BestOnly: true})
		if fault != nil || len(a.Sizes) == 0 {
			continue
		}
		if z := &a.Sizes[0]; z.Verdict == fit.Fits && z.Speed != nil && z.Speed.TPS != nil && (z.BitsPerWeight == nil || *z.BitsPerWeight >= fit.LeastBits) {
			examples = append(examples, example{n.cell("hardware", hardware), z.Quantization, *z.Speed.TPS})
		}
	}
	return append(out, sayExamples("No run is known. Estimated: ", "~", examples)...)
}

// memoryTable is what a model takes at some context lengths.
func memoryTable(gen *index.Generation, m *modelRecord) Table {
	t := Table{
		ID: "memory", Title: "Memory by context length",
		Intro:   "Weights, key-value cache (16 bit) and compute buffer in llama.cpp on one device, computed from the published shape. A memory of 24 GB counts as 24 GiB.",
		Columns: columns("~Quantization", "#Weights"),
		Empty:   "The facts to compute it from are not published.",
		Source:  "Computed; the formulas and their sources are in the reference of the API.",
		More:    &Link{Text: "Other lengths, caches and machines", Href: address("/fit", "model", string(m.Slug))},
	}
	for _, context := range []int64{2048, 8192, 32768, 131072} {
		if limit := m.Architecture.ContextLength; limit != nil && context > *limit {
			break
		}
		answer, fault := gen.Fit.Fit(fit.Query{Model: m.Slug, MemoryGB: 1e6, Context: context})
		if fault != nil {
			break
		}
		t.Columns = append(t.Columns, Column{Text: text.Tokens(context), Number: true, Title: text.Whole(context) + " tokens"})
		if t.Rows == nil {
			t.Rows = weightRows(answer)
		}
		for i, row := range t.Rows {
			taken := cell("")
			if size := sizeNamed(answer, row[0].Text); size != nil && size.Memory.Total != nil {
				taken.Text = text.GiB(*size.Memory.Total)
				if size.Memory.Compute.Basis == fit.LowerBound {
					taken.Note, taken.Title = "at least", "A fact that may make the buffer larger is missing."
				}
				if size.Memory.Cache != nil && size.Memory.Cache.Basis == fit.UpperBound {
					taken.Note, taken.Title = "at most", "A fact that would make the cache smaller is missing."
				}
			}
			t.Rows[i] = append(row, taken)
		}
	}
	return t
}

// weightRows are the first cells of a table of memory: usual quantizations that the model has, the smallest first.
func weightRows(answer *fit.Answer) (rows [][]Cell) {
	for _, name := range []string{"Q4_K_M", "Q5_K_M", "Q6_K", "Q8_0", "MXFP4", "BF16", "F16"} {
		if size := sizeNamed(answer, name); size != nil {
			weights := Cell{Text: text.GiB(size.Memory.Weights.Bytes)}
			if size.Memory.Weights.Basis != fit.Published {
				weights.Note, weights.Title = "computed", "No published size is known: parameters x bits per weight / 8"
			}
			rows = append(rows, []Cell{{Text: size.Quantization}, weights})
		}
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

func huggingFace(repository string) string { return "https://huggingface.co/" + repository }

// sizesTable is the quantized forms of a model.
func sizesTable(m *modelRecord) Table {
	t := Table{
		ID: "sizes", Title: "Quantized sizes", Empty: "No size is known.",
		Columns: columns("~Quantization", "Format", "#Size", "#Bits per weight", "Basis", "File"),
	}
	for i := range m.Quantizations {
		q := &m.Quantizations[i]
		file := cell(host(str(q.Source)))
		if file.Href = webAddress(str(q.Source)); q.Repo != nil {
			file = Cell{Text: *q.Repo, Href: huggingFace(*q.Repo)}
		}
		basis := Cell{Text: string(q.Basis), Title: str(q.Method)}
		if q.SizeRounding != nil {
			basis.Title = "printed to " + *q.SizeRounding
		}
		bits := known(q.BitsPerWeight, func(v float64) string { return text.Exact(math.Round(v*100) / 100) })
		size := Cell{Text: text.GiB(q.SizeBytes), Title: text.Whole(q.SizeBytes) + " bytes"}
		t.Rows = append(t.Rows, []Cell{{Text: q.Name}, {Text: q.Format}, size, bits, basis, file})
	}
	return t
}
