package resolve

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"modeldex/dataset"
)

// A lexicon finds the records of one kind that have all of some words, whatever their order.
type lexicon struct {
	kind   Kind
	recs   []known
	post   map[string]set64    // word -> records that have it in a name, or in a fact such as their size
	joined map[string][]string // "gptoss" -> gpt oss
	pairs  map[string]bool     // words that stand side by side in a name, joined
}

// known is what a lexicon knows of a record.
type known struct {
	slug   dataset.Slug
	name   string
	forms  []form
	ranked float64 // among records that fit alike the largest is meant

	hardware *dataset.Hardware
}

// A form is the words of one name of a record, and the memory it states.
type form struct {
	words  []string
	weight []float64 // what it costs to leave a word out
	sum    float64
	memory float64
	tag    bool // a tag of Ollama, which means what its maker made the usual one
}

type set64 []uint64

func (s set64) and(other set64) set64 {
	out := make(set64, len(s))
	any := uint64(0)
	for i := range s {
		out[i] = s[i] & other[i]
		any |= out[i]
	}
	if any == 0 {
		return nil
	}
	return out
}

func (s set64) each(visit func(i int)) {
	for at, w := range s {
		for ; w != 0; w &= w - 1 {
			visit(at*64 + bits.TrailingZeros64(w))
		}
	}
}

func (s set64) len() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

func newLexicon(kind Kind, records int) *lexicon {
	return &lexicon{kind: kind, recs: make([]known, records), post: map[string]set64{}, joined: map[string][]string{}, pairs: map[string]bool{}}
}

// has notes that a record has a word.
func (x *lexicon) has(rec int, w string) {
	if x.post[w] == nil {
		x.post[w] = make(set64, (len(x.recs)+63)/64)
	}
	x.post[w][rec/64] |= 1 << (rec % 64)
}

// add gives a record a name. What a name says beside its words was cut off before.
func (x *lexicon) add(rec int, ws []word, memory float64) {
	words := texts(ws)
	if len(words) == 0 || slices.ContainsFunc(x.recs[rec].forms, func(f form) bool { return f.memory == memory && slices.Equal(f.words, words) }) {
		return
	}
	f := form{words: words, memory: memory}
	for i, w := range words {
		x.has(rec, w)
		weight := x.weight(words, i)
		f.weight, f.sum = append(f.weight, weight), f.sum+weight
		if i > 0 && isLetter(w[0]) && isLetter(words[i-1][0]) {
			x.pairs[words[i-1]+w] = true
			x.joined[words[i-1]+w] = []string{words[i-1], w}
		}
	}
	x.recs[rec].forms = append(x.recs[rec].forms, f)
	if x.kind == Model && len(words) > 2 && companies[words[0]] { // "NVIDIA-Nemotron-Nano-9B-v2" is as often called without
		x.add(rec, ws[1:], memory)
	}
}

// Weights of words, as what it costs to leave them out of a name.
const (
	freeWord     = 0.1 // a line of products, instruct
	shapeWord    = 1.0 // the form of a card, the date of a release
	numberWeight = 2.0 // a version
	sizeWeight   = 3.0
	plainWord    = 4.0
	ownWord      = 8.0 // makes another product
)

func (x *lexicon) weight(words []string, i int) float64 {
	w := words[i]
	number := isDigit(w[0])
	if x.kind == Tool {
		return plainWord
	}
	if x.kind == Model {
		switch {
		case is("free", w), active(w):
			return freeWord
		case number && (isSize(w) || params([]string{w}) > 0):
			return sizeWeight
		case number && len(w) == 4 && !strings.Contains(w, "."), strings.HasPrefix(w, "0."):
			return shapeWord
		case number:
			return numberWeight
		}
		return plainWord
	}
	long := slices.ContainsFunc(words, func(w string) bool { return isDigit(w[0]) && len(w) >= 3 })
	switch {
	case w == "rtx" && i > 0 && words[i-1] == "quadro", w == "pro" && i > 0 && words[i-1] == "rtx":
		return ownWord
	case is("lines", w), number && len(w) == 1 && long, is("suffixes", w) && len(w) > 1 && slices.ContainsFunc(words[i:], func(w string) bool { return len(w) >= 3 && isDigit(w[0]) }):
		return freeWord
	case w == "laptop":
		return sizeWeight
	case is("shapes", w), w == "gcores", i+1 < len(words) && words[i+1] == "gcores":
		return shapeWord
	case number && i > 0 && is("optional", words[i-1]): // the size of a screen
		return numberWeight
	case len(w) == 1 && i+1 < len(words) && len(words[i+1]) >= 3 && isDigit(words[i+1][0]): // the a of an Arc A770
		return shapeWord
	case is("suffixes", w):
		return ownWord
	}
	return plainWord
}

// A match is a record that has all words of a text.
type match struct {
	rec     int
	cost    float64 // of the words left out
	share   float64 // of the weight of the name that was said
	own     bool    // a word is left out that makes another product
	laptop  bool    // that it is the chip for laptops is left out
	memory  bool    // the memory chose it
	clash   bool    // it has another memory
	bare    bool    // its name states a memory, and the text none
	missing string
}

// match finds the records that have all words, the likeliest first. memory is what the text says of the memory of
// one device in GB, 0 for nothing.
func (x *lexicon) match(words []string, memory float64) []match {
	return x.matchNames(words, memory, true)
}

// matchNames is match with or without the tags of Ollama among the names.
func (x *lexicon) matchNames(words []string, memory float64, tags bool) (out []match) {
	set := x.all(words)
	if set == nil {
		return nil
	}
	set.each(func(rec int) {
		best, named := match{rec: rec, cost: math.Inf(1)}, form{}
		for _, f := range x.recs[rec].forms {
			if f.tag && !tags || x.kind == Hardware && turned(words, f.words) {
				continue
			}
			m := match{rec: rec}
			for i, w := range f.words {
				if slices.Contains(words, w) {
					continue
				}
				m.cost += f.weight[i]
				m.own = m.own || f.weight[i] == ownWord || w == "gcores" && i > 0 && slices.Contains(words, f.words[i-1])
				m.laptop = m.laptop || w == "laptop"
			}
			m.share = 1 - m.cost/max(f.sum, 1)
			if f.memory > 0 && !same(f.memory, memory) {
				m.cost += shapeWord / 2
				m.bare = memory == 0
			}
			if twice(words) && !twice(f.words) { // "4070 Ti Super Ti"
				m.own = true
			}
			for _, w := range words {
				if slices.Contains(f.words, w) {
					continue
				}
				if m.cost += freeWord; x.kind == Hardware && !is("lines", w) && !is("optional", w) && !x.alsoCalled(rec, w, words) { // of another name
					m.cost += plainWord
					m.own = true
				}
			}
			if m.cost < best.cost {
				best, named = m, f
			}
		}
		if math.IsInf(best.cost, 1) {
			return
		}
		for _, w := range named.words {
			if !slices.Contains(words, w) {
				best.missing += " " + w
			}
		}
		if h := x.recs[rec].hardware; h != nil && memory > 0 {
			best.memory, best.clash = memoryOf(h, memory)
		}
		out = append(out, best)
	})
	slices.SortStableFunc(out, func(a, b match) int {
		if a.own != b.own {
			return cmp.Compare(b2i(a.own), b2i(b.own))
		}
		if a.laptop != b.laptop {
			return cmp.Compare(b2i(a.laptop), b2i(b.laptop))
		}
		if a.clash != b.clash {
			return cmp.Compare(b2i(a.clash), b2i(b.clash))
		}
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(x.recs[b.rec].ranked, x.recs[a.rec].ranked))
	})
	return out
}

// begins reports whether a name of a record begins with a word.
func (x *lexicon) begins(rec int, w string) bool {
	return slices.ContainsFunc(x.recs[rec].forms, func(f form) bool { return f.words[0] == w })
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (x *lexicon) all(words []string) (set set64) {
	for i, w := range words {
		p := x.post[w]
		if p == nil {
			return nil
		}
		if i == 0 {
			set = p
		} else if set = set.and(p); set == nil {
			return nil
		}
	}
	return set
}

// turned reports whether a letter that is before a number in words is behind it in a name, or the other way round: a G4600 is
// not a 4600G.
func turned(words, name []string) bool {
	letter := func(list []string, i int) string {
		if i >= 0 && i < len(list) && len(list[i]) == 1 && isLetter(list[i][0]) {
			return list[i]
		}
		return ""
	}
	for i, w := range words {
		at := slices.Index(name, w)
		if !isDigit(w[0]) || len(w) < 2 || at < 0 {
			continue
		}
		if before := letter(words, i-1); before != "" && letter(name, at+1) == before && letter(name, at-1) != before {
			return true
		}
		if behind := letter(words, i+1); behind != "" && letter(name, at-1) == behind && letter(name, at+1) != behind {
			return true
		}
	}
	return false
}

// alsoCalled reports whether a word is of a whole other name of a record that words have.
func (x *lexicon) alsoCalled(rec int, w string, words []string) bool {
	return slices.ContainsFunc(x.recs[rec].forms, func(f form) bool {
		return slices.Contains(f.words, w) && !slices.ContainsFunc(f.words, func(w string) bool { return !is("lines", w) && !slices.Contains(words, w) })
	})
}

// twice reports whether a word is said twice that makes another product.
func twice(words []string) bool {
	for i, w := range words {
		if len(w) > 1 && is("suffixes", w) && slices.Contains(words[:i], w) && w != "pro" {
			return true
		}
	}
	return false
}

// memoryOf reports whether hardware can have a memory of some GB for one device: that is surely its own, or clash.
func memoryOf(h *dataset.Hardware, gb float64) (own, clash bool) {
	near := func(size float64) bool { return same(size, gb) }
	switch {
	case h.MemoryOptionsGB != nil && len(*h.MemoryOptionsGB) > 0:
		own = slices.ContainsFunc(*h.MemoryOptionsGB, near)
		return own, !own && !(h.VRAMGB != nil && near(*h.VRAMGB))
	case h.VRAMGB != nil && !h.UnifiedMemory && h.Type == "gpu":
		return near(*h.VRAMGB), !near(*h.VRAMGB)
	case h.VRAMGB != nil && h.UnifiedMemory:
		return false, gb > *h.VRAMGB*1.01
	}
	return false, false
}

// modelLexicon has the names of models.
func modelLexicon(models []dataset.Model) *lexicon {
	x := newLexicon(Model, len(models))
	for i := range models {
		m := &models[i]
		x.recs[i] = known{slug: m.Slug, name: m.Name, ranked: rankModel(m)}
		names := append([]string{string(m.Slug), m.Name}, m.Aliases...)
		if m.HFRepo != nil {
			names = append(names, *m.HFRepo)
			owner, _, _ := strings.Cut(strings.ToLower(*m.HFRepo), "/")
			for _, w := range split(owner) {
				x.has(i, w.text)
			}
		}
		for _, name := range names {
			cut := cutModel(clean(name))
			stem, _ := bareModel(cut.name)
			n := len(x.recs[i].forms)
			if x.add(i, sized(split(stem+" "+cut.tag)), 0); len(x.recs[i].forms) > n {
				x.recs[i].forms[n].tag = cut.tag != ""
			}
		}
		for _, w := range split(strings.ToLower(m.Organization)) {
			x.has(i, w.text)
		}
		if m.ParamsB != nil {
			for _, size := range []string{fmt.Sprintf("%.0fb", *m.ParamsB), fmt.Sprintf("%.0fb", math.Floor(*m.ParamsB)), fmt.Sprintf("%.1fb", *m.ParamsB)} {
				if !slices.ContainsFunc(x.recs[i].forms, func(f form) bool { return slices.ContainsFunc(f.words, isSize) }) || *m.ParamsB > 2 {
					x.has(i, size)
				}
			}
		}
		moe := "dense"
		if m.Architecture.NumExperts != nil {
			moe = "moe"
		}
		x.has(i, moe)
		switch formOf(m) {
		case "chat":
			x.has(i, "instruct")
			x.has(i, "chat")
			x.has(i, "it")
		case "base":
			x.has(i, "base")
		}
	}
	return x
}

func formOf(m *dataset.Model) string {
	if m.Form == nil {
		return ""
	}
	return string(*m.Form)
}

// rankModel says which of the models that fit alike is meant: one that answers rather than a base model, one of about
// 8 billion parameters where no size is said, then the newest.
func rankModel(m *dataset.Model) (rank float64) {
	if formOf(m) == "chat" {
		rank += 100
	}
	slug := string(m.Slug)
	for _, w := range []string{"thinking", "reasoning", "think"} {
		if strings.Contains(slug, w) {
			rank -= 50
		}
	}
	if m.ParamsB != nil && *m.ParamsB > 0 {
		rank -= 5 * math.Abs(math.Log(*m.ParamsB/8))
	}
	if m.ReleaseDate != nil && len(*m.ReleaseDate) >= 4 {
		var year, month float64
		_, _ = fmt.Sscanf(string(*m.ReleaseDate), "%f-%f", &year, &month)
		rank += (year - 2020 + month/12) / 10
	}
	return rank
}

// hardwareLexicon has the names of hardware.
func hardwareLexicon(hardware []dataset.Hardware) *lexicon {
	x := newLexicon(Hardware, len(hardware))
	for i := range hardware {
		h := &hardware[i]
		x.recs[i] = known{slug: h.Slug, name: h.Name, hardware: h}
		if h.Type == "gpu" {
			x.recs[i].ranked++
		}
		if h.Variants != nil {
			x.recs[i].ranked += 2
		}
		if h.VRAMGB != nil {
			x.recs[i].ranked += *h.VRAMGB / 1e4
		}
		for _, name := range slices.Concat([]string{string(h.Slug), h.Name}, h.Aliases) {
			cut := cutHardware(withCores(clean(name)))
			for _, w := range split(string(h.Slug)) {
				x.has(i, "slug "+w.text)
			}
			ws, memory := significantWords(split(cut.whole()))
			for _, extra := range cut.extras {
				if _, own := significantWords(split(extra)); memory == 0 {
					memory = own
				}
			}
			x.add(i, phrased(ws), memory)
		}
	}
	return x
}

// significantWords are the words of a name of hardware that say which record it is, and the memory in GB.
func significantWords(ws []word) (out []word, memory float64) {
	for i := 0; i < len(ws); i++ {
		w := ws[i].text
		switch {
		case is("brands", w) && !(w == "gpu" && i > 0 && ws[i-1].end == ws[i].start && isDigit(ws[i-1].text[0])):
		case isDigit(w[0]) && i+1 < len(ws) && memoryUnit[ws[i+1].text] > 0:
			_, _ = fmt.Sscanf(w, "%g", &memory)
			memory *= memoryUnit[ws[i+1].text]
			i++
		default:
			out = append(out, ws[i])
		}
	}
	return out, memory
}

// toolLexicon has the names of tools.
func toolLexicon(tools []dataset.Tool) *lexicon {
	x := newLexicon(Tool, len(tools))
	for i := range tools {
		t := &tools[i]
		x.recs[i] = known{slug: t.Slug, name: t.Name}
		for _, name := range append([]string{string(t.Slug), t.Name}, t.Aliases...) {
			x.add(i, split(clean(name)), 0)
		}
		if t.Repository != nil {
			if _, repo, ok := strings.Cut(string(*t.Repository), "//github.com/"); ok {
				x.add(i, split(clean(repo)), 0)
			}
		}
		for people, slug := range vocabulary["tool names"] {
			if slug == string(t.Slug) {
				x.add(i, split(people), 0)
			}
		}
	}
	return x
}

// words are the words of a text as the names of the lexicon have them.
func (x *lexicon) words(text string) []word {
	if x.kind == Model {
		return sized(split(text))
	}
	return phrased(split(text))
}

// lettersAsDigits writes letters that look like digits as these.
var lettersAsDigits = strings.NewReplacer("o", "0", "l", "1", "i", "1")

// rejoined are words for near: a number that a letter in place of a digit split, such as 4o90, is that number.
func (x *lexicon) rejoined(ws []word) (out []string) {
	for i := 0; i < len(ws); {
		to, joined := i+1, ws[i].text
		for ; to < len(ws) && ws[to].start == ws[to-1].end; to++ {
			joined += ws[to].text
		}
		parts := texts(ws[i:to])
		if to-i > 1 && isDigit(joined[0]) && slices.ContainsFunc(parts, func(part string) bool { return len(part) == 1 || x.post[part] == nil }) {
			if digits := lettersAsDigits.Replace(joined); x.post[digits] != nil {
				parts = []string{digits}
			}
		}
		out, i = append(out, parts...), to
	}
	return out
}

// near are the records that have most of some words, the rare ones counting more, at most MaxCandidates.
func (x *lexicon) near(words []string) (out []int) {
	score := map[int]float64{}
	for _, w := range words {
		add := func(p set64, part float64) {
			n := 0
			p.each(func(int) { n++ })
			p.each(func(rec int) { score[rec] += part * math.Log(float64(len(x.recs))/float64(n)) })
		}
		switch p := x.post[w]; {
		case is("brands", w):
		case p != nil:
			add(p, 1)
		case len(w) > 4 || len(w) > 2 && isDigit(w[0]):
			for have, p := range x.post {
				if (len(have) == len(w) || isDigit(w[0]) && isDigit(have[0])) && oneApart(have, w) {
					add(p, 0.5)
				}
			}
		}
	}
	for rec, s := range score {
		if len(words) > 0 && x.begins(rec, words[0]) {
			score[rec] += 4
			s += 4
		}
		if s >= math.Log(float64(len(x.recs)))/3 {
			out = append(out, rec)
		}
	}
	slices.SortFunc(out, func(a, b int) int {
		return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(len(x.recs[a].slug), len(x.recs[b].slug)), cmp.Compare(a, b))
	})
	return out[:min(MaxCandidates, len(out))]
}
