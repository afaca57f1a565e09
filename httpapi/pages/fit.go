package pages

import (
	"cmp"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/record"
	"modeldex/dataset/text"
	"modeldex/httpapi/charts"
	"modeldex/index"
)

// FitQuery is what the page about what runs is asked.
type FitQuery struct {
	Query  fit.Query
	MinTPS float64
	Params url.Values // in canonical spelling
	// Found are the models that run on the machine; nil where the query has a model or no machine.
	Found []fit.Best
	// NoSpeed is how many more run, but are not found because their speed is unknown.
	NoSpeed int
	// Undecided is how many more may run: a fact is not published that decides it.
	Undecided int
	// Ran are those of them that were measured on the machine.
	Ran []fit.Best
	// Answer is about the model of the query; nil without one.
	Answer *fit.Answer
	// Read says how the names were read, and Instead leads to what else they may mean.
	Read    []string
	Instead []Link
}

// with is the address of the page with other parameters, of which empty ones are left out.
func (q *FitQuery) with(params ...string) string {
	all := maps.Clone(q.Params)
	for i := 0; i+1 < len(params); i += 2 {
		if all.Set(params[i], params[i+1]); params[i+1] == "" {
			all.Del(params[i])
		}
	}
	return "/fit?" + all.Encode()
}

// Fit is the page about what runs.
type Fit struct {
	Sheet
	Parts []Part // of the heading
	Form  *Ask
}

// An Ask is the form of the page about what runs, with what was asked.
type Ask struct {
	Hardware, Model, Memory, Bandwidth, Context, MinTPS, Count, Share string
	KV, Engines                                                       Choices
	More                                                              bool    // the rarer fields are in use
	KnownHardware, KnownModels                                        Choices // to choose from
	Folded                                                            bool    // behind a switch on small screens
}

// NewAsk is the form with the parameters of an address, as they were typed.
func NewAsk(gen *index.Generation, params url.Values) *Ask {
	f := &Ask{
		Hardware: params.Get("hardware"), Model: params.Get("model"), Memory: params.Get("memory_gb"), Bandwidth: params.Get("bandwidth_gbps"),
		Context: params.Get("context"), MinTPS: params.Get("min_tps"), Count: params.Get("count"), Share: params.Get("unified_share"),
		KnownHardware: mostMeasured(gen.Hardware), KnownModels: mostMeasured(gen.Models),
	}
	for _, v := range fit.KVType("").Values() {
		f.KV = append(f.KV, Choice{v, v, v == params.Get("kv")})
	}
	for _, v := range fit.Rules("").Values() {
		f.Engines = append(f.Engines, Choice{v, v, v == params.Get("engine")})
	}
	f.More = slices.ContainsFunc([]string{"count", "unified_share", "kv", "engine", "memory_gb", "bandwidth_gbps"}, func(name string) bool { return params.Get(name) != "" })
	return f
}

// A Part of a heading has a name, which is on one line where there is room.
type Part struct {
	Before string
	Cell
	After string
}

// headed sets the heading from its parts.
func (v *Fit) headed(parts ...Part) {
	v.Parts, v.Heading = parts, ""
	for _, p := range parts {
		v.Heading += p.Before + p.Text + p.After
	}
	v.Title = v.Heading
}

func (v *Fit) offer(words, href string) { v.Actions = append(v.Actions, Link{Text: words, Href: href}) }

// shownFitRows is how many models each list of the page has.
const shownFitRows = 100

// Fit is the page about what runs.
func (s *Site) Fit(gen *index.Generation, q *FitQuery, at Place) *Fit {
	v := &Fit{Form: NewAsk(gen, q.Params), Sheet: Sheet{
		Frame: Frame{
			site: s, Place: at, Title: "What runs on my machine?", Section: "/fit", Canonical: "/fit", Dataset: stampOf(gen), Unlisted: at.Query != "",
			Description: "Choose hardware, or enter memory and bandwidth: the open-weight models that run, best first, with measured and estimated speed apart.",
			Scripts:     []string{"app.js"}, Styles: []string{"charts.css"},
		},
		Heading: "What runs on my machine?",
		Lead:    "Choose hardware, or describe it by memory and bandwidth. Every verdict is computed from published facts, every speed is measured or an estimate with its band.",
		Notes:   q.Read,
	}}
	machine := Cell{Text: machineName(gen, q)}
	if q.Query.Hardware != "" {
		machine.Href = "/hardware/" + string(q.Query.Hardware)
	}
	switch {
	case q.Answer != nil:
		v.showPair(gen, q, machine)
	case machine.Text != "":
		v.showMachine(gen, q, machine)
	default:
		v.askMachine(gen, q)
	}
	v.Actions = append(v.Actions, q.Instead...)
	v.Form.Folded = len(v.Tables) > 0
	return v
}

// HTML is the page.
func (v *Fit) HTML() []byte { return v.site.render("fit.html", v) }

// showPair is the answer for one model on one machine.
func (v *Fit) showPair(gen *index.Generation, q *FitQuery, machine Cell) {
	v.headed(Part{Cell: newNames(gen).cell("models", q.Query.Model)}, Part{Before: " on ", Cell: machine})
	v.Lead = verdictLine(gen, q)
	if memoryUnknown(gen, q) {
		v.askMemory(q)
	}
	v.sayMemory(gen, q)
	model, hardware := string(q.Query.Model), string(q.Query.Hardware)
	if hardware != "" {
		runs := index.Query{Sets: []index.Set{{Field: index.Model, Values: []string{model}}, {Field: index.Hardware, Values: []string{hardware}}}}
		if _, n := gen.Benchmarks.First(runs); n > 0 {
			v.offer(text.Count(n, "published run", "published runs"), address("/explore/benchmarks", "model", model, "hardware", hardware))
		}
	}
	v.offer("What else runs here", q.with("model", "", "quantization", ""))
	v.offer("Hardware that runs it", address("/explore/hardware", "runs", model))
	v.Forms = forms(v.Place, "json", "csv", "md")
	v.Tables = sizesOnMachine(gen, q)
	if q.Query.Quantization != "" {
		v.offer("All its sizes", q.with("quantization", ""))
		if t := restsOn(gen, q.Answer); t.Rows != nil {
			v.Tables = append(v.Tables, t)
		}
	}
}

// showMachine is the models that run on a machine.
func (v *Fit) showMachine(gen *index.Generation, q *FitQuery, machine Cell) {
	v.headed(Part{"What runs on ", machine, "?"})
	v.Forms = forms(v.Place, "json", "csv", "md")
	if memoryUnknown(gen, q) {
		v.Lead = "How much memory it has is not published, or differs between its variants, so that what fits cannot be said. Enter the memory of yours."
		if isProcessor(gen, q.Query.Hardware) {
			v.Lead = ofMainMemory
		}
		v.askMemory(q)
		return
	}
	best := BestFirst(gen, q.Found)
	v.Lead, v.How, v.Answer = foundLine(gen, q), listedHow, bestSpeeds(gen, best)
	v.sayMemory(gen, q)
	hardware := string(q.Query.Hardware)
	if hardware != "" {
		v.offer("Facts and prices", "/hardware/"+hardware)
		v.offer("Compare", address("/compare", "hardware", hardware))
	}
	v.Tables = foundTables(gen, q, best)
	if hardware != "" && len(q.Params) == 1 {
		if p := plot(charts.For(gen).FrontierOf(hardware, q.Found), "plot-frontier", v.Base); p != nil {
			p.Said = true
			v.Tables = slices.Insert(v.Tables, 0, Table{ID: "frontier", Title: "Intelligence against speed", Plot: p})
		}
	}
}

// askMachine is the page without a machine: it says how to describe one.
func (v *Fit) askMachine(gen *index.Generation, q *FitQuery) {
	v.Form.More = true
	if model := q.Query.Model; model != "" {
		v.Notes = append(v.Notes, "Choose hardware, or enter memory, to see whether "+newNames(gen).of("models", model)+" runs on it.")
		v.offer("All hardware that runs it", address("/explore/hardware", "runs", string(model), "sort", "street_price_usd"))
		return
	}
	v.Notes = []string{"Is it not listed, or do you not know its name? What fits follows from its memory alone:"}
	for _, gb := range []string{"8", "12", "16", "24", "32"} {
		v.offer(gb+" GB", "/fit?memory_gb="+gb)
	}
}

// memoryUnknown reports whether the machine of a query has a name, and nothing says how much memory it has.
func memoryUnknown(gen *index.Generation, q *FitQuery) bool {
	return q.Query.Hardware != "" && q.Query.MemoryGB == 0 && len(gen.Fit.Unpublished(q.Query.Hardware)) > 0
}

// sayMemory says with how much memory a machine is counted that is sold with several sizes, and offers the others.
func (v *Fit) sayMemory(gen *index.Generation, q *FitQuery) {
	ord, ok := gen.Hardware.Find(string(q.Query.Hardware))
	if !ok || q.Query.MemoryGB > 0 {
		return
	}
	h := decode[hardwareRecord](gen.Hardware.Row(ord))
	options := deref(h.MemoryOptionsGB)
	if h.VRAMGB == nil || len(options) < 2 {
		return
	}
	counted := "This is for " + text.Exact(*h.VRAMGB) + " GB of memory"
	if *h.VRAMGB == slices.Max(options) {
		counted += ", the most it is sold with"
	}
	v.Notes = append(v.Notes, counted+". Choose yours if it has another size:")
	for _, gb := range options {
		if gb != *h.VRAMGB {
			v.offer("With "+text.Exact(gb)+" GB", q.with("memory_gb", exactPlain(gb)))
		}
	}
}

// askMemory offers to choose the memory of the machine, which its record does not have.
func (v *Fit) askMemory(q *FitQuery) {
	v.Form.More = true
	v.Actions = append(v.Actions, offeredMemory(q.Params)...)
	v.offer("Its measured speeds", "/hardware/"+string(q.Query.Hardware)+"#speed")
}

// ofMainMemory is said of processors, whose records have no memory.
const ofMainMemory = "A processor uses the memory of the machine: choose how much yours has."

func isProcessor(gen *index.Generation, hardware dataset.Slug) bool {
	ord, ok := gen.Hardware.Find(string(hardware))
	return ok && decodeShown[hardwareRecord]("hardware", gen.Hardware.Row(ord)).Type == "cpu"
}

// offeredMemory are the usual sizes of memory, each leading to what runs with it.
func offeredMemory(params url.Values) (out []Link) {
	q := &FitQuery{Params: params}
	for _, gb := range []string{"8", "16", "32", "64", "128"} {
		out = append(out, Link{Text: "With " + gb + " GB", Href: q.with("memory_gb", gb)})
	}
	return out
}

// machineName is the machine of a query in words, empty if there is none.
func machineName(gen *index.Generation, q *FitQuery) string {
	name := ""
	switch {
	case q.Query.Hardware != "":
		name = newNames(gen).of("hardware", q.Query.Hardware)
		if q.Query.MemoryGB > 0 {
			name += " with " + text.Exact(q.Query.MemoryGB) + " GB"
		}
	case q.Query.MemoryGB > 0:
		name = text.Exact(q.Query.MemoryGB) + " GB"
		if q.Query.BandwidthGBps > 0 {
			name += " at " + text.Exact(q.Query.BandwidthGBps) + " GB/s"
		}
	}
	if name != "" && q.Query.Count > 1 {
		name = text.Whole(q.Query.Count) + " × " + name
	}
	return name
}

// verdictLine is whether a model runs on a machine, and how fast in the quantization that lists name.
func verdictLine(gen *index.Generation, q *FitQuery) string {
	a, best := q.Answer, listedSize(gen, q)
	part, size := memoryOf(gen, q)
	room := ", with room for " + text.Tokens(a.Context) + " tokens"
	if size != "" {
		room = " in " + size + room
	}
	speed := speedLine(q, best)
	switch best.Verdict {
	case fit.Fits:
		runs := "It runs"
		if speed != "" {
			runs = speed + " It fits"
		}
		if best.BitsPerWeight != nil && *best.BitsPerWeight < fit.LeastBits {
			runs += " only with fewer than four bits per weight, where answers become clearly worse"
		}
		if speed == "" && q.Query.Hardware == "" && q.Query.BandwidthGBps == 0 {
			room += ". Enter the bandwidth of the memory as well, and its speed is estimated"
		}
		return part + runs + room + "."
	case fit.Tight:
		return part + strings.TrimSpace(speed+" It runs only by using memory that should stay free") + room + "."
	case fit.Offload:
		return "No size fits on the device" + room + smallestSize(a) + ". Part of the weights would have to be in main memory."
	case fit.No:
		return part + "No known size of it fits" + room + smallestSize(a) + "."
	}
	for i := range a.Sizes {
		if s := &a.Sizes[i]; s.Verdict == fit.Unknown && s.Speed != nil && s.Speed.Measured != nil {
			return "It ran here, at " + text.Rounded(s.Speed.Measured.Median) + " tok/s in " + s.Quantization + ". How many tokens it has room for cannot be said. " + unpublished(gen, a)
		}
	}
	if memoryUnknown(gen, q) && isProcessor(gen, q.Query.Hardware) {
		return ofMainMemory
	}
	return "Whether it runs cannot be said. " + unpublished(gen, a)
}

// listedSize is the quantization of a model that lists of what runs name.
func listedSize(gen *index.Generation, q *FitQuery) *fit.Size {
	ask := q.Query
	ask.MeasuredFirst, ask.BestOnly = true, true
	if a, fault := gen.Fit.Fit(ask); fault == nil && len(a.Sizes) > 0 {
		return &a.Sizes[0]
	}
	return &fit.Size{Verdict: fit.Unknown}
}

// smallestSize is how much the smallest quantization of a model takes, empty where that is not known.
func smallestSize(a *fit.Answer) string {
	least := int64(math.MaxInt64)
	for i := range a.Sizes {
		if total := a.Sizes[i].Memory.Total; total != nil {
			least = min(least, *total)
		}
	}
	if least == math.MaxInt64 {
		return ""
	}
	return ": the smallest takes " + text.GiB(least)
}

// onSibling is said of measurements that were made on siblings of the hardware only.
const onSibling = " on a sibling with the same memory bandwidth"

// speedLine is how fast a quantization is, with a full cache where the query has a context; empty where that is not known.
func speedLine(q *FitQuery, z *fit.Size) string {
	s := z.Speed
	if s == nil || s.TPS == nil {
		return ""
	}
	about, basis := "", "measured (1 run)"
	switch {
	case *s.Use == fit.UseEstimate && s.Estimate != nil:
		about, basis = "about ", "estimated ("+text.Tenths(s.Estimate.P05)+" to "+text.Tenths(s.Estimate.P95)+")"
	case s.Measured.N > 1:
		basis = "measured (" + text.Tenths(s.Measured.P10) + " to " + text.Tenths(s.Measured.P90) + " in " + text.Count(s.Measured.N, "run", "runs") + ")"
	}
	if *s.Use == fit.UseSibling {
		basis += onSibling
	}
	if f := s.Filled; q.Query.Context > 0 && f != nil {
		return z.Quantization + ": about " + text.Tenths(f.TPS) + " tok/s with " + text.Tokens(f.Depth) + " tokens in the cache; " + text.Tenths(*s.TPS) + " with an empty one, " + basis + "."
	}
	return z.Quantization + ": " + about + text.Tenths(*s.TPS) + " tok/s with an empty cache, " + basis + "."
}

// inWords are the names of facts that a verdict lacks, in the words of the pages of records.
func inWords(paths []string) string {
	out := make([]string, len(paths))
	for i, path := range paths {
		out[i] = strings.ToLower(fieldName(strings.TrimPrefix(path, "hardware.")))
	}
	return strings.Join(out, ", ")
}

// unpublished is a sentence about the facts an unknown verdict lacks: of the hardware, or else of the model.
func unpublished(gen *index.Generation, a *fit.Answer) string {
	n := newNames(gen)
	of, missing := n.of("models", a.Model), slices.Clone(a.Missing)
	if a.Hardware != nil && a.Available == nil {
		of = n.of("hardware", *a.Hardware)
	} else {
		for i := range a.Sizes {
			if a.Sizes[i].Verdict == fit.Unknown {
				missing = append(missing, a.Sizes[i].Missing...)
			}
		}
		slices.Sort(missing)
	}
	return "Not published for " + of + ": " + inWords(slices.Compact(missing)) + "."
}

// sizesOnMachine are tables of the quantizations of a model on a machine: those that lists name, and the others apart.
func sizesOnMachine(gen *index.Generation, q *FitQuery) []Table {
	a, best, one := q.Answer, listedSize(gen, q), q.Query.Quantization != ""
	t := Table{
		ID: "sizes", Title: "Sizes, best first", Empty: "No size of the model is known.",
		Intro:   "Memory for weights, key-value cache and compute buffer, with room for " + text.Tokens(a.Context) + " tokens. Speeds are with an empty cache. Measured: median of runs of the same pair. Estimate: from the nearest measurements, with a 90 % band.",
		Columns: columns("~Quantization", "Verdict", "#Weights", "#Cache", "#Total", "#To spare", "#Longest context|With a 16-bit cache", "#Measured tok/s", "#Estimated tok/s"),
		More:    &Link{Text: "Formulas and their sources", Href: "/docs/fit"},
	}
	others := Table{
		ID: "other-sizes", Title: "Other sizes", Columns: t.Columns,
		Intro: "Files that differ by less than a tenth from one above, and sizes marked computed, of which no published file is known: they follow from the parameters and the bits per weight.",
	}
	if one {
		t.Title = "Memory and speed"
	} else if best.Quantization != "" {
		t.Intro += " In bold: the size that lists of what runs name."
	}
	for i := range a.Sizes {
		z := &a.Sizes[i]
		row := sizeCells(q, z)
		if z.Quantization == best.Quantization && !one {
			row[0].Class = "self"
		}
		if z.Listed || one {
			t.Rows = append(t.Rows, row)
			continue
		}
		if z.Memory.Weights.Basis == fit.Computed {
			row[0].Note = strings.TrimPrefix(row[0].Note+", computed", ", ")
		}
		others.Rows = append(others.Rows, row)
	}
	if len(others.Rows) == 0 {
		return []Table{t}
	}
	return []Table{t, others}
}

// sizeCells are the cells of one quantization on a machine.
func sizeCells(q *FitQuery, z *fit.Size) []Cell {
	name := Cell{Text: z.Quantization, Note: z.Format}
	if z.BitsPerWeight != nil && *z.BitsPerWeight < fit.LeastBits {
		name.Note, name.Title = strings.TrimSpace(z.Format+", below 4 bits"), belowFour
	}
	said := map[fit.Verdict]string{fit.Offload: "only with part of the weights in main memory", fit.No: "does not fit"}[z.Verdict]
	verdict := Cell{Text: cmp.Or(said, string(z.Verdict)), Class: "v-" + string(z.Verdict), Title: inWords(z.Missing)}
	if len(z.Evidence) > 0 {
		verdict.Note, verdict.Href, verdict.Title = "a run proves it", "/benchmarks/"+string(z.Evidence[0].ID), ""
	}
	cache, spare := cell(""), known(z.Headroom, text.GiB)
	if z.Memory.Cache != nil {
		cache.Text = text.GiB(z.Memory.Cache.Bytes.Bytes)
	}
	if z.Headroom != nil && *z.Headroom < 0 {
		spare.Text = text.GiB(-*z.Headroom) + " short"
	}
	measured, estimate := speedCells(q, z)
	return []Cell{
		name, verdict,
		{Text: text.GiB(z.Memory.Weights.Bytes)},
		cache, known(z.Memory.Total, text.GiB), spare,
		known(z.MaxContext.F16, text.Tokens), measured, estimate,
	}
}

func speedCells(q *FitQuery, z *fit.Size) (measured, estimate Cell) {
	measured, estimate = cell(""), cell("")
	if z.Speed == nil {
		return measured, estimate
	}
	rests := ""
	if q.Query.Quantization == "" {
		rests = speedOf(string(q.Answer.Model), string(q.Query.Hardware), z.Quantization, q.Params)
	}
	if m := z.Speed.Measured; m != nil {
		measured = Cell{Text: text.Tenths(m.Median), Note: text.Count(m.N, "run", "runs")}
		if q.Query.Count > 1 {
			measured.Href = rests
		} else if q.Answer.Hardware != nil {
			measured.Href = benchmarksOf(string(q.Answer.Model), string(*q.Answer.Hardware), z.Quantization)
		}
	}
	if e := z.Speed.Estimate; e != nil {
		estimate = Cell{Text: text.Tenths(e.Median), Note: text.Tenths(e.P05) + " to " + text.Tenths(e.P95), Title: e.Method, Href: rests}
	}
	return measured, estimate
}

// ofMachine are the parameters of a list that describe a machine.
var ofMachine = []string{"memory_gb", "bandwidth_gbps", "count", "unified_share", "context", "kv", "engine"}

// speedOf is the page of one quantization of a model on a machine, at the runs its speed rests on. Hardware is empty for
// a machine that is described by the parameters alone.
func speedOf(model, hardware, quantization string, machine url.Values) string {
	q := &FitQuery{Params: url.Values{}}
	params := []string{"model", model, "quantization", quantization, "hardware", hardware}
	for _, name := range ofMachine {
		params = append(params, name, machine.Get(name))
	}
	return q.with(params...) + "#rests"
}

// restsOn is what the speed of a quantization rests on: the runs, and what a filled cache takes from them. It has no rows
// where no speed is known.
func restsOn(gen *index.Generation, a *fit.Answer) Table {
	t := Table{ID: "rests", Title: "What the speed rests on", Columns: runColumns(index.None)}
	if len(a.Sizes) == 0 || a.Sizes[0].Speed == nil {
		return t
	}
	n, s := newNames(gen), a.Sizes[0].Speed
	add := func(id dataset.Slug, more ...Cell) {
		if ord, ok := gen.Benchmarks.Find(string(id)); ok {
			t.Rows = append(t.Rows, append(runCells(n, readRun(gen.Benchmarks.Row(ord)), index.None), more...))
		}
	}
	if m := s.Measured; m != nil {
		of := " of the same pair"
		if *s.Use == fit.UseSibling {
			of = onSibling
		}
		t.Intro = text.Count(m.N, "run", "runs") + of + ": a median of " + text.Tenths(m.Median) + " tok/s with an empty cache."
		for _, id := range m.Runs {
			add(id)
		}
	} else if e := s.Estimate; e != nil {
		t.Intro = "For each token " + text.GiB(e.Bytes) + " of weights are read. The nearest measurements reached " + text.Percent(e.Share) + " of the memory bandwidth of their hardware, which gives " +
			text.Tenths(e.Median) + " tok/s here, with an empty cache."
		if c := e.Checked; c != nil {
			t.Intro += " Such estimates were tried on " + text.Count(c.Rows, "measurement", "measurements") + " hidden from them: half were less than " + text.Percent(c.MedianError) + " off."
		}
		for _, assumed := range e.Assumes {
			t.Intro += " It takes for granted: " + strings.TrimSuffix(assumed, ".") + "."
		}
		t.Columns = append(t.Columns, Column{Text: "Weight", Number: true, Title: "Of all measurements the estimate rests on"})
		for _, w := range e.Evidence {
			add(w.ID, Cell{Text: text.Percent(w.Weight)})
		}
		if len(e.Evidence) > 1 {
			t.Source = "The heaviest measurements are listed, at most ten."
		}
	}
	if f := s.Filled; f != nil {
		t.Intro += " With " + text.Tokens(f.Depth) + " tokens in the cache " + text.Percent(f.Factor) + " of it is left, " + text.Tenths(f.TPS) + " tok/s, from " + text.Count(f.N, "measured slowdown", "measured slowdowns") + "."
	}
	return t
}

func foundLine(gen *index.Generation, q *FitQuery) string {
	out := text.Count(len(q.Found), "model runs", "models run")
	if len(q.Found) == 0 {
		out = "No model is known to run"
	}
	if q.Query.Context > 0 {
		out += " with room for " + text.Tokens(q.Query.Context) + " tokens"
	} else {
		out += " with room for " + text.Tokens(fit.DefaultContext) + " tokens, or their limit where that is less"
	}
	if q.MinTPS > 0 {
		out += ", at " + text.Exact(q.MinTPS) + " tok/s or more"
	}
	if q.NoSpeed > 0 {
		out += "; the speed of " + text.Count(q.NoSpeed, "more model that runs", "more models that run") + " is unknown"
	}
	if q.Undecided > 0 {
		out += ". For " + text.Whole(q.Undecided) + " more we cannot tell: facts about their memory are not published"
		if n := len(q.Ran); n > 0 {
			out += "; " + text.Whole(n) + " of them ran here, and " + record.Noun(n, "is", "are") + " listed last"
		}
	}
	if q.Query.Context > 1 && !q.Query.AllowExtended { // models that cannot keep so much in mind
		_, n := gen.Models.First(index.Query{Ranges: []index.Range{{Field: "context_length", Min: 1, Max: float64(q.Query.Context - 1)}}})
		if n > 0 {
			out += ". " + text.Count(n, "model is", "models are") + " left out because " + record.Noun(n, "its", "their") + " limit is a shorter context"
		}
	}
	part, size := memoryOf(gen, q)
	if size == "" || q.Query.Hardware == "" { // where it is not part of the heading
		return part + out + "."
	}
	return "With " + size + ", " + strings.ToLower(out[:1]) + out[1:] + "."
}

// memoryOf is the memory of a machine that counts, empty where it is not known. Where a part of it does, sentence says
// so; else it is all of size.
func memoryOf(gen *index.Generation, q *FitQuery) (sentence, size string) {
	if gen.Models.Len() == 0 {
		return "", ""
	}
	ask := q.Query // it is the same for all models
	ask.Model, ask.Quantization, ask.Context, ask.BestOnly = dataset.Slug(gen.Models.Slug(0)), "", 0, true
	a, fault := gen.Fit.Fit(ask)
	if fault != nil || a.Available == nil {
		return "", ""
	}
	m := a.Available
	size = text.Exact(float64(m.Memory)/(1<<30)/float64(max(q.Query.Count, 1))) + " GB"
	if q.Query.Count > 1 {
		size = text.Whole(q.Query.Count) + " × " + size
	}
	if m.Share != nil {
		return "Of " + size + ", " + text.Rounded(float64(m.Usable)/(1<<30)) + " GiB are for models (" + m.Share.Basis + "). ", ""
	}
	ord, ok := gen.Hardware.Find(string(q.Query.Hardware))
	if ok && q.Query.MemoryGB == 0 && math.IsNaN(gen.Hardware.Number("vram_gb", ord)) && len(deref(decode[hardwareRecord](gen.Hardware.Row(ord)).Variants)) > 0 {
		size += ", the least of its variants"
	}
	return "", size
}

// listedHow is how the lists of models that run are made.
const listedHow = "Each model is listed with the most precise size of four to nine bits that was measured here; else with one of more bits that was; else with the most precise of up to nine bits that fits, for more make answers no better; only sizes that were published or measured, or that publishers usually make, count, and one of those that differ by less than a tenth. Best first: by intelligence score, then by parameters; those that fit only below four bits, where answers become clearly worse, come last."

// foundTables are the models that run, by what is known of their speed, and those that were measured here although
// whether they fit cannot be said.
func foundTables(gen *index.Generation, q *FitQuery, best []fit.Best) (out []Table) {
	const emptyCache = " Speeds are with an empty cache; enter a context to see them with a full one."
	cache := emptyCache
	if q.Query.Context > 0 {
		cache = " Speeds are with a full cache, scaled by what measured slowdowns leave of them."
	}
	measured := Table{ID: "measured", Title: "Measured", Intro: "The speed of the listed size was measured on this hardware." + cache}
	estimated := Table{ID: "estimated", Title: "Estimated", Intro: "No measurement of the listed size on this machine is known; its speed is worked out from the nearest measurements." + cache}
	unmeasured := Table{ID: "unmeasured", Title: "Speed unknown", Intro: "These fit, and nothing near enough was measured."}
	ran := Table{ID: "ran", Title: "Measured, memory unknown", Intro: "These ran on this hardware. The size of their cache is not published, so we know that the weights fit, but not how much context."}
	if q.Query.Hardware == "" && q.Query.BandwidthGBps == 0 {
		unmeasured.Intro = "These fit. Enter the bandwidth of the memory as well, and their speed is estimated."
	}
	if q.Query.Hardware != "" {
		measured.More = everySpeed(string(q.Query.Hardware), q.Query.Count)
	}
	if q.Query.Context == 0 {
		ran.Intro += emptyCache
	}
	memory := "Memory"
	add := func(t Table, list []fit.Best) {
		if len(list) == 0 {
			return
		}
		t.Title += ": " + text.Count(len(list), "model", "models")
		t.Columns = fitColumns(memory)
		t.Rows = fitRows(gen, list[:min(len(list), shownFitRows)], q.Params)
		if len(list) > shownFitRows && t.ID != "ran" {
			t.Source = "The best " + text.Whole(shownFitRows) + " are shown."
		}
		out = append(out, t)
	}
	var ofMeasured, ofEstimated, ofUnknown []fit.Best
	for _, b := range best {
		switch {
		case b.TPS == nil:
			ofUnknown = append(ofUnknown, b)
		case b.Use != nil && *b.Use == fit.UseMeasured:
			ofMeasured = append(ofMeasured, b)
		default:
			ofEstimated = append(ofEstimated, b)
		}
	}
	add(measured, ofMeasured)
	add(estimated, ofEstimated)
	add(unmeasured, ofUnknown)
	if len(out) == 0 {
		out = []Table{nothingRuns(q)}
	}
	memory = "Weights"
	add(ran, BestFirst(gen, q.Ran))
	return out
}

// everySpeed leads to all measured speeds on so many devices.
func everySpeed(hardware string, count int) *Link {
	if count > 1 {
		n := text.Whole(count)
		return &Link{Text: "Every measured speed on " + n + " of this hardware", Href: address("/explore/benchmarks", "hardware", hardware, "hardware_count", n, "sort", "-generation_tps")}
	}
	return &Link{Text: "Every measured speed on this hardware, in all sizes", Href: "/hardware/" + hardware + "#speed"}
}

// nothingRuns is what is said where no model runs, or none fast enough.
func nothingRuns(q *FitQuery) Table {
	if q.MinTPS == 0 {
		return Table{ID: "none", Title: "Nothing fits", Empty: "No known size of any model fits under these conditions. Try a shorter context, or a compressed cache."}
	}
	return Table{
		ID: "none", Title: "Nothing is that fast", Empty: "No size of any model that fits is known to reach " + text.Exact(q.MinTPS) + " tok/s.",
		More: &Link{Text: "What runs here at any speed", Href: q.with("min_tps", "")},
	}
}
