package resolve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"modeldex/dataset"
)

// MaxQuestion is the longest question that is read, in characters.
const MaxQuestion = 500

// Intent is what a question wants to know.
type Intent string

// The intents of questions.
const (
	Fit           Intent = "fit"            // does a model run on hardware
	Speed         Intent = "speed"          // how fast does it
	Runs          Intent = "runs"           // what runs on hardware
	WhichHardware Intent = "which-hardware" // what hardware runs a model
	Compare       Intent = "compare"        // models on hardware, or hardware for a model, side by side
)

// A Question is how a question was read. Zero values are not said.
type Question struct {
	Intent   Intent
	Models   []Named
	Hardware []Named // that computes: what is compared, or the parts of one machine
	Host     *Named  // the processor beside a card
	Tool     *Named

	Count        int     // of all devices of one machine
	MemoryGB     float64 // of one device, or the memory that processor and graphics share
	HostMemoryGB float64 // beside a card, or of a processor
	Quantization string
	Context      int // tokens
	MaxPriceUSD  float64
	MinTPS       float64 // tokens per second that are wished for
	SizeB        float64 // of a model that has no name, in billions of parameters
	Processor    bool    // no device is named, and the memory is RAM, of a phone or of a computer without a card
	Unused       []string

	text string
}

// Named is what a part of a question names.
type Named struct {
	Answer
	Device *dataset.Hardware // that it means, nil for none

	start, end int
}

// asking is a question while it is read.
type asking struct {
	*Question
	r            *Resolver
	words        []word
	facts, names places // that were used for facts and for names

	memories   []amount
	speed      float64 // tokens per second
	least      bool    // the speed is a wish
	speedWords bool

	numbers []fact // of devices, that the text says with a sign or a word
	several bool   // devices, or a desktop, so that no chip for laptops is meant
	strict  bool   // nothing that the text leaves out is filled in
}

// Read reads a question, a title or a row of a table in people's words. Every word is used, is one of those that
// say nothing, or is listed as Unused. Safe for concurrent use.
func (r *Resolver) Read(question string) *Question {
	a := r.read(question)
	a.readMac()
	a.intend()
	return a.Question
}

// read is Read without what the question wants.
func (r *Resolver) read(question string) *asking {
	text := clean(strings.ToValidUTF8(question, " "))
	if cut := []rune(text); len(cut) > MaxQuestion {
		text = string(cut[:MaxQuestion])
	}
	a := r.asked(text, false)
	a.readTool()
	a.readModels()
	a.readHardware()
	a.readSize()
	a.roles()
	a.attach()
	a.unused()
	return a
}

// asked is a question whose facts and device numbers were read, but not its names.
func (r *Resolver) asked(text string, strict bool) *asking {
	if text = rewrite("cores", text); !strict {
		text = rewrite("cores in questions", text)
	}
	a := &asking{Question: &Question{text: text}, r: r, strict: strict, words: phrased(split(text))}
	a.readFacts()
	a.readCounts()
	return a
}

// device is the hardware of a slug.
func (r *Resolver) device(slug dataset.Slug) *dataset.Hardware {
	return r.hardware.recs[r.hardware.exact[string(slug)]].hardware
}

// A span is words of a text that name something.
type span struct {
	from, to int // words
	reach    int // the word that ended it
	words    []string
	machine  []string // words for a machine that has no record, or several: its chip is meant
	matches  []match
	weight   float64
}

// spans finds the words that name records of a lexicon, the longest names first.
func (a *asking) spans(x *lexicon, ws []word) (out []span) {
	begun := make([]*span, len(ws)) // the names that begin at each word
	for i := range ws {
		begun[i] = a.grow(x, ws, i)
	}
	for {
		var best *span
		for _, s := range begun {
			if s != nil && (best == nil || s.weight > best.weight) {
				best = s
			}
		}
		if best == nil {
			slices.SortFunc(out, func(a, b span) int { return a.from - b.from })
			return out
		}
		a.use(ws[best.from].start, ws[best.to-1].end)
		for i, s := range begun {
			if i == best.to || s != nil && s.from < best.to && s.reach >= best.from {
				begun[i] = a.grow(x, ws, i)
			}
		}
		out = append(out, *best)
	}
}

// mostRecords is the maximum number of records that one name may match.
const mostRecords = 130

// grow finds the name that begins at a word, nil for none. It is of neighbouring words; between them may be words that
// say nothing.
func (a *asking) grow(x *lexicon, ws []word, from int) *span {
	s := &span{from: from, to: from}
	var set postings
	var optional []string
	machine := x.kind == Hardware
	w, next := ws[from].text, ws[min(from+1, len(ws)-1)]
	switch {
	case isDigit(w[0]) && from > 0 && !a.usedAt(ws[from-1]) && a.joined(ws[from-1], ws[from], ""), machine && is("brands", w),
		is("common", w) && !(next.start == ws[from].end && isDigit(next.text[0])): // the a of A100 is no word of a sentence
		return nil
	}
grow:
	for s.reach = from; s.reach < len(ws); s.reach++ {
		j, w := s.reach, ws[s.reach].text
		if a.facts.at(ws[j]) && set != nil || machine && is("brands", w) {
			continue
		}
		if a.usedAt(ws[j]) || j > from && strings.Contains(a.text[min(ws[j-1].end, ws[j].start):ws[j].start], " + ") {
			break grow
		}
		next := x.post[w]
		if set != nil {
			next = set.and(next)
		}
		if next == nil && len(optional) > 0 { // the machine has no record: its chip is meant
			kept := without(s.words, optional)
			if next = x.all(append(kept, w)); next != nil {
				s.machine, s.words, optional = append(s.machine, optional...), kept, nil
			}
		}
		if (next == nil || set == nil) && (screen(w) || w == "inch") && len(optional)+len(s.machine) > 0 {
			continue
		}
		if next == nil && machine && is("optional", w) {
			if s.machine = append(s.machine, w); set != nil {
				s.to = j + 1
			}
			continue
		}
		if next == nil {
			break grow
		}
		if is("optional", w) {
			optional = append(optional, w)
		}
		set, s.words, s.to = next, append(s.words, w), j+1
	}
	if set == nil || len(set) > mostRecords || !a.weigh(x, ws, s) {
		return nil
	}
	return s
}

// weigh finds the records of a span. It is false if the words do not name one.
func (a *asking) weigh(x *lexicon, ws []word, s *span) bool {
	gb := 0.0
	if x.kind == Hardware {
		gb = a.memoryAt(ws[s.from].start, ws[s.to-1].end)
	}
	if s.matches = x.match(s.words, gb, true); len(s.matches) == 0 {
		return false
	}
	if s.matches[0].cost >= numberWeight { // a MacBook Pro of which the size of the screen is not said
		if chip := without(s.words, nil); len(chip) < len(s.words) {
			if m := x.match(chip, gb, true); len(m) > 0 && m[0].share > 0.9 {
				s.machine, s.matches = append(s.machine, s.words...), m
			}
		}
	}
	best := &s.matches[0]
	if best.share < 0.45 || x.kind == Hardware && !firm(s, ws) || x.kind == Model && a.isChip(s) {
		return false
	}
	s.weight = best.share
	for i, w := range best.forms[0].words {
		if slices.Contains(s.words, w) {
			s.weight += best.forms[0].weight[i]
		}
	}
	return true
}

// without are words without those for a machine, some and all.
func without(words, some []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		return slices.Contains(some, w) || screen(w) || some == nil && is("optional", w)
	})
}

// screen reports whether a word can be the size of a screen in inches.
func screen(w string) bool { return len(w) == 2 && w[0] == '1' && isDigit(w[1]) }

// sells reports whether a machine of Apple is sold with a chip.
func sells(words []string) bool {
	kind := "plain"
	for _, w := range words {
		if w == "pro" || w == "max" || w == "ultra" {
			kind = w
		}
	}
	return !slices.ContainsFunc(words, func(w string) bool { return is("macs", w) && !strings.Contains(means("macs", w), kind) })
}

// firm reports whether words can name hardware in a sentence: they have a number of three digits, letters with a
// number at them, or two words that are not of many names.
func firm(s *span, ws []word) bool {
	plain := 0
	for i := s.from; i < s.to; i++ {
		w := ws[i].text
		switch {
		case !slices.Contains(s.words, w):
		case isDigit(w[0]):
			if len(w) >= 4 || len(w) == 3 && s.to-s.from > 1 || i > s.from && ws[i].start <= ws[i-1].end+1 && len(ws[i-1].text) <= 2 {
				return true
			}
		case len(w) > 1 && !is("lines", w) && !is("suffixes", w) && !is("shapes", w) && !is("optional", w):
			plain++
		}
	}
	numbered := slices.ContainsFunc(s.words, func(w string) bool { return isDigit(w[0]) })
	return plain > 1 || plain == 1 && (s.matches[0].share > 0.9 || numbered)
}

// isChip reports whether one word is not enough to name a model, because it is not the first of its name or that of a
// chip, such as M3.
func (a *asking) isChip(s *span) bool {
	w := s.words[0]
	if len(s.words) > 1 {
		return false
	}
	return !isDigit(w[len(w)-1]) && !s.matches[0].begins(w) || len(w) <= 3 && a.r.hardware.all(texts(split(w))) != nil
}

// joined reports whether nothing, or one of some signs, is between two words.
func (a *asking) joined(w, next word, signs string) bool {
	return next.text[0] < 0x80 && (next.start <= w.end || next.start == w.end+1 && strings.IndexByte(signs, a.text[w.end]) >= 0)
}

// broken reports whether a word next to a span turns it into another product, or shows that no record is meant.
func (a *asking) broken(x *lexicon, ws []word, s *span) bool {
	free := func(i int) bool { return i >= 0 && i < len(ws) && !a.usedAt(ws[i]) }
	if i := s.to; free(i) {
		w, joined := ws[i].text, a.joined(ws[i-1], ws[i], "-_")
		numbered := func(w string) bool { return isDigit(w[len(w)-1]) }
		switch {
		case is("derived", w):
			return true
		case x.kind == Model && isSize(w):
			return !strings.Contains(a.text[ws[i-1].end:ws[i].start], "v")
		case x.kind == Model && joined:
			return true
		case x.kind == Model:
		case w == "laptop" && s.matches[0].hardware.Type == "gpu":
			return true
		case w == "s" && (a.several || len(a.numbers) > 0):
		case is("suffixes", w) && (joined || len(w) > 1), joined && ws[i-1].end == ws[i].start && w != "x", isDigit(w[0]) && joined:
			return true
		}
		if isDigit(w[0]) && !slices.ContainsFunc(s.words, numbered) {
			return true
		}
	}
	if i := s.from - 1; free(i) && a.joined(ws[i], ws[i+1], "-_") {
		return x.kind == Model && a.text[ws[i].end] != '/' || x.kind == Hardware && isDigit(ws[i].text[0])
	}
	return false
}

// readMac finds a chip for a Mac whose chip is not named: one of middling bandwidth among those sold with that memory.
func (a *asking) readMac() {
	i := slices.IndexFunc(a.words, func(w word) bool { return is("macs", w.text) })
	if i < 0 || len(a.Hardware) > 0 || a.MaxPriceUSD > 0 || says("other mac", a.text) ||
		says("asks for hardware", a.text) && !says("asks for models", a.text) {
		return
	}
	x, w := a.r.hardware, a.words[i]
	var chips, variants []int
	for rec, k := range x.recs {
		h := k.hardware
		sold := slices.ContainsFunc(slices.Concat(k.variants, []int{rec}), func(rec int) bool {
			own, _ := memoryOf(x.recs[rec].hardware, a.MemoryGB)
			return own || a.MemoryGB == 0
		})
		if strings.HasPrefix(h.Name, "Apple M") && h.Type == "soc" && h.MemoryBandwidthGBps != nil && h.ReleaseDate != nil && sold && sells(append(texts(split(clean(h.Name))), w.text)) {
			chips, variants = append(chips, rec), append(variants, k.variants...)
		}
	}
	chips = slices.DeleteFunc(chips, func(rec int) bool { return slices.Contains(variants, rec) })
	if len(chips) == 0 {
		return
	}
	slices.SortFunc(chips, func(rec, other int) int {
		h, o := x.recs[rec].hardware, x.recs[other].hardware
		return cmp.Or(cmp.Compare(*h.MemoryBandwidthGBps, *o.MemoryBandwidthGBps), cmp.Compare(h.ReleaseDate.Number(), o.ReleaseDate.Number()))
	})
	middle := (len(chips) - 1) / 2
	chips[0], chips[middle] = chips[middle], chips[0]
	k := &x.recs[chips[0]]
	n := Named{Answer: Answer{Input: a.text[w.start:w.end], Kind: Hardware, Ambiguous: true, Candidates: x.list(chips, "a Mac chip sold with that memory")}, Device: k.hardware, start: w.start, end: w.end}
	n.found(k, Likely, "no chip is named; this one is mid-range among the chips of such Macs")
	a.use(w.start, w.end)
	a.Hardware, a.Processor, a.Unused = []Named{n}, false, nil
	a.unused()
}

// readCounts reads the numbers of devices that a text says with a sign or a word.
func (a *asking) readCounts() {
	sizes := slices.DeleteFunc(sized(a.words), func(w word) bool { return !isSize(w.text) })
	count := func(start, end int, number string) {
		if slices.ContainsFunc(sizes, func(w word) bool { return w.start <= start && end < w.end }) { // the 8x of 8x22b
			return
		}
		a.numbers = append(a.numbers, fact{place{start, end}, []string{number}})
		a.facts = append(a.facts, place{start, end})
	}
	for _, m := range patterns["number of devices"].FindAllStringSubmatchIndex(a.text, -1) {
		for g := 2; g < len(m); g += 4 { // with the sign, and without it
			if m[g] >= 0 {
				count(m[g], m[g+1], a.text[m[g+2]:m[g+3]])
			}
		}
	}
	for _, w := range a.words {
		if n := means("counts", w.text); n != "" && !a.strict { // else cutCount has read it
			count(w.start, w.end, n)
		}
	}
}

// readTool finds the tool that a question names: all words of a name, in order.
func (a *asking) readTool() {
	x := a.r.tools
	for i, w := range a.words {
		for to := min(i+4, len(a.words)); to > i; to-- {
			found, end := x.whole(texts(a.words[i:to])), a.words[to-1].end
			other := to == i+1 && is("tools", w.text) && !(i > 0 && is("before tools", a.words[i-1].text))
			if len(found) > 0 && !other && (a.Tool == nil || end-w.start > a.Tool.end-a.Tool.start) {
				a.Tool = &Named{Answer: Answer{Kind: Tool}, start: w.start, end: end}
				a.Tool.found(&x.recs[found[0]], Parsed, "")
			}
		}
	}
	if a.Tool != nil {
		a.use(a.Tool.start, a.Tool.end)
	}
}

// readModels finds the models of a question, the second of "Llama 3.1 405B vs 70B" among them.
func (a *asking) readModels() {
	x := a.r.models
	ws := x.spell(sized(a.words), true)
	spans := a.spans(x, ws)
	for i, w := range ws {
		if len(spans) == 1 && i > spans[0].to && isSize(w.text) && !a.usedAt(w) {
			words := append(slices.DeleteFunc(slices.Clone(spans[0].words), isSize), w.text)
			if m := x.match(words, 0, true); len(m) > 0 {
				spans = append(spans, span{from: i, to: i + 1, words: words, matches: m})
			}
		}
	}
	for _, s := range spans {
		if n := a.named(x, ws, &s); n.Slug != "" || len(n.Candidates) > 0 {
			a.Models = append(a.Models, n)
		}
	}
}

// readSize finds the size of a model that has no name.
func (a *asking) readSize() {
	for _, w := range sized(a.words) {
		if n := params(w.text); n > 0 && strings.HasSuffix(w.text, "b") && !a.usedAt(w) {
			a.use(w.start, w.end)
			if len(a.Models) == 0 {
				a.SizeB = cmp.Or(a.SizeB, n)
			}
		}
	}
}

// readHardware finds the hardware of a question.
func (a *asking) readHardware() {
	x := a.r.hardware
	laptop := slices.ContainsFunc(a.words, func(w word) bool { return w.text == "laptop" }) || ofLaptop(a.text)
	for _, s := range a.spans(x, a.words) {
		if laptop {
			gb := a.memoryAt(a.words[s.from].start, a.words[s.to-1].end)
			if m := x.match(append(slices.Clip(s.words), "laptop"), gb, true); len(m) > 0 && !m[0].own && !m[0].clash {
				s.matches = m
			}
		}
		n := a.named(x, a.words, &s)
		a.countOf(&n)
		a.Hardware = append(a.Hardware, n)
	}
}

// named is what a span names.
func (a *asking) named(x *lexicon, ws []word, s *span) (n Named) {
	n.start, n.end = ws[s.from].start, ws[s.to-1].end
	best, fitting := s.matches[0], a.fitting(x, s.matches)
	single := len(fitting) == 1
	k := &x.recs[fitting[0]]
	n.Input, n.Kind, n.Candidates = a.text[n.start:n.end], x.kind, x.list(fitting, "matches the question")
	n.found(k, Parsed, "every word of the name was understood")
	n.Device = k.hardware
	why := a.doubt(x, ws, s, n.Device)
	switch {
	case why != "" || a.broken(x, ws, s):
		n.unsure(cmp.Or(why, "the question has an extra word in the name"), nearest)
	case best.bare && a.strict && single:
		n.Confidence, n.Ambiguous, n.Reason = Likely, true, "the name does not state the memory"
	case best.cost >= shapeWord && a.strict && !best.memory && single:
		n.unsure("the name leaves out "+strings.Join(best.missing(), " "), nearest)
	case k.variants != nil:
		a.variantOf(&n, k)
	case !single || best.cost >= shapeWord:
		n.Confidence, n.Ambiguous, n.Reason = Likely, !single, "the likeliest match"
	default:
		n.Candidates = nil
	}
	if n.Slug == "" {
		n.Device = nil
	}
	return n
}

const nearest = "the nearest name" // why a candidate is one

// fitting are the records that fit about as well as the best. The name of graphics does not say which processor they are in.
func (a *asking) fitting(x *lexicon, matches []match) (out []int) {
	best := matches[0]
	slack := sizeWeight
	if best.cost < shapeWord {
		slack = freeWord
	}
	lineless := slices.ContainsFunc(best.missing(), func(w string) bool { return w == "rtx" || w == "gtx" })
	for _, m := range matches {
		laptop := a.strict && lineless && !a.several && m.laptop
		if m.clash == best.clash && m.own == best.own && (m.cost <= best.cost+slack && (!m.laptop || best.laptop) || laptop) {
			out = append(out, m.rec)
		}
	}
	out = out[:min(MaxCandidates, len(out))]
	return slices.DeleteFunc(slices.Clone(out), func(rec int) bool {
		h := x.recs[rec].hardware
		return h != nil && h.IntegratedGPU != nil && slices.Contains(out, x.exact[string(*h.IntegratedGPU)])
	})
}

// doubt says why a span may not mean what fits it best, empty for nothing.
func (a *asking) doubt(x *lexicon, ws []word, s *span, h *dataset.Hardware) string {
	best := s.matches[0]
	if best.own {
		return "the question leaves out words that mean another product: " + strings.Join(best.missing(), " ")
	}
	if x.kind != Hardware {
		return ""
	}
	maker := s.from
	for maker > 0 && is("brands", ws[maker-1].text) {
		maker--
	}
	other := func(w word) bool { return is("makers", w.text) && means("makers", w.text) != string(h.Vendor) }
	switch {
	case slices.ContainsFunc(ws[maker:s.to], other):
		return "the name states another maker"
	case !sells(slices.Concat(s.words, s.machine)):
		return "that machine is not sold with this chip"
	case a.strict && best.clash:
		return fmt.Sprintf("no record with this name has %v GB of memory", a.memoryAt(ws[s.from].start, ws[s.to-1].end))
	case a.strict && s.words[len(s.words)-1] == "s" && (a.several || len(a.numbers) > 0):
		return "the s may be a plural"
	case len(s.words) == 1 && isDigit(s.words[0][0]) && (best.cost >= shapeWord || h.Vendor != "nvidia"):
		return "several product lines use this number"
	}
	return ""
}

// variantOf chooses among the variants of a record by the memory that was said.
func (a *asking) variantOf(n *Named, k *known) {
	gb := a.memoryAt(n.start, n.end)
	fit := a.r.withMemory(k.variants, gb)
	n.Candidates = a.r.hardware.list(fit, oneOf)
	n.Ambiguous, n.Reason = true, "the record for names that leave the exact product open"
	switch {
	case len(fit) == 0:
		n.unsure(fmt.Sprintf("no record with this name has %v GB of memory", gb), nearest)
	case len(fit) == 1 && gb > 0:
		n.found(&a.r.hardware.recs[fit[0]], Parsed, "only this one is sold with that memory")
		n.Device, n.Candidates, n.Ambiguous = a.r.hardware.recs[fit[0]].hardware, nil, false
	}
}

// usedAt reports whether a word is of a fact or of a name that was read.
func (a *asking) usedAt(w word) bool { return a.facts.at(w) || a.names.at(w) }

func (a *asking) use(start, end int) { a.names = append(a.names, place{start, end}) }

// memoryAt is the amount of memory that stands at a name, 0 for none: before it, behind it or in brackets.
func (a *asking) memoryAt(start, end int) float64 {
	between := func(from, to int) bool { return from <= to && strings.Trim(a.text[from:to], " -(,/vramwith") == "" }
	for _, m := range a.memories {
		at := between(m.end, start) || between(end, m.start) || m.start > start && m.end <= end
		if !m.ofHost && (at || a.strict && !strings.Contains(a.text[m.start:m.end], "total")) {
			return m.gb
		}
	}
	return 0
}

// countOf finds the number of devices at a name.
func (a *asking) countOf(n *Named) {
	for _, c := range a.numbers {
		if c.end <= n.start && says("between a number and devices", a.text[c.end:n.start]) ||
			c.start >= n.end && strings.Trim(a.text[n.end:c.start], " x*×(s") == "" {
			n.Count = int(c.number(0))
			return
		}
	}
	for _, f := range find("bare number of devices", a.text[:n.start]) {
		if number := (word{start: f.start, end: f.end}); !a.usedAt(number) {
			n.Count = int(f.number(1))
			a.use(f.start, f.end)
		}
	}
}

// inside reports whether hardware is the graphics of a processor. A name may give them in a wrong pair.
func (a *asking) inside(part, whole *dataset.Hardware) bool {
	return whole.IntegratedGPU != nil && *whole.IntegratedGPU == part.Slug ||
		a.strict && part.Type == "apu" && (whole.IntegratedGPU != nil || whole.Type == "cpu")
}

// roles tells what computes from what is beside it: the processor of a machine with a card, the graphics inside a
// processor, the machine around a chip. A name of both graphics and their processor is that of the processor.
func (a *asking) roles() {
	card := slices.ContainsFunc(a.Hardware, func(n Named) bool { return n.Device != nil && n.Device.Type == "gpu" })
	var kept []Named
	for _, n := range a.Hardware {
		h := n.Device
		same := slices.IndexFunc(kept, func(k Named) bool { // one device by two names
			return k.Device != nil && h != nil && (a.r.Related(k.Device.Slug, h.Slug) || a.inside(h, k.Device) || a.inside(k.Device, h))
		})
		switch {
		case h != nil && card && (h.Type == "cpu" || a.strict && h.IntegratedGPU != nil):
			a.Host = &n
		case h != nil && a.Host != nil && a.inside(h, a.Host.Device):
		case same < 0:
			if h != nil || !card || a.strict && len(n.Candidates) > 0 && a.r.device(n.Candidates[0].Slug).Type == "gpu" {
				kept = append(kept, n)
			}
		case a.strict && a.inside(kept[same].Device, h):
			n.Reason = "graphics inside " + n.Name
			kept = slices.DeleteFunc(kept, func(k Named) bool { return k.Device != nil && a.inside(k.Device, h) })
			kept = append(kept, n)
		case a.strict && kept[same].Device.Chip != nil, !a.strict && a.inside(h, kept[same].Device):
			kept[same] = n
		default:
			kept[same].Count = max(kept[same].Count, n.Count)
		}
	}
	a.Hardware = kept
}

// attach gives the amounts of memory and the numbers of devices to what they are of.
func (a *asking) attach() {
	var known, card bool
	for _, n := range a.Hardware {
		known, card = known || n.Device != nil, card || n.Device != nil && n.Device.Type == "gpu"
		if a.Count += n.Count; n.Count == 0 && len(a.Hardware) > 1 {
			a.Count++
		}
	}
	processor := len(a.Hardware) == 1 && known && a.Hardware[0].Device.Type == "cpu"
	host := processor || card || !known && says("of hosts", a.text) && !says("of machines", a.text)
	video := slices.ContainsFunc(a.memories, func(m amount) bool { return m.ofDevice })
	ram := slices.ContainsFunc(a.memories, func(m amount) bool { return m.ofHost })
	host = host || ram && video
	for _, m := range a.memories {
		switch of := slices.ContainsFunc(a.Hardware, func(n Named) bool { return a.has(&n, m) }); {
		case host && (processor || !m.ofDevice && !of):
			a.HostMemoryGB = m.gb
		case m.ofDevice || a.MemoryGB == 0:
			a.MemoryGB = m.gb
		}
	}
	a.Processor = len(a.Hardware) == 0 && a.Host == nil && !video && (ram || a.HostMemoryGB > 0 ||
		a.MemoryGB > 0 && (says("no card", a.text) || says("of machines", a.text)))
	if c := a.numbers; a.Count == 0 && len(a.Hardware) == 1 && len(c) == 1 && is("counts", a.text[c[0].start:c[0].end]) {
		a.Count = int(c[0].number(0)) // "... dual"
	}
}

// has reports whether an amount of memory is of a device: it has just that, or the amount stands at it, with no "and" or plus
// between.
func (a *asking) has(n *Named, m amount) bool {
	if n.Device == nil || m.ofHost {
		return false
	}
	own, _ := memoryOf(n.Device, m.gb)
	start, end := min(m.end, n.end), max(m.start, n.start)
	at := start >= end || end-start < 4 && !strings.ContainsAny(a.text[start:end], "+&")
	return own && a.HostMemoryGB == 0 || at && (n.Device.VRAMGB == nil || m.gb <= 2**n.Device.VRAMGB)
}

// intend says what the question wants: the first of the rules that holds.
func (a *asking) intend() {
	model := len(a.Models) > 0 || a.SizeB > 0
	device := len(a.Hardware) > 0 || a.Host != nil
	machine := device || a.MemoryGB > 0 || a.HostMemoryGB > 0
	compares, many := says("comparing", a.text), says("how many", a.text) && !a.speedWords
	// a device that no record has: "... on a Redmi Note 9"
	unknown := says("beside an unknown device", a.text) ||
		slices.ContainsFunc(a.Unused, func(w string) bool { return isDigit(w[0]) || isDigit(w[len(w)-1]) })
	for _, rule := range []struct {
		Intent
		holds bool
	}{
		{Compare, len(a.Models) > 1 && !many || len(a.Hardware) > 1 && compares},
		{WhichHardware, says("asks for hardware", a.text) && (!device || many) && (model || !says("asks for models", a.text))},
		{WhichHardware, a.MaxPriceUSD > 0 && !device},
		{Runs, !model && machine || len(a.Models) == 0 && says("asks for models", a.text)},
		{Speed, !machine && (a.speedWords && a.speed == 0 || unknown)},
		{WhichHardware, !machine},
		{Speed, a.speedWords},
		{Fit, true},
	} {
		if rule.holds {
			a.Intent = rule.Intent
			break
		}
	}
	if which := a.Intent == WhichHardware; which || a.Intent == Runs && (a.least || says("wished", a.text)) {
		a.MinTPS = a.speed
	}
	if a.Intent == Compare && len(a.Hardware) > 1 {
		a.Count = 0
	}
}

// unused lists the words that were not used and do say something.
func (a *asking) unused() {
	for _, w := range a.words {
		silent := is("common", w.text) || is("brands", w.text) || is("counts", w.text) || is("fillers", w.text)
		if !a.usedAt(w) && !silent && (len(w.text) > 1 || isDigit(w.text[0])) {
			a.Unused = append(a.Unused, a.text[w.start:w.end])
		}
	}
	a.Unused = slices.Compact(a.Unused)
}

// Quantizations are the names that the quantization of a question may have in records, the likeliest first.
func (q *Question) Quantizations() []string {
	return append(strings.Fields(q.Quantization), strings.Fields(means("usual quantizations", q.Quantization))...)
}

// Asked are the kinds of hardware that a question asks for, as filters of hardware.
func (q *Question) Asked() map[string]string {
	switch {
	case len(q.Hardware) > 0:
	case says("asks for a mac", q.text):
		return map[string]string{"vendor": "apple"}
	case says("asks for a card", q.text):
		return map[string]string{"type": "gpu"}
	}
	return nil
}
