package resolve

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
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

// Intents lists every intent.
var Intents = []Intent{Fit, Speed, Runs, WhichHardware, Compare}

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
	Unused       []string

	text string
}

// Named is what a part of a question names.
type Named struct {
	Answer
	// Count is the number of devices, 0 where not said; MemoryGB the memory of one, 0 where not said.
	start, end int
	device     *dataset.Hardware
}

// asking is a question while it is read.
type asking struct {
	*Question
	r     *Resolver
	facts *facts
	words []word
	used  []bool

	numbers []deviceCount // once they were read

	several bool // devices, or a desktop, so that no chip for laptops is meant

	strict bool // nothing that the text leaves out is filled in
}

// Read reads a question, a title or a row of a table in people's words. Every word is used, is one of those that
// say nothing, or is listed as Unused. Safe for concurrent use.
func (r *Resolver) Read(question string) *Question {
	text := clean(strings.ToValidUTF8(question, " "))
	if cut := []rune(text); len(cut) > MaxQuestion {
		text = string(cut[:MaxQuestion])
	}
	a := r.asked(text)
	a.readCounts()
	a.readTool()
	a.readModels()
	a.readHardware()
	a.readSize()
	a.roles()
	a.attach()
	a.unused()
	a.intend()
	return a.Question
}

// asked is a question of which the facts were read, and no names.
func (r *Resolver) asked(text string) *asking {
	text = withCores(text)
	a := &asking{Question: &Question{text: text}, r: r, facts: readFacts(text)}
	a.words = phrased(split(text))
	a.used = make([]bool, len(a.words))
	for i, w := range a.words {
		a.used[i] = a.facts.taken(w.start, w.end)
	}
	return a
}

// A span is words of a text that name something.
type span struct {
	from, to int // words
	words    []string
	dropped  bool // the name of a machine was left out
	machine  []string
	matches  []match
	weight   float64
}

// spans finds the words that name records of a lexicon, the longest names first. A name is of neighbouring words;
// between them may be words that say nothing.
func (a *asking) spans(x *lexicon, ws []word, used []bool, memory func(s *span) float64) (out []span) {
	for {
		var best span
		for i := range ws {
			if used[i] || common(ws, i) || is("brands", ws[i].text) && x.kind == Hardware || i > 0 && !used[i-1] && ws[i].start == ws[i-1].end && isDigit(ws[i].text[0]) && ws[i-1].text[0] < 0x80 {
				continue
			}
			if x.kind == Hardware && isDigit(ws[i].text[0]) && i+1 < len(ws) && ws[i+1].text == "b" && ws[i+1].start == ws[i].end {
				continue // 70B
			}
			if s := a.grow(x, ws, used, i, memory); s != nil && s.weight > best.weight {
				best = *s
			}
		}
		if best.weight == 0 {
			slices.SortFunc(out, func(a, b span) int { return cmp.Compare(a.from, b.from) })
			return out
		}
		for i := best.from; i < best.to; i++ {
			used[i] = true
		}
		out = append(out, best)
	}
}

// mostRecords is how many records may have words that name one of them.
const mostRecords = 130

// grow finds the name that begins at a word.
func (a *asking) grow(x *lexicon, ws []word, used []bool, from int, memory func(s *span) float64) *span {
	s := span{from: from, to: from}
	var set set64
	var optional []string
	for j := from; j < len(ws); j++ {
		w := ws[j].text
		joined := j > from && a.joined(ws[j-1], ws[j], "-")
		switch {
		case x.kind == Hardware && set != nil && (w == "hbm" || w == "gddr") && (x.post["slug "+w] == nil || set.and(x.post["slug "+w]) == nil):
			for j+1 < len(ws) && ws[j+1].start == ws[j].end {
				j++
			}
			continue
		case used[j]:
			if a.facts.taken(ws[j].start, ws[j].end) && set != nil {
				continue
			}
		case x.kind == Hardware && is("brands", w), set != nil && (w == "the" || w == "with" && x.kind == Hardware && len(optional) > 0) && j+1 < len(ws):
			continue
		case common(ws, j) && !joined:
		default:
			next := x.post[w]
			if set != nil && next != nil {
				next = set.and(next)
			}
			if next == nil && x.post[w] != nil && len(optional) > 0 { // the machine has no record: its chip is meant
				kept := slices.DeleteFunc(slices.Clone(s.words), func(w string) bool { return slices.Contains(optional, w) || screen(w) })
				if next = x.all(append(kept, w)); next != nil {
					s.machine = append(s.machine, optional...)
					s.words, optional, s.dropped = kept, nil, true
				}
			}
			if (next == nil || set == nil) && (screen(w) || w == "inch") && len(optional)+len(s.machine) > 0 && j+1 < len(ws) {
				continue
			}
			if next == nil && x.kind == Hardware && is("optional", w) {
				s.machine = append(s.machine, w)
				if s.dropped = true; set != nil {
					s.to = j + 1
				}
				continue
			}
			if next != nil {
				if x.kind == Hardware && is("optional", w) {
					optional = append(optional, w)
				}
				set, s.words, s.to = next, append(s.words, w), j+1
				continue
			}
		}
		break
	}
	if set == nil || set.len() > mostRecords {
		return nil
	}
	gb := 0.0
	if memory != nil {
		gb = memory(&s)
	}
	s.matches = x.match(s.words, gb)
	if len(s.matches) == 0 {
		return nil
	}
	if x.kind == Hardware && s.matches[0].cost >= numberWeight {
		a.chipOf(x, &s, gb)
	}
	best := &s.matches[0]
	if best.share < 0.45 || x.kind == Hardware && !firm(&s, ws) || x.kind == Model && a.isChip(&s) {
		return nil
	}
	s.weight = best.share
	f := &x.recs[best.rec].forms[0]
	for i, w := range f.words {
		if slices.Contains(s.words, w) {
			s.weight += f.weight[i]
		}
	}
	return &s
}

// screen reports whether a word can be the size of a screen in inches.
func screen(w string) bool { return len(w) == 2 && w[0] == '1' && isDigit(w[1]) }

// chipOf reads a machine that has several records as its chip: a MacBook Pro of which the size of the screen is not said.
func (a *asking) chipOf(x *lexicon, s *span, gb float64) {
	chip := slices.DeleteFunc(slices.Clone(s.words), func(w string) bool { return is("optional", w) || screen(w) })
	if len(chip) == 0 || len(chip) == len(s.words) {
		return
	}
	if m := x.match(chip, gb); len(m) > 0 && m[0].cost < s.matches[0].cost && m[0].share > 0.9 {
		s.matches, s.dropped = m, true
	}
}

// sells reports whether a machine of Apple is sold with a chip.
func sells(words []string) bool {
	kind := "plain"
	for _, w := range words {
		if w == "pro" || w == "max" || w == "ultra" {
			kind = w
		}
	}
	for _, w := range words {
		if chips := vocabulary["macs"][w]; chips != "" && !strings.Contains(chips, kind) {
			return false
		}
	}
	return true
}

// common reports whether a word is one of sentences. The a of A100 is none.
func common(ws []word, i int) bool {
	return is("common", ws[i].text) && !(i+1 < len(ws) && ws[i+1].start == ws[i].end && isDigit(ws[i+1].text[0]))
}

// firm reports whether words can name hardware in a sentence: they have a number of three digits, letters with a
// number at them, or two words that are not of many names.
func firm(s *span, ws []word) bool {
	plain := 0
	for i := s.from; i < s.to; i++ {
		w := ws[i].text
		if !slices.Contains(s.words, w) {
			continue
		}
		switch digit := isDigit(w[0]); {
		case digit && len(w) >= 4, digit && len(w) == 3 && s.to-s.from > 1:
			return true
		case digit && i > s.from && ws[i].start <= ws[i-1].end+1 && len(ws[i-1].text) <= 2 && len(s.words) > 1:
			return true
		case digit, len(w) == 1, is("lines", w), is("suffixes", w), is("shapes", w), is("optional", w):
		default:
			plain++
		}
	}
	return plain > 1 || plain == 1 && (s.matches[0].share > 0.9 || slices.ContainsFunc(s.words, func(w string) bool { return isDigit(w[0]) }))
}

// isChip reports whether one word is not enough to name a model, because it is not the first of its name or that of a
// chip, such as M3.
func (a *asking) isChip(s *span) bool {
	w := s.words[0]
	if chip := isLetter(w[0]) && isDigit(w[len(w)-1]); len(s.words) == 1 && !chip && s.matches[0].share < 0.9 && !a.r.lexModels.begins(s.matches[0].rec, w) {
		return true
	}
	return len(s.words) == 1 && len(s.words[0]) <= 3 && a.r.lexHardware.all(texts(split(s.words[0]))) != nil && !isSize(s.words[0])
}

// joined reports whether nothing, or one of some signs, is between two words.
func (a *asking) joined(w, next word, signs string) bool {
	if w.text[0] >= 0x80 || next.text[0] >= 0x80 {
		return false
	}
	return next.start <= w.end || next.start == w.end+1 && strings.IndexByte(signs, a.text[w.end]) >= 0
}

// broken reports whether a word beside a span makes another product of it, or says that no record is meant.
func (a *asking) broken(x *lexicon, ws []word, used []bool, s *span) bool {
	free := func(i int) bool { return i >= 0 && i < len(ws) && !used[i] }
	hyphen := func(i int) bool { return a.joined(ws[i], ws[i+1], "-_") } // between words i and i+1
	if i := s.to; free(i) {
		w := ws[i].text
		joined := hyphen(i - 1)
		switch {
		case is("derived", w):
			return true
		case x.kind == Model && (isSize(w) && isDigit(w[0])):
			return !strings.Contains(a.text[ws[i-1].end:ws[i].start], "v")
		case x.kind == Model && joined && !is("common", w):
			return true
		case x.kind == Hardware && w == "laptop" && !slices.Contains(s.words, w) && x.recs[s.matches[0].rec].hardware.Type == "gpu":
			return true
		case x.kind == Hardware && w == "s" && (a.several || len(a.counts()) > 0):
		case x.kind == Hardware && is("suffixes", w) && (joined || len(w) > 1):
			return true
		case x.kind == Hardware && joined && w != "s" && w != "x" && ws[i-1].end == ws[i].start && !is("brands", w):
			return true
		case isDigit(w[0]) && x.kind == Hardware && joined:
			return true
		case isDigit(w[0]) && !slices.ContainsFunc(s.words, func(w string) bool { return isDigit(w[len(w)-1]) }) && ws[i-1].end+1 >= ws[i].start:
			return true
		}
	}
	if i := s.from - 1; free(i) && x.kind == Hardware && hyphen(i) && isDigit(ws[i].text[0]) {
		return true
	}
	if i := s.from - 1; free(i) && hyphen(i) && x.kind == Model && !is("common", ws[i].text) && a.text[ws[i].end] != '/' && ws[i].text != "ud" {
		return true
	}
	return false
}

var countFact = regexp.MustCompile(`(?:^|[^a-z0-9.-])([1-9][0-9]{0,2}) ?[x*×] ?([0-9]+ ?g(?:b|ib)? )?([a-z0-9])|([a-z0-9]) ?[*×] ?([1-9][0-9]?)\b|([0-9)sixrb]) x ?([1-9][0-9]?)\b`)

// A deviceCount is a number of devices and where it stands.
type deviceCount struct {
	place
	n int
}

// counts are the numbers of devices that a text says with a sign or a word.
func (a *asking) counts() []deviceCount {
	if a.numbers == nil {
		a.numbers = append([]deviceCount{}, a.readNumbers()...)
	}
	return a.numbers
}

func (a *asking) readNumbers() (out []deviceCount) {
	for _, m := range countFact.FindAllStringSubmatchIndex(a.text, -1) {
		for _, g := range []int{1, 5, 7} {
			if m[2*g] >= 0 {
				n, _ := strconv.Atoi(a.text[m[2*g]:m[2*g+1]])
				out = append(out, deviceCount{place{m[2*g], m[2*g+1]}, n})
			}
		}
	}
	for _, w := range a.words {
		if a.strict {
			break // cutCount has read it
		}
		if n := vocabulary["counts"][w.text]; n != "" {
			count, _ := strconv.Atoi(n)
			out = append(out, deviceCount{place{w.start, w.end}, count})
		}
	}
	return out
}

// readCounts marks the words of numbers of devices as used.
func (a *asking) readCounts() {
	for _, c := range a.counts() {
		if a.facts.taken(c.start, c.end) {
			continue
		}
		a.facts.used = append(a.facts.used, c.place)
	}
	for i, w := range a.words {
		a.used[i] = a.used[i] || a.facts.taken(w.start, w.end)
		if w.text == "x" && (i > 0 && a.used[i-1] && isDigit(a.words[i-1].text[0]) || i+1 < len(a.words) && slices.ContainsFunc(a.counts(), func(c deviceCount) bool { return c.start == a.words[i+1].start })) {
			a.used[i] = true
		}
	}
}

// readTool finds the tool that a question names.
func (a *asking) readTool() {
	x := a.r.lexTools
	var best *span
	for i, w := range a.words {
		if a.used[i] && !isEXL(w.text) || is("common", w.text) {
			continue
		}
		s := a.tool(x, i)
		if s != nil && (best == nil || s.weight > best.weight) {
			best = s
		}
	}
	if best == nil {
		return
	}
	rec := &x.recs[best.matches[0].rec]
	a.Tool = &Named{Answer: Answer{Kind: Tool, Slug: rec.slug, Name: rec.name, Confidence: Parsed}, start: a.words[best.from].start, end: a.words[best.to-1].end}
	for i := best.from; i < best.to; i++ {
		a.used[i] = true
	}
}

func isEXL(w string) bool { return w == "exl" }

// tool is the name of a tool that begins at a word: all words of a name, in order.
func (a *asking) tool(x *lexicon, from int) (best *span) {
	for to := min(from+4, len(a.words)); to > from; to-- {
		words := texts(a.words[from:to])
		set := x.all(words)
		if set == nil {
			continue
		}
		for _, m := range x.match(words, 0) {
			if m.cost > 0.5 {
				continue
			}
			if len(words) == 1 && is("tools", words[0]) && (from == 0 || !slices.Contains([]string{"in", "with", "using", "via"}, a.words[from-1].text)) {
				continue
			}
			return &span{from: from, to: to, matches: []match{m}, weight: float64(a.words[to-1].end - a.words[from].start)}
		}
	}
	return nil
}

// readModels finds the models of a question.
func (a *asking) readModels() {
	x := a.r.lexModels
	ws := a.r.lexModels.spell(sized(a.words))
	used := make([]bool, len(ws))
	for i, w := range ws {
		used[i] = a.usedAt(w)
	}
	var last *span
	for _, s := range a.spans(x, ws, used, nil) {
		n := a.named(x, ws, &s)
		if a.broken(x, ws, used, &s) {
			n.unsure("the question has another word in the name")
		}
		if n.Slug != "" || len(n.Candidates) > 0 {
			a.Models = append(a.Models, n)
			last = &s
		}
		a.usePlace(n.start, n.end)
	}
	for i, w := range ws {
		if used[i] || !isSize(w.text) || !isDigit(w.text[0]) {
			continue
		}
		if last != nil && i > last.to && i < last.to+3 && len(a.Models) == 1 { // "Llama 3.1 405B vs 70B"
			words := slices.DeleteFunc(slices.Clone(last.words), isSize)
			if m := x.match(append(words, w.text), 0); len(m) > 0 {
				s := span{from: i, to: i + 1, words: append(words, w.text), matches: m}
				a.Models = append(a.Models, a.named(x, ws, &s))
				a.usePlace(w.start, w.end)
				continue
			}
		}
	}
}

// readSize finds the size of a model that has no name.
func (a *asking) readSize() {
	for _, w := range sized(a.words) {
		if n := params([]string{w.text}); n > 0 && strings.HasSuffix(w.text, "b") && !a.usedAt(w) {
			a.usePlace(w.start, w.end)
			if a.SizeB == 0 && len(a.Models) == 0 {
				a.SizeB = n
			}
		}
	}
}

// named is what a span names.
func (a *asking) named(x *lexicon, ws []word, s *span) (n Named) {
	n.start, n.end = ws[s.from].start, ws[s.to-1].end
	n.Input, n.Kind = a.text[n.start:n.end], x.kind
	best := s.matches[0]
	rec := &x.recs[best.rec]
	slack := sizeWeight
	if best.cost < shapeWord {
		slack = freeWord
	}
	lineless := strings.Contains(best.missing, "rtx") || strings.Contains(best.missing, "gtx") || strings.Contains(best.missing, " rx")
	if a.strict && best.bare {
		slack = shapeWord
	}
	for _, m := range s.matches {
		if len(n.Candidates) < MaxCandidates && m.clash == best.clash && m.own == best.own && (m.cost <= best.cost+slack && (!m.laptop || best.laptop) || a.strict && lineless && !a.several && m.laptop && m.cost < best.cost+sizeWeight+freeWord) {
			n.Candidates = append(n.Candidates, Candidate{x.kind, x.recs[m.rec].slug, x.recs[m.rec].name, "fits what the question says"})
		}
	}
	n.Slug, n.Name, n.Confidence, n.device = rec.slug, rec.name, Parsed, rec.hardware
	n.Candidates = slices.DeleteFunc(n.Candidates, func(c Candidate) bool { // the name of graphics does not say which processor they are in
		h := a.r.parts[c.Slug]
		return h != nil && h.IntegratedGPU != nil && slices.ContainsFunc(n.Candidates, func(o Candidate) bool { return o.Slug == *h.IntegratedGPU })
	})
	if len(n.Candidates) == 1 && n.Candidates[0].Slug != n.Slug && best.cost < shapeWord {
		n.Slug, n.Name, n.device = n.Candidates[0].Slug, n.Candidates[0].Name, a.r.parts[n.Candidates[0].Slug]
		rec = &known{slug: n.Slug, name: n.Name, hardware: n.device}
	}
	switch {
	case best.own:
		n.unsure("the question leaves out what makes another product:" + best.missing)
	case x.kind == Hardware && a.otherMaker(ws, s, rec.hardware):
		n.unsure("the name says another maker")
	case x.kind == Hardware && !sells(append(slices.Clone(s.words), s.machine...)):
		n.unsure("that machine is not sold with this chip")
	case a.strict && s.dropped && rec.hardware != nil && rec.hardware.Vendor == "qualcomm" && !strings.Contains(n.Input, "snapdragon"):
		n.unsure("the machine is not known")
	case best.clash && a.strict:
		n.unsure(fmt.Sprintf("no record with this name has %v GB of memory", a.memoryAt(n.start, n.end)))
	case best.bare && a.strict && len(n.Candidates) == 1:
		n.Confidence, n.Ambiguous, n.Reason = Likely, true, "the name does not state the memory"
	case best.cost >= shapeWord && a.strict && !best.memory && len(n.Candidates) == 1:
		n.unsure("the name leaves out" + best.missing)
	case a.strict && s.words[len(s.words)-1] == "s" && (a.several || len(a.counts()) > 0):
		n.unsure("the s may be that of several devices")
	case len(s.words) == 1 && isDigit(s.words[0][0]) && x.kind == Hardware && (best.cost >= shapeWord || rec.hardware.Vendor != "nvidia"):
		n.unsure("the number is used by several lines of products")
	case rec.hardware != nil && rec.hardware.Variants != nil:
		a.variantOf(x, &n)
	case len(n.Candidates) > 1 || best.cost >= shapeWord:
		n.Confidence, n.Ambiguous = Likely, len(n.Candidates) > 1
		n.Reason = "the likeliest of what fits"
	default:
		n.Candidates, n.Reason = nil, "every word of the name is accounted for"
	}
	return n
}

// variantOf chooses among the variants of a record by the memory that was said.
func (a *asking) variantOf(x *lexicon, n *Named) {
	n.Candidates, n.Ambiguous, n.Reason = nil, true, "the record for what does not say which product it is"
	gb := a.memoryAt(n.start, n.end)
	if gb == 0 && a.strict && n.device.UnifiedMemory && len(a.facts.memories) > 0 {
		gb = a.facts.memories[0].gb
	}
	for i := range x.recs {
		v := &x.recs[i]
		if !slices.Contains(*n.device.Variants, v.slug) {
			continue
		}
		if _, clash := memoryOf(v.hardware, gb); gb == 0 || !clash {
			n.Candidates = append(n.Candidates, Candidate{x.kind, v.slug, v.name, "one of the products with this name"})
		}
	}
	if len(n.Candidates) == 0 {
		n.unsure(fmt.Sprintf("no record with this name has %v GB of memory", gb))
		return
	}
	if len(n.Candidates) == 1 && gb > 0 && len(*n.device.Variants) > 1 {
		n.Slug, n.Name, n.device = n.Candidates[0].Slug, n.Candidates[0].Name, a.r.parts[n.Candidates[0].Slug]
		n.Candidates, n.Ambiguous, n.Reason = nil, false, "only this one is sold with that memory"
	}
}

// unsure leaves the candidates, and takes none of them.
func (n *Named) unsure(why string) {
	if len(n.Candidates) == 0 {
		n.Candidates = []Candidate{{n.Kind, n.Slug, n.Name, "the nearest name"}}
	}
	n.Slug, n.Name, n.Confidence, n.Reason, n.Ambiguous, n.device = "", "", Near, why, false, nil
}

func (a *asking) usedAt(w word) bool {
	for i := range a.words {
		if a.used[i] && a.words[i].start < w.end && w.start < a.words[i].end {
			return true
		}
	}
	return false
}

func (a *asking) usePlace(start, end int) {
	for i := range a.words {
		if a.words[i].start < end && start < a.words[i].end {
			a.used[i] = true
		}
	}
}

// readHardware finds the hardware of a question.
func (a *asking) readHardware() {
	x := a.r.lexHardware
	laptop := slices.ContainsFunc(a.words, func(w word) bool { return w.text == "laptop" }) || ofLaptop(a.text)
	ws, used := a.words, slices.Clone(a.used)
	near := func(s *span) float64 { return a.memoryAt(ws[s.from].start, ws[s.to-1].end) }
	for _, s := range a.spans(x, ws, used, near) {
		if laptop && !slices.Contains(s.words, "laptop") {
			if m := x.match(append(slices.Clip(s.words), "laptop"), near(&s)); len(m) > 0 && !m[0].own && !m[0].clash {
				s.matches = m
			}
		}
		n := a.named(x, ws, &s)
		if a.broken(x, ws, used, &s) {
			n.unsure("the question has another word in the name")
		}
		a.usePlace(n.start, n.end)
		a.countOf(&n)
		a.Hardware = append(a.Hardware, n)
	}
}

// otherMaker reports whether the words before a name say that it is of another maker.
func (a *asking) otherMaker(ws []word, s *span, h *dataset.Hardware) bool {
	from := s.from
	for from > 0 && is("brands", ws[from-1].text) {
		from--
	}
	for _, w := range ws[from:s.to] {
		if m := makers[w.text]; m != "" && m != h.Vendor {
			return true
		}
	}
	return false
}

// memoryAt is the amount of memory that stands at a name, 0 for none: before it, behind it or in brackets.
func (a *asking) memoryAt(start, end int) float64 {
	for _, m := range a.facts.memories {
		if m.ofHost {
			continue
		}
		if a.strict && !strings.Contains(a.text[m.start:m.end], "total") {
			return m.gb
		}
		if m.end <= start && strings.Trim(a.text[m.end:start], " -(vram") == "" || m.start >= end && strings.Trim(a.text[end:m.start], " -(,/with") == "" || m.start > start && m.end <= end {
			return m.gb
		}
	}
	return 0
}

// countOf finds the number of devices at a name.
func (a *asking) countOf(n *Named) {
	for _, c := range a.counts() {
		if c.end <= n.start && len(strings.Trim(strings.NewReplacer("nvidia", "", "amd", "", "geforce", "", "tesla", "", "intel", "", "16g", "", "gb", "").Replace(a.text[c.end:n.start]), " x*×0123456789g的")) == 0 ||
			c.start >= n.end && strings.Trim(a.text[n.end:c.start], " x*×(s") == "" {
			n.Count = c.n
			return
		}
	}
	before := strings.TrimRight(a.text[:n.start], " ")
	for _, brand := range []string{"nvidia", "amd", "geforce", "tesla", "intel"} {
		before = strings.TrimRight(strings.TrimSuffix(before, brand), " ")
	}
	if m := bareCount.FindStringSubmatchIndex(before); m != nil && !a.facts.taken(m[2], m[3]) && !a.usedAt(word{start: m[2], end: m[3]}) {
		n.Count, _ = strconv.Atoi(before[m[2]:m[3]])
		a.usePlace(m[2], m[3])
	}
}

var bareCount = regexp.MustCompile(`(?:^|[ (])([1-9][0-9]?)$`)
