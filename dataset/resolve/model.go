package resolve

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"modeldex/dataset"
)

// modelRecord is what the rules need of a model.
type modelRecord struct {
	record
	owners map[string]bool // accounts and names of its maker, lower case
	own    map[string]bool // slug, and the name of the repository without its account, lower case
}

// modelNames finds models.
type modelNames struct {
	recs    []modelRecord
	exact   map[string]int32   // slug, name, alias or repository -> record
	full    map[string][]int32 // key of a name as it is written -> records
	bare    map[string][]int32 // key of a name without its marks -> records
	owners  map[string]bool    // of all records
	library map[string][]tag   // key of the name of an Ollama library -> its tags
	tags    map[string][]tag   // key of library and tag -> tags
	phrases []phrase           // sorted, to find names that begin like a text
	short   []phrase           // the same without active parameters
	cores   map[string][]int32 // key without the words of variants -> records
	like    *likeness
}

// tag is a name that Ollama gives a record.
type tag struct {
	library []string // words
	words   []string // behind the colon
	rec     int32
}

// phrase is the words of a name with blanks between and after them.
type phrase struct {
	text string
	rec  int32
}

func newModelNames(models []dataset.Model) *modelNames {
	n := &modelNames{
		exact: map[string]int32{}, full: map[string][]int32{}, bare: map[string][]int32{},
		owners: map[string]bool{}, library: map[string][]tag{}, tags: map[string][]tag{}, cores: map[string][]int32{}, like: newLikeness(),
	}
	for i := range models {
		m := &models[i]
		n.recs = append(n.recs, modelRecord{record{m.Slug, m.Name}, map[string]bool{}, map[string]bool{string(m.Slug): true}})
		texts := append([]string{string(m.Slug), m.Name}, m.Aliases...)
		if m.HFRepo != nil {
			texts = append(texts, *m.HFRepo)
			n.addOwner(int32(i), strings.ToLower(*m.HFRepo))
		}
		for word := range strings.FieldsSeq(strings.ToLower(m.Organization)) {
			n.recs[i].owners[word] = true
		}
		for _, text := range texts {
			n.add(int32(i), text)
		}
	}
	byText := func(a, b phrase) int { return strings.Compare(a.text, b.text) }
	slices.SortFunc(n.phrases, byText)
	slices.SortFunc(n.short, byText)
	n.like.freeze()
	return n
}

// companies are makers whose name some write before that of the model and some do not.
var companies = set("nvidia meta ibm google microsoft baidu ai21 lg tencent tiiuae")

// variantWords tell the variants of one release apart.
var variantWords = set("instruct it chat base thinking reasoning think pt")

func variant(word string) bool { return variantWords[word] }

// answers reports whether a word says that a model was trained to answer.
func answers(word string) bool { return word == "instruct" || word == "it" || word == "chat" }

// formerOwners are accounts under a name of before.
var formerOwners = map[string]string{"zai-org": "thudm", "coherelabs": "cohereforai", "meta-llama": "facebook", "openbmb": "minicpm", "teleai": "tele-ai"}

func (n *modelNames) addOwner(i int32, repo string) {
	owner, name, _ := strings.Cut(repo, "/")
	n.recs[i].own[name] = true
	n.owners[owner], n.recs[i].owners[owner] = true, true
	if former := formerOwners[owner]; former != "" {
		n.owners[former], n.recs[i].owners[former] = true, true
	}
	if word, _, ok := strings.Cut(owner, "-"); ok {
		n.recs[i].owners[word] = true
	}
}

func (n *modelNames) add(i int32, text string) {
	n.exact[spelled(text)] = i
	text = clean(text)
	n.exact[text] = i
	cut := cutModel(text)
	if cut.tag != "" { // a tag of Ollama stands for what its maker made the usual one
		t := tag{modelWords(cut.name), modelWords(cut.tag), i}
		n.library[join(t.library)] = append(n.library[join(t.library)], t)
		key := join(slices.Concat(t.library, t.words))
		n.tags[key] = append(n.tags[key], t)
		return
	}
	words := modelWords(cut.name)
	key := join(words)
	addOnce(n.full, key, i)
	stem, _ := bareModel(cut.name)
	bare := modelWords(stem)
	n.addBare(i, bare)
	if len(bare) > 2 && companies[bare[0]] { // "NVIDIA-Nemotron-Nano-9B-v2" is as often called without
		n.addBare(i, bare[1:])
	}
}

// addBare adds the words of a name without its marks.
func (n *modelNames) addBare(i int32, words []string) {
	key := join(words)
	if !addOnce(n.bare, key, i) {
		return
	}
	n.like.add(i, key)
	n.phrases = append(n.phrases, phrase{strings.Join(words, " ") + " ", i})
	short := slices.DeleteFunc(slices.Clone(words), active)
	n.short = append(n.short, phrase{strings.Join(short, " ") + " ", i})
	addOnce(n.cores, join(slices.DeleteFunc(slices.Clone(words), variant)), i)
}

// storedAs finds the storage type at the end of a name, in which underscores belong.
var storedAs = regexp.MustCompile(`(?:ud[-_])?i?q[0-9]_[0-9a-z_]+(?:\.gguf)?$`)

func (n *modelNames) resolve(text string) Answer {
	cut := cutModel(text)
	if i, ok := n.exact[text]; ok {
		a := n.found(i, Exact, "slug, name, alias or repository")
		_, m := bareModel(cut.name)
		a.describe(m, modelWords(cut.name))
		return a
	}
	if a, ok := n.byType(text); ok {
		return a
	}
	a, words, m := n.byName(cut)
	if a.Reason == unknownName && strings.Contains(text, "_") { // between words, not behind an account
		name := text[:len(text)-len(storedAs.FindString(text))]
		spaced := cutModel(strings.ReplaceAll(name, "_", "-") + text[len(name):])
		if b, more, marks := n.byName(spaced); b.Slug != "" || b.Ambiguous {
			a, words, m, cut = b, more, marks, spaced
		}
	}
	if a.Reason == unknownName && (cut.owner == "" || cut.owner == "library") {
		a = n.byLibrary(words)
	}
	if a.Reason == unknownName {
		a.key = join(words)
	}
	a.describe(m, words)
	if a.Format == "" && cut.owner == "mlx-community" {
		a.Format = "mlx"
	}
	return a
}

// describe adds what a name says besides the model.
func (a *Answer) describe(m marks, words []string) {
	a.Quantization, a.Format, a.ParamsB = m.quant, m.format, params(words)
}

func (n *modelNames) found(i int32, c Confidence, reason string) Answer {
	return Answer{Slug: n.recs[i].slug, Name: n.recs[i].name, Confidence: c, Reason: reason}
}

// byName reads a name with its marks, owner and tag.
func (n *modelNames) byName(cut modelName) (a Answer, words []string, m marks) {
	m = cut.marks
	name := cut.name
	if cut.tag != "" {
		if mark, ok := allMarks(cut.tag); ok {
			m = mark
		} else {
			return n.byTag(cut)
		}
	}
	a, words, read := n.byMarks(cut.owner, name, m.any)
	read.under(m)
	return a, words, combine(read, m)
}

// combine keeps the marks of a tag or file, which are of the file that is used, over those of the
// repository.
func combine(repository, file marks) marks {
	if file.quant != "" {
		repository.quant = file.quant
	}
	if file.format != "" {
		repository.format = file.format
	}
	return repository
}

// byMarks cuts one mark after the other off the end of a name until the rest is known: the longest
// known name wins, so that "Falcon3-7B-Instruct-1.58bit" keeps its bits and "-4bit" goes.
func (n *modelNames) byMarks(owner, name string, converted bool) (a Answer, words []string, m marks) {
	stem := name
	m.any = converted
	for {
		words = modelWords(stem)
		if recs := n.known(words); len(recs) > 0 {
			rest := stem
			for { // marks that are part of the record's own name are reported all the same
				more, mark, ok := cutMark(rest)
				if !ok {
					break
				}
				m.under(mark)
				rest = more
			}
			return n.judgeWritten(recs, owner, stem, m), words, m
		}
		rest, mark, ok := cutMark(stem)
		if !ok {
			break
		}
		m.under(mark)
		stem = rest
	}
	if maker, rest, ok := strings.Cut(stem, "_"); ok && owner == "" && (n.owners[maker] || repackagers[maker]) { // bartowski's files: owner_name
		if recs := n.known(modelWords(rest)); len(recs) > 0 {
			return n.judge(recs, maker, m), words, m
		}
	}
	if recs := n.withoutMaker(stem); len(recs) > 0 {
		return n.judge(recs, owner, m), words, m
	}
	return n.unknown(words, owner), words, m
}

// known finds the records with these words. A name as it is written goes before one without marks.
func (n *modelNames) known(words []string) []int32 {
	key := join(words)
	if recs := n.full[key]; len(recs) > 0 {
		return recs
	}
	return n.bare[key]
}

// withoutMaker reads a name that begins with the name of its maker, "IBM-Granite-3.1", or with
// that of a repackager, "QuantTrio-Qwen3.6-27B".
func (n *modelNames) withoutMaker(stem string) []int32 {
	cut := strings.IndexAny(stem, "- _")
	if cut <= 0 {
		return nil
	}
	maker := stem[:cut]
	var out []int32
	for _, rec := range n.known(modelWords(stem[cut+1:])) {
		if n.recs[rec].owners[maker] || repackagers[maker] {
			out = append(out, rec)
		}
	}
	return out
}

// judge decides whether the records of a name may answer for it: an unknown account may have
// given the name to something else, unless the name says that it is a conversion.
func (n *modelNames) judge(recs []int32, owner string, m marks) Answer {
	if len(recs) > 1 {
		return Answer{Ambiguous: true, Reason: "several models have this name", Candidates: n.list(recs, "has this name")}
	}
	rec := &n.recs[recs[0]]
	switch {
	case owner == "" || rec.owners[owner] || repackagers[owner] || strings.HasPrefix(owner, "models"):
		if m.any {
			return n.found(recs[0], Parsed, "name without what says how it is stored")
		}
		return n.found(recs[0], Parsed, "name in another spelling")
	case m.any:
		return n.found(recs[0], Parsed, fmt.Sprintf("converted by %q", owner))
	}
	return Answer{
		Confidence: Near, Reason: fmt.Sprintf("the name is known, but not from the account %q, which may have changed the model", owner),
		Candidates: n.list(recs, "has this name at its maker"),
	}
}

// judgeWritten judges records whose words are those of stem. A maker's base model has the name of
// the release without a word after it ("Llama 3.1 8B"), and people who leave words out mean the
// model that answers ("Llama-3.1-8B-Instruct") as often. Such a name is only an answer where it is
// spelled as a repository or file of the base model is.
func (n *modelNames) judgeWritten(recs []int32, owner, stem string, m marks) Answer {
	if len(recs) == 1 && owner == "" && !n.recs[recs[0]].own[stem] {
		if tuned := n.tuned(recs[0]); len(tuned) > 0 {
			return Answer{
				Ambiguous: true, Reason: "the name is that of the base model, and is used for the one that was made of it as well",
				Candidates: n.list(append(recs[:1:1], tuned...), "has this name and size"),
			}
		}
	}
	return n.judge(recs, owner, m)
}

// words are those of a model's slug: few look-ups need them, so that they are not kept.
func (n *modelNames) words(rec int32) []string { return modelWords(string(n.recs[rec].slug)) }

// tuned are the models whose name is that of a base model and a word for what it was trained to do.
func (n *modelNames) tuned(base int32) (out []int32) {
	words := n.words(base)
	if slices.ContainsFunc(words, variant) {
		return nil
	}
	for _, rec := range n.cores[join(words)] {
		if rec != base && slices.ContainsFunc(n.words(rec), answers) {
			out = append(out, rec)
		}
	}
	return out
}

// byTag reads "library:tag" of Ollama, with a size, a variant and a storage type in the tag.
func (n *modelNames) byTag(cut modelName) (a Answer, words []string, m marks) {
	m = marks{format: "gguf"}
	if cut.tag == "latest" {
		a, words = n.latest(cut)
		return a, words, m
	}
	tag := cut.tag
	for {
		if i, ok := n.exact[cut.name+":"+tag]; ok && (cut.owner == "" || repackagers[cut.owner] || n.recs[i].owners[cut.owner]) {
			return n.found(i, Parsed, "tag without the storage type"), modelWords(tag), m
		}
		rest, mark, ok := cutMark(tag)
		if !ok {
			break
		}
		m.under(mark)
		tag = rest
	}
	size, base := strings.CutSuffix(tag, "-text") // Ollama's word for base models
	words = modelWords(cut.name + "-" + size)
	if recs := n.known(words); len(recs) > 0 {
		// "llama3:8b" is the chat model although the words are those of the base model: a tag with
		// a size only is what its library makes of it, unless there is nothing to choose from.
		if !base && onlySize(modelWords(tag)) {
			if all := n.variants(words); len(all) > 1 {
				return Answer{Ambiguous: true, Reason: "a tag with a size only says neither release nor variant", Candidates: n.list(all, "has this name and size")}, words, m
			}
		}
		return n.judge(recs, cut.owner, m), words, m
	}
	return n.unknown(words, cut.owner), words, m
}

// variants are all records whose words begin with these, with or without active parameters.
func (n *modelNames) variants(words []string) []int32 {
	text := strings.Join(words, " ") + " "
	out := beginning(n.phrases, text)
	for _, rec := range beginning(n.short, text) {
		out = appendOnce(out, rec)
	}
	return out
}

// onlySize reports whether words are a size alone, with or without active parameters.
func onlySize(words []string) bool {
	for _, w := range words {
		if !(isDigit(w[0]) && params([]string{w}) > 0) && !active(w) && !(len(w) > 2 && w[0] == 'e' && isDigit(w[1])) {
			return false
		}
	}
	return len(words) > 0
}

// latest reads "name:latest". What that is changes with time, so it only counts where the name
// itself leaves no choice: it states a size, or no other record shares the library.
func (n *modelNames) latest(cut modelName) (Answer, []string) {
	words := modelWords(cut.name)
	recs, others := n.known(words), n.ofLibrary(words)
	switch {
	case len(recs) == 1 && (params(words) > 0 || len(others) == 0):
		return n.judge(recs, cut.owner, marks{any: true}), words
	case len(others) > 0:
		return Answer{Ambiguous: true, Reason: "the tag latest states no size, and what it means changes", Candidates: n.list(others, "has a tag of this library")}, words
	}
	return n.unknown(words, cut.owner), words
}

// ofLibrary are the records with a tag of the library with these words.
func (n *modelNames) ofLibrary(words []string) (out []int32) {
	for _, t := range n.library[join(words)] {
		out = appendOnce(out, t.rec)
	}
	return out
}

// byLibrary reads a name of Ollama as people write it: without the tag ("qwen2.5"), or with another separator before it
// ("deepseek r1 32b"). The latter is an answer only if nothing else of this name has the words of the tag.
func (n *modelNames) byLibrary(words []string) Answer {
	if recs := n.ofLibrary(words); len(recs) > 0 {
		return Answer{Ambiguous: true, Reason: "the name is that of a library of Ollama, and states no size", Candidates: n.list(recs, "has a tag of this library")}
	}
	for _, t := range n.tags[join(words)] {
		name := strings.Join(t.library, " ") + " "
		if !strings.HasPrefix(strings.Join(n.words(t.rec), " ")+" ", name) {
			continue
		}
		has := func(of []string) bool {
			return !slices.ContainsFunc(t.words, func(w string) bool { return !slices.Contains(of, w) })
		}
		recs := []int32{t.rec}
		for _, other := range n.library[join(t.library)] {
			if has(other.words) {
				recs = appendOnce(recs, other.rec)
			}
		}
		for _, rec := range beginning(n.phrases, name) {
			if has(n.words(rec)) {
				recs = appendOnce(recs, rec)
			}
		}
		if len(recs) > 1 {
			return Answer{Ambiguous: true, Reason: "several models have this name and size", Candidates: n.list(recs, "has this name and size")}
		}
		return n.found(t.rec, Parsed, "tag of Ollama with another separator")
	}
	return Answer{Reason: unknownName}
}

// unknown answers words no record has. Where records only add to them, those are the candidates
// of an ambiguous name; a single one that adds no more than its active parameters is the answer.
func (n *modelNames) unknown(words []string, owner string) Answer {
	if len(words) > 2 || slices.ContainsFunc(words, isSize) {
		text := strings.Join(words, " ") + " "
		longer := beginning(n.phrases, text)
		if !slices.ContainsFunc(words, active) {
			for _, rec := range beginning(n.short, text) {
				longer = appendOnce(longer, rec)
			}
			if len(longer) == 1 {
				if only := n.same(n.short, text); only == longer[0] {
					return n.judge([]int32{only}, owner, marks{})
				}
			}
		}
		if len(longer) > 0 {
			reason := "the name leaves out what distinguishes the releases of this size"
			if len(longer) == 1 {
				reason = "the name leaves out a part of the model's own name"
			}
			return Answer{Ambiguous: true, Reason: reason, Candidates: n.list(longer, "begins with this name")}
		}
	}
	if recs := n.cores[join(words)]; len(recs) > 0 {
		return Answer{Ambiguous: true, Reason: "the name leaves out which variant it is", Candidates: n.list(recs, "a variant of this name")}
	}
	return Answer{Reason: unknownName}
}

// isSize reports whether a word is a number of parameters: "8b", "270m", "8x7b".
func isSize(word string) bool {
	last := word[len(word)-1]
	return isDigit(word[0]) && (last == 'b' || last == 'm' && len(word) > 2)
}

// beginning are the records with a phrase that begins with text, shortest first.
func beginning(phrases []phrase, text string) (out []int32) {
	i := sort.Search(len(phrases), func(i int) bool { return phrases[i].text >= text })
	for ; i < len(phrases) && strings.HasPrefix(phrases[i].text, text); i++ {
		out = appendOnce(out, phrases[i].rec)
	}
	return out
}

// same is the record with exactly this phrase, -1 for none or several.
func (n *modelNames) same(phrases []phrase, text string) int32 {
	i := sort.Search(len(phrases), func(i int) bool { return phrases[i].text >= text })
	out := int32(-1)
	for ; i < len(phrases) && phrases[i].text == text; i++ {
		if out >= 0 && out != phrases[i].rec {
			return -1
		}
		out = phrases[i].rec
	}
	return out
}

// mayBeType reports whether a text ends like a type, which is quicker to see than to read.
func mayBeType(text string) bool {
	for _, end := range []string{" - medium", " - small", " - large", "bpw", "ternary", " moe", "(guessed)"} {
		if strings.HasSuffix(text, end) {
			return true
		}
	}
	_, ok := classify(text[strings.LastIndexByte(text, ' ')+1:])
	return ok && strings.Contains(text, " ")
}

// ownArchitecture are architectures of llama.cpp that a maker uses for one release of each size.
// Under all others there are several: a "llama 7B" may be Llama 1 or 2, Mistral, or made of them.
var ownArchitecture = set("gpt-oss")

// byType reads the type of a model as llama-bench prints it, "qwen3moe 30B.A3B Q4_K - Medium". It
// names an architecture and a size, not a release, so that it is hardly ever an answer.
func (n *modelNames) byType(text string) (Answer, bool) {
	if !mayBeType(text) {
		return Answer{}, false
	}
	rest, quant := TypeQuantization(text)
	architecture, size, ok := strings.Cut(rest, " ")
	if quant == "" || !ok || strings.ContainsAny(rest, "/:") || strings.HasSuffix(text, strings.ToLower(quant)) && strings.Contains(quant, "_K_") {
		return Answer{}, false
	}
	sizes := modelWords(size)
	if !onlySize(sizes) {
		return Answer{}, false
	}
	a := Answer{Quantization: quant, Format: "gguf", ParamsB: params(sizes)}
	family := modelWords(strings.TrimSuffix(architecture, "moe"))
	text = strings.Join(append(family, sizes...), " ") + " "
	recs := beginning(n.phrases, text)
	if only := n.same(n.phrases, text); only >= 0 && len(recs) == 1 && ownArchitecture[architecture] {
		a.Slug, a.Name, a.Confidence, a.Reason = n.recs[only].slug, n.recs[only].name, Parsed, "the only release of this architecture and size"
		return a, true
	}
	for _, p := range n.phrases { // "qwen3 coder 30b a3b": the size need not follow the family
		if len(recs) < MaxCandidates && strings.HasPrefix(p.text, strings.Join(family, " ")+" ") && strings.Contains(p.text, " "+strings.Join(sizes, " ")+" ") {
			recs = appendOnce(recs, p.rec)
		}
	}
	a.Ambiguous, a.Reason = true, "the type names an architecture and a size, not a release"
	a.Candidates = n.list(recs, "has this architecture and size in its name")
	return a, true
}

func (n *modelNames) list(recs []int32, reason string) (out []Candidate) {
	for _, i := range recs[:min(MaxCandidates, len(recs))] {
		out = append(out, Candidate{Model, n.recs[i].slug, n.recs[i].name, reason})
	}
	return out
}
