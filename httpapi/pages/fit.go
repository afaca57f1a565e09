package pages

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/text"
	"modeldex/httpapi/charts"
	"modeldex/httpapi/rows"
	"modeldex/index"
)

// FitQuery is what the page about what runs is asked.
type FitQuery struct {
	Query  fit.Query
	Params url.Values // in canonical spelling
	// Found are the models that run on the machine, best first; nil where the query has a model or no machine.
	Found []fit.Best
	// NoSpeed is how many more run, but are not found because their speed is unknown.
	NoSpeed int
	// Undecided is how many more may run: a fact is not published that decides it.
	Undecided int
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
	Form *Ask
}

// An Ask is the form of the page about what runs, with what was asked.
type Ask struct {
	Asked                      url.Values // as it was typed
	KV, KVV, Engines           Choices
	More                       bool    // rarer fields are in use that no heading or lead shows
	KnownHardware, KnownModels Choices // to choose from
	Folded                     bool    // behind a switch on small screens
}

// NewAsk is the form with the parameters of an address.
func NewAsk(gen *index.Generation, params url.Values) *Ask {
	params = maps.Clone(params)
	for name, kind := range map[string]string{"hardware": "hardware", "model": "models", "draft": "models"} {
		params.Set(name, nameOf(tableOf(gen, kind), params.Get(name)))
	}
	f := &Ask{Asked: params, KnownHardware: mostMeasured(gen.Hardware), KnownModels: mostMeasured(gen.Models)}
	for _, v := range fit.KVType("").Values() {
		f.KV, f.KVV = append(f.KV, Choice{v, v, v == params.Get("kv")}), append(f.KVV, Choice{v, v, v == params.Get("kv_v")})
	}
	for _, v := range fit.Rules("").Values() {
		f.Engines = append(f.Engines, Choice{v, v, v == params.Get("engine")})
	}
	rare := []string{"kv", "engine", "host", "parallel", "tool", "backend", "prompt_tokens", "kv_v", "flash_attention", "projector", "draft", "mtp"}
	f.More = slices.ContainsFunc(rare, func(name string) bool { return params.Get(name) != "" })
	return f
}

func (v *Sheet) offer(words, href string) {
	v.Actions = append(v.Actions, Link{Text: words, Href: href})
}

const shownFitRows = 100

// Fit is the page about what runs.
func (s *Site) Fit(gen *index.Generation, q *FitQuery, at Place) *Fit {
	v := &Fit{Form: NewAsk(gen, q.Params), Sheet: Sheet{
		Frame:   s.frame(gen, at, "/fit", "", "Choose your hardware, or enter its memory, to see which open-weight models run on it and how fast."),
		Heading: "What can my hardware run?", Lead: "Choose your hardware, or enter its memory.", Notes: q.Read,
	}}
	v.Styles = []string{"charts.css"}
	machine := machineName(gen, q)
	switch {
	case q.Answer != nil:
		v.showPair(gen, q, machine)
	case machine != "":
		v.showMachine(gen, q, machine)
	default:
		v.askMachine(gen, q)
	}
	v.Title, v.Actions = v.Heading, append(v.Actions, q.Instead...)
	v.Form.Folded = len(v.Tables) > 0
	return v
}

// HTML is the page.
func (v *Fit) HTML() []byte { return v.site.render("fit.html", v) }

func (v *Fit) showPair(gen *index.Generation, q *FitQuery, machine string) {
	model, hardware := string(q.Query.Model), string(q.Query.Hardware)
	v.Heading = newNames(gen).of("models", q.Query.Model) + " on " + machine
	v.Lead = verdictLine(gen, q)
	v.askMemory(gen, q)
	for _, r := range q.Answer.Remedies {
		words := r.Quantization + " " + map[fit.Verdict]string{fit.Fits: "fits", fit.Offload: "runs, partly offloaded,"}[r.Verdict] + strings.TrimPrefix(" "+r.Text, " in "+r.Quantization)
		if r.USD != nil {
			words += ", " + text.Dollars(*r.USD) + " more"
		}
		v.offer(words, q.with(r.Change, r.Value, "quantization", r.Quantization))
	}
	if hardware != "" {
		runs := index.Query{Sets: []index.Set{{Field: index.Model, Values: []string{model}}, {Field: index.Hardware, Values: []string{hardware}}}}
		if _, n := gen.Benchmarks.First(runs); n > 0 {
			v.offer(text.Count(n, "published benchmark", "published benchmarks"), address("/explore/benchmarks", "model", model, "hardware", hardware))
		}
	}
	v.offer("Other models on this hardware", q.with("model", "", "quantization", ""))
	v.offer("Hardware for this model", address("/explore/hardware", "runs", model))
	v.offer("About the model", "/models/"+model)
	v.Forms = forms(v.Place, "json", "csv", "md")
	v.Tables = []Table{sizesOnMachine(gen, q)}
	if q.Query.Quantization != "" {
		v.offer("All quantizations", q.with("quantization", ""))
		if t := placed(gen, q.Answer); t.Rows != nil {
			v.Tables = append(v.Tables, t)
		}
		if t := restsOn(gen, q.Answer); t.Rows != nil {
			v.Tables = append(v.Tables, t)
		}
	}
}

func (v *Fit) showMachine(gen *index.Generation, q *FitQuery, machine string) {
	hardware, where := string(q.Query.Hardware), "on "
	switch {
	case hardware == "":
		where = "in "
	case q.Query.Count < 2:
		where = "on the "
	}
	v.Heading = "What runs " + where + machine + "?"
	v.Forms = forms(v.Place, "json", "csv", "md")
	if hardware != "" {
		v.offer("Specs and prices", "/hardware/"+hardware)
		v.offer("Compare", address("/compare", "hardware", hardware))
	}
	if v.askMemory(gen, q) {
		v.Lead = chooseMemory
		return
	}
	v.Lead = foundLine(gen, q)
	v.Picks = machinePicks(gen, q.Query, q.Found)
	if hardware != "" && q.Query.MinTPS == 0 {
		v.Chart = plot(charts.For(gen).FrontierOf(hardware, q.Found), "plot-frontier", v.Base)
	}
	list := runsTable(gen, q.Query, q.Found[:min(len(q.Found), shownFitRows)])
	list.Title, list.Empty = text.Count(len(q.Found), "model, best first", "models, best first"), "No model fits. Try a shorter context or a smaller KV cache type."
	list.Intro = "Each is shown with the quantization that best balances precision, speed and memory. " + speedsAre(q)
	if len(q.Found) > shownFitRows {
		list.Source = "Showing the first " + text.Whole(shownFitRows) + "."
	}
	if q.Query.MinTPS > 0 {
		list.More = &Link{Text: "Include slower models", Href: q.with("min_tps", "")}
	}
	v.Tables = []Table{list}
}

func speedsAre(q *FitQuery) string {
	of := ""
	if q.Query.Hardware == "" && q.Query.BandwidthGBps == 0 {
		of = " and a usual bandwidth for this memory, unless you enter one"
	}
	if q.Query.Context > 0 {
		return "Speeds are for a full cache" + of + "."
	}
	return "Speeds are for an empty cache" + of + "; to see them for a full cache, enter a context length."
}

func (v *Fit) askMachine(gen *index.Generation, q *FitQuery) {
	v.Form.More = true
	if model := q.Query.Model; model != "" {
		v.Notes = append(v.Notes, "Choose your hardware, or enter its memory, to see whether "+newNames(gen).of("models", model)+" runs on it.")
		v.offer("All hardware that runs it", address("/explore/hardware", "runs", string(model)))
		return
	}
	v.Notes = []string{"Hardware not listed? Choose by memory:"}
	for _, gb := range []string{"8", "12", "16", "24", "32"} {
		v.offer(inGB(gb), "/fit?memory_gb="+gb)
	}
}

// chooseMemory is said of machines whose memory is not known.
const chooseMemory = "What runs depends on how much memory is installed. Choose how much you have."

// askMemory offers the sizes of memory of a machine that is sold with several or without any, and reports whether what
// runs cannot be said without one.
func (v *Fit) askMemory(gen *index.Generation, q *FitQuery) (needed bool) {
	ord, ok := gen.Hardware.Find(string(q.Query.Hardware))
	if !ok {
		return false
	}
	h := decode[rows.Hardware](gen.Hardware.Row(ord))
	v.Switches = memorySwitches(gen, h, v.Place)
	needed = q.Query.MemoryGB == 0 && len(gen.Fit.Unpublished(h.Slug)) > 0
	v.Form.More = v.Form.More || needed
	return needed
}

func machineName(gen *index.Generation, q *FitQuery) string {
	name := ""
	switch {
	case q.Query.Hardware != "":
		name = newNames(gen).of("hardware", q.Query.Hardware)
		if q.Query.MemoryGB > 0 {
			name += " with " + text.Exact(q.Query.MemoryGB) + " GB"
		}
		for _, u := range q.Query.Beside {
			name += " + " + newNames(gen).of("hardware", u.Hardware)
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

func verdictLine(gen *index.Generation, q *FitQuery) string {
	a, best := q.Answer, listedSize(gen, q)
	room, context := "", " with a context of "+text.Tokens(a.Context)+" tokens"
	if size := usableMemory(a.Available); size != "" {
		room = " in " + size
	}
	speed := speedLine(q, best)
	switch best.Verdict {
	case fit.Fits:
		if best.BitsPerWeight != nil && *best.BitsPerWeight < fit.LeastBits {
			context += ", but gives noticeably worse answers, as it has fewer than four bits per weight"
		}
		if speed == "" && q.Query.Hardware == "" && q.Query.BandwidthGBps == 0 {
			speed = " Enter the memory bandwidth to see how fast."
		}
		return best.Quantization + " fits" + room + context + "." + speed
	case fit.Tight:
		return best.Quantization + " just fits" + room + context + ", using memory that should stay free." + speed
	case fit.Offload:
		return best.Quantization + " needs " + text.GiB(best.Memory.Total) + context + ", so only part of it fits" + room + "; the rest stays in main memory." + speed
	case fit.No:
		smallest := slices.MinFunc(a.Sizes, func(a, b fit.Size) int { return cmp.Compare(a.Memory.Total, b.Memory.Total) })
		return "No known quantization fits" + room + context + "; the smallest needs " + text.GiB(smallest.Memory.Total) + "."
	}
	return "We cannot tell whether it fits. " + unpublished(gen, a)
}

func usableMemory(m *fit.Available) string {
	if m == nil {
		return ""
	}
	size := text.Rounded(float64(m.Memory)/(1<<30)) + " GB"
	if m.Share != nil {
		return "the usable " + text.Rounded(float64(m.Usable)/(1<<30)) + " of " + size + " (" + m.Share.Basis + ")"
	}
	return size
}

// listedSize is the quantization of a model that lists of what runs name.
func listedSize(gen *index.Generation, q *FitQuery) *fit.Size {
	ask := q.Query
	ask.Prefer, ask.BestOnly = fit.PreferMeasured, true
	if a, fault := gen.Fit.Fit(ask); fault == nil && len(a.Sizes) > 0 {
		return &a.Sizes[0]
	}
	return &fit.Size{Verdict: fit.Unknown}
}

// speedLine is how fast a quantization is, with a full cache where the query has a context; empty if that is not known.
func speedLine(q *FitQuery, z *fit.Size) string {
	s := z.Speed
	if s == nil || s.TPS == nil {
		return ""
	}
	about, basis := "", basisOf(s.Use)
	switch {
	case *s.Use == fit.UseEstimate && s.Estimate != nil:
		about, basis = "about ", basis+", "+text.Estimate(s.Estimate.P05)+" to "+text.Estimate(s.Estimate.P95)
	case s.Measured != nil && s.Measured.N > 1:
		basis += ", " + text.Tenths(s.Measured.P10) + " to " + text.Tenths(s.Measured.P90) + " in " + text.Whole(s.Measured.N) + " benchmarks"
	}
	basis = " (" + basis + ")"
	if s.TTFT != nil {
		basis += "; the answer starts after " + text.Tenths(s.TTFT.Median) + " s"
	}
	if s.Total != nil {
		basis += " and ends after " + text.Tenths(s.Total.Median) + " s"
	}
	if f := s.Filled; q.Query.Context > 0 && f != nil {
		return " It generates about " + speedText(f.TPS, s.Use) + " tok/s with " + text.Tokens(f.Depth) + " tokens in the cache, or " + speedText(*s.TPS, s.Use) + " with an empty one" + basis + "."
	}
	return " It generates " + about + speedText(*s.TPS, s.Use) + " tok/s with an empty cache" + basis + "."
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
	return "Not published for " + of + ": " + strings.ToLower(fieldNamesOf(slices.Compact(missing))) + "."
}

// sizesOnMachine is the quantizations of a model on a machine, those that lists may name first.
func sizesOnMachine(gen *index.Generation, q *FitQuery) Table {
	best, one := listedSize(gen, q), q.Query.Quantization != ""
	t := Table{
		ID: "sizes", Title: "Quantizations, best first", Empty: "No known quantizations.",
		Intro:   "Memory includes weights, " + cacheWords(q.Answer) + " and compute buffer for a context of " + text.Tokens(q.Answer.Context) + " tokens. Speeds are for an empty cache; estimates come with a 90% range.",
		Columns: columns("~Quantization", "Fit", "#Weights", "#Cache", "#Total", "#Headroom", "#Longest context|With a 16-bit KV cache", "#Measured tok/s", "#Estimated tok/s"),
		More:    &Link{Text: "Formulas and their sources", Href: "/docs/fit"},
	}
	if one {
		t.Title = "Memory and speed"
	} else if best.Quantization != "" {
		t.Intro += " The quantization in bold is the one shown in lists."
	}
	for _, listed := range []bool{true, false} {
		for i := range q.Answer.Sizes {
			z := &q.Answer.Sizes[i]
			if z.Listed != listed {
				continue
			}
			row := sizeCells(q, z)
			if z.Quantization == best.Quantization && !one {
				row[0].Class = "self"
			}
			if z.Memory.Weights.Basis == fit.Computed {
				row[0].Note = strings.TrimPrefix(row[0].Note+", size computed", ", ")
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func cacheWords(a *fit.Answer) string {
	out := "KV cache"
	if a.KV != fit.F16 || a.KVV != a.KV {
		out += " in " + string(a.KV)
	}
	if a.KVV != a.KV {
		out += " and " + string(a.KVV) + " (values)"
	}
	if !a.FlashAttention {
		out += " without flash attention"
	}
	return out
}

func sizeCells(q *FitQuery, z *fit.Size) []Cell {
	name := Cell{Text: z.Quantization, Note: shown(z.Format)}
	if z.BitsPerWeight != nil && *z.BitsPerWeight < fit.LeastBits {
		name.Note, name.Title = name.Note+", below 4 bits", belowFour
	}
	verdict := verdictCell(z)
	if len(z.Evidence) > 0 {
		verdict.Note, verdict.Href, verdict.Title = "proven by a benchmark", "/benchmarks/"+string(z.Evidence[0].ID), ""
	}
	if z.Verdict == fit.Offload && z.Placement != nil && z.Placement.Flags != "" {
		verdict.Note = "with " + z.Placement.Flags
	}
	cache, spare := cell(text.GiB(z.Memory.Cache.Bytes.Bytes)), known(z.Headroom, text.GiB)
	total := cell(text.GiB(z.Memory.Total))
	var beside []string
	for _, c := range z.Memory.Companions {
		beside = append(beside, c.Kind+" "+text.GiB(c.Bytes.Bytes))
	}
	total.Note = strings.Join(beside, ", ")
	if z.Memory.Cache.Basis == fit.UpperBound {
		cache.Note = "at most"
	}
	if z.Headroom != nil && *z.Headroom < 0 {
		spare.Text = text.GiB(-*z.Headroom) + " short"
	}
	measured, estimate := cell(""), cell("")
	if s := z.Speed; s != nil {
		rests := speedOf(string(q.Answer.Model), q.Query, z.Quantization)
		if m := s.Measured; m != nil {
			measured = Cell{Text: text.Tenths(m.Median), Note: text.Count(m.N, "benchmark", "benchmarks"), Href: rests}
		}
		if e := s.Estimate; e != nil {
			estimate = Cell{Text: text.Estimate(e.Median), Note: text.Estimate(e.P05) + " to " + text.Estimate(e.P95), Href: rests}
		}
	}
	if z.CacheTokens != nil {
		spare.Note = text.Tokens(*z.CacheTokens) + " tokens of cache, " + text.Tenths(*z.Requests) + " parallel requests"
	}
	return []Cell{
		name, verdict, {Text: text.GiB(z.Memory.Weights.Bytes)}, cache, total, spare, roomCell(z.MaxContext.F16), measured, estimate,
	}
}

// placed is what each device and main memory hold of a quantization. It has no rows where one device holds all of it.
func placed(gen *index.Generation, a *fit.Answer) Table {
	if len(a.Sizes) == 0 || a.Sizes[0].Placement == nil || len(a.Sizes[0].Placement.Devices) < 2 && a.Verdict != fit.Offload {
		return Table{}
	}
	p, n := a.Sizes[0].Placement, newNames(gen)
	t := Table{
		ID: "placement", Title: "Memory by device",
		Columns: columns("~Device", "#Layers|Including the output layer", "#Weights", "#Cache", "#Compute buffer", "#Available"),
	}
	if p.Flags != "" {
		t.Intro = "Options: " + p.Flags
	}
	for i := range p.Devices {
		d, name := &p.Devices[i], "Device "+text.Whole(i+1)
		if d.Hardware != nil {
			name = n.of("hardware", *d.Hardware)
		}
		t.Rows = append(t.Rows, []Cell{
			{Text: name}, {Text: text.Whole(int(d.Layers))}, {Text: text.GiB(d.Weights)}, {Text: text.GiB(d.Cache)}, {Text: text.GiB(d.Compute)}, {Text: text.GiB(d.Usable)},
		})
	}
	t.Rows = append(t.Rows, []Cell{{Text: "Main memory", Note: "weights and cache"}, cell(""), {Text: text.GiB(p.Host)}, cell(""), cell(""), cell("")})
	return t
}

// restsOn is what the speed of a quantization rests on: the runs, and what a filled cache takes from them. It has no rows
// where no speed is known.
func restsOn(gen *index.Generation, a *fit.Answer) Table {
	t := Table{ID: "rests", Title: "Benchmarks behind this speed", Columns: runColumns(index.None)}
	if len(a.Sizes) == 0 || a.Sizes[0].Speed == nil {
		return t
	}
	n, s := newNames(gen), a.Sizes[0].Speed
	add := func(id dataset.Slug, more ...Cell) {
		if ord, ok := gen.Benchmarks.Find(string(id)); ok {
			t.Rows = append(t.Rows, append(runCells(n, decode[rows.Benchmark](gen.Benchmarks.Row(ord)), index.None), more...))
		}
	}
	if m := s.Measured; m != nil && m.Note == nil {
		t.Intro = "The median of " + text.Count(m.N, "benchmark", "benchmarks") + " of models with this architecture is " + text.Tenths(m.Median) + " tok/s with an empty cache."
		if *s.Use == fit.UseSibling {
			t.Intro = "The median of " + text.Count(m.N, "benchmark", "benchmarks") + " on hardware with the same memory bandwidth is " + text.Tenths(m.Median) + " tok/s with an empty cache."
		}
		for _, id := range m.Runs {
			add(id)
		}
	} else if e := s.Estimate; e != nil {
		t.Intro = "Each token requires reading " + text.GiB(e.Bytes) + " of weights. The benchmarks below suggest that this reaches " + text.Percent(e.Share) + " of the memory bandwidth: " +
			text.Estimate(e.Median) + " tok/s with an empty cache."
		if m := s.Measured; m != nil {
			t.Intro += " We left out " + text.Count(m.N, "benchmark", "benchmarks") + ": " + *m.Note + "."
		}
		if c := e.Checked; c != nil {
			t.Intro += " We checked estimates like this against " + text.Count(c.Rows, "benchmark", "benchmarks") + " they were not based on: half were within " + text.Percent(c.MedianError) + "."
		}
		for _, assumed := range e.Assumes {
			t.Intro += " Assumption: " + assumed + "."
		}
		t.Columns = append(t.Columns, Column{Text: "Weight", Number: true, Title: "This benchmark's share of the estimate"})
		for _, w := range e.Evidence {
			add(w.ID, Cell{Text: text.Percent(w.Weight)})
		}
	}
	if f := s.Filled; f != nil {
		t.Intro += " With " + text.Tokens(f.Depth) + " tokens in the cache, the speed falls to " + text.Percent(f.Factor) + " of that, " + text.Estimate(f.TPS) + " tok/s."
	}
	return t
}

func foundLine(gen *index.Generation, q *FitQuery) string {
	out := text.Count(len(q.Found), "model runs", "models run")
	if gen.Models.Len() > 0 {
		ask := q.Query // the memory is the same for all models
		ask.Model, ask.Context, ask.BestOnly = dataset.Slug(gen.Models.Slug(0)), 0, true
		if a, fault := gen.Fit.Fit(ask); fault == nil && a.Available != nil {
			out += " in " + usableMemory(a.Available)
		}
	}
	out += " with a context of " + text.Tokens(cmp.Or(q.Query.Context, fit.DefaultContext)) + " tokens"
	if q.Query.MinTPS > 0 {
		out += ", at " + text.Exact(q.Query.MinTPS) + " tok/s or more"
	}
	out += "."
	if q.NoSpeed > 0 {
		out += " The speed of " + text.Count(q.NoSpeed, "more model", "more models") + " is unknown."
	}
	if q.Undecided > 0 {
		out += " We cannot tell for " + text.Whole(q.Undecided) + " more, because too little is published about them."
	}
	return out
}
