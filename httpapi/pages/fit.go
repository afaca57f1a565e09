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
	kv, engine := params.Get("kv"), params.Get("engine")
	f := &Ask{
		Hardware: params.Get("hardware"), Model: params.Get("model"), Memory: params.Get("memory_gb"), Bandwidth: params.Get("bandwidth_gbps"),
		Context: params.Get("context"), MinTPS: params.Get("min_tps"), Count: params.Get("count"), Share: params.Get("unified_share"),
		KV: choices(fit.KVType("").Values(), kv), Engines: choices(fit.Rules("").Values(), engine),
		KnownHardware: mostMeasured(gen.Hardware), KnownModels: mostMeasured(gen.Models),
	}
	f.More = f.Count != "" || f.Share != "" || kv != "" || engine != "" || f.Memory != "" || f.Bandwidth != ""
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

// shownFitRows is how many models each list of the page has.
const shownFitRows = 100

// Fit is the page about what runs.
func (s *Site) Fit(gen *index.Generation, q *FitQuery, at Place) *Fit {
	v := &Fit{Sheet: Sheet{
		Frame: Frame{
			Place: at, Title: "What runs on my machine?", Section: "/fit", Canonical: "/fit", Dataset: stampOf(gen), Unlisted: at.Query != "",
			Description: "Choose hardware, or enter memory and bandwidth: the open-weight models that run, best first, with measured and estimated speed apart.",
			Scripts:     []string{"app.js"}, Styles: []string{"charts.css"},
		},
		Heading: "What runs on my machine?",
		Lead:    "Choose hardware, or describe it by memory and bandwidth. Every verdict is computed from published facts, every speed is measured or an estimate with its band.",
	}}
	v.Form = NewAsk(gen, q.Params)
	machine := machineName(gen, q)
	switch {
	case q.Answer != nil:
		v.showPair(gen, q, machine)
	case machine != "":
		v.showMachine(gen, q, machine)
	default:
		v.askMachine(gen, q)
	}
	v.Form.Folded = len(v.Tables) > 0
	return v
}

// showPair is the answer for one model on one machine.
func (v *Fit) showPair(gen *index.Generation, q *FitQuery, machine string) {
	v.headed(Part{Cell: newNames(gen).cell("models", q.Query.Model)}, Part{Before: " on ", Cell: machineCell(q, machine)})
	v.Lead = verdictLine(gen, q)
	if memoryUnknown(gen, q) {
		v.askMemory(q.Params)
	}
	v.sayMemory(gen, q)
	v.waysOn(gen, q)
	v.Forms = forms(v.Place, "json", "csv", "md")
	v.Tables = sizesOnMachine(gen, q)
	if q.Query.Quantization != "" {
		all := maps.Clone(q.Params)
		all.Del("quantization")
		v.Actions = append(v.Actions, Link{Text: "All its sizes", Href: "/fit?" + all.Encode(), NoFollow: true})
		if t := restsOn(gen, q.Answer); t.Rows != nil {
			v.Tables = append(v.Tables, t)
		}
	}
}

// showMachine is the models that run on a machine.
func (v *Fit) showMachine(gen *index.Generation, q *FitQuery, machine string) {
	v.headed(Part{"What runs on ", machineCell(q, machine), "?"})
	v.Forms = forms(v.Place, "json", "csv", "md")
	if memoryUnknown(gen, q) {
		v.Lead = "How much memory it has is not published, or differs between its variants, so that what fits cannot be said. Enter the memory of yours."
		if isProcessor(gen, q.Query.Hardware) {
			v.Lead = ofMainMemory
		}
		v.askMemory(q.Params)
		return
	}
	best := BestFirst(gen, q.Found)
	v.Lead, v.How, v.Answer = foundLine(gen, q), listedHow, bestSpeeds(gen, best)
	v.sayMemory(gen, q)
	if slug := url.QueryEscape(string(q.Query.Hardware)); slug != "" {
		v.Actions = append(v.Actions, Link{Text: "Facts and prices", Href: "/hardware/" + slug}, Link{Text: "Compare", Href: "/compare?hardware=" + slug, NoFollow: true})
	}
	v.Tables = foundTables(gen, q, best)
	if len(q.Ran) > 0 {
		v.Tables = append(v.Tables, ranTable(gen, q))
	}
	if q.Query.Hardware != "" && len(q.Params) == 1 && len(v.Tables) > 0 {
		if p := plot(charts.For(gen).FrontierOf(string(q.Query.Hardware), q.Found), "plot-frontier", v.Base); p != nil {
			p.Said = true
			v.Tables = slices.Insert(v.Tables, 0, Table{ID: "frontier", Title: "Intelligence against speed", Plot: p})
		}
	}
}

// waysOn leads from one pair to its runs and to what else there is of both.
func (v *Fit) waysOn(gen *index.Generation, q *FitQuery) {
	model, hardware := string(q.Query.Model), string(q.Query.Hardware)
	if hardware != "" {
		pair := url.Values{"model": {model}, "hardware": {hardware}}
		if _, n := gen.Benchmarks.First(index.Query{Sets: []index.Set{{Field: index.Model, Values: []string{model}}, {Field: index.Hardware, Values: []string{hardware}}}}); n > 0 {
			v.Actions = append(v.Actions, Link{Text: text.Count(n, "published run", "published runs"), Href: "/explore/benchmarks?" + pair.Encode(), NoFollow: true})
		}
	}
	here := maps.Clone(q.Params)
	here.Del("model")
	here.Del("quantization")
	v.Actions = append(v.Actions,
		Link{Text: "What else runs here", Href: "/fit?" + here.Encode(), NoFollow: true},
		Link{Text: "Hardware that runs it", Href: "/explore/hardware?runs=" + url.QueryEscape(model), NoFollow: true})
}

// askMachine is the page without a machine: it says how to describe one.
func (v *Fit) askMachine(gen *index.Generation, q *FitQuery) {
	v.Form.More = true
	if q.Query.Model != "" {
		v.Notes = []string{"Choose hardware, or enter memory, to see whether " + newNames(gen).of("models", q.Query.Model) + " runs on it."}
		v.Actions = []Link{{Text: "All hardware that runs it", Href: "/explore/hardware?runs=" + url.QueryEscape(string(q.Query.Model)) + "&sort=street_price_usd", NoFollow: true}}
		return
	}
	v.Notes = []string{"Is it not listed, or do you not know its name? What fits follows from its memory alone:"}
	for _, gb := range []string{"8", "12", "16", "24", "32"} {
		v.Actions = append(v.Actions, Link{Text: gb + " GB", Href: "/fit?memory_gb=" + gb, NoFollow: true})
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
	with := maps.Clone(q.Params)
	for _, gb := range options {
		if gb != *h.VRAMGB {
			with.Set("memory_gb", exactPlain(gb))
			v.Actions = append(v.Actions, Link{Text: "With " + text.Exact(gb) + " GB", Href: "/fit?" + with.Encode(), NoFollow: true})
		}
	}
}

// askMemory offers to choose the memory of the machine, which its record does not have.
func (v *Fit) askMemory(params url.Values) {
	v.Form.More = true
	v.Actions = append(v.Actions, offeredMemory(params)...)
	v.Actions = append(v.Actions, Link{Text: "Its measured speeds", Href: "/hardware/" + params.Get("hardware") + "#speed"})
}

// ofMainMemory is said of processors, whose records have no memory.
const ofMainMemory = "A processor uses the memory of the machine: choose how much yours has."

func isProcessor(gen *index.Generation, hardware dataset.Slug) bool {
	ord, ok := gen.Hardware.Find(string(hardware))
	return ok && decodeShown[hardwareRecord]("hardware", gen.Hardware.Row(ord)).Type == "cpu"
}

// offeredMemory are the usual sizes of memory, each leading to what runs with it.
func offeredMemory(params url.Values) (out []Link) {
	with := maps.Clone(params)
	for _, gb := range []string{"8", "16", "32", "64", "128"} {
		with.Set("memory_gb", gb)
		out = append(out, Link{Text: "With " + gb + " GB", Href: "/fit?" + with.Encode(), NoFollow: true})
	}
	return out
}

// FitHTML is the page.
func (s *Site) FitHTML(v *Fit) []byte { return s.render("fit.html", v) }

// machineName is the machine of a query in words, empty if there is none.
func machineName(gen *index.Generation, q *FitQuery) string {
	var parts []string
	if q.Query.Count > 1 {
		parts = append(parts, text.Whole(q.Query.Count)+" ×")
	}
	switch {
	case q.Query.Hardware != "":
		parts = append(parts, newNames(gen).of("hardware", q.Query.Hardware))
		if q.Query.MemoryGB > 0 {
			parts = append(parts, "with "+text.Exact(q.Query.MemoryGB)+" GB")
		}
	case q.Query.MemoryGB > 0:
		parts = append(parts, text.Exact(q.Query.MemoryGB)+" GB")
		if q.Query.BandwidthGBps > 0 {
			parts = append(parts, "at "+text.Exact(q.Query.BandwidthGBps)+" GB/s")
		}
	default:
		return ""
	}
	return strings.Join(parts, " ")
}

// machineCell is the machine of a query with the way to the page of its hardware.
func machineCell(q *FitQuery, name string) Cell {
	out := Cell{Text: name}
	if q.Query.Hardware != "" {
		out.Href = "/hardware/" + string(q.Query.Hardware)
	}
	return out
}

// verdictWords are verdicts in words.
var verdictWords = map[fit.Verdict]string{fit.Fits: "fits", fit.Tight: "tight", fit.Offload: "only with part of the weights in main memory", fit.Unknown: "unknown", fit.No: "does not fit"}

// verdictLine is whether a model runs on a machine, and how fast in the size that lists name.
func verdictLine(gen *index.Generation, q *FitQuery) string {
	a, best := q.Answer, listedSize(gen, q)
	part, size := memoryOf(gen, q)
	room := ", with room for " + text.Tokens(a.Context) + " tokens."
	if size != "" {
		room = " in " + size + room
	}
	switch best.Verdict {
	case fit.Fits:
		runs, speed := "It runs", speedLine(q, best)
		if speed != "" {
			runs = speed + " It fits"
		}
		if best.BitsPerWeight != nil && *best.BitsPerWeight < fit.LeastBits {
			runs += " only with fewer than four bits per weight, where answers become clearly worse"
		}
		if speed == "" && q.Query.Hardware == "" && q.Query.BandwidthGBps == 0 {
			room += " Enter the bandwidth of the memory as well, and its speed is estimated."
		}
		return part + runs + room
	case fit.Tight:
		return part + strings.TrimSpace(speedLine(q, best)+" It runs only by using memory that should stay free"+room)
	case fit.Offload:
		return "No size fits on the device" + strings.TrimSuffix(room, ".") + smallestSize(a) + ". Part of the weights would have to be in main memory."
	case fit.No:
		return part + "No known size of it fits" + strings.TrimSuffix(room, ".") + smallestSize(a) + "."
	default:
		for i := range a.Sizes {
			if s := &a.Sizes[i]; s.Verdict == fit.Unknown && s.Speed != nil && s.Speed.Measured != nil {
				return "It ran here, at " + text.Rounded(s.Speed.Measured.Median) + " tok/s in " + s.Quantization + ". How many tokens it has room for cannot be said. " + unpublished(newNames(gen), a)
			}
		}
		if memoryUnknown(gen, q) && isProcessor(gen, q.Query.Hardware) {
			return ofMainMemory
		}
		return "Whether it runs cannot be said. " + unpublished(newNames(gen), a)
	}
}

// listedSize is the size of a model that lists of what runs name.
func listedSize(gen *index.Generation, q *FitQuery) *fit.Size {
	ask := q.Query
	ask.MeasuredFirst, ask.BestOnly = true, true
	if a, fault := gen.Fit.Fit(ask); fault == nil && len(a.Sizes) > 0 {
		return &a.Sizes[0]
	}
	return &fit.Size{Verdict: fit.Unknown}
}

// smallestSize is how much the smallest size of a model takes, empty where that is not known.
func smallestSize(a *fit.Answer) string {
	least := int64(0)
	for i := range a.Sizes {
		if total := a.Sizes[i].Memory.Total; total != nil && (least == 0 || *total < least) {
			least = *total
		}
	}
	if least == 0 {
		return ""
	}
	return ": the smallest takes " + text.GiB(least)
}

// speedLine is how fast a size is, with a full cache where the query has a context; empty where that is not known.
func speedLine(q *FitQuery, z *fit.Size) string {
	s := z.Speed
	if s == nil || s.TPS == nil {
		return ""
	}
	about, basis := "", ""
	switch {
	case *s.Use != fit.UseMeasured && s.Estimate != nil:
		about, basis = "about ", "estimated ("+text.Tenths(s.Estimate.P05)+" to "+text.Tenths(s.Estimate.P95)+")"
	case s.Measured.N > 1:
		basis = "measured (" + text.Tenths(s.Measured.P10) + " to " + text.Tenths(s.Measured.P90) + " in " + text.Count(s.Measured.N, "run", "runs") + ")"
	default:
		basis = "measured (1 run)"
	}
	if f := s.Filled; q.Query.Context > 0 && f != nil {
		return z.Quantization + ": about " + text.Tenths(f.TPS) + " tok/s with " + text.Tokens(f.Depth) + " tokens in the cache; " + text.Tenths(*s.TPS) + " with an empty one, " + basis + "."
	}
	return z.Quantization + ": " + about + text.Tenths(*s.TPS) + " tok/s with an empty cache, " + basis + "."
}

// factWords are the facts a verdict needs, in the words of the pages of records.
var factWords = map[string]string{
	"hardware.vram_gb": "memory", "hardware.memory_gb": "memory", "params_b": "parameters", "system_memory_gb": "main memory",
	"architecture.hidden_size": "hidden size", "architecture.vocab_size": "vocabulary",
	"kv_cache.num_kv_heads": "key-value heads", "kv_cache.head_dim": "values per head", "kv_cache.num_kv_layers": "layers with a cache",
	"kv_cache.kv_lora_rank": "compressed width", "kv_cache.qk_rope_head_dim": "rotary part", "kv_cache.recurrent_state_bytes": "recurrent state",
	"architecture.sliding_window": "sliding window", "kv_cache.num_sliding_window_layers": "sliding-window layers", "kv_cache.compressed_kv": "compression of the cache",
}

// inWords are the names of facts in words.
func inWords(paths []string) string {
	out := make([]string, len(paths))
	for i, path := range paths {
		out[i] = cmp.Or(factWords[path], path)
	}
	return strings.Join(out, ", ")
}

// unpublished is a sentence about the facts an unknown verdict lacks: of the hardware, or else of the model.
func unpublished(n *names, a *fit.Answer) string {
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

// belowFour is the remark on sizes of less than fit.LeastBits.
const belowFour = "With fewer than four bits per weight the answers of most models become clearly worse: look for a smaller model, or more memory."

// sizesOnMachine are tables of the sizes of a model on a machine: those that lists name, and the others apart.
func sizesOnMachine(gen *index.Generation, q *FitQuery) []Table {
	a, best := q.Answer, listedSize(gen, q)
	t := Table{
		ID: "sizes", Title: "Sizes, best first", Empty: "No size of the model is known.",
		Intro: "Memory for weights, key-value cache and compute buffer, with room for " + text.Tokens(a.Context) + " tokens. Speeds are with an empty cache. Measured: median of runs of the same pair. Estimate: from the nearest measurements, with a 90 % band.",
		Columns: []Column{
			{Text: "Quantization", Short: true},
			{Text: "Verdict"},
			{Text: "Weights", Number: true},
			{Text: "Cache", Number: true},
			{Text: "Total", Number: true},
			{Text: "To spare", Number: true},
			{Text: "Longest context", Number: true, Title: "With a 16-bit cache"},
			{Text: "Measured tok/s", Number: true},
			{Text: "Estimated tok/s", Number: true},
		},
		More: &Link{Text: "Formulas and their sources", Href: "/docs/fit"},
	}
	if q.Query.Quantization != "" {
		t.Title = "Memory and speed"
	} else if best.Quantization != "" {
		t.Intro += " In bold: the size that lists of what runs name."
	}
	others := Table{
		ID: "other-sizes", Title: "Other sizes", Columns: t.Columns,
		Intro: "Files that differ by less than a tenth from one above, and sizes marked computed, of which no published file is known: they follow from the parameters and the bits per weight.",
	}
	for i := range a.Sizes {
		z := &a.Sizes[i]
		verdict := Cell{Text: cmp.Or(verdictWords[z.Verdict], string(z.Verdict)), Class: "v-" + string(z.Verdict), Title: inWords(z.Missing)}
		if len(z.Evidence) > 0 {
			verdict.Note, verdict.Href, verdict.Title = "a run proves it", "/benchmarks/"+string(z.Evidence[0].ID), ""
		}
		cache, total, spare := textCell(""), textCell(""), textCell("")
		if z.Memory.Cache != nil {
			cache.Text = text.GiB(z.Memory.Cache.Bytes.Bytes)
		}
		if z.Memory.Total != nil {
			total.Text = text.GiB(*z.Memory.Total)
		}
		if z.Headroom != nil {
			if spare.Text = text.GiB(*z.Headroom); *z.Headroom < 0 {
				spare.Text = text.GiB(-*z.Headroom) + " short"
			}
		}
		longest := textCell("")
		if z.MaxContext.F16 != nil {
			longest.Text = text.Tokens(*z.MaxContext.F16)
		}
		measured, estimate := speedCells(q, z)
		name := Cell{Text: z.Quantization, Note: z.Format}
		if z.Quantization == best.Quantization && q.Query.Quantization == "" {
			name.Class = "self"
		}
		if z.BitsPerWeight != nil && *z.BitsPerWeight < fit.LeastBits {
			name.Note, name.Title = strings.TrimSpace(z.Format+", below 4 bits"), belowFour
		}
		to := &t
		if !z.Listed && q.Query.Quantization == "" {
			to = &others
			if z.Memory.Weights.Basis == fit.Computed {
				name.Note = strings.TrimPrefix(name.Note+", computed", ", ")
			}
		}
		to.Rows = append(to.Rows, []Cell{name, verdict, {Text: text.GiB(z.Memory.Weights.Bytes)}, cache, total, spare, longest, measured, estimate})
	}
	if len(others.Rows) == 0 {
		return []Table{t}
	}
	return []Table{t, others}
}

func speedCells(q *FitQuery, z *fit.Size) (measured, estimate Cell) {
	a := q.Answer
	measured, estimate = textCell(""), textCell("")
	if z.Speed == nil {
		return measured, estimate
	}
	if m := z.Speed.Measured; m != nil {
		measured = Cell{Text: text.Tenths(m.Median), Note: text.Count(m.N, "run", "runs"), NoFollow: true}
		switch {
		case q.Query.Count > 1 && q.Query.Quantization == "":
			measured.Href = speedOf(string(a.Model), string(q.Query.Hardware), z.Quantization, q.Params)
		case a.Hardware != nil && q.Query.Count <= 1:
			measured.Href = benchmarksOf(string(a.Model), string(*a.Hardware), z.Quantization)
		}
	}
	if e := z.Speed.Estimate; e != nil {
		estimate = Cell{Text: text.Tenths(e.Median), Note: text.Tenths(e.P05) + " to " + text.Tenths(e.P95), Title: e.Method}
		if q.Query.Quantization == "" {
			estimate.Href, estimate.NoFollow = speedOf(string(a.Model), string(q.Query.Hardware), z.Quantization, q.Params), true
		}
	}
	return measured, estimate
}

// ofMachine are the parameters of a list that describe a machine.
var ofMachine = []string{"memory_gb", "bandwidth_gbps", "count", "unified_share", "context", "kv", "engine"}

// speedOf is the page of one size of a model on a machine, at the runs its speed rests on. Hardware is empty for a
// machine that is described by the parameters alone.
func speedOf(model, hardware, quantization string, machine url.Values) string {
	q := url.Values{"model": {model}, "quantization": {quantization}}
	if hardware != "" {
		q.Set("hardware", hardware)
	}
	for _, name := range ofMachine {
		if v := machine.Get(name); v != "" {
			q.Set(name, v)
		}
	}
	return "/fit?" + q.Encode() + "#rests"
}

// restsOn is what the speed of a size rests on: the runs, and what a filled cache takes from them. It has no rows where
// no speed is known.
func restsOn(gen *index.Generation, a *fit.Answer) Table {
	t := Table{ID: "rests", Title: "What the speed rests on"}
	if len(a.Sizes) == 0 || a.Sizes[0].Speed == nil {
		return t
	}
	n, s := newNames(gen), a.Sizes[0].Speed
	t.Columns = runColumns(index.None)
	switch {
	case s.Measured != nil:
		t.Intro = text.Count(s.Measured.N, "run", "runs") + " of the same pair: a median of " + text.Tenths(s.Measured.Median) + " tok/s with an empty cache."
		for _, id := range s.Measured.Runs {
			t.addRun(gen, n, id)
		}
	case s.Estimate != nil:
		e := s.Estimate
		t.Intro = "For each token " + text.GiB(e.Bytes) + " of weights are read. The nearest measurements reached " + text.Rounded(e.Share*100) + " % of the memory bandwidth of their hardware, which gives " +
			text.Tenths(e.Median) + " tok/s here, with an empty cache."
		if c := e.Checked; c != nil {
			t.Intro += " Such estimates were tried on " + text.Count(c.Rows, "measurement", "measurements") + " hidden from them: half were less than " + text.Rounded(c.MedianError*100) + " % off."
		}
		for _, assumed := range e.Assumes {
			t.Intro += " It takes for granted: " + strings.TrimSuffix(assumed, ".") + "."
		}
		t.Columns = append(t.Columns, Column{Text: "Weight", Number: true, Title: "Of all measurements the estimate rests on"})
		for _, w := range e.Evidence {
			t.addRun(gen, n, w.ID, Cell{Text: text.Rounded(w.Weight*100) + " %"})
		}
		if len(e.Evidence) > 1 {
			t.Source = "The heaviest measurements are listed, at most ten."
		}
	}
	if f := s.Filled; f != nil {
		t.Intro += " With " + text.Tokens(f.Depth) + " tokens in the cache " + text.Rounded(f.Factor*100) + " % of it is left, " + text.Tenths(f.TPS) + " tok/s, from " + text.Count(f.N, "measured slowdown", "measured slowdowns") + "."
	}
	return t
}

// addRun adds a run, and cells of its own behind it.
func (t *Table) addRun(gen *index.Generation, n *names, id dataset.Slug, more ...Cell) {
	if ord, ok := gen.Benchmarks.Find(string(id)); ok {
		t.Rows = append(t.Rows, append(runCells(n, readRun(gen.Benchmarks.Row(ord)), index.None), more...))
	}
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
		out += "; of " + text.Count(q.NoSpeed, "model that runs too", "models that run too") + " no speed is known"
	}
	if q.Undecided > 0 {
		out += ". Of " + text.Whole(q.Undecided) + " more it cannot be said, for a fact about their memory is not published"
		if n := len(q.Ran); n > 0 {
			out += "; " + text.Whole(n) + " of them ran here, and " + record.Noun(n, "is", "are") + " listed last"
		}
	}
	if n := tooShort(gen, q); n > 0 {
		out += ". " + text.Count(n, "model is", "models are") + " left out because " + record.Noun(n, "its", "their") + " limit is a shorter context"
	}
	return counted(gen, q, out+".")
}

// tooShort is how many models cannot keep the context of a query in mind.
func tooShort(gen *index.Generation, q *FitQuery) int {
	if q.Query.Context <= 1 || q.Query.AllowExtended {
		return 0
	}
	_, n := gen.Models.First(index.Query{Ranges: []index.Range{{Field: "context_length", Min: 1, Max: float64(q.Query.Context - 1)}}})
	return n
}

// available is the memory of the machine of a query, nil where it is not known. It is the same for all models.
func available(gen *index.Generation, q *fit.Query) *fit.Available {
	if gen.Models.Len() == 0 {
		return nil
	}
	ask := *q
	ask.Model, ask.Quantization, ask.Context, ask.BestOnly = dataset.Slug(gen.Models.Slug(0)), "", 0, true
	if a, fault := gen.Fit.Fit(ask); fault == nil {
		return a.Available
	}
	return nil
}

// memoryOf is the memory of a machine that counts. Where a part of it does, sentence says so; else it is all of size.
func memoryOf(gen *index.Generation, q *FitQuery) (sentence, size string) {
	m := available(gen, &q.Query)
	if m == nil {
		return "", ""
	}
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

// counted is a sentence about what runs, with the memory that counts in front of it.
func counted(gen *index.Generation, q *FitQuery, sentence string) string {
	part, size := memoryOf(gen, q)
	if size == "" || q.Query.Hardware == "" { // where it is not part of the heading
		return part + sentence
	}
	return "With " + size + ", " + lowerFirst(sentence)
}

// lowerFirst is a sentence behind the beginning of another.
func lowerFirst(sentence string) string { return strings.ToLower(sentence[:1]) + sentence[1:] }

// emptyCache and fullCache say which cache the speeds of a table are with.
const (
	emptyCache = " Speeds are with an empty cache; enter a context to see them with a full one."
	fullCache  = " Speeds are with a full cache, scaled by what measured slowdowns leave of them."
)

// listedHow is how the lists of models that run are made.
const listedHow = "Each model is listed with the most precise size of four to nine bits that was measured here; else with one of more bits that was; else with the most precise of up to nine bits that fits, for more make answers no better; only sizes that were published or measured, or that publishers usually make, count, and one of those that differ by less than a tenth. Best first: by intelligence score, then by parameters; those that fit only below four bits, where answers become clearly worse, come last."

// ranTable is the models that were measured here although whether they fit cannot be said.
func ranTable(gen *index.Generation, q *FitQuery) Table {
	best := BestFirst(gen, q.Ran)
	t := Table{
		ID: "ran", Title: "Measured, memory unknown: " + text.Count(len(best), "model", "models"),
		Intro:   "These ran on this hardware. What their cache takes is not published, so with how much context they fit cannot be said; the weights alone do.",
		Columns: []Column{{Text: "Model"}, {Text: "Intelligence", Number: true, Title: "Composite of published evaluations, 0 to 100"}, {Text: "Size", Short: true}, {Text: "Weights", Number: true}, {Text: "Tok/s", Number: true}, {Text: "Speed is"}},
	}
	if q.Query.Context == 0 {
		t.Intro += emptyCache
	}
	t.Rows = fitRows(gen, best[:min(len(best), shownFitRows)], q.Params)
	return t
}

// foundTables are the models that run, by what is known of their speed.
func foundTables(gen *index.Generation, q *FitQuery, best []fit.Best) (out []Table) {
	var by [3][]fit.Best
	for _, b := range best {
		switch {
		case b.TPS == nil:
			by[2] = append(by[2], b)
		case b.Use != nil && *b.Use == fit.UseMeasured:
			by[0] = append(by[0], b)
		default:
			by[1] = append(by[1], b)
		}
	}
	for i, head := range []Table{
		{ID: "measured", Title: "Measured", Intro: "The speed of the listed size was measured on this hardware."},
		{ID: "estimated", Title: "Estimated", Intro: "No measurement of the listed size on this machine is known; its speed is worked out from the nearest measurements."},
		{ID: "unmeasured", Title: "Speed unknown", Intro: "These fit, and nothing near enough was measured."},
	} {
		if len(by[i]) == 0 {
			continue
		}
		t := head
		if i == 2 && q.Query.Hardware == "" && q.Query.BandwidthGBps == 0 {
			t.Intro = "These fit. Enter the bandwidth of the memory as well, and their speed is estimated."
		}
		switch {
		case i == 2:
		case q.Query.Context > 0:
			t.Intro += fullCache
		default:
			t.Intro += emptyCache
		}
		t.Title += ": " + text.Count(len(by[i]), "model", "models")
		t.Columns = []Column{{Text: "Model"}, {Text: "Intelligence", Number: true, Title: "Composite of published evaluations, 0 to 100"}, {Text: "Size", Short: true}, {Text: "Memory", Number: true}, {Text: "Tok/s", Number: true}, {Text: "Speed is"}}
		shown := by[i][:min(len(by[i]), shownFitRows)]
		t.Rows = fitRows(gen, shown, q.Params)
		if len(shown) < len(by[i]) {
			t.Source = "The best " + text.Whole(shownFitRows) + " are shown."
		}
		if i == 0 && q.Query.Hardware != "" {
			t.More = everySpeed(string(q.Query.Hardware), q.Query.Count)
		}
		out = append(out, t)
	}
	if len(out) == 0 {
		out = []Table{nothingRuns(q)}
	}
	return out
}

// everySpeed leads to all measured speeds on so many devices.
func everySpeed(hardware string, count int) *Link {
	if count > 1 {
		n := text.Whole(count)
		return &Link{Text: "Every measured speed on " + n + " of this hardware", Href: "/explore/benchmarks?hardware=" + url.QueryEscape(hardware) + "&hardware_count=" + n + "&sort=-generation_tps", NoFollow: true}
	}
	return &Link{Text: "Every measured speed on this hardware, in all sizes", Href: "/hardware/" + hardware + "#speed"}
}

// nothingRuns is what is said where no model runs, or none fast enough.
func nothingRuns(q *FitQuery) Table {
	if q.MinTPS == 0 {
		return Table{ID: "none", Title: "Nothing fits", Empty: "No known size of any model fits under these conditions. Try a shorter context, or a compressed cache."}
	}
	without := maps.Clone(q.Params)
	without.Del("min_tps")
	return Table{
		ID: "none", Title: "Nothing is that fast", Empty: "No size of any model that fits is known to reach " + text.Exact(q.MinTPS) + " tok/s.",
		More: &Link{Text: "What runs here at any speed", Href: "/fit?" + without.Encode(), NoFollow: true},
	}
}
