package resolve

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset"

	"github.com/agnivade/levenshtein"
)

// A lexicon finds the records of one kind: by a whole name, or by words that a name has, whatever their order.
type lexicon struct {
	kind   Kind
	recs   []known
	exact  map[string]int      // whole name, clean -> record
	bare   map[string]int      // whole name without the maker before it
	post   map[string]postings // word -> records that have it in a name, or in a fact such as their size
	joined map[string][]string // "gptoss" -> gpt oss, for words that stand side by side in a name
	long   map[int][]string    // the words by their length
	shared map[string][]int    // aliases that several records can have, as they leave out what tells them apart
}

// postings are numbers of records, rising.
type postings []int

// and are the records that are in both, nil for none.
func (p postings) and(other postings) (out postings) {
	for _, rec := range p {
		if _, ok := slices.BinarySearch(other, rec); ok {
			out = append(out, rec)
		}
	}
	return out
}

// known is what a lexicon knows of a record.
type known struct {
	slug   dataset.Slug
	name   string
	forms  []form
	ranked float64 // among records that fit alike the largest is meant

	model    *dataset.Model
	hardware *dataset.Hardware
	variants []int           // records of the products that it is kept for
	owners   map[string]bool // accounts and names of the maker of a model, lower case
}

// A form is the words of one name of a record, and the memory it states.
type form struct {
	words  []string
	weight []float64 // what it costs to leave a word out
	sum    float64
	memory float64
	tag    bool // a tag of Ollama, which means what its maker made the usual one
}

// has notes that the record that is being added has words.
func (x *lexicon) has(words ...string) {
	rec := len(x.recs) - 1
	for _, w := range words {
		p := x.post[w]
		if len(p) == 0 {
			x.long[len(w)] = append(x.long[len(w)], w)
		}
		if len(p) == 0 || p[len(p)-1] != rec {
			x.post[w] = append(p, rec)
		}
	}
}

// add gives the last record a name. What a name says beside its words was cut off before.
func (x *lexicon) add(words []string, memory float64, tag bool) {
	k := &x.recs[len(x.recs)-1]
	same := func(f form) bool { return f.memory == memory && slices.Equal(f.words, words) }
	if len(words) == 0 || slices.ContainsFunc(k.forms, same) {
		return
	}
	for i, w := range words[1:] {
		if isLetter(w[0]) && isLetter(words[i][0]) {
			x.joined[words[i]+w] = []string{words[i], w}
		}
	}
	x.has(words...)
	k.forms = append(k.forms, x.form(words, memory, tag))
	if x.kind == Model && len(words) > 2 && is("companies", words[0]) { // "NVIDIA-Nemotron-Nano-9B-v2"
		x.add(words[1:], memory, tag)
	}
}

// form is a name with the weights of its words.
func (x *lexicon) form(words []string, memory float64, tag bool) form {
	f := form{words: words, memory: memory, tag: tag}
	for i := range words {
		weight := x.weight(words, i)
		f.weight, f.sum = append(f.weight, weight), f.sum+weight
	}
	return f
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
	switch {
	case x.kind == Hardware:
		return hardwareWeight(words, i)
	case is("free", w), active(w):
		return freeWord
	case number && params(w) > 0:
		return sizeWeight
	case number && len(w) == 4:
		return shapeWord
	case number:
		return numberWeight
	}
	return plainWord
}

func hardwareWeight(words []string, i int) float64 {
	w, before, next := words[i], words[max(i-1, 0)], words[min(i+1, len(words)-1)]
	long := func(w string) bool { return len(w) >= 3 && isDigit(w[0]) }
	switch {
	case w == "rtx" && before == "quadro", w == "pro" && before == "rtx":
		return ownWord
	case is("lines", w), isDigit(w[0]) && len(w) == 1 && slices.ContainsFunc(words, long),
		is("suffixes", w) && len(w) > 1 && slices.ContainsFunc(words[i:], long):
		return freeWord
	case w == "laptop":
		return sizeWeight
	case is("shapes", w), w == "gcores", next == "gcores", len(w) == 1 && long(next): // the a of an Arc A770
		return shapeWord
	case isDigit(w[0]) && is("optional", before): // the size of a screen
		return numberWeight
	case is("suffixes", w):
		return ownWord
	}
	return plainWord
}

// A match is a record that has all words of a text.
type match struct {
	*known
	rec    int
	cost   float64 // of the words left out
	share  float64 // of the weight of the name that was said
	own    bool    // a word is left out that makes another product
	laptop bool    // that it is the chip for laptops is left out
	memory bool    // the memory chose it
	clash  bool    // it has another memory
	bare   bool    // its name states a memory, and the text none
	order  float64 // the cost, and more for what is hardly meant; the smallest is the likeliest
	form   *form
	words  []string // of the text
}

// missing are the words of the name that are left out.
func (m *match) missing() []string { return except(m.form.words, m.words) }

// except are the words that are not among others.
func except(words, others []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(others, w) })
}

// match finds the records that have all words, the likeliest first. memory is what the text says of the memory of one
// device in GB, 0 for nothing; tags says whether the tags of Ollama are among the names.
func (x *lexicon) match(words []string, memory float64, tags bool) (out []match) {
	for _, rec := range x.all(words) {
		best := match{cost: math.Inf(1)}
		for i := range x.recs[rec].forms {
			f := &x.recs[rec].forms[i]
			if m := x.compare(rec, f, words, memory); (tags || !f.tag) && m.cost < best.cost {
				best = m
			}
		}
		if best.form == nil {
			continue
		}
		if h := best.hardware; h != nil && memory > 0 {
			best.memory, best.clash = memoryOf(h, memory)
		}
		best.order = best.cost
		for i, is := range []bool{best.clash, best.laptop, best.own} {
			if is {
				best.order += float64(int(128) << (7 * i))
			}
		}
		out = append(out, best)
	}
	slices.SortFunc(out, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(b.ranked, a.ranked), a.rec-b.rec)
	})
	return out
}

// compare says what it costs to mean one name of a record by words that the record has.
func (x *lexicon) compare(rec int, f *form, words []string, memory float64) match {
	m := match{known: &x.recs[rec], rec: rec, form: f, words: words}
	if x.kind == Hardware && (turned(words, f.words) || turned(f.words, words)) {
		m.cost = math.Inf(1)
		return m
	}
	for i, w := range f.words {
		if !slices.Contains(words, w) {
			m.cost += f.weight[i]
			m.own = m.own || f.weight[i] == ownWord || w == "gcores" && i > 0 && slices.Contains(words, f.words[i-1])
			m.laptop = m.laptop || w == "laptop"
		}
	}
	m.share = 1 - m.cost/max(f.sum, 1)
	if f.memory > 0 && !same(f.memory, memory) {
		m.cost += shapeWord / 2
		m.bare = memory == 0
	}
	m.own = m.own || twice(words) && !twice(f.words) // "4070 Ti Super Ti"
	for i, w := range words {
		again := x.kind == Model && isDigit(w[0]) && slices.Contains(words[:i], w) // "3 3" is not 3
		if slices.Contains(f.words, w) && !again {
			continue
		}
		m.cost += freeWord
		if x.kind == Hardware && !is("lines", w) && !is("optional", w) && !x.alsoCalled(rec, w, words) { // of another name
			m.cost += plainWord
			m.own = true
		}
	}
	return m
}

// begins reports whether a name of a record begins with a word.
func (k *known) begins(w string) bool {
	return slices.ContainsFunc(k.forms, func(f form) bool { return f.words[0] == w })
}

// whole are the records that have words as a whole name.
func (x *lexicon) whole(words []string) (found []int) {
	for _, m := range x.match(words, 0, true) {
		if m.cost == 0 {
			found = append(found, m.rec)
		}
	}
	return found
}

// all are the records that have all words.
func (x *lexicon) all(words []string) (recs postings) {
	for i, w := range words {
		if recs = recs.and(x.post[w]); i == 0 {
			recs = x.post[w]
		}
	}
	return recs
}

// turned reports whether a letter that is before a number in words is behind it in a name: a G4600 is not a 4600G.
func turned(words, name []string) bool {
	for i := 1; i < len(words); i++ { // a name of signs has no words
		letter, number := words[i-1], words[i]
		at := slices.Index(name, letter)
		if len(letter) == 1 && isDigit(number[0]) && at > 0 && name[at-1] == number {
			return true
		}
	}
	return false
}

// alsoCalled reports whether a word is of a whole other name of a record that words have.
func (x *lexicon) alsoCalled(rec int, w string, words []string) bool {
	return slices.ContainsFunc(x.recs[rec].forms, func(f form) bool {
		left := func(w string) bool { return !is("lines", w) && !slices.Contains(words, w) }
		return slices.Contains(f.words, w) && !slices.ContainsFunc(f.words, left)
	})
}

// twice reports whether a word that makes another product is repeated.
func twice(words []string) bool {
	for i, w := range words {
		if len(w) > 1 && is("suffixes", w) && slices.Contains(words[:i], w) {
			return true
		}
	}
	return false
}

// memoryOf reports whether hardware can have a memory of some GB for one device: that is surely its own, or clash.
func memoryOf(h *dataset.Hardware, gb float64) (own, clash bool) {
	switch {
	case h.MemoryOptionsGB != nil:
		own = slices.ContainsFunc(*h.MemoryOptionsGB, func(size float64) bool { return same(size, gb) })
	case h.VRAMGB == nil:
		return false, false
	case h.UnifiedMemory:
		return false, gb > *h.VRAMGB*1.01
	default:
		own = same(*h.VRAMGB, gb)
	}
	return own, !own
}

// same compares memory sizes. Drivers report up to 7 per cent less than the size on the box, because error correction
// and firmware keep a part. No two sizes of one card are that close.
func same(size, reported float64) bool { return reported <= size*1.005 && reported >= size*0.93 }

// list makes candidates of records.
func (x *lexicon) list(recs []int, reason string) (out []Candidate) {
	for _, rec := range recs[:min(MaxCandidates, len(recs))] {
		out = append(out, Candidate{x.kind, x.recs[rec].slug, x.recs[rec].name, reason})
	}
	return out
}

func newLexicon(kind Kind) *lexicon {
	return &lexicon{kind: kind, exact: map[string]int{}, bare: map[string]int{}, post: map[string]postings{}, joined: map[string][]string{}, long: map[int][]string{}, shared: map[string][]int{}}
}

// record begins a record, and returns its names in the spelling that is compared.
func (x *lexicon) record(k known, names []string) []string {
	x.recs = append(x.recs, k)
	names = append(names, string(k.slug), k.name)
	for i := range names {
		names[i] = clean(names[i])
		x.exact[names[i]] = len(x.recs) - 1
		if bare, ok := strings.CutPrefix(names[i], k.maker()+" "); ok {
			x.bare[bare] = len(x.recs) - 1
		}
	}
	return names
}

// maker is the maker of hardware, a blank for others.
func (k *known) maker() string {
	if k.hardware == nil {
		return " "
	}
	return string(k.hardware.Vendor)
}

// modelLexicon has the names of models.
func modelLexicon(models []dataset.Model) *lexicon {
	x := newLexicon(Model)
	for i := range models {
		m := models[i]
		names := slices.Clone(m.Aliases)
		owners := map[string]bool{}
		for w := range strings.FieldsSeq(strings.ToLower(m.Organization)) {
			owners[w] = true
		}
		var account string
		if m.HFRepo != nil {
			names = append(names, *m.HFRepo)
			account, _, _ = strings.Cut(strings.ToLower(*m.HFRepo), "/")
			first, _, _ := strings.Cut(account, "-")
			owners[account], owners[first], owners[means("former owners", account)] = true, true, true
		}
		names = x.record(known{slug: m.Slug, name: m.Name, ranked: rankModel(&m), model: &m, owners: owners}, names)
		for _, name := range names {
			cut := cutModel(name)
			stem, _ := bareModel(cut.name)
			x.add(texts(sized(split(stem+" "+cut.tag))), 0, cut.tag != "")
		}
		x.has(texts(split(account + " " + strings.ToLower(m.Organization)))...)
		forms := x.recs[i].forms
		stated := slices.ContainsFunc(forms, func(f form) bool { return slices.ContainsFunc(f.words, isSize) })
		if b := m.ParamsB; b != nil && (!stated || *b > 2) {
			x.has(fmt.Sprintf("%.0fb", *b), fmt.Sprintf("%.0fb", math.Floor(*b)), fmt.Sprintf("%.1fb", *b))
		}
		if m.Architecture.NumExperts != nil {
			x.has("moe")
		} else {
			x.has("dense")
		}
		if m.Form != nil && *m.Form == "chat" {
			x.has("instruct", "chat", "it")
		} else if m.Form != nil {
			x.has(string(*m.Form))
		}
	}
	return x
}

// rankModel says which of the models that fit alike is meant: one that answers rather than a base model, one of about
// 8 billion parameters where no size is said, then the newest.
func rankModel(m *dataset.Model) (rank float64) {
	if m.Form != nil && *m.Form == "chat" {
		rank += 100
	}
	if strings.Contains(string(m.Slug), "think") || strings.Contains(string(m.Slug), "reasoning") {
		rank -= 50
	}
	if m.ParamsB != nil {
		rank -= 5 * math.Abs(math.Log(*m.ParamsB/8))
	}
	if m.ReleaseDate != nil {
		month, _ := strconv.ParseFloat(strings.ReplaceAll(string(*m.ReleaseDate + "-01")[:7], "-", ""), 64)
		rank += (month - 202000) / 900
	}
	return rank
}

// hardwareLexicon has the names of hardware.
func hardwareLexicon(hardware []dataset.Hardware) *lexicon {
	x := newLexicon(Hardware)
	for i := range hardware {
		h := hardware[i]
		k := known{slug: h.Slug, name: h.Name, hardware: &h}
		if strings.Contains(string(h.Slug), "-laptop") || strings.Contains(string(h.Slug), "-max-q") {
			k.ranked -= 50
		}
		if h.Variants != nil {
			k.ranked += 2
		}
		if h.VRAMGB != nil {
			k.ranked += *h.VRAMGB / 1e4
		}
		for _, name := range x.record(k, slices.Clone(h.Aliases)) {
			words, memory := nameWords(name)
			x.add(words, memory, false)
		}
	}
	for i := range hardware {
		if variants := hardware[i].Variants; variants != nil {
			for _, slug := range *variants {
				x.recs[i].variants = append(x.recs[i].variants, x.exact[string(slug)])
			}
		}
	}
	x.share(hardware)
	return x
}

// nameWords are the words of a clean name of hardware, none for the id of a machine, and the memory it states in GB.
func nameWords(name string) (words []string, memory float64) {
	if says("machine id", name) {
		return nil, 0
	}
	cut := cutHardware(rewrite("cores", name))
	text := cut.main
	for _, extra := range cut.extras {
		words, gb := hwWords(extra)
		if memory = cmp.Or(memory, gb); foldable(words) || strings.Contains(extra, "gcores") {
			text += " " + extra
		}
	}
	ws, gb := significant(split(text))
	return texts(phrased(ws)), cmp.Or(gb, memory)
}

// share finds aliases that omit part of the record's name and also match other products: "RTX PRO 6000", "Orin". They
// are not exact names of any record.
func (x *lexicon) share(hardware []dataset.Hardware) {
	relations := dataset.NewRelations(hardware)
	names := make([]form, len(hardware))
	for i := range hardware {
		words, memory := nameWords(clean(hardware[i].Name))
		names[i] = x.form(words, memory, false)
	}
	for i := range hardware {
		for _, alias := range hardware[i].Aliases {
			words, memory := nameWords(clean(alias))
			own, shared := x.compare(i, &names[i], words, memory), []int{i}
			for _, rec := range x.all(words) {
				m := x.compare(rec, &names[rec], words, memory)
				related := relations.Between(hardware[i].Slug, hardware[rec].Slug) != ""
				if !related && m.own == own.own && m.laptop == own.laptop && m.cost <= own.cost+numberWeight {
					shared = append(shared, rec)
				}
			}
			part := func(w string) bool { return !is("lines", w) }
			if len(shared) > 1 && memory == 0 && slices.ContainsFunc(own.missing(), part) {
				x.shared[clean(alias)] = shared
			}
		}
	}
}

// significant are the words of a name of hardware that say which record it is, and the memory in GB.
func significant(ws []word) (out []word, memory float64) {
	for i := 0; i < len(ws); i++ {
		w := ws[i].text
		switch {
		case is("brands", w):
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

// memoryUnit gives the size of a unit in GB as the sizes of cards are counted, which are powers of two under either
// name. "Go" is the unit in French.
var memoryUnit = map[string]float64{"gb": 1, "gib": 1, "mb": 1.0 / 1024, "mib": 1.0 / 1024, "go": 1}

// toolLexicon has the names of tools.
func toolLexicon(tools []dataset.Tool) *lexicon {
	x := newLexicon(Tool)
	for i := range tools {
		t := &tools[i]
		names := x.record(known{slug: t.Slug, name: t.Name}, slices.Clone(t.Aliases))
		if t.Repository != nil {
			if _, repo, ok := strings.Cut(string(*t.Repository), "//github.com/"); ok {
				names = append(names, clean(repo))
			}
		}
		for _, people := range vocabulary["tool names"].order {
			if means("tool names", people) == string(t.Slug) {
				names = append(names, people)
			}
		}
		for _, name := range names {
			x.add(texts(split(name)), 0, false)
		}
	}
	return x
}

// spell writes words as the names of a lexicon have them: glued ones apart ("gptoss", "deepseekr1"), parted ones together
// ("code llama"), 36 behind letters as 3.6, and, if guess is true, a word with one letter wrong as the one it is like.
func (x *lexicon) spell(ws []word, guess bool) (out []word) {
	for i := 0; i < len(ws); i++ {
		w, next := ws[i], word{text: " "}
		if i+1 < len(ws) {
			next = ws[i+1]
		}
		version := w.text + "." + next.text // where a program that allows no point has a dash: "llama-3-3-70b"
		glued, point, last := w.text+next.text, w.text[:1]+"."+w.text[1:], len(w.text)-1
		numbered := isLetter(w.text[0]) && last >= 3 && isDigit(next.text[0]) && x.kind == Model
		ends := i+2 >= len(ws) || ws[i+2].start > next.end // the 8 of "8c" ends no version
		switch {
		case ends && i > 0 && next.start == w.end+1 && isDigit(w.text[0]) && isDigit(next.text[len(next.text)-1]) &&
			x.post[version].and(x.post[ws[i-1].text]) != nil:
			out = append(out, word{version, w.start, next.end})
			i++
		case isLetter(next.text[0]) && x.post[glued] != nil && x.joined[glued] == nil:
			out = append(out, word{glued, w.start, next.end})
			i++
		case x.post[w.text] != nil:
			out = append(out, w)
		case x.joined[w.text] != nil:
			for _, part := range x.joined[w.text] {
				out = append(out, word{part, w.start, w.end})
			}
		case i > 0 && ws[i-1].end == w.start && x.post[point] != nil:
			out = append(out, word{point, w.start, w.end})
		case numbered && x.post[w.text[:last]] != nil && x.post[w.text[last:]+next.text] != nil:
			out = append(out, word{w.text[:last], w.start, w.end - 1}, word{w.text[last:] + next.text, w.end - 1, next.end})
			i++
		default:
			if guess && numbered {
				if like := x.like(w.text, 1); len(like) == 1 && like[0][0] == w.text[0] {
					w.text = like[0]
				}
			}
			out = append(out, w)
		}
	}
	return out
}

// like are the words that differ from w in one letter, and are at most some letters longer or shorter.
func (x *lexicon) like(w string, longer int) (out []string) {
	for n := len(w) - longer; n <= len(w)+longer; n++ {
		for _, have := range x.long[n] {
			ends := have[0] == w[0] || have[n-1] == w[len(w)-1] // of words with one edit, one end is the same
			if ends && levenshtein.ComputeDistance(have, w) == 1 {
				out = append(out, have)
			}
		}
	}
	return out
}

var (
	mistyped        = regexp.MustCompile(`\b[0-9]+[oli][0-9oli]*\b`)
	lettersAsDigits = strings.NewReplacer("o", "0", "l", "1", "i", "1")
)

// digits writes a number with a letter in place of a digit, such as 4o90, as the number that names have.
func (x *lexicon) digits(text string) string {
	return mistyped.ReplaceAllStringFunc(text, func(w string) string {
		if number := lettersAsDigits.Replace(w); x.post[number] != nil {
			return number
		}
		return w
	})
}

// near are the records that have most of some words, the rare ones counting more, at most MaxCandidates.
func (x *lexicon) near(words []string) (out []int) {
	score := make([]float64, len(x.recs))
	all := float64(len(x.recs))
	add := func(p postings, part float64) {
		for _, rec := range p {
			score[rec] += part * math.Log(all/float64(len(p)))
		}
	}
	for _, w := range words {
		if add(x.post[w], 1); x.post[w] == nil && (len(w) > 4 || len(w) > 2 && isDigit(w[0])) {
			for _, have := range x.like(w, 1) {
				add(x.post[have], 0.5)
			}
		}
	}
	for rec := range score {
		if score[rec] > 0 && x.recs[rec].begins(words[0]) {
			score[rec] += 4
		}
		if score[rec] >= math.Log(all)/3 {
			out = append(out, rec)
		}
	}
	slices.SortFunc(out, func(a, b int) int {
		return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(len(x.recs[a].slug), len(x.recs[b].slug)), cmp.Compare(a, b))
	})
	return out[:min(MaxCandidates, len(out))]
}
